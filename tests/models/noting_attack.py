"""An attack that keeps what it is told and what it finds, for the tests of adversarial training."""


class Noting:
    """Does what an attack does.

    Attributes:
        found: the changed inputs, one array for each climb.
        gradients: all that it asked for.
    """

    def __init__(self, attack):
        self._attack, self._budget, self.found, self.gradients = attack, attack, [], []

    def in_epoch(self, epoch):
        return self

    def of_many(self, inputs):
        self._budget = self._attack.of_many(inputs)
        return self

    def climb(self, clean, gradient):
        def noted(changed):
            self.gradients.append(gradient(changed))
            return self.gradients[-1]

        self.found.append(self._budget.climb(clean, noted))
        return self.found[-1]
