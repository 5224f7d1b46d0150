"""Shares of certified inputs over radii, the values that figures are drawn from; and numbers as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import InvalidInputError, not_among
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

CERTIFIED_RATIO = "certified ratio"
CERTIFIED_ACCURACY = "certified accuracy"

GridCounts = tuple[tuple[int, ...], ...]
"""Numbers of changes in increasing order, for each axis."""

LARGEST_COUNT = 100
"""No line of a figure goes further."""

_ENDLESS = -1
"""The mark of a page for radii without end."""

_NOTHING_HELD: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class ShareGrid:
    """The share of inputs that are certified, for all combinations of some counts along each axis.

    Attributes:
        axes: names, as in `max_radius`.
        counts: numbers of changes along each axis, increasing.
        shares: one number in [0, 1] for every combination.
        measure: what the shares measure: "certified ratio".
        of: the number of inputs.
        held: the counts of the axes that a plane leaves out.

    Example:
        >>> shares = np.array([[1.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
        >>> grid = ShareGrid(("add", "delete"), ((0, 1), (0, 1, 2)), shares, CERTIFIED_RATIO, of=2)
        >>> grid.plane("delete", "add").shares.tolist()
        [[1.0, 0.5], [0.5, 0.5], [0.5, 0.0]]
    """

    axes: tuple[str, ...]
    counts: GridCounts
    shares: FloatArray
    measure: str
    of: int
    held: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if len(self.axes) != len(self.counts) or len(set(self.axes)) != len(self.axes):
            raise InvalidInputError(f"expected counts for each of different axes, got {self.axes} and {self.counts}")
        object.__setattr__(self, "shares", _checked_shares(self.shares, tuple(map(len, self.counts))))

    def plane(self, y: str, x: str, held: Mapping[str, int] = _NOTHING_HELD) -> ShareGrid:
        """The grid over two axes, in this order, with the others held at the given counts, by default at 0."""
        for axis in (y, x, *held):
            if axis not in self.axes:
                raise not_among("axis", self.axes, axis)
        if y == x or y in held or x in held:
            raise InvalidInputError(
                f"expected two different axes that are not held, got {y!r} and {x!r} with {dict(held)} held"
            )
        kept = {axis: held.get(axis, 0) for axis in self.axes if axis not in (y, x)}
        everything = slice(None)
        cut = (self._position(axis, kept[axis]) if axis in kept else everything for axis in self.axes)
        shares = self.shares[tuple(cut)]
        first, second = self.axes.index(y), self.axes.index(x)
        return ShareGrid(
            axes=(y, x),
            counts=(self.counts[first], self.counts[second]),
            shares=shares if first < second else shares.T,
            measure=self.measure,
            of=self.of,
            held=(*self.held, *kept.items()),
        )

    def _position(self, axis: str, count: int) -> int:
        counts = self.counts[self.axes.index(axis)]
        if count not in counts:
            raise InvalidInputError(f"expected {axis} among {', '.join(map(str, counts))}, got {count!r}")
        return counts.index(count)


@dataclass(frozen=True, slots=True, eq=False)
class ShareLine:
    """The share of inputs that are certified, for some counts along one axis.

    Attributes:
        axis: its name.
        counts: numbers of changes, increasing.
        shares: one number in [0, 1] for every count.
        measure: what the shares measure: "certified ratio".
        of: the number of inputs.
        cap: the largest count that the number of samples allows, if all of them agree; may be `UNBOUNDED`.
    """

    axis: str
    counts: tuple[int, ...]
    shares: FloatArray
    measure: str
    of: int
    cap: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", _checked_shares(self.shares, (len(self.counts),)))


def _checked_shares(given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    shares = np.array(given, dtype=np.float64, order="C")
    if shares.shape != shape or not shares.size:
        raise InvalidInputError(f"expected shares of shape {shape}, at least one, got shape {shares.shape}")
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise InvalidInputError(f"expected shares in [0, 1], got {shares.min()} to {shares.max()}")
    shares.setflags(write=False)
    return shares


def counts_past(radii: NDArray[Any]) -> tuple[int, ...]:
    """The counts from 0 to one more than the largest radius that is known exactly."""
    return tuple(range(min(LARGEST_COUNT, int(radii[radii < SEARCH_LIMIT].max(initial=0)) + 1) + 1))


def mean_radius(radii: IntArray) -> float | None:
    """The mean of some radii; None if one of them is unbounded or only known to be large."""
    return float(np.mean(radii)) if radii.size and radii.max() < SEARCH_LIMIT else None


def checked_truth(true_labels: ArrayLike, inputs: int) -> IntArray:
    """One true label for each input."""
    labels = np.asarray(true_labels)
    if labels.shape != (inputs,):
        raise InvalidInputError(f"expected {inputs} true labels, got shape {labels.shape}")
    return labels


def chosen_rows(inputs: int, among: ArrayLike | None) -> IntArray:
    """The chosen inputs as increasing indices, each once."""
    rows = np.arange(inputs) if among is None else np.asarray(among)
    if rows.dtype == np.bool_ and rows.shape == (inputs,):
        rows = np.flatnonzero(rows)
    if not rows.size:
        raise InvalidInputError("expected at least one input, got none")
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or np.unique(rows).size != rows.size:
        raise InvalidInputError(
            f"expected a mask of {inputs} inputs or different indices, got {rows.dtype} of shape {rows.shape}"
        )
    if rows.min() < 0 or rows.max() >= inputs:
        raise InvalidInputError(f"expected indices in [0, {inputs}), got {rows.min()} to {rows.max()}")
    return np.sort(rows)


def share_words(share: float) -> str:
    """A share to three digits; only a whole share looks whole.

    Example:
        >>> share_words(0.9999), share_words(0.8397), share_words(1.0)
        ('0.999', '0.840', '1.000')
    """
    return f"{share if share >= 1.0 else min(share, 0.999):.3f}"


def known_share(share: float | None) -> str:
    """A share in words, or a dash if it is unknown."""
    return "-" if share is None else share_words(share)


def percent(count: int, of: int) -> str:
    """A share in per cent, rounded down; only a whole share looks whole.

    Example:
        >>> percent(999, 1000), percent(3, 1000), percent(0, 1000), percent(4, 4)
        ('99 %', 'under 1 %', '0 %', '100 %')
    """
    return "under 1 %" if 0 < 100 * count < of else f"{100 * count // max(1, of)} %"


def radius_words(radius: int | None) -> str:
    """A radius in words; None is unknown."""
    if radius is None:
        return "unknown"
    if radius == UNBOUNDED:
        return "unbounded"
    return str(radius) if radius < SEARCH_LIMIT else f"at least {radius}"


def json_radius(radius: int | None) -> int | str | None:
    """A radius as JSON has it: a number, "unbounded", or null if unknown."""
    return "unbounded" if radius == UNBOUNDED else radius


def duration(seconds: float) -> str:
    """A time in words.

    Example:
        >>> duration(4.26), duration(200), duration(7260)
        ('4.3 s', '3 min 20 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def endless(radii: IntArray) -> IntArray:
    """Radii, with a page's mark for unbounded ones."""
    return np.where(radii == UNBOUNDED, _ENDLESS, radii)


def known_cap(cap: int) -> int:
    """A cap, or a page's mark if it lies beyond the search for radii."""
    return _ENDLESS if cap >= SEARCH_LIMIT else cap


def tile(name: str, value: str, note: str) -> dict[str, str]:
    """A number at the top of a page, with its name and a note."""
    return {"name": name, "value": value, "note": note}
