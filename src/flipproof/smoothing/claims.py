"""Which claim is made about every input: one certified combination of changes, never maxima that hold only apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from flipproof.base.values import IntArray
from flipproof.smoothing.stairs import Stairs, page_counts
from flipproof.theory.claim import Budget, Claim
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, axes_of

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates

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
    def leading(cls, certificates: Certificates, lead: Lead | None = None, stairs: Stairs | None = None) -> Claims:
        """One combination for every input: what it can withstand of the kind that leads, or else of any other."""
        lead = default_lead(certificates.noise) if lead is None else lead
        counts = _boxes(certificates, stairs) if has_boxes(certificates.noise) else _alone(certificates)
        claims = cls._of(certificates, counts, _room_beside(certificates, counts))
        if lead is Lead.TOGETHER:
            return claims._where_better(cls.together(certificates))
        if lead is Lead.EXCHANGES:
            return claims._where_better(cls._exchanges(certificates, stairs or Stairs.of(certificates)))
        return claims

    @classmethod
    def of_one(cls, certificates: Certificates, number: int, lead: Lead | None = None) -> Claim:
        """The leading claim about one input, chosen as it is among all."""
        one = certificates.selected(np.array([number]))
        stairs = Stairs.of(one, page_counts(certificates)) if has_boxes(certificates.noise) else None
        return cls.leading(one, lead, stairs)[0]

    @classmethod
    def along(cls, certificates: Certificates, axis: int) -> Claims:
        """What is certified along one axis, nothing else being changed."""
        noise, scope = certificates.noise, certificates.votes.scope
        radii = certificates.max_radius(str(axes_of(noise)[axis]))
        counts = np.where(np.arange(len(axes_of(noise))) == axis, radii[:, None], 0)
        room = np.full_like(counts, UNBOUNDED) if scope is None else scope.room_alone(noise)
        return cls._of(certificates, counts, room)

    @classmethod
    def together(cls, certificates: Certificates, radii: IntArray | None = None) -> Claims:
        """What is certified of changes of all kinds together; `radii` are those of `max_l0_radius`, if known."""
        radii, scope = certificates.max_l0_radius() if radii is None else radii, certificates.votes.scope
        room = np.full_like(radii, UNBOUNDED) if scope is None else scope.totals
        return cls._of(certificates, radii[:, None], room[:, None])

    @classmethod
    def _exchanges(cls, certificates: Certificates, stairs: Stairs) -> Claims:
        """As many additions as deletions: each may be in the place of the other."""
        pairs, scope = stairs.most_pairs(), certificates.votes.scope
        room = np.full_like(pairs, UNBOUNDED) if scope is None else scope.nonzeros[:, 0]
        counts = np.minimum(pairs, room)
        return cls._of(certificates, np.stack([counts] * 2, axis=1), np.stack([room] * 2, axis=1))

    @classmethod
    def _of(cls, certificates: Certificates, counts: IntArray, room: IntArray) -> Claims:
        """From counts and room [inputs, budgets]: one budget for each axis, or one for all of them."""
        counts = np.where(certificates.abstained[:, None], 0, counts)
        rows = np.column_stack([certificates.abstained, counts, room])
        _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        distinct = (_claim(certificates, i, counts[i].tolist(), room[i].tolist()) for i in first.tolist())
        return cls(tuple(distinct), index.ravel(), certificates.label, certificates.votes.ids)

    def _where_better(self, other: Claims) -> Claims:
        """The other claims wherever they cover a change."""
        covers = np.array([claim.withstands_a_change for claim in other.distinct], dtype=bool)
        index = np.where(covers[other.index], len(self.distinct) + other.index, self.index)
        kept, index = np.unique(index, return_inverse=True)
        every = self.distinct + other.distinct
        return Claims(tuple(every[i] for i in kept.tolist()), index.ravel(), self.label, self.ids)


def _claim(certificates: Certificates, number: int, counts: list[int], room: list[int]) -> Claim:
    axes, scope = axes_of(certificates.noise), certificates.votes.scope
    along = [(axis,) for axis in axes] if len(counts) == len(axes) else [axes]
    return Claim(
        input=int(certificates.votes.ids[number]),
        label=None if certificates.abstained[number] else int(certificates.label[number]),
        budgets=tuple(Budget(*each) for each in zip(along, counts, room, strict=True)),
        fixed=None if scope is None else scope.fixed,
        alpha=certificates.alpha,
        simultaneous=certificates.simultaneous,
        checked=certificates.votes.checked,
    )


def _boxes(certificates: Certificates, stairs: Stairs | None) -> IntArray:
    """The largest certified combination, within what an input can suffer; of kinds without end, any number."""
    noise, scope = certificates.noise, certificates.votes.scope
    shape = len(certificates), len(axes_of(noise))
    room = np.full(shape, UNBOUNDED) if scope is None else scope.room(noise)
    boxes = (Stairs.of(certificates) if stairs is None else stairs).largest_boxes(room)
    alone = np.stack([certificates.uncapped_radius(str(axis)) for axis in axes_of(noise)], axis=1)
    counts = np.minimum(np.where(alone == UNBOUNDED, UNBOUNDED, boxes), room)
    return np.minimum(counts, _room_beside(certificates, counts))


def _alone(certificates: Certificates) -> IntArray:
    """The largest radius of one kind, nothing else being changed."""
    radii = np.stack([certificates.max_radius(str(axis)) for axis in axes_of(certificates.noise)], axis=1)
    return np.where(np.arange(radii.shape[1]) == radii.argmax(axis=1)[:, None], radii, 0)


def _room_beside(certificates: Certificates, counts: IntArray) -> IntArray:
    """How many changes of each kind there can be, if there are no more of the others than are counted."""
    noise, scope = certificates.noise, certificates.votes.scope
    if scope is None:
        return np.full_like(counts, UNBOUNDED)
    room = scope.room(noise)
    if scope.makes_room:  # only deletions make room for more additions than there are empty places
        room = np.stack([scope.zeros[:, 0] + counts[:, 1], room[:, 1]], axis=1)
    return room
