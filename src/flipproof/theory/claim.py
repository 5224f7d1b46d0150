"""A claim: what is proved about one input, as a value. Sentences, tiles, tables and files are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flipproof.theory.radii import UNBOUNDED, Axis


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `count` changes along these axes together, of the `room` that there can be; `UNBOUNDED` if unknown."""

    axes: tuple[Axis, ...]
    count: int
    room: int = UNBOUNDED

    @property
    def exhaustive(self) -> bool:
        """Whether all that can change along the axes may change."""
        return self.count == self.room


@dataclass(frozen=True, slots=True)
class Claim:
    """Whoever stays within all budgets and leaves alone what is fixed does not change the prediction.

    Attributes:
        input: its id: the number that it has in the data.
        label: the prediction; None if the smoothed classifier abstains, and nothing is claimed.
        budgets: what may change; along axes that are in none of them, nothing may.
        fixed: what must stay as it is, since noise does not touch it; None if that is not known.
        alpha: the probability, over the samples, that the claim is wrong;
        simultaneous: or, if true, that the claim about any of the inputs is.
        checked: whether it was checked that the classifier gives one label to one noisy input, without which nothing
            is proved; None if others have counted the votes, and the claim is about their word.
        threat: what an attacker may do, in words, where the budgets alone do not say it.
        whose: whose prediction it is.

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
        """Whether an input with so many changes along the axes, and none of what is fixed, is covered."""
        within = all(sum(changes.get(axis, 0) for axis in budget.axes) <= budget.count for budget in self.budgets)
        named = {axis for budget in self.budgets for axis in budget.axes}
        return not self.abstains and within and not any(count for axis, count in changes.items() if axis not in named)
