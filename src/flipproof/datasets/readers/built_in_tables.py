"""A built-in table without a download: measurements of tumours, each cut into a few categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.extras import require

_PARTS = {
    2: ("lower half", "upper half"),
    3: ("lowest third", "middle third", "highest third"),
    4: ("lowest quarter", "second quarter", "third quarter", "highest quarter"),
}


def breast_cancer(contents: Mapping[str, bytes]) -> TableDataset:
    """Thirty measurements of each of 569 tumours; the columns have 2, 3, 4, 2, 3, 4, ... categories."""
    tumours = require("sklearn.datasets").load_breast_cancer()
    categories = tuple(2 + column % 3 for column in range(tumours.data.shape[1]))
    columns = [in_parts(column, count) for column, count in zip(tumours.data.T, categories, strict=True)]
    return TableDataset(
        "breast-cancer",
        np.stack(columns, axis=1),
        categories,
        tumours.target,
        tuple(map(str, tumours.feature_names)),
        tuple(map(str, tumours.target_names)),
        tuple(_PARTS[count] for count in categories),
    )


def in_parts(numbers: NDArray[Any], parts: int) -> IntArray:
    """Cuts numbers into parts of about equal size; part 0 has the smallest numbers, and equal numbers share a part.

    Every cut is one of the numbers, so nothing is rounded and every machine gives the same result.

    Example:
        >>> in_parts(np.array([0.3, 7.0, 0.1, 2.0, 2.0, 0.2]), 3)
        array([1, 2, 0, 2, 2, 0])
    """
    ordered = np.sort(numbers)
    cuts = ordered[np.arange(1, parts) * numbers.size // parts]
    return np.searchsorted(cuts, numbers, side="right")
