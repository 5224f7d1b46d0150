"""The compiled loops that walk through the trees of a forest.

Trees for sparse rows are deep: a row of zeros passes a long chain of tests. A row with few non-zeros follows the same
chain up to the first test of one of its non-zeros, so the loops look up this test instead of walking to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled

_TESTS_PER_SEARCH = 8
"""One lookup of a non-zero in a chain takes about as long as this number of tests."""


class TreeNodes(NamedTuple):
    """The nodes of all trees; the nodes of tree t begin at starts[t]. A leaf is its own child."""

    starts: Any
    left: Any
    right: Any
    columns: Any
    thresholds: Any
    values: Any


class Chains(NamedTuple):
    """The tests that a row of zeros passes, from each node that starts a chain: a root or a branch off a chain.

    The chain of node h tests columns[begins[h] : ends[h]], in increasing order. nodes[begins[h] : ends[h]] are the
    first nodes that test these columns. The chain ends at leaf[h].
    """

    begins: Any
    ends: Any
    leaf: Any
    columns: Any
    nodes: Any


@compiled
def chain_heads(heads: Any, leaf: Any, nodes: Any) -> None:
    """Writes the first node of each node's chain, and for these first nodes the leaf at the end of the chain."""
    left, right, thresholds = nodes.left, nodes.right, nodes.thresholds
    for root in nodes.starts[:-1]:
        heads[root] = root
    for node in range(left.size):  # every node comes after its parent
        if left[node] == node:
            leaf[heads[node]] = node
        else:
            heads[left[node]] = heads[node] if thresholds[node] >= 0.0 else left[node]
            heads[right[node]] = right[node] if thresholds[node] >= 0.0 else heads[node]


@compiled
def dense_labels(labels: Any, rows: Any, nodes: Any) -> None:
    """Writes the label of every row of float32 numbers."""
    starts, left, right = nodes.starts, nodes.left, nodes.right
    columns, thresholds, values = nodes.columns, nodes.thresholds, nodes.values
    shares = np.zeros((labels.size, values.shape[1]), np.float64)
    for tree in range(starts.size - 1):  # tree by tree, so that a tree stays in the processor's cache
        for row in range(labels.size):
            node = starts[tree]
            while left[node] != node:
                node = left[node] if rows[row, columns[node]] <= thresholds[node] else right[node]
            for label in range(values.shape[1]):
                shares[row, label] += values[node, label]
    _largest_means(labels, shares, starts.size - 1)


@compiled
def sparse_labels(labels: Any, data: Any, indices: Any, row_starts: Any, width: Any, nodes: Any, chains: Any) -> None:
    """Writes the label of every row of a CSR matrix of float32 numbers."""
    # Taking an array out of a tuple counts a reference, which costs as much as a search, so do it only once.
    starts, left, right = nodes.starts, nodes.left, nodes.right
    columns, thresholds, values = nodes.columns, nodes.thresholds, nodes.values
    begins, ends, leaf, tested, testers = chains.begins, chains.ends, chains.leaf, chains.columns, chains.nodes
    dense, shares = np.zeros(width, np.float32), np.zeros((labels.size, values.shape[1]), np.float64)
    for tree in range(starts.size - 1):
        for row in range(labels.size):
            first, last = row_starts[row], row_starts[row + 1]
            for k in range(first, last):
                dense[indices[k]] = data[k]
            node, like_zeros = starts[tree], False
            while left[node] != node:
                if not like_zeros and ends[node] - begins[node] > _TESTS_PER_SEARCH * (last - first):
                    node = _first_tester(
                        indices[first:last], tested[begins[node] : ends[node]], testers[begins[node] :], leaf[node]
                    )
                to_left = dense[columns[node]] <= thresholds[node]
                like_zeros = to_left == (thresholds[node] >= 0.0)
                node = left[node] if to_left else right[node]
            for label in range(values.shape[1]):
                shares[row, label] += values[node, label]
            for k in range(first, last):
                dense[indices[k]] = np.float32(0.0)
    _largest_means(labels, shares, starts.size - 1)


@compiled
def _first_tester(places: Any, tested: Any, testers: Any, leaf: Any) -> Any:
    """The first node of a chain that tests one of the given columns, or the leaf."""
    first = leaf
    for place in places:
        low, high = 0, tested.size
        while low < high:
            middle = (low + high) >> 1
            if tested[middle] < place:
                low = middle + 1
            else:
                high = middle
        if low < tested.size and tested[low] == place:
            first = min(first, testers[low])
    return first


@compiled
def _largest_means(labels: Any, sums: Any, trees: Any) -> None:
    """Writes the first label with the largest mean. It compares means, not sums: rounding may make means equal."""
    for row in range(labels.size):
        best = 0
        for label in range(1, sums.shape[1]):
            if sums[row, label] / trees > sums[row, best] / trees:
                best = label
        labels[row] = best
