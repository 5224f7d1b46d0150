"""What a model would get without noise: a few inputs from which an adapter learns how the model answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from flipproof.errors import FlipproofError, InvalidInputError, reason_of
from flipproof.noise.laws import as_given, sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.space import Space
from flipproof.theory.base_law import Law

_FEWEST, _MOST = 3, 16


def clean_batch(space: Space, noise: Law) -> Any:
    """A few inputs without noise, in the form in which models get noisy ones.

    There are at least three, some of them twice if need be, so that one answer per input cannot be mistaken for one
    input with an answer per class.
    """
    sampler = sampler_of(space, noise.without_noise(), 0)
    rows = np.arange(min(sampler.rows, _MOST))
    copies = range(-(-_FEWEST // max(1, rows.size)))
    return as_given(sampler, sampler.draw(Role.ESTIMATE, copies, rows))


def rows_in(batch: Any) -> int:
    """The number of inputs of a batch: an array, a sparse matrix, a data frame, or a list of texts."""
    return int(batch.shape[0]) if hasattr(batch, "shape") else len(batch)


@contextmanager
def asking(name: str, hint: str = "") -> Iterator[None]:
    """Turns whatever a model raises in its clean pass into one line, with a hint what to do about it."""
    try:
        yield
    except FlipproofError:
        raise
    except Exception as error:  # a model may raise anything
        raise InvalidInputError(
            f"expected {name} to take these data, got {' '.join(reason_of(error).split())}{hint and '; '}{hint}"
        ) from error
