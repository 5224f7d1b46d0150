"""Which claim is made about every input: one certified combination of changes, never maxima that hold only apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from flipproof.base.values import IntArray
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.claim import Budget, Claim
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, axes_of, axis_index
from flipproof.theory.stairs import Stairs, page_counts

_MOST_AXES = 4
"""Combinations of more kinds of change than this are no plain words."""


class Lead(Enum):
    """What a claim speaks of first: so many changes of each kind, of all kinds together, or exchanges of entries."""

    BY_KIND = "by kind"
    TOGETHER = "together"
    EXCHANGES = "exchanges"


def default_lead(noise: Noise) -> Lead:
    """All kinds together where they are alike, or too many to name."""
    return Lead.TOGETHER if noise.is_even or not has_boxes(noise) else Lead.BY_KIND


def has_boxes(noise: Noise) -> bool:
    """Whether combinations of all its kinds of change can be said."""
    return len(axes_of(noise)) <= _MOST_AXES


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What claims about inputs say beside the changes: who the inputs are, what is predicted, and how surely.

    Attributes:
        ids: [inputs], what the inputs are called.
        label: [inputs], the prediction.
        alpha: the probability that a claim is wrong;
        simultaneous: or, if true, that any of them is.
        checked: whether the classifier was seen to give one label to one noisy input; None for votes from elsewhere.
    """

    ids: IntArray
    label: IntArray
    alpha: float
    simultaneous: bool
    checked: bool | None

    def selected(self, rows: IntArray) -> Predictions:
        """Those of some inputs."""
        return replace(self, ids=self.ids[rows], label=self.label[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """The claims about all inputs; most inputs share theirs with others.

    Attributes:
        distinct: each once, about the first input that has it.
        index: [inputs], the number of its claim.
        label: [inputs], the prediction.
        ids: [inputs], what the inputs are called.
    """

    distinct: tuple[Claim, ...]
    index: IntArray
    label: IntArray
    ids: IntArray

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
        """One combination for every input: what it can withstand of the kind that leads, or else of any other."""
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
        """The leading claim about one input, chosen as it is among all."""
        row = np.array([number])
        one = inputs.selected(row)
        stairs = Stairs.of(one, page_counts(one)) if has_boxes(inputs.noise) else None
        return cls.leading(one, predictions.selected(row), lead, stairs)[0]

    @classmethod
    def along(cls, inputs: BoundedInputs, predictions: Predictions, along: str | tuple[str, str]) -> Claims:
        """What is certified along one axis, nothing else being changed."""
        radii, axis = inputs.max_radius(along), axis_index(inputs.noise, along)
        counts = np.where(np.arange(len(inputs.axes)) == axis, radii[:, None], 0)
        return cls._of(inputs, predictions, counts, inputs.room_alone)

    @classmethod
    def together(cls, inputs: BoundedInputs, predictions: Predictions) -> Claims:
        """What is certified of changes of all kinds together."""
        return cls._of(inputs, predictions, inputs.max_l0_radius()[:, None], inputs.room_together[:, None])

    @classmethod
    def _exchanges(cls, inputs: BoundedInputs, predictions: Predictions, stairs: Stairs) -> Claims:
        """As many additions as deletions: each may be in the place of the other."""
        pairs, scope = stairs.most_pairs(), inputs.scope
        room = np.full_like(pairs, UNBOUNDED) if scope is None else scope.nonzeros[:, 0]
        counts = np.minimum(pairs, room)
        return cls._of(inputs, predictions, np.stack([counts] * 2, axis=1), np.stack([room] * 2, axis=1))

    @classmethod
    def _of(cls, inputs: BoundedInputs, predictions: Predictions, counts: IntArray, room: IntArray) -> Claims:
        """From counts and room [inputs, budgets]: one budget for each axis, or one for all of them."""
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
        """The other claims wherever they cover a change."""
        covers = np.array([claim.withstands_a_change for claim in other.distinct], dtype=bool)
        index = np.where(covers[other.index], len(self.distinct) + other.index, self.index)
        kept, index = np.unique(index, return_inverse=True)
        every = self.distinct + other.distinct
        return Claims(tuple(every[i] for i in kept.tolist()), index.ravel(), self.label, self.ids)


def _boxes(inputs: BoundedInputs, stairs: Stairs | None) -> IntArray:
    """The largest certified combination, within what an input can suffer; of kinds without end, any number."""
    boxes = (Stairs.of(inputs) if stairs is None else stairs).largest_boxes(inputs.room)
    alone = np.stack([inputs.uncapped_radius(name) for name in inputs.axis_names], axis=1)
    counts = np.minimum(np.where(alone == UNBOUNDED, UNBOUNDED, boxes), inputs.room)
    return np.minimum(counts, _room_beside(inputs, counts))


def _alone(inputs: BoundedInputs) -> IntArray:
    """The largest radius of one kind, nothing else being changed."""
    radii = np.stack([inputs.max_radius(name) for name in inputs.axis_names], axis=1)
    return np.where(np.arange(radii.shape[1]) == radii.argmax(axis=1)[:, None], radii, 0)


def _room_beside(inputs: BoundedInputs, counts: IntArray) -> IntArray:
    """How many changes of each kind there can be, if there are no more of the others than are counted."""
    room, scope = inputs.room, inputs.scope
    if scope is None or not scope.makes_room:
        return room
    # only deletions make room for more additions than there are empty places
    return np.stack([scope.zeros[:, 0] + counts[:, 1], room[:, 1]], axis=1)
