"""Noise laws of flips, as values: which entries flip with which probability. They compute and sample nothing."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import FloatArray, checked_probabilities, checked_probability
from flipproof.errors import InvalidInputError
from flipproof.theory.base_law import KINDS, Axis, register_reader
from flipproof.theory.base_law import Law as Law
from flipproof.theory.base_law import Noise as Noise

_Kind = TypeVar("_Kind", bound=Law)
_AXES = tuple(Axis(None, kind) for kind in KINDS)


def checked_law(law: object, kind: type[_Kind], expected: str, got: str = "{!r}") -> _Kind:
    """Returns a law of a kind, or raises an error that says what was expected and has the law in the place of {}.

    Example:
        >>> checked_law("none", Noise, "votes under some noise", "votes under {}")
        Traceback (most recent call last):
        flipproof.errors.InvalidInputError: expected votes under some noise, got votes under none
    """
    if not isinstance(law, kind):
        raise InvalidInputError(f"expected {expected}, got {got.format(law)}")
    return law


def checked_noise(noise: object) -> Noise:
    """Returns `noise` if certificates can be made under it, or raises."""
    law = checked_law(noise, Noise, "a FlipNoise or a JointNoise")  # type: ignore[type-abstract]  # no value is made of it
    if not law.flips:
        _check_axes(law)
    return law


def _check_axes(law: Noise) -> None:
    """A law that is not made of flips has one part; its axes are what `Radii` can say."""
    axes = law.axes
    fit = isinstance(axes, tuple) and all(isinstance(axis, Axis) and axis in _AXES for axis in axes)
    if not axes or not fit or len(set(axes)) < len(axes):
        known = ", ".join(map(repr, _AXES))
        raise InvalidInputError(f"expected the axes of {type(law).__name__} to be some of {known}, got {axes!r}")


def checked_pairs(p_lower: ArrayLike, p_upper: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Both bounds in one shape; a missing p_upper is 1 - p_lower, rounded up (the two-class rule)."""
    lower = checked_probabilities(p_lower, "p_lower")
    if p_upper is None:
        from flipproof.theory import kernels

        return lower, np.asarray(kernels.complement_up(lower.ravel())).reshape(lower.shape)
    upper = checked_probabilities(p_upper, "p_upper")
    try:
        lower, upper = np.broadcast_arrays(lower, upper)
    except ValueError:
        raise InvalidInputError(
            f"expected p_lower and p_upper of equal shape, got {lower.shape} and {upper.shape}"
        ) from None
    return lower, upper


def in_shape_of(given: NDArray[Any], function: Callable[..., NDArray[Any]], *arrays: NDArray[Any]) -> Any:
    """Applies a function of flat arrays; a scalar comes back as a Python number, an array in its shape."""
    result = function(*(np.ascontiguousarray(array).ravel() for array in arrays))
    return result.item() if given.ndim == 0 else result.reshape(given.shape)


MAX_CATEGORIES = 2**31
_LONGEST_NAME = 100

_BITS = {"add": "a zero becomes a one", "delete": "a one becomes a zero"}
_LEVELS = {
    "add": "a zero becomes another value",
    "delete": "another value becomes zero",
    "change": "a value that is not zero becomes another one that is not zero",
}


@dataclass(frozen=True, slots=True)
class FlipNoise(Noise):
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

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Bits can be added or deleted; entries with more categories can also be changed."""
        return _AXES if self.categories > 2 else _AXES[:2]

    @property
    def flips(self) -> tuple[tuple[str | None, FlipNoise], ...]:
        """The noise itself, as one part without a name."""
        return ((None, self),)

    @property
    def is_even(self) -> bool:
        """Whether zeros and non-zeros flip with equal probability."""
        return self.p_plus == self.p_minus

    @property
    def has_levels(self) -> bool:
        """Whether entries have more than two values."""
        return self.categories > 2

    @property
    def words(self) -> str:
        """Both probabilities, and the categories if there are more than two."""
        kinds = "" if self.categories == 2 else f", {self.categories} categories"
        return f"p_plus {self.p_plus:g}, p_minus {self.p_minus:g}{kinds}"

    @property
    def short_words(self) -> str:
        """The probabilities alone."""
        return f"({_short(self.p_plus)}, {_short(self.p_minus)})"

    def record(self) -> dict[str, Any]:
        """The fields of the noise."""
        return {"p_plus": self.p_plus, "p_minus": self.p_minus, "categories": self.categories}

    def exact_record(self) -> list[dict[str, Any]]:
        """The fields, with probabilities as the exact binary fractions that are sampled and certified."""
        return [
            {
                "part": None,
                "p_plus": _fraction_text(self.p_plus),
                "p_minus": _fraction_text(self.p_minus),
                "categories": self.categories,
            }
        ]

    def facts(self) -> tuple[tuple[str | None, str, str], ...]:
        """Both probabilities in full, and the categories if there are more than two."""
        each = ("p_plus", "p_minus", "categories") if self.has_levels else ("p_plus", "p_minus")
        return tuple((None, name, f"{getattr(self, name)!r}") for name in each)

    def meaning(self, axis: Axis) -> str:
        """The change of an entry's value, as a clause."""
        return (_LEVELS if self.has_levels else _BITS)[axis.kind]

    def without_noise(self) -> FlipNoise:
        """The noise of as many categories under which nothing flips."""
        return FlipNoise(0.0, 0.0, self.categories)


def _short(number: float) -> str:
    """A number in six digits, or in all digits if it has more."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _fraction_text(probability: float) -> str:
    exact = Fraction(probability)
    return f"{exact.numerator}/{exact.denominator}"


class JointNoise(Noise):
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

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the parts, one part after the other."""
        return tuple(Axis(name, axis.kind) for name, part in self._items for axis in part.axes)

    @property
    def flips(self) -> tuple[tuple[str | None, FlipNoise], ...]:
        """The names and noises of all parts."""
        return self._items

    @property
    def part_names(self) -> tuple[str | None, ...]:
        """The names of the parts, in the order in which they were given."""
        return tuple(name for name, _ in self._items)

    @property
    def is_even(self) -> bool:
        """Whether the noise of every part is even."""
        return all(part.is_even for _, part in self._items)

    @property
    def has_levels(self) -> bool:
        """Whether some part has entries with more than two values."""
        return any(part.has_levels for _, part in self._items)

    @property
    def words(self) -> str:
        """The words of every part."""
        return "; ".join(f"{name}: {part.words}" for name, part in self._items)

    @property
    def short_words(self) -> str:
        """The short words of every part."""
        return "; ".join(f"{name} {part.short_words}" for name, part in self._items)

    def record(self) -> dict[str, Any]:
        """The records of the parts, by name."""
        return {"parts": {name: part.record() for name, part in self._items}}

    def exact_record(self) -> list[dict[str, Any]]:
        """The exact records of the parts, each with its name."""
        return [{**one, "part": name} for name, part in self._items for one in part.exact_record()]

    def facts(self) -> tuple[tuple[str | None, str, str], ...]:
        """The facts about the parts, one part after the other."""
        return tuple((name, field, value) for name, part in self._items for _, field, value in part.facts())

    def meaning(self, axis: Axis) -> str:
        """The change of an entry's value in the part of the axis, as a clause."""
        return dict(self._items)[str(axis.part)].meaning(axis)

    def without_noise(self) -> JointNoise:
        """The noise of the same parts under which nothing flips."""
        return JointNoise(**{name: part.without_noise() for name, part in self._items})

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


def as_flip_noise(law: Law) -> FlipNoise | None:
    """The law itself if it is one `FlipNoise` for all entries; None otherwise."""
    return law if isinstance(law, FlipNoise) else None


register_reader("p_plus", lambda record: FlipNoise(**record))
register_reader("parts", lambda record: JointNoise(**{name: FlipNoise(**one) for name, one in record["parts"].items()}))
