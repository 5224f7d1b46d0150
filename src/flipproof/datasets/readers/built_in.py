"""Built-in data without downloads: scikit-learn's digits as binary or grey images, and as nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.extras import require

LEVELS = 17
THRESHOLD = 7
NEIGHBOURS = 5
_TRAIN = 1_437


def digits(contents: Mapping[str, bytes]) -> ImageDataset:
    """Binary images of 8 x 8 pixels, with ones where the grey level is above 7; the last 360 are for testing."""
    return replace(digits_grey(contents), name="digits").binarised(THRESHOLD)


def digits_grey(contents: Mapping[str, bytes]) -> ImageDataset:
    """Images of 8 x 8 pixels with 17 grey levels, where 0 is the background; the last 360 are for testing."""
    grey, labels = _grey_digits()
    images = grey.reshape(-1, 8, 8)
    return ImageDataset(
        "digits-grey", images[:_TRAIN], labels[:_TRAIN], images[_TRAIN:], labels[_TRAIN:], levels=LEVELS
    )


def digits_graph(contents: Mapping[str, bytes]) -> NodeDataset:
    """The images as nodes with pixels as attributes; each node is joined to the five with the nearest grey levels."""
    grey, labels = _grey_digits()
    chosen = nearest(grey, NEIGHBOURS)
    heads = np.repeat(np.arange(len(grey)), NEIGHBOURS)
    one_way = sp.csr_array((np.ones(chosen.size, np.float32), (heads, chosen.ravel())), shape=(len(grey),) * 2)
    pixels = sp.csr_array(grey > THRESHOLD, dtype=np.float32)
    return NodeDataset("digits-graph", one_way.maximum(one_way.T), pixels, labels)


def nearest(points: NDArray[np.uint8], k: int) -> NDArray[np.int64]:
    """The k nearest other points of each point, by squared Euclidean distance; ties go to the first point.

    All numbers are integers far below 2^53, so float64 is exact in any order of summation, and every machine gives the
    same result.

    Example:
        >>> nearest(np.array([[0], [3], [6], [7]], dtype=np.uint8), 1).ravel()
        array([1, 0, 3, 2])
    """
    exact = points.astype(np.float64)
    squares = (exact**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2.0 * (exact @ exact.T)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def _grey_digits() -> tuple[NDArray[np.uint8], Any]:
    """The grey levels from 0 to 16 of 1797 digits, 64 pixels each, and the labels of the digits."""
    data, labels = require("sklearn.datasets").load_digits(return_X_y=True)
    return data.astype(np.uint8), labels


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
