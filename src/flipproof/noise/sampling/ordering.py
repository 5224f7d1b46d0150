"""Columns of sparse rows in increasing order, so that equal inputs are equal to the last bit of what they become.

A model that adds floats in another order would not be a function of its input alone.
"""

from __future__ import annotations

from typing import Any


def sorted_rows(matrix: Any) -> Any:
    """The CSR matrix if its rows are in order, as noisy ones are, else a copy of it with rows in order."""
    return matrix if matrix.has_sorted_indices else matrix.sorted_indices()
