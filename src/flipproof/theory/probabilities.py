"""Probabilities as users give them, one number or an array of them, checked once and made arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.arrays import FloatArray
from flipproof.errors import InvalidInputError


def checked_probabilities(values: ArrayLike, name: str, dimensions: int | None = None) -> FloatArray:
    """Returns the values as float64, all in [0, 1], or raises with `name` and the first bad one."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidInputError(f"expected {name} to be an array of numbers in [0, 1], got {values!r}") from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidInputError(f"expected {name} to be float64 numbers in [0, 1], got {values!r}")
    if dimensions is not None and array.ndim != dimensions:
        raise InvalidInputError(f"expected {name} in an array of {dimensions} dimension, got shape {array.shape}")
    array = array.astype(np.float64)
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if wrong.any():
        raise InvalidInputError(f"expected {name} in [0, 1], got {float(array[wrong].flat[0])!r}")
    return array


def checked_pairs(p_lower: ArrayLike, p_upper: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Both bounds in one shape; a missing p_upper is 1 - p_lower, rounded up (the two-class rule)."""
    lower = checked_probabilities(p_lower, "p_lower")
    if p_upper is None:
        from flipproof.theory import kernels

        return lower, np.asarray(kernels.complements_up(lower.ravel())).reshape(lower.shape)
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
