"""Claims: what is proved about one input, as a value from which sentences, tiles, tables and files are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flipproof.theory.radii import UNBOUNDED, Axis


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `count` changes along these axes together. The input has room for `room`, `UNBOUNDED` if unknown."""

    axes: tuple[Axis, ...]
    count: int
    room: int = UNBOUNDED

    @property
    def exhaustive(self) -> bool:
        """Whether the budget allows every change along its axes that the input has room for."""
        return self.count == self.room


@dataclass(frozen=True, slots=True)
class Claim:
    """No attacker who stays within all budgets and leaves alone everything fixed can change the prediction.

    Attributes:
        input: the id of the input, which is its number in the data.
        label: the prediction; None if the smoothed classifier abstains, and nothing is claimed.
        budgets: how much may change; along axes that are in no budget, nothing may change.
        fixed: what must stay unchanged, since noise does not touch it; None if that is not known.
        alpha: bounds the probability, over the samples, that the claim is wrong.
        simultaneous: whether alpha even bounds the probability that the claim about any of the inputs is wrong.
        checked: whether the classifier was checked to give one label to one noisy input, without which nothing is
            proved; None if the votes were counted elsewhere, and the claim relies on them.
        threat: what an attacker may do, in words, where the budgets alone do not say it.
        whose: the classifier whose prediction it is.

    Example:
        >>> add, delete = Axis(None, "add"), Axis(None, "delete")
        >>> claim = Claim(0, 1, (Budget((add,), 1), Budget((delete,), 4, room=9)), ("the padding",), 0.01, False)
        >>> claim.covers({add: 1, delete: 4}), claim.covers({add: 2})
        (True, False)
    """

    input: int
    label: int | None
    budgets: tuple[Budget, ...]
    fixed: tuple[str, ...] | None
    alpha: float
    simultaneous: bool
    checked: bool | None = None
    threat: str = ""
    whose: str = "smoothed classifier"

    @property
    def abstains(self) -> bool:
        """Whether nothing at all is claimed."""
        return self.label is None

    @property
    def withstands_a_change(self) -> bool:
        """Whether a single change is covered. Without one, a prediction is certain but not known to be robust."""
        return any(budget.count for budget in self.budgets)

    def covers(self, changes: Mapping[Axis, int]) -> bool:
        """Whether the claim covers an input with these numbers of changes, in which everything fixed is unchanged."""
        within = all(sum(changes.get(axis, 0) for axis in budget.axes) <= budget.count for budget in self.budgets)
        named = {axis for budget in self.budgets for axis in budget.axes}
        return not self.abstains and within and not any(count for axis, count in changes.items() if axis not in named)
