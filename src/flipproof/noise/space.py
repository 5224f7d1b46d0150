"""What every space is: data that knows its entries, and how a noise applies to its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.noise.sampling import Sampler
from flipproof.theory.law import FlipNoise, JointNoise, Noise


@runtime_checkable
class Space(Protocol):
    """The user's data, checked, with its entries and parts. Noisy copies of it come from its sampler."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that noise may touch."""

    def sampler(self, noise: Noise, seed: int) -> Sampler:
        """Draws noisy copies; refuses a noise that does not fit."""


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
        raise InvalidInputError(f"expected {name} to be an array, got {type(given).__name__}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"expected {name} to be numbers, got {array.dtype}")
    return array


def as_integers(given: Any, name: str) -> NDArray[Any]:
    """Non-negative integers, however they are written: 0.0 and 1.0 and True are fine, 0.5 is not."""
    array = as_array(given, name)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind == "f":
        wrong = array != np.floor(array)
        if wrong.any() or np.isinf(array).any():
            raise InvalidInputError(f"expected {name} to be integers, got {array[wrong | np.isinf(array)].flat[0]}")
    if array.size and array.min() < 0:
        raise InvalidInputError(f"expected {name} to be non-negative, got {array.min()}")
    if array.size and int(array.max()) >= 2**31:
        raise InvalidInputError(f"expected {name} below {2**31}, got {array.max()}")
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def check_categories(values: NDArray[Any], categories: int, name: str) -> None:
    """Refuses values that the noise does not know."""
    if values.size and int(values.max()) >= categories:
        raise InvalidInputError(
            f"expected {name} in [0, {categories}) as the noise has {categories} categories, got {values.max()}"
        )
