"""How much may be changed: radii along the axes of a noise, and grids of radii."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.base_law import KINDS, Noise
from flipproof.theory.base_law import Axis as Axis
from flipproof.theory.law import FlipNoise, checked_noise

UNBOUNDED = 2**63 - 1
"""The radius of a prediction that withstands any number of changes: larger than any other radius, fits an int64."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Radii:
    """An attacker's budget: zeros turned on, non-zeros turned off, non-zeros changed to another non-zero.

    Example:
        >>> Radii(add=1, delete=2)
        Radii(add=1, delete=2, change=0)
    """

    add: int = 0
    delete: int = 0
    change: int = 0

    def __post_init__(self) -> None:
        for kind in KINDS:
            object.__setattr__(self, kind, checked_count(getattr(self, kind), kind))


AnyRadii = Radii | Mapping[str, Radii]
"""`Radii` for a `FlipNoise`, a mapping from part name to `Radii` for a `JointNoise`."""


def given_radii(radii: AnyRadii | None, **counts: int | None) -> AnyRadii:
    """The radii that a user gave in one of two forms: as a value, or as counts of the kinds of change.

    Example:
        >>> given_radii(None, add=None, delete=2)
        Radii(add=0, delete=2, change=0)
    """
    given = {kind: count for kind, count in counts.items() if count is not None}
    if (radii is None) != bool(given):
        got = "nothing" if radii is None else f"{radii!r} and {', '.join(f'{kind}=' for kind in given)}"
        raise InvalidInputError(f"expected radii either as a value or as counts, such as delete=1, got {got}")
    return Radii(**given) if radii is None else radii


Point = tuple[int, ...]
"""Radii as plain integers, one for each axis of the noise. This room computes with them."""


def parts_of(noise: Noise) -> tuple[tuple[str | None, FlipNoise], ...]:
    """The noise as (name, law) pairs of flips; a `FlipNoise` is one part without a name. Other laws are refused."""
    if not checked_noise(noise).flips:
        raise InvalidInputError(f"expected a FlipNoise or a JointNoise, got {noise!r}")
    return noise.flips


def kinds_of(part: FlipNoise) -> tuple[str, ...]:
    """The kinds of change of a part."""
    return tuple(axis.kind for axis in part.axes)


def axes_of(noise: Noise) -> tuple[Axis, ...]:
    """All axes of the noise, part by part.

    Example:
        >>> from flipproof.theory.law import FlipNoise, JointNoise
        >>> [str(axis) for axis in axes_of(JointNoise(a=FlipNoise(0.1, 0.2), b=FlipNoise(0.1, 0.2, 3)))]
        ['a.add', 'a.delete', 'b.add', 'b.delete', 'b.change']
    """
    return checked_noise(noise).axes


def axis_index(noise: Noise, along: str | tuple[str, str]) -> int:
    """The position of an axis given as "add", "structure.add" or ("structure", "add")."""
    axes = axes_of(noise)
    wanted = ".".join(map(str, along)) if isinstance(along, tuple) else along
    for index, axis in enumerate(axes):
        if isinstance(wanted, str) and wanted == str(axis):
            return index
    raise InvalidInputError(f"expected along to be one of {', '.join(map(str, axes))}, got {wanted!r}")


def point_of(noise: Noise, radii: AnyRadii) -> Point:
    """Checks that `radii` fit the noise and returns them as a point.

    Example:
        >>> from flipproof.theory.law import FlipNoise, JointNoise
        >>> point_of(JointNoise(a=FlipNoise(0.1, 0.2), b=FlipNoise(0.1, 0.2)), {"b": Radii(add=3)})
        (0, 0, 3, 0)
    """
    axes, by_part = axes_of(noise), _radii_by_part(noise, radii)
    for name, one in by_part.items():
        for kind in KINDS:
            if getattr(one, kind) and Axis(name, kind) not in axes:
                what = "2 categories" if noise.flips else f"the axes {', '.join(map(str, axes))}"
                got = f"{kind} = {getattr(one, kind)}"
                raise InvalidInputError(f"expected {kind} = 0 for noise with {what}, got {got}")
    return tuple(getattr(by_part.get(axis.part, Radii()), axis.kind) for axis in axes)


def radii_at(noise: Noise, point: Point) -> AnyRadii:
    """The inverse of `point_of`."""
    axes = axes_of(noise)
    by_part: dict[str | None, dict[str, int]] = {name: {} for name in noise.part_names}
    for axis, count in zip(axes, point, strict=True):
        by_part[axis.part][axis.kind] = count
    if None in by_part:
        return Radii(**by_part[None])
    return {str(name): Radii(**counts) for name, counts in by_part.items()}


def by_part(noise: Noise, along_axes: tuple[_T, ...]) -> Iterator[tuple[FlipNoise, tuple[_T, ...]]]:
    """Splits values along all axes into the values of each part."""
    start = 0
    for _, part in parts_of(noise):
        end = start + len(part.axes)
        yield part, along_axes[start:end]
        start = end


def origin_of(noise: Noise) -> Point:
    """The point of no change."""
    return (0,) * len(axes_of(noise))


def unit_of(noise: Noise, axis: int, count: int) -> Point:
    """The point of `count` changes along one axis, and none along the other axes."""
    return tuple(count if i == axis else 0 for i in range(len(axes_of(noise))))


def has_parts(noise: Noise) -> bool:
    """Whether the parts of the noise have names, as those of a `JointNoise` have."""
    return None not in noise.part_names


def checked_part_names(noise: Noise, given: Mapping[str, Any]) -> None:
    """Refuses a mapping that names a part which the noise does not have."""
    for name in given:
        if name not in noise.part_names:
            raise InvalidInputError(f"expected parts among {', '.join(map(str, noise.part_names))}, got {name!r}")


def _radii_by_part(noise: Noise, radii: AnyRadii) -> dict[str | None, Radii]:
    if not has_parts(noise):
        if not isinstance(radii, Radii):
            raise InvalidInputError(f"expected Radii for a {type(noise).__name__}, got {radii!r}")
        return {None: radii}
    if not isinstance(radii, Mapping):
        raise InvalidInputError(f"expected a mapping from part name to Radii for a JointNoise, got {radii!r}")
    checked_part_names(noise, radii)
    by_part: dict[str | None, Radii] = {}
    for name, one in radii.items():
        if not isinstance(one, Radii):
            raise InvalidInputError(f"expected Radii for part {name!r}, got {one!r}")
        by_part[name] = one
    return by_part


MOST_COUNTS = 100_000
"""The largest number of counts in a range."""

Counts = int | Iterable[int]
"""One count, or several counts (a range). Several counts make a dimension of the result, one count does not."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The counts wanted along each axis, and the shape of a table over them."""

    counts: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """The number of combinations of counts."""
        return math.prod(map(len, self.counts))


def grid_of(noise: Noise, parts: Mapping[str, Mapping[str, Counts]] | None, kinds: Mapping[str, Counts | None]) -> Grid:
    """Checks the ranges that a user gave and puts them in the order of the axes of the noise.

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
