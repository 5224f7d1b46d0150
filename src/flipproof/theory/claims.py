"""Claims: what is proved about an input, as values from which sentences, tiles, tables and files are made.

Each states one certified combination of changes, never maxima that hold separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.edit_distance import max_edit_distance
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, Axis, axes_of, axis_index
from flipproof.theory.stairs import Stairs, page_counts


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

    def __repr__(self) -> str:
        return short_repr(
            self,
            f"input {self.input}",
            "abstained" if self.label is None else f"label {self.label}",
            *(f"{' + '.join(map(str, budget.axes))} <= {budget.count}" for budget in self.budgets if not self.abstains),
            f"alpha={self.alpha:g}",
            f"fixed={self.fixed!r}",
        )

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


_MOST_AXES = 4
"""The largest number of kinds of change whose combination can be said in plain words."""


class Lead(Enum):
    """The combination that claims prefer: changes of each kind, of all kinds together, or exchanges of entries."""

    BY_KIND = "by kind"
    TOGETHER = "together"
    EXCHANGES = "exchanges"


def default_lead(noise: Noise) -> Lead:
    """All kinds together if they are alike, or too many to name; else each kind."""
    return Lead.TOGETHER if noise.is_even or not has_boxes(noise) else Lead.BY_KIND


def has_boxes(noise: Noise) -> bool:
    """Whether a noise has few enough kinds of change for claims to combine them."""
    return len(axes_of(noise)) <= _MOST_AXES


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The facts that claims state besides the changes: ids, predictions, and the probability of an error.

    Attributes:
        ids: [inputs], the ids of the inputs.
        label: [inputs], the predictions.
        alpha: bounds the probability that a claim is wrong.
        simultaneous: whether alpha even bounds the probability that any of the claims is wrong.
        checked: whether the classifier was checked to give one label to one noisy input; None for votes from elsewhere.
    """

    ids: IntArray
    label: IntArray
    alpha: float
    simultaneous: bool
    checked: bool | None

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self.ids), "input"), f"alpha={self.alpha:g}")

    def selected(self, rows: IntArray) -> Predictions:
        """The facts about some inputs."""
        return replace(self, ids=self.ids[rows], label=self.label[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """The claims about all inputs; inputs with equal claims share one.

    Attributes:
        distinct: each distinct claim once, about the first input that has it.
        index: [inputs], the place of each input's claim in `distinct`.
        label: [inputs], the predictions.
        ids: [inputs], the ids of the inputs.
    """

    distinct: tuple[Claim, ...]
    index: IntArray
    label: IntArray
    ids: IntArray

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self), "claim"))

    def __len__(self) -> int:
        return int(self.index.size)

    def __getitem__(self, number: int) -> Claim:
        claim: Claim = self.distinct[int(self.index[number])]
        return replace(claim, input=int(self.ids[number]), label=None if claim.abstains else int(self.label[number]))

    def __iter__(self) -> Iterator[Claim]:
        return (self[number] for number in range(len(self)))

    @classmethod
    def leading(
        cls, inputs: BoundedInputs, predictions: Predictions, lead: Lead | None = None, stairs: Stairs | None = None
    ) -> Claims:
        """One claim for every input: the leading combination where that covers a change, else one by kind of change."""
        lead = default_lead(inputs.noise) if lead is None else lead
        counts = _boxes(inputs, stairs) if has_boxes(inputs.noise) else _alone(inputs)
        claims = cls._of(inputs, predictions, counts, _room_beside(inputs, counts))
        if lead is Lead.TOGETHER:
            return claims._where_better(cls.together(inputs, predictions))
        if lead is Lead.EXCHANGES:
            return claims._where_better(cls._exchanges(inputs, predictions, stairs or Stairs.of(inputs)))
        return claims

    @classmethod
    def of_one(cls, inputs: BoundedInputs, predictions: Predictions, number: int, lead: Lead | None = None) -> Claim:
        """The leading claim about one input, chosen in the same way as the claims about all inputs."""
        row = np.array([number])
        one = inputs.selected(row)
        stairs = Stairs.of(one, page_counts(inputs)) if has_boxes(inputs.noise) else None
        return cls.leading(one, predictions.selected(row), lead, stairs)[0]

    @classmethod
    def along(cls, inputs: BoundedInputs, predictions: Predictions, along: str | tuple[str, str]) -> Claims:
        """The claims about changes along one axis, nothing else being changed."""
        radii, axis = inputs.max_radius(along), axis_index(inputs.noise, along)
        counts = np.where(np.arange(len(inputs.axes)) == axis, radii[:, None], 0)
        return cls._of(inputs, predictions, counts, inputs.room_alone)

    @classmethod
    def together(cls, inputs: BoundedInputs, predictions: Predictions) -> Claims:
        """The claims about changes of all kinds together."""
        return cls._of(inputs, predictions, inputs.max_l0_radius()[:, None], inputs.room_together[:, None])

    @classmethod
    def _exchanges(cls, inputs: BoundedInputs, predictions: Predictions, stairs: Stairs) -> Claims:
        """The claims about equal numbers of additions and deletions, which together exchange entries."""
        scope = inputs.scope
        if scope is not None and scope.closes_gaps:
            pairs = max_edit_distance(inputs)
            return cls._of(inputs, predictions, np.stack([pairs] * 2, axis=1), np.full((len(inputs), 2), UNBOUNDED))
        pairs = stairs.most_pairs()
        room = np.full_like(pairs, UNBOUNDED) if scope is None else scope.nonzeros[:, 0]
        counts = np.minimum(pairs, room)
        return cls._of(inputs, predictions, np.stack([counts] * 2, axis=1), np.stack([room] * 2, axis=1))

    @classmethod
    def _of(cls, inputs: BoundedInputs, predictions: Predictions, counts: IntArray, room: IntArray) -> Claims:
        """The claims of counts and room [inputs, budgets]: one budget for each axis, or one for all axes."""
        abstained = inputs.abstained
        counts = np.where(abstained[:, None], 0, counts)
        rows = np.column_stack([abstained, counts, room])
        _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        along = [(axis,) for axis in inputs.axes] if counts.shape[1] == len(inputs.axes) else [inputs.axes]
        distinct = (
            Claim(
                input=int(predictions.ids[number]),
                label=None if abstained[number] else int(predictions.label[number]),
                budgets=tuple(map(Budget, along, counts[number].tolist(), room[number].tolist())),
                fixed=None if inputs.scope is None else inputs.scope.fixed,
                alpha=predictions.alpha,
                simultaneous=predictions.simultaneous,
                checked=predictions.checked,
            )
            for number in first.tolist()
        )
        return cls(tuple(distinct), index.ravel(), predictions.label, predictions.ids)

    def _where_better(self, other: Claims) -> Claims:
        """These claims, replaced by the other claims wherever those cover a change."""
        covers = np.array([claim.withstands_a_change for claim in other.distinct], dtype=bool)
        index = np.where(covers[other.index], len(self.distinct) + other.index, self.index)
        kept, index = np.unique(index, return_inverse=True)
        every = self.distinct + other.distinct
        return Claims(tuple(every[i] for i in kept.tolist()), index.ravel(), self.label, self.ids)


def _boxes(inputs: BoundedInputs, stairs: Stairs | None) -> IntArray:
    """The largest certified combination that an input has room for; any number of changes of kinds without end."""
    boxes = (Stairs.of(inputs) if stairs is None else stairs).largest_boxes(inputs.room)
    alone = np.stack([inputs.uncapped_radius(name) for name in inputs.axis_names], axis=1)
    counts = np.minimum(np.where(alone == UNBOUNDED, UNBOUNDED, boxes), inputs.room)
    return np.minimum(counts, _room_beside(inputs, counts))


def _alone(inputs: BoundedInputs) -> IntArray:
    """The largest radius of any single kind of change, and 0 for all other kinds."""
    radii = np.stack([inputs.max_radius(name) for name in inputs.axis_names], axis=1)
    return np.where(np.arange(radii.shape[1]) == radii.argmax(axis=1)[:, None], radii, 0)


def _room_beside(inputs: BoundedInputs, counts: IntArray) -> IntArray:
    """How many changes of each kind there is room for, if changes of the other kinds stay within their counts."""
    room, scope = inputs.room, inputs.scope
    if scope is None or not scope.makes_room or not inputs.noise.flips:
        return room
    # only deletions make room for more additions than there are empty places
    return np.stack([scope.zeros[:, 0] + counts[:, 1], room[:, 1]], axis=1)
