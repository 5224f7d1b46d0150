"""The protocol of spaces: data that define their entries and how noise applies to their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import refuse_first
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Sampler
from flipproof.theory.law import FlipNoise, JointNoise, Noise


@runtime_checkable
class Space(Protocol):
    """The user's checked data, divided into entries and parts. Its sampler draws noisy copies.

    A space may also have

    - `scope(noise)`, a `Scope` with one row for each input (a graph has one row, which its nodes share). Without it
      the possible changes of an input are unknown, and reports say less;
    - `counts()`, the number of entries and of nonzero entries by part (see `counts_of` in `noise/laws.py`);
    - `words(noise, entries)`, the words for entries and their changes (see `noise/spaces/words.py`), or None where
      the user's own word for entries suffices;
    - `input_names`, one name for each prediction, or None. Names are shown, and no part of the data;
    - `fixed_rows`, an array with one row for each prediction that noise leaves alone, or None;
    - `joint`, True if the space is one input that receives many predictions, such as a graph whose nodes are
      classified. Its sampler is then a `JointSampler`.
    """

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that noise may change."""

    def sampler(self, noise: Noise, seed: int) -> Sampler:
        """The sampler of noisy copies; refuses a noise that does not fit the space."""


PartCounts = dict[str, tuple[int, int]]
"""The number of entries and the number of nonzero entries, by part."""


def value_counts(values: NDArray[Any]) -> tuple[int, int]:
    """The number of entries of an array, and the number of nonzero ones."""
    return int(values.size), int(np.count_nonzero(values))


def noise_of_parts(noise: Noise, parts: tuple[str, ...]) -> Mapping[str, FlipNoise]:
    """The noise of each part that `noise` names. A `FlipNoise` requires data with a single part.

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


def check_categories(values: NDArray[Any], categories: int, name: str, owner: str = "the noise") -> None:
    """Refuses values that are not among the owner's categories."""
    if values.size and int(values.max()) >= categories:
        expected = f"{name} in [0, {categories}) as {owner} has {categories} categories"
        refuse_first(values, values >= categories, expected)
