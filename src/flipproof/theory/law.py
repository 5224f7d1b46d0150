"""The noise law as a value: what is flipped with which probability. It computes and samples nothing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.errors import InvalidInputError

MAX_CATEGORIES = 2**31
_LONGEST_NAME = 100


def checked_probability(value: Any, name: str) -> float:
    """Returns `value` as a float in [0, 1], or raises with `name` in the message."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInputError(f"expected {name} to be a number in [0, 1], got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"expected {name} in [0, 1], got {number!r}")
    return number


@dataclass(frozen=True, slots=True)
class FlipNoise:
    """Independent noise on every entry: zeros flip with `p_plus`, non-zeros with `p_minus`.

    An entry has `categories` possible values. When it flips it takes one of the other values, each
    with equal probability (Bojchevski et al. 2020, sections 4.1 and 5). A float64 is a binary
    fraction and is taken literally.

    Example:
        >>> FlipNoise(p_plus=0.01, p_minus=0.6)
        FlipNoise(p_plus=0.01, p_minus=0.6, categories=2)
    """

    p_plus: float
    p_minus: float
    categories: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "p_plus", checked_probability(self.p_plus, "p_plus"))
        object.__setattr__(self, "p_minus", checked_probability(self.p_minus, "p_minus"))
        categories = self.categories
        if isinstance(categories, bool) or not isinstance(categories, numbers.Integral):
            raise InvalidInputError(f"expected categories to be an integer >= 2, got {categories!r}")
        if not 2 <= categories <= MAX_CATEGORIES:
            raise InvalidInputError(f"expected categories in [2, {MAX_CATEGORIES}], got {categories!r}")
        object.__setattr__(self, "categories", int(categories))


class JointNoise:
    """Several independent noises, one for each named part of the input.

    Example:
        >>> joint = JointNoise(structure=FlipNoise(2e-5, 0.4), attributes=FlipNoise(0.01, 0.6))
        >>> list(joint.parts)
        ['structure', 'attributes']
    """

    __slots__ = ("_items",)
    _items: tuple[tuple[str, FlipNoise], ...]

    def __init__(self, /, **parts: FlipNoise) -> None:
        if not parts:
            raise InvalidInputError("expected at least one named part, got none")
        for name, part in parts.items():
            if not isinstance(part, FlipNoise):
                raise InvalidInputError(f"expected part {name!r} to be a FlipNoise, got {part!r}")
            if not name or not name.isprintable() or len(name) > _LONGEST_NAME:
                raise InvalidInputError(f"expected parts with short names, got {name!r}")
        object.__setattr__(self, "_items", tuple(parts.items()))

    @property
    def parts(self) -> Mapping[str, FlipNoise]:
        """The noise of each part, in the order in which they were named."""
        return dict(self._items)

    def __iter__(self) -> Iterator[tuple[str, FlipNoise]]:
        return iter(self._items)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("JointNoise cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_joint, (self._items,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointNoise) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return f"JointNoise({', '.join(f'{name}={part!r}' for name, part in self._items)})"


def _rebuild_joint(items: tuple[tuple[str, FlipNoise], ...]) -> JointNoise:
    return JointNoise(**dict(items))


Noise = FlipNoise | JointNoise


def without_flips(noise: Noise) -> Noise:
    """A law with probabilities of zero: its noisy copies are the input itself.

    Example:
        >>> without_flips(FlipNoise(0.01, 0.6, categories=3))
        FlipNoise(p_plus=0.0, p_minus=0.0, categories=3)
    """
    if isinstance(noise, JointNoise):
        return JointNoise(**{name: FlipNoise(0.0, 0.0, part.categories) for name, part in noise})
    return FlipNoise(0.0, 0.0, noise.categories)
