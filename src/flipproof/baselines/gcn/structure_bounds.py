"""Bounds on the normalised adjacency and the hidden layer of a GCN around one node while edges are deleted.

With D the degrees of A + I and i, j deletions at v and u, the entry of a kept edge (v, u) is

    f(i, j) = ((D_v - i) (D_u - j))^(-1/2),

which increases in i and j, is jointly convex, and has increasing differences; a deleted edge has entry 0. Numbers are
float64. `slack` exceeds the relative error of any sum here, and every bound is moved outwards by `slack` times the sum
of the absolute values of the terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import BoolArray, FloatArray, IntArray


def slack_of(*terms: int) -> float:
    """A bound on the relative error of nested sums, given the number of terms of each."""
    return 8.0 * ROUNDOFF * (sum(terms) + 64)


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The weights of a two-layer GCN, and its first layer's product with the attributes of some nodes.

    Attributes:
        inputs: X W, [nodes, hidden].
        sizes: |X| |W|, which determines the accuracy of `inputs`.
        hidden_bias: the bias added before the ReLU.
        outputs: the weights after the ReLU, [hidden, classes].
        output_bias: the bias added last.
        slack: the relative error of all sums, eight times the unit roundoff for each of their terms.
    """

    inputs: FloatArray
    sizes: FloatArray
    hidden_bias: FloatArray
    outputs: FloatArray
    output_bias: FloatArray
    slack: float

    def of_nodes(self, nodes: IntArray) -> Layers:
        """The layers restricted to the given nodes."""
        return replace(self, inputs=self.inputs[nodes], sizes=self.sizes[nodes])


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The nodes and edges that matter to a target, and which edges may still be deleted.

    Attributes:
        inner: the number of inner nodes: node 0 is the target, and its neighbours come next. After them come the nodes
            two steps away, nodes further away whose local budget matters, and a last one that stands for all others.
        pairs: the ends of edges [edges, 2], the smaller number first. All edges of a node to "all others" are one edge.
        there: which edges have not been deleted.
        free: how many of each edge may be deleted; one, except for edges to "all others".
        degrees: the degrees of A + I, one per node.
        local: how many edges may be deleted at each node.
        budget: how many may be deleted in total.
    """

    inner: int
    pairs: IntArray
    there: BoolArray
    free: IntArray
    degrees: IntArray
    local: IntArray
    budget: int

    def delete(self, edge: int) -> Surroundings:
        """Removes one edge from the graph and subtracts it from the budgets."""
        ends, whole = self.pairs[edge], self.pairs[edge, 1] < self.degrees.size - 1
        there, (free, degrees, local) = self.there.copy(), (a.copy() for a in (self.free, self.degrees, self.local))
        there[edge] &= not whole
        free[edge] = 0 if whole else free[edge] - 1
        degrees[ends] -= 1
        local[ends] -= 1
        return replace(self, there=there, free=free, degrees=degrees, local=local, budget=self.budget - 1)

    def keep(self, edge: int) -> Surroundings:
        """The surroundings in which this edge is not deleted."""
        free = self.free.copy()
        free[edge] = 0
        return replace(self, free=free)

    @cached_property
    def deletable(self) -> IntArray:
        """How many of each edge may be deleted within the budgets."""
        return _smallest(self.free, self.budget, self.local[self.pairs].min(axis=1))

    @cached_property
    def deletable_at(self) -> IntArray:
        """The sum of `deletable` over the edges at every node."""
        counts = np.zeros(self.degrees.size, dtype=np.int64)
        for ends in self.pairs.T:
            np.add.at(counts, ends, self.deletable)
        return counts

    @cached_property
    def most(self) -> IntArray:
        """The most edges that can be deleted at every node."""
        return _smallest(self.local, self.budget, self.deletable_at)

    def most_besides(self, edges: IntArray, ends: IntArray) -> IntArray:
        """The most edges that can be deleted at an end of each edge if the edge itself is kept."""
        return _smallest(self.local[ends], self.budget, self.deletable_at[ends] - self.deletable[edges])

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the target and of its neighbours."""
        return tuple(self._row(node) for node in range(self.inner))

    def _row(self, node: int) -> Row:
        edges = np.flatnonzero(self.there & (self.pairs == node).any(axis=1))
        ends = self.pairs[edges].sum(axis=1) - node
        return Row(
            node, edges, ends, int(self.degrees[node]), self.degrees[ends], self.deletable[edges] > 0,
            int(self.most[node]), self.most_besides(edges, ends), self.budget,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row of the normalised adjacency: a node with its edges, and the deletions possible there and further away.

    Attributes:
        node: the node that the row belongs to.
        edges: the numbers of its edges.
        ends: the nodes at their other ends.
        degree: the degree of the node; `degrees` are those of the ends.
        removable: which edges may be deleted.
        most: how many of these edges may be deleted at once; `budget` is how many edges in total.
        shifts: how many other edges may be deleted at each end.
    """

    node: int
    edges: IntArray
    ends: IntArray
    degree: int
    degrees: IntArray
    removable: BoolArray
    most: int
    shifts: IntArray
    budget: int

    def product(self, values: FloatArray) -> FloatArray:
        """The product of the row's entries with the values [nodes, columns] if nothing is deleted."""
        entries = 1.0 / np.sqrt(self.degree * self.degrees)
        product: FloatArray = entries @ values[self.ends] + values[self.node] / self.degree
        return product

    def size(self, values: FloatArray) -> FloatArray:
        """An upper bound on the sum of the absolute values of all terms under all deletions."""
        degree = self.degree - self.most
        entries = 1.0 / np.sqrt(degree * (self.degrees - self.shifts))
        size: FloatArray = entries @ np.abs(values[self.ends]) + np.abs(values[self.node]) / degree
        return size

    def lower(self, values: FloatArray) -> FloatArray:
        """A lower bound on the row's entries times values [nodes, columns], per column, up to `slack * size(values)`.

        For each number j of edges deleted at the node, its degree is known, and j terms are missing, at worst the
        largest. Each of the at most budget - j other deletions lowers the degrees of at most two ends. The effect on an
        end is convex in the number of deletions there, so it lies below a line through none and the most.
        """
        values_of_ends = values[self.ends]
        unshifted = 1.0 / np.sqrt(self.degrees)[:, None]
        terms = values_of_ends * unshifted
        missing = np.cumsum(-np.sort(-terms[self.removable], axis=0)[: self.most], axis=0)
        lowest = np.full(values.shape[1], np.inf)
        for j in range(self.most + 1):
            left = self.budget - j
            shifts = np.minimum(self.shifts, left)
            change = values_of_ends * (1.0 / np.sqrt(self.degrees - shifts)[:, None] - unshifted)
            each = np.repeat(np.minimum(change, 0.0) / np.maximum(shifts, 1)[:, None], shifts, axis=0)
            total = terms.sum(axis=0) + np.sort(each, axis=0)[: 2 * left].sum(axis=0)
            if j:
                total -= missing[j - 1]
            lowest = np.minimum(lowest, total / np.sqrt(self.degree - j) + values[self.node] / (self.degree - j))
        return lowest


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Bounds on the inputs to the ReLUs of the target and its neighbours, [inner nodes, hidden units].

    Attributes:
        lower: never above the exact number.
        upper: never below the exact number.
        size: an upper bound on the absolute values of the lower bound, the upper bound and the exact number.
    """

    lower: FloatArray
    upper: FloatArray
    size: FloatArray

    @classmethod
    def of(cls, around: Surroundings, layers: Layers) -> Hidden:
        """The interval bounds that follow from the bounds of every row."""
        bias, parts = layers.hidden_bias, []
        for row in around.rows:
            size = (row.size(layers.sizes) + np.abs(bias)) * (1.0 + layers.slack)
            lower = row.lower(layers.inputs) + bias - layers.slack * size
            upper = bias - row.lower(-layers.inputs) + layers.slack * size
            parts.append((np.maximum(lower, -size), np.minimum(upper, size), size))
        return cls(*(np.stack(each) for each in zip(*parts, strict=True)))


def _smallest(one: IntArray, number: int, other: IntArray) -> IntArray:
    return np.asarray(np.minimum(np.minimum(one, other), number))


def sums_below(around: Surroundings, layers: Layers, hidden: Hidden, weights: FloatArray) -> FloatArray:
    """A lower bound, for each inner node, on the sum over the hidden units of weights times ReLUs.

    It is the better of two bounds: one works unit by unit, and one uses lines below all units, whose sum is one number
    per end that the row bounds.
    """
    low, high = np.maximum(hidden.lower, 0.0), np.maximum(hidden.upper, 0.0)
    by_unit = np.minimum(weights * low, weights * high).sum(axis=1)
    slopes, constants = lines_below(hidden, weights)
    slopes = slopes + np.where(unstable(hidden) & (weights > 0) & (hidden.upper > -hidden.lower), weights, 0.0)
    by_row = [
        float(row.lower((layers.inputs @ slope)[:, None])[0] + constant)
        for row, slope, constant in zip(around.rows, slopes, constants + slopes @ layers.hidden_bias, strict=True)
    ]
    lowest: FloatArray = np.maximum(by_unit, by_row) - layers.slack * (hidden.size @ np.abs(weights))
    return lowest


def unstable(hidden: Hidden) -> BoolArray:
    """The ReLUs that may be zero or positive."""
    return (hidden.lower < 0.0) & (hidden.upper > 0.0)


def lines_below(hidden: Hidden, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes [inner nodes, units] and constants [inner nodes] of lines below weights times ReLUs.

    The line is zero for unstable units with a positive weight; the program improves on that.
    """
    width = np.where(unstable(hidden), hidden.upper - hidden.lower, 1.0)
    chord = np.where(unstable(hidden) & (weights < 0), weights * (hidden.upper / width), 0.0)
    slopes = np.where(hidden.lower >= 0.0, weights, chord)
    return slopes, -(chord * hidden.lower).sum(axis=1)
