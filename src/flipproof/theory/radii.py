"""How much an attacker may change, and the axes along which a noise counts those changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.law import FlipNoise, JointNoise, Noise

UNBOUNDED = 2**63 - 1
"""The radius of an input that no number of changes can turn: larger than any other, fits an int64."""

_T = TypeVar("_T")

KINDS = ("add", "delete", "change")


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


class Axis(NamedTuple):
    """One direction in which an attacker can move: a kind of change in a part (None: the only part)."""

    part: str | None
    kind: str

    def __str__(self) -> str:
        return self.kind if self.part is None else f"{self.part}.{self.kind}"


Point = tuple[int, ...]
"""Radii as plain integers, one for each axis of the noise. What the inside of this room computes with."""


def parts_of(noise: Noise) -> tuple[tuple[str | None, FlipNoise], ...]:
    """The noise as (name, law) pairs; a `FlipNoise` is one part without a name."""
    if isinstance(noise, JointNoise):
        return tuple(noise)
    if isinstance(noise, FlipNoise):
        return ((None, noise),)
    raise InvalidInputError(f"expected a FlipNoise or a JointNoise, got {noise!r}")


def kinds_of(part: FlipNoise) -> tuple[str, ...]:
    """Binary entries can be added or deleted; entries with more categories can also be changed."""
    return KINDS if part.categories > 2 else KINDS[:2]


def axes_of(noise: Noise) -> tuple[Axis, ...]:
    """All axes of the noise, part by part.

    Example:
        >>> [str(axis) for axis in axes_of(JointNoise(a=FlipNoise(0.1, 0.2), b=FlipNoise(0.1, 0.2, 3)))]
        ['a.add', 'a.delete', 'b.add', 'b.delete', 'b.change']
    """
    return tuple(Axis(name, kind) for name, part in parts_of(noise) for kind in kinds_of(part))


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
        >>> point_of(JointNoise(a=FlipNoise(0.1, 0.2), b=FlipNoise(0.1, 0.2)), {"b": Radii(add=3)})
        (0, 0, 3, 0)
    """
    parts, by_part = parts_of(noise), _radii_by_part(noise, radii)
    point: list[int] = []
    for name, part in parts:
        one = by_part.get(name, Radii())
        if part.categories == 2 and one.change:
            raise InvalidInputError(f"expected change = 0 for noise with 2 categories, got change = {one.change}")
        point.extend(getattr(one, kind) for kind in kinds_of(part))
    return tuple(point)


def radii_at(noise: Noise, point: Point) -> AnyRadii:
    """The inverse of `point_of`."""
    by_part: dict[str | None, dict[str, int]] = {name: {} for name, _ in parts_of(noise)}
    for axis, count in zip(axes_of(noise), point, strict=True):
        by_part[axis.part][axis.kind] = count
    if isinstance(noise, FlipNoise):
        return Radii(**by_part[None])
    return {str(name): Radii(**counts) for name, counts in by_part.items()}


def by_part(noise: Noise, along_axes: tuple[_T, ...]) -> Iterator[tuple[FlipNoise, tuple[_T, ...]]]:
    """Cuts what is given for every axis into the pieces of the parts."""
    start = 0
    for _, part in parts_of(noise):
        end = start + len(kinds_of(part))
        yield part, along_axes[start:end]
        start = end


def origin_of(noise: Noise) -> Point:
    """No change at all."""
    return (0,) * len(axes_of(noise))


def unit_of(noise: Noise, axis: int, count: int) -> Point:
    """`count` changes along one axis, none along the others."""
    return tuple(count if i == axis else 0 for i in range(len(axes_of(noise))))


def checked_part_names(noise: JointNoise, given: Mapping[str, Any]) -> None:
    """Raises when a mapping names a part that the noise does not have."""
    names = [name for name, _ in noise]
    for name in given:
        if name not in names:
            raise InvalidInputError(f"expected parts among {', '.join(names)}, got {name!r}")


def _radii_by_part(noise: Noise, radii: AnyRadii) -> dict[str | None, Radii]:
    if isinstance(noise, FlipNoise):
        if not isinstance(radii, Radii):
            raise InvalidInputError(f"expected Radii for a FlipNoise, got {radii!r}")
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
