"""Weights as integers, so that sums of them are exact: the same in every order and on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.models.fused.row_sums import padded

_LARGEST = 2**31 - 1
_COARSEST = 2.0**-17
"""Of the usual weight of a unit: coarser steps would be seen in sums."""


def fixed_point(weights: Any) -> tuple[Any, Any] | str:
    """Integers [inputs, units] and a step for each unit, a power of two, so that weights are integers times steps.

    Weights must be finite. Steps are as fine as they can be so that no sum of rows, not even that of all rows,
    overflows 32 bits. For a bag of a few thousand words that is about as fine as the rounding of float32 in their sum.
    Or, where it is too coarse, the reason why the weights are not represented.

    Example:
        >>> table, steps = fixed_point([[0.5], [-0.25], [0.125]])
        >>> (table * steps)[:, 0].tolist()
        [0.5, -0.25, 0.125]
    """
    table = padded(weights).astype(np.float64)
    most = np.maximum(np.maximum(table, 0).sum(axis=0), np.maximum(-table, 0).sum(axis=0))
    # Rounding may add half a step for every row.
    exponent = np.floor(np.log2((_LARGEST - table.shape[0]) / np.where(most > 0, most, 1.0)))
    exponent = np.clip(exponent, -100, 100)
    integers = np.rint(np.ldexp(table, exponent.astype(np.int64)))
    if (np.maximum(np.maximum(integers, 0).sum(axis=0), np.maximum(-integers, 0).sum(axis=0)) > _LARGEST).any():
        return "sums of the weights of the first layer do not fit into 32 bits"
    if (np.ldexp(1.0, -exponent.astype(np.int64)) > _COARSEST * _usual(np.abs(table)))[most > 0].any():
        return "the weights of the first layer are too many, or too different, for exact sums of 32 bits"
    return np.ascontiguousarray(integers.astype(np.int32)), np.ldexp(np.float32(1), -exponent.astype(np.int64))


def _usual(sizes: Any) -> Any:
    """The root of the mean square of the weights of each unit, but for zeros and the largest hundredth."""
    rest = np.sort(sizes, axis=0)[: len(sizes) - max(1, len(sizes) // 100)]
    usual = np.sqrt((rest**2).sum(axis=0) / np.maximum(1, (rest > 0).sum(axis=0)))
    return np.where(usual > 0, usual, sizes.max(axis=0, initial=0))
