"""The scope of an attacker: how many entries of every input noise touches, and what it leaves alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, read_only
from flipproof.errors import InvalidInputError
from flipproof.theory.law import Law, Noise, as_flip_noise
from flipproof.theory.radii import UNBOUNDED, Axis, axes_of


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """How many entries noise touches in every input, part by part, and what it does not touch.

    A radius beyond these numbers says no more than the numbers themselves: a message of 10 words cannot lose 22 words.

    Attributes:
        zeros: [inputs, parts], the number of entries that an attacker can turn on.
        nonzeros: [inputs, parts], the number of entries that an attacker can turn off or change.
        fixed: what gets no noise, as noun phrases: certificates hold only while it stays unchanged.
        makes_room: whether a deletion makes room for an addition, as when a token is hidden and another token is
            written in its place.
        closes_gaps: whether inputs are sequences in which deletions close the gap and additions go anywhere. Then
            there is always room for another addition, and `zeros` says nothing (docs/theory.md, statement 27).

    Example:
        >>> scope = Scope(zeros=[[7], [9]], nonzeros=[[3], [1]], fixed=("the padding",))
        >>> scope.totals
        array([10, 10])
    """

    zeros: IntArray
    nonzeros: IntArray
    fixed: tuple[str, ...] = ()
    makes_room: bool = False
    closes_gaps: bool = False

    def __post_init__(self) -> None:
        for name in ("zeros", "nonzeros"):
            object.__setattr__(self, name, read_only(_entry_counts(getattr(self, name), name)))
        if self.zeros.shape != self.nonzeros.shape:
            raise InvalidInputError(
                f"expected zeros and nonzeros of one shape, got {self.zeros.shape} and {self.nonzeros.shape}"
            )
        if not isinstance(self.fixed, tuple) or not all(isinstance(words, str) for words in self.fixed):
            raise InvalidInputError(f"expected fixed to be a tuple of texts, got {self.fixed!r}")
        for name in ("makes_room", "closes_gaps"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInputError(f"expected {name} to be True or False, got {getattr(self, name)!r}")
        if self.makes_room and self.closes_gaps:
            raise InvalidInputError("expected gaps that close or gaps that make room, got both")

    def __repr__(self) -> str:
        return short_repr(
            self, amount(len(self), "input"), amount(self.zeros.shape[1], "part"), f"fixed={self.fixed!r}"
        )

    def __len__(self) -> int:
        return int(self.zeros.shape[0])

    def __eq__(self, other: object) -> bool:
        """Whether both scopes have the same numbers of entries, fixed things and rules about gaps."""
        if not isinstance(other, Scope):
            return NotImplemented
        same = all(getattr(self, name) == getattr(other, name) for name in ("fixed", "makes_room", "closes_gaps"))
        return same and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("zeros", "nonzeros"))

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def totals(self) -> IntArray:
        """[inputs]: how many changes of all kinds together an input has room for."""
        if self.closes_gaps:
            return np.full(len(self), UNBOUNDED)
        each = self.zeros + (2 if self.makes_room else 1) * self.nonzeros
        return np.asarray(each.sum(axis=1))

    def fits(self, law: Law, inputs: int) -> bool:
        """Whether the scope is about this number of inputs and the parts of this law; never for a law without axes.

        Only noise that deletes fits sequences whose gaps close.
        """
        shape_fits = bool(law.axes) and self.zeros.shape == (inputs, len(law.part_names))
        return shape_fits and (not self.closes_gaps or only_deletes(law))

    def room(self, noise: Noise) -> IntArray:
        """[inputs, axes]: how many changes of each kind an input has room for, whatever else is changed."""
        freed = self.nonzeros if self.makes_room else np.zeros_like(self.nonzeros)
        return self._by_axis(noise, self._additions + freed)

    def room_alone(self, noise: Noise) -> IntArray:
        """[inputs, axes]: how many changes of each kind an input has room for if no other kind of change is made."""
        return self._by_axis(noise, self._additions)

    @property
    def _additions(self) -> IntArray:
        """[inputs, parts]: how many additions there is room for before anything is deleted."""
        return np.full_like(self.zeros, UNBOUNDED) if self.closes_gaps else self.zeros

    def _by_axis(self, noise: Noise, additions: IntArray) -> IntArray:
        if not noise.changes_entries:
            return np.full((len(self), len(axes_of(noise))), UNBOUNDED)
        number = {name: i for i, name in enumerate(noise.part_names)}

        def column(axis: Axis) -> IntArray:
            if not noise.flips:  # of other laws it is only known that an entry changes
                counts = additions + self.nonzeros
            else:
                counts = additions if axis.kind == "add" else self.nonzeros
            return np.asarray(counts[:, number[axis.part]])

        return np.stack([column(axis) for axis in axes_of(noise)], axis=1)

    def selected(self, rows: NDArray[Any]) -> Scope:
        """The scope of some inputs."""
        return Scope(self.zeros[rows], self.nonzeros[rows], self.fixed, self.makes_room, self.closes_gaps)


def only_deletes(law: Law) -> bool:
    """Whether the law is one `FlipNoise` that deletes entries and does nothing else.

    Example:
        >>> from flipproof import FlipNoise
        >>> only_deletes(FlipNoise(0.0, 0.5)), only_deletes(FlipNoise(0.1, 0.5))
        (True, False)
    """
    noise = as_flip_noise(law)
    return noise is not None and noise.p_plus == 0.0 and noise.categories == 2


def _entry_counts(given: ArrayLike, name: str) -> IntArray:
    try:
        counts = np.asarray(given)
    except ValueError:
        raise InvalidInputError(f"expected {name} of shape [inputs, parts], got rows of unequal length") from None
    if counts.ndim != 2 or (counts.size and counts.dtype.kind not in "iu"):
        raise InvalidInputError(f"expected {name} to be counts [inputs, parts], got {counts.dtype} {counts.shape}")
    if counts.size and not (counts.min() >= 0 and counts.max() < UNBOUNDED // 4):
        raise InvalidInputError(f"expected {name} to be non-negative counts, got {counts.min()} to {counts.max()}")
    return counts.astype(np.int64)
