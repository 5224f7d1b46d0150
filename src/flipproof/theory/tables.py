"""Many radii at once: critical probabilities, worst-case probabilities and margins over a grid.

The order of the lattice positions by likelihood ratio is the same for all radii (statement 5), so it is
sorted once for a whole table, and the masses of all radii come from each other by one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.rounding import ROUNDOFF, TINY
from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_probabilities
from flipproof.theory.lattice import Keys, Lattice, lattice_of, mass_slack, refuse_if_large
from flipproof.theory.law import FlipNoise, Noise, checked_pairs
from flipproof.theory.radii import Counts, Grid, by_part, grid_of
from flipproof.theory.regions import Regions, refuse_many, regions_at

if TYPE_CHECKING:
    from flipproof.theory.kernels import Cells

_SLAB_MASSES = 2**18
"""The number of masses of one part that are computed at once, 2 MiB."""

_KEY_ORDER = 3.0
"""Positions are sorted by keys, not by rounded masses, which adds twice the slack of the masses (statement 8)."""

Parts = Mapping[str, Mapping[str, Counts]]


def critical_table(
    noise: Noise,
    parts: Parts | None = None,
    *,
    add: Counts | None = None,
    delete: Counts | None = None,
    change: Counts | None = None,
) -> FloatArray:
    """`critical_probability` for all combinations of the given counts.

    The result has one dimension for every range, in the order add, delete, change, part by part. With it, certifying
    any number of inputs is a comparison with a table.

    Args:
        noise: the noise law.
        parts: for a `JointNoise`, a mapping from part name to the ranges of that part.
        add: counts of added non-zeros (a range, or one number).
        delete: counts of deleted non-zeros.
        change: counts of changed non-zeros, for more than 2 categories.

    Example:
        >>> from flipproof import FlipNoise
        >>> critical_table(FlipNoise(p_plus=0.01, p_minus=0.6), add=range(2), delete=range(3)).round(3)
        array([[0.5  , 0.697, 0.816],
               [0.825, 0.89 , 0.931]])
    """
    from flipproof.theory import kernels

    grid = grid_of(noise, parts, {"add": add, "delete": delete, "change": change})
    refuse_if_large(grid.cells)
    clean_mass = np.empty(grid.cells)
    if not noise.flips:
        clean_mass = _table_below(noise, grid, lambda regions: np.array(regions.critical_clean_mass()))
    for cells, result in _slabs(noise, grid, clean_mass) if noise.flips else ():
        kernels.critical_cells(cells, result)
    table = np.where(clean_mass > 0.0, kernels.complement_up(clean_mass), np.inf)
    return table.reshape(grid.shape)


def rho_table(
    noise: Noise,
    p_lower: ArrayLike,
    parts: Parts | None = None,
    *,
    add: Counts | None = None,
    delete: Counts | None = None,
    change: Counts | None = None,
) -> FloatArray:
    """`rho` for all combinations of the given counts; the last dimension runs over `p_lower`.

    Example:
        >>> from flipproof import FlipNoise
        >>> rho_table(FlipNoise(p_plus=0.01, p_minus=0.6), [0.9, 0.99], delete=range(3)).shape
        (3, 2)
    """
    p = checked_probabilities(p_lower, "p_lower")
    grid = grid_of(noise, parts, {"add": add, "delete": delete, "change": change})
    refuse_if_large(grid.cells * p.size)
    table = np.empty((grid.cells, p.size))
    _fill_margins(noise, grid, p.reshape(1, -1), table)
    return table.reshape(grid.shape + p.shape)


def mu_table(
    noise: Noise,
    p_lower: ArrayLike,
    p_upper: ArrayLike | None = None,
    parts: Parts | None = None,
    *,
    add: Counts | None = None,
    delete: Counts | None = None,
    change: Counts | None = None,
) -> FloatArray:
    """`mu` for all combinations of the given counts; the last dimension runs over the pairs of bounds.

    Example:
        >>> from flipproof import FlipNoise
        >>> mu_table(FlipNoise(p_plus=0.01, p_minus=0.6), [0.9], [0.05], delete=range(4)).ravel() > 0
        array([ True,  True,  True,  True])
    """
    lower, upper = checked_pairs(p_lower, p_upper)
    grid = grid_of(noise, parts, {"add": add, "delete": delete, "change": change})
    return margin_grid(noise, grid, lower.ravel(), upper.ravel()).reshape(grid.shape + lower.shape)


def margin_grid(noise: Noise, grid: Grid, p_lower: FloatArray, p_upper: FloatArray) -> FloatArray:
    """`mu` for flat arrays of bounds, [cells, pairs]."""
    refuse_if_large(grid.cells * p_lower.size)
    table = np.empty((grid.cells, p_lower.size))
    _fill_margins(noise, grid, np.array([p_lower, p_upper]), table)
    return table


def _fill_margins(noise: Noise, grid: Grid, p: FloatArray, table: FloatArray) -> None:
    """Writes `rho` if p has only the row p_lower, `mu` if it has the row p_upper, too."""
    from flipproof.theory import kernels

    if not noise.flips:
        table[:] = _table_below(noise, grid, lambda one: one.margin(*p) if len(p) > 1 else one.lower_mass(p[0]))
        return
    s = np.array([kernels.complement_up(p[0]), *p[1:]])
    zeros, orders = np.count_nonzero(s == 0.0, axis=1), np.argsort(s, axis=1)
    s = np.maximum(np.take_along_axis(s, orders, axis=1), TINY)
    for cells, result in _slabs(noise, grid, table):
        kernels.margin_cells(cells, p, s, zeros, orders, result)


def _table_below(noise: Noise, grid: Grid, answer: Callable[[Regions], FloatArray]) -> FloatArray:
    """[cells, ...]: the smallest answer of the regions at all points up to every cell of a grid."""
    extent = [counts[-1] + 1 for counts in grid.counts]
    refuse_many(math.prod(extent))
    every = np.array([answer(regions_at(noise, point)) for point in product(*map(range, extent))])
    table = every.reshape(*extent, *every.shape[1:])
    for axis in range(len(extent)):
        table = np.minimum.accumulate(table, axis=axis)
    return np.asarray(table[np.ix_(*grid.counts)].reshape(grid.cells, *every.shape[1:]))


@dataclass(frozen=True, slots=True)
class _Side:
    """The masses of some radii of one part (or of several parts together): [cells, pad + positions]."""

    clean: FloatArray
    adversarial: FloatArray
    slack: FloatArray
    covered: BoolArray
    pad: int = 0

    def times(self, other: _Side) -> _Side:
        """All pairs of cells, all pairs of positions."""
        refuse_if_large(self.clean.size * other.clean.size)
        return _Side(
            np.asarray(np.kron(self.clean, other.clean), dtype=np.float64),
            np.asarray(np.kron(self.adversarial, other.adversarial), dtype=np.float64),
            _summed_slack(self.slack[:, None], other.slack[None, :]).ravel(),
            np.logical_and.outer(self.covered, other.covered).ravel(),
        )


def _summed_slack(a: FloatArray, b: FloatArray) -> FloatArray:
    """The slack of products; zero where neither side was changed."""
    return np.where((a > 0.0) | (b > 0.0), a + b + 7 * ROUNDOFF, 0.0)


_NO_PART = _Side(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1), np.ones(1, dtype=bool))


def _slabs(noise: Noise, grid: Grid, table: FloatArray) -> Iterator[tuple[Cells, FloatArray]]:
    """The slabs of the grid, one after the other along its first axis, and the places of a table for their results.

    Only one slab of the first part is in memory at a time, together with all masses of the other parts.
    """
    from flipproof.theory.kernels import Cells

    parts = [_part_counts(part, counts) for part, counts in by_part(noise, grid.counts)]
    refuse_if_large(math.prod(math.prod(part.extent) for part in parts))
    first, *other_parts = parts
    other, other_keys = _NO_PART, Keys(np.zeros(1, dtype=np.int64), np.zeros(1), 0.0)
    for part in other_parts:
        other = other.times(part.whole()) if other is not _NO_PART else part.whole()
        other_keys = other_keys.plus(part.lattice.keys(part.extent))
    keys = first.lattice.keys(first.extent).plus(other_keys)
    first_position, other_position = np.divmod(keys.tail_first(), other_keys.finite.size)
    order_slack, done = 2.1 * keys.error, 0
    for side in first.slabs():
        tail = np.array([side.pad + first_position, other_position])
        cells = Cells(
            side.clean, side.adversarial, side.slack, other.clean, other.adversarial, other.slack, tail, order_slack,
            side.covered, other.covered,
        )  # fmt: skip
        size = len(side.clean) * len(other.clean)
        yield cells, table[done : done + size].reshape(len(side.clean), len(other.clean), *table.shape[1:])
        done += size


@dataclass(frozen=True, slots=True)
class _PartCounts:
    """The wanted counts of one part, with the counts of inert kinds set to zero."""

    lattice: Lattice
    counts: tuple[IntArray, ...]
    extent: tuple[int, ...]

    def whole(self) -> _Side:
        """The masses of all counts at once."""
        sides = list(self.slabs())
        return _Side(
            np.concatenate([side.clean[:, side.pad :] for side in sides]),
            np.concatenate([side.adversarial[:, side.pad :] for side in sides]),
            np.concatenate([side.slack for side in sides]),
            np.concatenate([side.covered for side in sides]),
        )

    def slabs(self) -> Iterator[_Side]:
        """The masses slab by slab, each for as many counts on the first axis as fit into a slab."""
        from flipproof.theory import kernels

        start, offsets, pad = self.lattice.start(self.extent)
        laws = [self.lattice.clean, self.lattice.adversarial]
        starts, at = [start, start], 0
        for first in self._pieces_of_first_axis(start.size):
            lead, at = first[:1] - at, first[0]
            starts = [kernels.step_masses(one, lead, offsets, law, pad) for one, law in zip(starts, laws, strict=True)]
            ahead = np.ix_(first - at, *self.counts[1:])
            sizes = np.array([1 + axis.max() for axis in ahead])
            refuse_if_large(start.size * math.prod(sizes.tolist()))
            rows = np.ravel_multi_index(ahead, sizes.tolist()).ravel()
            clean, adversarial = (
                kernels.mass_table(one, sizes, offsets, law, pad, rows) for one, law in zip(starts, laws, strict=True)
            )
            slack = _KEY_ORDER * np.float64(mass_slack(1)) * self._changes(first, self.lattice.inert)
            yield _Side(clean, adversarial, slack, self._changes(first, self.lattice.covered) == 0, pad)

    def _changes(self, first: IntArray, left_out: tuple[bool, ...]) -> IntArray:
        """The number of changes of each cell, with some kinds left out."""
        counts = (0 * one if left else one for one, left in zip((first, *self.counts[1:]), left_out, strict=True))
        return np.ravel(sum(np.ix_(*counts)))

    def _pieces_of_first_axis(self, masses: int) -> Iterator[IntArray]:
        rest = math.prod(1 + int(counts.max()) for counts in self.counts[1:])
        length = max(1, _SLAB_MASSES // (masses * rest))
        for i in range(0, self.counts[0].size, length):
            yield self.counts[0][i : i + length]


def _part_counts(part: FlipNoise, counts: tuple[tuple[int, ...], ...]) -> _PartCounts:
    lattice = lattice_of(part)
    extent = lattice.extent(lattice.informative(tuple(map(max, counts))))
    cells = math.prod(1 if inert else 1 + max(one) for inert, one in zip(lattice.inert, counts, strict=True))
    refuse_if_large(math.prod(extent), math.prod(extent) * cells)
    # Inert changes are counted as no changes: all their cells are the same.
    informative = ([0] * len(one) if inert else one for inert, one in zip(lattice.inert, counts, strict=True))
    return _PartCounts(lattice, tuple(np.array(one, dtype=np.int64) for one in informative), extent)
