"""Shares of certified inputs over radii: the values that figures are drawn from, and how certificates become them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.arrays import FloatArray, IntArray, read_only
from flipproof.errors import InvalidInputError, not_among
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.sample_limits import caps
from flipproof.smoothing.stairs import GridCounts, axis_names, ranges_along, ranges_of, reach
from flipproof.theory.radii import axes_of
from flipproof.theory.search import SEARCH_LIMIT

CERTIFIED_RATIO = "certified ratio"
CERTIFIED_ACCURACY = "certified accuracy"

_FAR_OF_LINES = 100
"""The largest count of a line."""

_NOTHING_HELD: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class ShareGrid:
    """The share of inputs that are certified, for all combinations of some counts along each axis.

    Attributes:
        axes: names, as in `max_radius`.
        counts: numbers of changes along each axis, increasing.
        shares: one number in [0, 1] for every combination.
        measure: what is shared, say "certified ratio".
        of: how many inputs there are.
        held: in a plane, the other axes and their counts.

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
        measure: what is shared, say "certified ratio".
        of: how many inputs there are.
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


def _checked_shares(given: Any, shape: tuple[int, ...]) -> FloatArray:
    shares = np.asarray(given, dtype=np.float64)
    if shares.shape != shape or not shares.size:
        raise InvalidInputError(f"expected shares of shape {shape}, at least one, got shape {shares.shape}")
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise InvalidInputError(f"expected shares in [0, 1], got {shares.min()} to {shares.max()}")
    return read_only(shares)


def ratio_grid(certificates: Certificates, counts: GridCounts) -> ShareGrid:
    """The certified ratio for all combinations of the counts."""
    parts, kinds = ranges_of(certificates.noise, counts)
    shares = certificates.certified_ratio(parts, **kinds)
    return ShareGrid(axis_names(certificates), counts, shares, CERTIFIED_RATIO, len(certificates))


def accuracy_grid(
    certificates: Certificates, true_labels: ArrayLike, counts: GridCounts, among: ArrayLike | None = None
) -> ShareGrid:
    """The certified accuracy for all combinations of the counts.

    Args:
        certificates: of all inputs.
        true_labels: one integer for each of them.
        counts: numbers of changes along every axis.
        among: a mask or the indices of the inputs that count (the test inputs), by default all.
    """
    rows = _rows(certificates, among)
    chosen = certificates.selected(rows)
    parts, kinds = ranges_of(certificates.noise, counts)
    shares = chosen.certified_accuracy(_labels(certificates, true_labels)[rows], parts, **kinds)
    return ShareGrid(axis_names(certificates), counts, shares, CERTIFIED_ACCURACY, len(chosen))


def ratio_lines(certificates: Certificates) -> tuple[ShareLine, ...]:
    """The certified ratio along every axis, the other axes at 0."""
    return tuple(
        ShareLine(name, counts, certificates.certified_ratio(parts, **kinds), CERTIFIED_RATIO, len(certificates), cap)
        for name, counts, cap, (parts, kinds) in _lines_wanted(certificates)
    )


def accuracy_lines(
    certificates: Certificates, true_labels: ArrayLike, among: ArrayLike | None = None
) -> tuple[ShareLine, ...]:
    """The certified accuracy along every axis, the other axes at 0; for the counts of `ratio_lines`."""
    rows = _rows(certificates, among)
    chosen, truth = certificates.selected(rows), _labels(certificates, true_labels)[rows]
    return tuple(
        ShareLine(name, counts, chosen.certified_accuracy(truth, parts, **kinds), CERTIFIED_ACCURACY, rows.size, cap)
        for name, counts, cap, (parts, kinds) in _lines_wanted(certificates)
    )


def _lines_wanted(certificates: Certificates) -> Iterator[tuple[str, tuple[int, ...], int, Any]]:
    """For every axis its name, the counts of its line, past the last certificate and the cap, and the cap."""
    for axis, cap in zip(axes_of(certificates.noise), caps(certificates), strict=True):
        last = max(reach(certificates, str(axis)), cap + 1 if cap < SEARCH_LIMIT else 0)
        counts = tuple(range(min(_FAR_OF_LINES, last) + 1))
        yield str(axis), counts, cap, ranges_along({axis: counts})


def _labels(certificates: Certificates, true_labels: ArrayLike) -> IntArray:
    labels = np.asarray(true_labels)
    if labels.shape != (len(certificates),):
        raise InvalidInputError(f"expected {len(certificates)} true labels, got shape {labels.shape}")
    return labels


def _rows(certificates: Certificates, among: ArrayLike | None) -> IntArray:
    """The chosen inputs as increasing indices, each once."""
    inputs = len(certificates)
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
