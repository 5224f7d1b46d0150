"""Datasets of images: numbers in [0, 1] that are levels of brightness become integers, which noise changes.

The model gets noisy images as the dataset gives clean ones: level k of K is the number k / (K - 1) again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import as_array, checked_count, one_of, place_words
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.samplers import Stream
from flipproof.noise.spaces.rows import DenseRows, DenseSampler, dense_sampler, only_noise
from flipproof.noise.spaces.space import PartCounts, check_categories
from flipproof.theory.law import FlipNoise, Law, Noise
from flipproof.theory.scope import Scope

MOST_NUMBERS = 2**30
"""The largest number of pixels and colours of all images of a dataset together."""
_CLOSE = 1e-6
_TWICE = 10
"""How many images are asked for twice, to find datasets that change them at random."""
_MOST_LEVELS = 2**16
_DTYPES = ("float32", "float64")
_TAKE_SOME = "take some of them: torch.utils.data.Subset(dataset, range(1000))"


@dataclass(frozen=True, slots=True)
class Brightness:
    """From levels to what the model gets: level k of K becomes k / (K - 1).

    Example:
        >>> Brightness(5)(np.array([[0, 1, 4]]))
        array([[0.  , 0.25, 1.  ]], dtype=float32)
    """

    levels: int
    dtype: str = "float32"

    @property
    def bytes_per_row(self) -> int:
        """Counted by the sampler, which leaves room for a copy of floats."""
        return 0

    def __call__(self, drawn: NDArray[Any], /) -> NDArray[Any]:
        """What the model gets."""
        kind = np.dtype(self.dtype).type
        return np.asarray(drawn.astype(self.dtype) / kind(self.levels - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images whose numbers are levels of brightness; the model gets level k of K as k / (K - 1).

    Attributes:
        values: [images, ...], the levels 0 to K - 1 as integers.
        levels: K, the number of levels; noise needs as many categories.
        dtype: the type of the numbers that the model gets.

    Example:
        >>> Images.of_numbers(np.array([[0.0, 0.2], [1.0, 0.4]], dtype="float32"), levels=256).values
        array([[  0,  51],
               [255, 102]], dtype=uint8)
    """

    values: NDArray[Any]
    levels: int = 256
    dtype: str = "float32"

    def __post_init__(self) -> None:
        _checked_levels(self.levels)
        one_of(_DTYPES, self.dtype, "dtype")
        values = DenseRows(self.values).values
        check_categories(values, self.levels, "values", "the brightness")
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.values), amount(self.levels, "level"), self.dtype)

    @classmethod
    def of_numbers(cls, numbers: Any, levels: int) -> Images:
        """Images of numbers in [0, 1] that are k / (levels - 1), such as k / 255."""
        array, levels = as_array(numbers, "images"), _checked_levels(levels)
        array = array if array.dtype.name in _DTYPES else array.astype(np.float32)
        if array.ndim < 2:
            raise InvalidInputError(f"expected images of shape [images, ...], got shape {array.shape}")
        return cls(_levels(array, levels), levels, array.dtype.name)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("values",)

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """A sampler that may flip every pixel."""
        law = only_noise(noise, self.parts)
        if law.categories != self.levels:
            raise InvalidInputError(
                f"expected noise with {self.levels} categories for images of {self.levels} levels, got "
                f"{law.categories}: FlipNoise(p_plus, p_minus, {self.levels})"
            )
        entries = int(np.prod(self.values.shape[1:], dtype=np.int64))
        law_of = np.zeros((1, entries), np.int16)
        return dense_sampler(self.values, law_of, [law], Stream(seed), Brightness(self.levels, self.dtype))

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: every pixel."""
        return DenseRows(self.values).scope(noise)

    def counts(self) -> PartCounts:
        """The number of pixels of all images together, and the number of those that are not black."""
        return DenseRows(self.values).counts()


def is_dataset(inputs: Any) -> bool:
    """Whether something is a dataset as torch has them: items by their numbers, and neither an array nor a list."""
    if any(base.__module__.startswith("torch.utils.data.data") for base in type(inputs).__mro__):
        return True
    others = ("shape", "dtype", "columns", "column_names", "keys", "edge_index", "parts", "is_directed")
    plain = isinstance(inputs, list | tuple | str | bytes | range | set)
    has_items = hasattr(inputs, "__getitem__") and hasattr(inputs, "__len__")
    return has_items and not plain and not any(hasattr(inputs, name) for name in others)


def is_loader(inputs: Any) -> bool:
    """Whether something hands out batches of a dataset."""
    return hasattr(inputs, "dataset") and hasattr(inputs, "batch_size") and hasattr(inputs, "__iter__")


def space_of_dataset(dataset: Any, law: Law | None) -> DenseRows | Images | list[Any]:
    """The space of a dataset of images, or a list of its items if these are graphs.

    Items are images, or pairs of an image and a label. Integers are taken as they are. Numbers in [0, 1] have to be
    levels k / (K - 1), where K is the number of categories of the noise.
    """
    items = list(_items(dataset))
    if hasattr(items[0], "edge_index"):
        return items
    images = np.stack(items)
    if images.dtype.kind != "f":
        return DenseRows(images)
    levels = law.categories if isinstance(law, FlipNoise) else 2 if np.isin(images, (0.0, 1.0)).all() else 256
    return Images.of_numbers(images, levels)


def _items(dataset: Any) -> Iterator[Any]:
    """The images of a dataset, one after another, all of one shape, in little memory."""
    try:
        count = len(dataset)
        first = _image(dataset[0]) if count else None
    except (TypeError, NotImplementedError) as error:
        raise InvalidInputError(
            f"expected a dataset with a length and numbered items, got {type(dataset).__name__}; give an array"
        ) from error
    if first is None:
        raise InvalidInputError("expected a dataset with images, got an empty one")
    if hasattr(first, "edge_index"):
        yield from (_image(dataset[i]) for i in range(count))
        return
    if count * first.size > MOST_NUMBERS:
        raise TooLargeError(
            f"expected at most {MOST_NUMBERS:,} pixels and colours in all images together, got {count:,} images of "
            f"{first.size:,}; {_TAKE_SOME}"
        )
    for number in range(count):
        image = _image(dataset[number])
        if number < _TWICE and image.tobytes() != _image(dataset[number]).tobytes():
            raise InvalidInputError(
                f"expected a dataset that gives the same image each time, got another one for item {number} the second "
                "time; leave random changes out of its transform"
            )
        if image.shape != first.shape:
            raise InvalidInputError(
                f"expected images of one shape, got {image.shape} at item {number} after {first.shape}; resize them"
            )
        yield image


def _image(item: Any) -> Any:
    """The image of an item, which may come with a label."""
    if isinstance(item, tuple | list) and item:
        item = item[0]
    if hasattr(item, "edge_index"):
        return item
    if isinstance(item, dict):
        raise InvalidInputError(f"expected items that are an image, or (image, label), got a dict with {sorted(item)}")
    if isinstance(item, str):
        raise InvalidInputError(f"expected images, got a dataset of texts such as {item[:60]!r}; give a list of texts")
    return as_array(item, "the image of an item")


def _checked_levels(levels: Any) -> int:
    if not 2 <= checked_count(levels, "levels") <= _MOST_LEVELS:
        raise InvalidInputError(f"expected 2 to {_MOST_LEVELS} levels, got {levels}")
    return int(levels)


def _levels(numbers: NDArray[Any], levels: int) -> NDArray[Any]:
    """The levels k of numbers k / (levels - 1), or an error for the first number that is none."""
    codes = np.rint(numbers.astype(np.float64) * (levels - 1))
    wrong = ~(np.abs(codes / (levels - 1) - numbers) <= _CLOSE) | (codes < 0) | (codes >= levels)
    if not wrong.any():
        return codes.astype(np.min_scalar_type(levels - 1))
    place = tuple(int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape))
    number = float(numbers[place])
    if numbers.min() >= 0.0 and (numbers == np.rint(numbers)).all():
        hint = "give levels as integers, which the model gets as they are, or divide them by 255"
    elif number < 0.0 or number > 1.0 or not np.isfinite(number):
        hint = "leave Normalize out of the transform and make it the first layer of the model"
    elif levels == 256:
        hint = "round them: (image * 255).round() / 255"
    else:
        hint = "give the noise as many categories as there are levels, such as FlipNoise(p, p, 256) for k / 255"
    kinds = "0 or 1" if levels == 2 else f"k / {levels - 1}, as the noise has {levels} categories"
    raise InvalidInputError(
        f"expected images of numbers that are {kinds}, got {number!r} at {place_words(place)}; {hint}"
    )
