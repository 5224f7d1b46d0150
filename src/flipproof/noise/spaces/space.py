"""What every space is: data that knows its entries, and how a noise applies to its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Sampler
from flipproof.theory.law import FlipNoise, JointNoise, Noise


@runtime_checkable
class Space(Protocol):
    """The user's data, checked, with its entries and parts. Noisy copies of it come from its sampler.

    A space may also have

    - `scope(noise)`, a `Scope` with one row for each input (one row for a graph, whose nodes share it). Without it
      nobody knows what an input can suffer, and sentences say less;
    - `counts()`, by part how many entries there are and how many are not zero (see `counts_of` in `noise/laws.py`);
    - `words(noise, entries)`, what entries and their changes are called (see `noise/spaces/words.py`), or None where
      the user's own word for entries says enough;
    - `fixed_rows`, an array with one row for each prediction that noise leaves alone, or None;
    - `joint`, True if it is one input that gets many predictions, such as a graph whose nodes are classified. Its
      sampler is then a `JointSampler`.
    """

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that noise may touch."""

    def sampler(self, noise: Noise, seed: int) -> Sampler:
        """Draws noisy copies; refuses a noise that does not fit."""


PartCounts = dict[str, tuple[int, int]]
"""By part: how many entries there are, and how many of them are not zero."""


def value_counts(values: NDArray[Any]) -> tuple[int, int]:
    """How many entries an array has, and how many of them are not zero."""
    return int(values.size), int(np.count_nonzero(values))


def noise_of_parts(noise: Noise, parts: tuple[str, ...]) -> Mapping[str, FlipNoise]:
    """The noise of each part it names. A `FlipNoise` is for data with a single part.

    Example:
        >>> noise_of_parts(FlipNoise(0.1, 0.2), ("values",))
        {'values': FlipNoise(p_plus=0.1, p_minus=0.2, categories=2)}
    """
    if isinstance(noise, FlipNoise):
        if len(parts) == 1:
            return {parts[0]: noise}
        example = ", ".join(f"{part}=..." for part in parts)
        one = f"; a graph made with noisy='{parts[0]}' takes a FlipNoise" if "structure" in parts else ""
        raise InvalidInputError(
            f"expected JointNoise({example}), or fewer of these parts, for these data, got {noise!r}{one}"
        )
    if not isinstance(noise, JointNoise):
        raise InvalidInputError(f"expected a FlipNoise or a JointNoise, got {noise!r}")
    unknown = [name for name in noise.parts if name not in parts]
    if unknown:
        raise InvalidInputError(f"expected noise on parts {', '.join(parts)}, got noise on {', '.join(unknown)}")
    return dict(noise.parts)


def as_array(given: Any, name: str) -> NDArray[Any]:
    """Numbers as a numpy array; torch tensors are welcome."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    try:
        array = np.asarray(given)
    except (ValueError, TypeError) as error:
        _refuse_ragged(given, name)
        raise InvalidInputError(f"expected {name} to be an array, got {type(given).__name__}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"expected {name} to be numbers, got {array.dtype}")
    return array


def _refuse_ragged(given: Any, name: str) -> None:
    """Names the first row that is longer or shorter than the first one."""
    if not isinstance(given, Sequence) or not all(isinstance(row, Sized) for row in given):
        return
    lengths = [len(row) for row in given]
    other = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if other is not None:
        raise InvalidInputError(
            f"expected {name} to be rows of one length, got row {other} of length {lengths[other]} after {lengths[0]}"
        )


def as_integers(given: Any, name: str, axis: str = "position") -> NDArray[Any]:
    """Non-negative integers, however they are written: 0.0 and 1.0 and True are fine, 0.5 is not."""
    array = as_array(given, name)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind == "f":
        _refuse_first(array, (array != np.floor(array)) | np.isinf(array), f"{name} to be integers", axis)
    if array.size and array.min() < 0:
        _refuse_first(array, array < 0, f"{name} to be non-negative", axis)
    if array.size and int(array.max()) >= 2**31:
        _refuse_first(array, array >= 2**31, f"{name} below {2**31}", axis)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def check_categories(values: NDArray[Any], categories: int, name: str, owner: str = "the noise") -> None:
    """Refuses values that are none of its owner's categories."""
    if values.size and int(values.max()) >= categories:
        expected = f"{name} in [0, {categories}) as {owner} has {categories} categories"
        _refuse_first(values, values >= categories, expected)


def first_place(wrong: BoolArray) -> tuple[int, ...] | None:
    """The index of the first entry that is true, row by row, or None.

    Example:
        >>> first_place(np.array([[False, False], [False, True]]))
        (1, 1)
    """
    return tuple(int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape)) if wrong.any() else None


def place_words(index: tuple[int, ...], axis: str = "position") -> str:
    """Where an entry stands, in words; the first number is that of its row.

    Example:
        >>> place_words((3, 7)), place_words((3, 0, 7)), place_words((3,))
        ('row 3, position 7', 'row 3, position (0, 7)', 'row 3')
    """
    row, *rest = index
    if not rest:
        return f"row {row}"
    return f"row {row}, {axis} {rest[0] if len(rest) == 1 else tuple(rest)}"


def _refuse_first(values: NDArray[Any], wrong: BoolArray, expected: str, axis: str = "position") -> None:
    """Raises for the first entry that is wrong, and says where it is."""
    index = first_place(wrong)
    if index is not None:
        raise InvalidInputError(f"expected {expected}, got {values[index]} at {place_words(index, axis)}")
