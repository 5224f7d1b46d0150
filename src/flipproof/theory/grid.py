"""A box of radii: which counts are wanted along every axis of a noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.base_law import Noise, checked_noise
from flipproof.theory.radii import Axis, axes_of, checked_part_names, has_parts

MOST_COUNTS = 100_000
"""How long a range may be."""

Counts = int | Iterable[int]
"""One count, or several (a range). Several make a dimension of the result, one does not."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The counts wanted along each axis, and the shape of a table over them."""

    counts: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many combinations of counts there are."""
        return math.prod(map(len, self.counts))


def grid_of(noise: Noise, parts: Mapping[str, Mapping[str, Counts]] | None, kinds: Mapping[str, Counts | None]) -> Grid:
    """Checks the ranges a user gave and lines them up with the axes of the noise.

    Axes that were not given stay at zero and make no dimension.
    """
    wanted = _by_axis(noise, parts, {kind: given for kind, given in kinds.items() if given is not None})
    counts: list[tuple[int, ...]] = []
    shape: list[int] = []
    for axis in axes_of(noise):
        given = wanted.pop(axis, 0)
        if isinstance(given, np.ndarray) and given.ndim == 0:
            given = given.item()
        if isinstance(given, Iterable):
            counts.append(_increasing(given, axis))
            shape.append(len(counts[-1]))
        else:
            counts.append((checked_count(given, str(axis)),))
    for axis in wanted:
        raise InvalidInputError(f"expected {', '.join(map(str, axes_of(noise)))} for this noise, got {axis}")
    return Grid(tuple(counts), tuple(shape))


def _increasing(given: Iterable[int], axis: Axis) -> tuple[int, ...]:
    counts = tuple(checked_count(count, str(axis)) for count in itertools.islice(given, MOST_COUNTS + 1))
    if len(counts) > MOST_COUNTS:
        raise InvalidInputError(f"expected at most {MOST_COUNTS:,} counts for {axis}, got more; ask for fewer radii")
    if not counts or any(a >= b for a, b in itertools.pairwise(counts)):
        raise InvalidInputError(f"expected increasing counts for {axis}, got {counts}")
    return counts


def _by_axis(
    noise: Noise, parts: Mapping[str, Mapping[str, Counts]] | None, kinds: Mapping[str, Counts]
) -> dict[Axis, Counts]:
    if not has_parts(checked_noise(noise)):
        if parts is not None:
            got = f"a {type(noise).__name__}, got {parts!r}"
            raise InvalidInputError(f"expected add=, delete= or change= for {got}")
        return {Axis(None, kind): given for kind, given in kinds.items()}
    if kinds or not isinstance(parts, Mapping):
        got = ", ".join(f"{kind}=" for kind in kinds) or repr(parts)
        raise InvalidInputError(f"expected a mapping from part to ranges for a JointNoise, got {got}")
    checked_part_names(noise, parts)
    for name, ranges in parts.items():
        if not isinstance(ranges, Mapping):
            raise InvalidInputError(
                f"expected a mapping from add, delete or change to ranges for {name!r}, got {ranges!r}"
            )
    return {Axis(name, kind): given for name, ranges in parts.items() for kind, given in ranges.items()}
