"""Weights as integers, so that sums of them are exact: the same in every order and on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.models.row_sums import padded

_LARGEST = 2**31 - 1
_FEWEST_BITS = 16
"""Of the largest weight of a unit. Fewer would be left where there are very many attributes."""


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
    largest = np.abs(integers).max(axis=0, initial=0)
    if (np.maximum(np.maximum(integers, 0).sum(axis=0), np.maximum(-integers, 0).sum(axis=0)) > _LARGEST).any():
        return "sums of the weights of the first layer do not fit into 32 bits"
    if ((largest < 2**_FEWEST_BITS) & (most > 0) & (exponent >= 100)).any():
        return "some weights of the first layer are too small for exact sums of 32 bits"
    if ((largest < 2**_FEWEST_BITS) & (most > 0)).any():
        return f"the first layer has {table.shape[0]} attributes, too many for exact sums of 32 bits"
    return np.ascontiguousarray(integers.astype(np.int32)), np.ldexp(np.float32(1), -exponent.astype(np.int64))
