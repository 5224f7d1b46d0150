"""Decision trees as plain arrays: a self-contained classifier of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import FloatArray, IntArray, RowArray, read_only
from flipproof.errors import InvalidInputError
from flipproof.models.fitted.forest_kernels import Chains, TreeNodes, chain_heads, dense_labels, sparse_labels
from flipproof.models.fitted.linear_rows import ArrayClassifier, finite_numbers, integer_list, rows_of


@dataclass(frozen=True, slots=True, eq=False)
class ForestRows(ArrayClassifier):
    """Decision trees that vote by the shares of classes in their leaves; the label has the largest mean share.

    Tree t has the nodes from starts[t] to starts[t + 1] - 1, its root first, and every child after its parent. A row
    goes left if the tested column is at most the threshold; as in scikit-learn, this compares float32 with float64.

    Attributes:
        starts: where each tree begins, followed by the number of nodes.
        left: the left child of each node by its number among all nodes; a leaf is its own child.
        right: the right child of each node; a leaf is its own child.
        features: the column that each node tests.
        thresholds: the number that each node compares the column with.
        values: shares of classes [nodes, classes]; only the shares of leaves matter.
        width: the number of columns of a row, as an array of one number.

    Example:
        >>> shares = [[0, 0], [0.9, 0.1], [0.2, 0.8]]
        >>> tree = ForestRows([0, 3], [1, 1, 2], [2, 1, 2], [1, 0, 0], [0.5, 0, 0], shares, [2])
        >>> tree(np.array([[1, 0], [0, 1]]))
        array([0, 1])
    """

    starts: IntArray
    left: IntArray
    right: IntArray
    features: IntArray
    thresholds: FloatArray
    values: FloatArray
    width: IntArray
    _chains: Chains = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("starts", "left", "right", "features", "width"):
            object.__setattr__(self, name, integer_list(getattr(self, name), name))
        for name, axes in (("thresholds", 1), ("values", 2)):
            numbers = finite_numbers(getattr(self, name), axes, name)
            object.__setattr__(self, name, read_only(numbers.astype(np.float64)))
        problem = _problem(self)
        if problem:
            raise InvalidInputError(f"expected trees, got {problem}")
        object.__setattr__(self, "_chains", _chains(self))

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.values.shape[1])

    @property
    def columns(self) -> int:
        """The number of columns of a row."""
        return int(self.width[0])

    def __call__(self, batch: RowArray) -> IntArray:
        """Labels [rows] of an array [rows, ...] or of a sparse matrix [rows, columns]."""
        rows = rows_of(batch, self.columns)
        labels = np.empty(rows.shape[0], dtype=np.int64)
        if not sp.issparse(rows):
            dense_labels(labels, np.ascontiguousarray(rows, dtype=np.float32), self._nodes)
            return labels
        # Each array has a fixed type, so that the loop is compiled once.
        values, starts = rows.data.astype(np.float32, copy=False), rows.indptr.astype(np.int64, copy=False)
        places = rows.indices.astype(np.int32, copy=False)
        sparse_labels(labels, values, places, starts, self.columns, self._nodes, self._chains)
        return labels

    @property
    def _nodes(self) -> TreeNodes:
        return TreeNodes(self.starts, self.left, self.right, self.features, self.thresholds, self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return ForestRows, tuple(self.arrays().values())  # derived fields are rebuilt


def _problem(forest: ForestRows) -> str | None:
    """The problem with the arrays, or None. Without a problem, every walk through the trees ends and stays inside."""
    starts, nodes = forest.starts, forest.left.size
    if starts.size < 2 or starts[0] != 0 or starts[-1] != nodes or (np.diff(starts) < 1).any():
        return f"{starts.size} starts that do not divide {nodes} nodes into trees"
    if any(array.shape[0] != nodes for array in (forest.right, forest.features, forest.thresholds, forest.values)):
        return "arrays for different numbers of nodes"
    if not forest.classes:
        return "no classes"
    if forest.width.size != 1 or not 1 <= forest.width[0] < 2**31:
        return f"width {forest.width.tolist()[:3]}"
    numbers, ends = np.arange(nodes), np.repeat(starts[1:], np.diff(starts))
    leaf = (forest.left == numbers) & (forest.right == numbers)
    for side in (forest.left, forest.right):
        wrong = ~leaf & ((side <= numbers) | (side >= ends))
        if wrong.any():
            return f"node {wrong.argmax()} whose child {side[wrong.argmax()]} does not come after it in its tree"
    parents = np.bincount(np.concatenate([forest.left[~leaf], forest.right[~leaf]]), minlength=nodes)
    parents[starts[:-1]] += 1
    if (parents != 1).any():  # the loops that jump from chain to chain rely on this
        return f"node {(parents != 1).argmax()} with another number of parents than one"
    wrong = (forest.features < 0) | (forest.features >= forest.width[0])
    return f"node {wrong.argmax()} with column {forest.features[wrong.argmax()]}" if wrong.any() else None


def _chains(forest: ForestRows) -> Chains:
    """The chains of a forest and the columns they test."""
    nodes = forest.left.size
    heads, leaf = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
    chain_heads(heads, leaf, forest._nodes)
    testers = np.flatnonzero(forest.left != np.arange(nodes))
    order = testers[np.lexsort((testers, forest.features[testers], heads[testers]))]
    pairs = np.stack([heads[order], forest.features[order]])
    new = np.ones(order.size, dtype=bool)
    new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    owners, columns = pairs[:, new]
    begins, ends = (np.searchsorted(owners, np.arange(nodes), side=side) for side in ("left", "right"))
    return Chains(begins, ends, leaf, columns, order[new])
