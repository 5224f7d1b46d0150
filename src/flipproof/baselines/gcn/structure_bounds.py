"""Bounds on the normalised adjacency and the hidden layer of a GCN around one node while edges are deleted.

With D the degrees of A + I and i, j deletions at v and u, the entry of a kept edge (v, u) is

    f(i, j) = ((D_v - i) (D_u - j))^(-1/2),

which grows in i and j, is convex in both together, and has growing differences; a deleted edge has entry 0. Numbers
are float64. `slack` is a relative error that is larger than that of any sum here, and every bound is moved outwards
by it times the sum of the absolute values of what was added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import BoolArray, FloatArray, IntArray


def slack_of(*terms: int) -> float:
    """The relative error of a computation with nested sums, given the number of terms of each."""
    return 8.0 * ROUNDOFF * (sum(terms) + 64)


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The weights of a two-layer GCN, and what its first layer makes of the attributes of some nodes.

    Attributes:
        inputs: X W, [nodes, hidden].
        sizes: |X| |W|, which says how exact that is.
        hidden_bias: added before the ReLU.
        outputs: the weights after it, [hidden, classes].
        output_bias: added last.
        slack: the relative error of all sums, eight times the unit roundoff for each of their terms.
    """

    inputs: FloatArray
    sizes: FloatArray
    hidden_bias: FloatArray
    outputs: FloatArray
    output_bias: FloatArray
    slack: float

    def of_nodes(self, nodes: IntArray) -> Layers:
        """The layers restricted to some of the nodes."""
        return replace(self, inputs=self.inputs[nodes], sizes=self.sizes[nodes])


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The nodes and edges that matter to a target, and what may still be deleted of them.

    Attributes:
        inner: how many nodes are the target, node 0, and its neighbours, which are next. Then come the nodes two steps
            away, those further away whose local budget matters, and last one that stands for all others.
        pairs: the ends of edges [edges, 2], the smaller number first. Those of a node to "all others" are one edge.
        there: which edges have not been deleted.
        free: how many of each may be deleted; one except for those to "all others".
        degrees: of A + I, one per node.
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
        """One edge fewer, of the graph and of the budgets."""
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
        """How many of each edge the budgets let be deleted."""
        return _smallest(self.free, self.budget, self.local[self.pairs].min(axis=1))

    @cached_property
    def deletable_at(self) -> IntArray:
        """The sum of that over the edges at every node."""
        counts = np.zeros(self.degrees.size, dtype=np.int64)
        for ends in self.pairs.T:
            np.add.at(counts, ends, self.deletable)
        return counts

    @cached_property
    def most(self) -> IntArray:
        """How many edges can be deleted at every node."""
        return _smallest(self.local, self.budget, self.deletable_at)

    def most_besides(self, edges: IntArray, ends: IntArray) -> IntArray:
        """How many edges can be deleted at an end of each edge if the edge itself is not."""
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
    """One row of the normalised adjacency: a node with its edges, and what may be deleted there and beyond.

    Attributes:
        node: whose row it is.
        edges: the numbers of its edges.
        ends: the nodes at their other ends.
        degree: of the node; `degrees` are those of the ends.
        removable: which edges may be deleted.
        most: how many of them at once; `budget` is how many in total.
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
        """The row's entries times the values [nodes, columns] if nothing is deleted."""
        entries = 1.0 / np.sqrt(self.degree * self.degrees)
        product: FloatArray = entries @ values[self.ends] + values[self.node] / self.degree
        return product

    def size(self, values: FloatArray) -> FloatArray:
        """Above the sum of the absolute values of all that is added, whatever is deleted."""
        degree = self.degree - self.most
        entries = 1.0 / np.sqrt(degree * (self.degrees - self.shifts))
        size: FloatArray = entries @ np.abs(values[self.ends]) + np.abs(values[self.node]) / degree
        return size

    def lower(self, values: FloatArray) -> FloatArray:
        """Below the row's entries times the values [nodes, columns], for every column, up to `slack * size(values)`.

        For each number j of edges deleted at the node its degree is known: j terms are missing, at worst the largest.
        Each of the at most budget - j other deletions lowers the degrees of at most two ends. What that does to an
        end is convex in the number of deletions there, so below a line through none and the most.
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
    """Bounds on what enters the ReLUs of the target and its neighbours, [inner nodes, hidden units].

    Attributes:
        lower: never above the exact number.
        upper: never below.
        size: above the absolute values of all three.
    """

    lower: FloatArray
    upper: FloatArray
    size: FloatArray

    @classmethod
    def of(cls, around: Surroundings, layers: Layers) -> Hidden:
        """By intervals, from the bounds of every row."""
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
    """Below the sum over the hidden units of weights times ReLUs, one for each of the inner nodes.

    The better of two: unit by unit; or lines below all units, whose sum is one number per end, bounded by the row.
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
    """The ReLUs of which it is not known whether they are zero."""
    return (hidden.lower < 0.0) & (hidden.upper > 0.0)


def lines_below(hidden: Hidden, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes [inner nodes, units] and constants [inner nodes] of lines below weights times ReLUs.

    Of unstable units with a positive weight it is zero, which the program improves on.
    """
    width = np.where(unstable(hidden), hidden.upper - hidden.lower, 1.0)
    chord = np.where(unstable(hidden) & (weights < 0), weights * (hidden.upper / width), 0.0)
    slopes = np.where(hidden.lower >= 0.0, weights, chord)
    return slopes, -(chord * hidden.lower).sum(axis=1)
