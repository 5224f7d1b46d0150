"""A linear program that bounds the margin of a GCN's prediction at one node from below while edges are deleted.

The variables are y, how much of each edge is deleted; delta, how many edges are deleted at each node (a sum of y, and
at most its budget); a, the entries of the normalised adjacency; h, ReLUs that may be zero or not; s, the sum of weights
times ReLUs at the target and its neighbours; p, the products of s with the target's row. The program minimises the sum
of p. With f as in `structure_bounds`, l = f(0, 0) and m the largest f that the budgets allow:

    l (1 - y) <= a <= m (1 - y)
    a <= c (1 - y) + b_v (delta_v - y) + b_u (delta_u - y)               planes above f on all integers
    a >= c (1 - y) + b_v (delta_v - y) + b_u (delta_u - y) - d y         a plane below f; d takes it to 0 when y = 1
    h >= z,  h >= 0,  relu(z) <= S (z - R) / (S - R)                     z = sum of a times X W, plus bias, in [R, S]
    p >= a s_low,  p >= m (s - s_high) + a s_high,
    p >= l s + s_low a - l s_low - l (s_high - s_low) y                  McCormick, on a = 0 or a in [l, m]

Every variable has a finite range, so any multipliers give a valid bound. The bound is evaluated here, at the solver's
multipliers; neither the solver's tolerances nor its failure can make it wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from flipproof.base.values import FloatArray, IntArray
from flipproof.baselines.gcn.structure_bounds import (
    Hidden,
    Layers,
    Surroundings,
    lines_below,
    slack_of,
    sums_below,
    unstable,
)
from flipproof.baselines.gcn.structure_entries import Entries


class Solution(NamedTuple):
    """A valid bound, and how much of each edge is deleted at the program's minimum."""

    bound: float
    deleted: FloatArray


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Known bounds on the margin of one class over another while edges around a target are deleted.

    Attributes:
        around: the edges that may be deleted.
        layers: the layers of the GCN, at the surrounding nodes.
        hidden: bounds on the hidden units before their ReLUs.
        weights: the first class's weights of the hidden units minus the second class's.
        constant: the difference of the two biases, rounded down.
    """

    around: Surroundings
    layers: Layers
    hidden: Hidden
    weights: FloatArray
    constant: float

    @classmethod
    def between(cls, around: Surroundings, layers: Layers, hidden: Hidden, classes: tuple[int, int]) -> Relaxation:
        """The relaxation of the margin of the first class over the second."""
        one, other = classes
        biases = layers.output_bias[[one, other]]
        constant = float(biases[0] - biases[1] - layers.slack * np.abs(biases).sum())
        return cls(around, layers, hidden, layers.outputs[:, one] - layers.outputs[:, other], constant)

    @cached_property
    def low(self) -> FloatArray:
        """A lower bound on s for each inner node."""
        return sums_below(self.around, self.layers, self.hidden, self.weights)

    @cached_property
    def high(self) -> FloatArray:
        """An upper bound on s for each inner node."""
        return -sums_below(self.around, self.layers, self.hidden, -self.weights)

    @cached_property
    def interval(self) -> float:
        """A lower bound on the margin without a program: entries are not negative, so the bound on s can replace s."""
        row, values = self.around.rows[0], self.low[:, None]
        return float(row.lower(values)[0] - self.layers.slack * row.size(values)[0] + self.constant)

    def solved(self) -> Solution:
        """A lower bound on the margin, from the program."""
        return _Program(self).solution()


@dataclass(slots=True, eq=False)
class _Rows:
    """Rows of inequalities `coefficients * variables >= right`, assembled piece by piece."""

    size: int = 0
    rights: list[Any] = field(default_factory=list)
    pieces: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def add(self, right: FloatArray, *terms: tuple[IntArray, FloatArray]) -> None:
        """Adds one row per right side; each term gives a variable and a coefficient for every row."""
        rows = self.size + np.arange(right.size)
        self.pieces += [(rows, variables, coefficients) for variables, coefficients in terms]
        self._end(right)

    def add_one(self, right: float, *terms: tuple[IntArray, FloatArray]) -> None:
        """Adds one row; each term gives many variables with their coefficients."""
        for variables, coefficients in terms:
            self.pieces.append((np.full(variables.size, self.size), variables, coefficients))
        self._end(np.array([right]))

    def _end(self, right: FloatArray) -> None:
        self.rights.append(right)
        self.size += right.size

    def matrix(self, columns: int) -> sp.csr_array:
        """The coefficients of all rows."""
        rows, variables, coefficients = (np.concatenate(each) for each in zip(*self.pieces, strict=True))
        return sp.csr_array((coefficients, (rows, variables)), shape=(self.size, columns))


class _Program:
    """The program of a relaxation, with variables in the order y, delta, a, s, p, h."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation, self.around = relaxation, relaxation.around
        self.entries, self.lines = Entries.of(self.around), lines_below(relaxation.hidden, relaxation.weights)
        self.inequalities, self.ranges = _Rows(), self._ranges()
        self.y, self.delta, self.a, self.s, self.p = np.cumsum([0, *(low.size for low, _ in self.ranges)]).tolist()[:-1]
        self.inequalities.add_one(-self.around.budget, (np.arange(self.delta), np.full(self.delta, -1.0)))
        self._add_entries()
        for node in (0, *self.around.rows[0].ends.tolist()):
            self._add_sum(node)
            self._add_product(node)

    def _ranges(self) -> list[tuple[FloatArray, FloatArray]]:
        around, entries, low, high = self.around, self.entries, self.relaxation.low, self.relaxation.high
        largest = np.zeros(around.inner)
        of_target = np.concatenate([entries.loops[:1], entries.places[around.rows[0].edges]])
        largest[self._ends_of_target()] = entries.high[of_target]
        return [
            (np.zeros(around.free.size), around.deletable.astype(float)),
            (np.zeros(around.degrees.size - 1), around.most[:-1].astype(float)),
            (np.where(entries.free, 0.0, entries.low), entries.high),
            (low, high),
            (np.minimum(2.0 * largest * low, 0.0), np.maximum(2.0 * largest * high, 0.0)),
        ]

    def _ends_of_target(self) -> IntArray:
        return np.concatenate([[0], self.around.rows[0].ends])

    def _add_entries(self) -> None:
        entries, rows = self.entries, self.inequalities
        a = self.a + np.arange(entries.low.size)
        heads, tails, one = self.delta + entries.heads, self.delta + entries.tails, np.ones(a.size)
        y = self.y + entries.edges
        rows.add(entries.low, (a, one), (y, np.where(entries.free, entries.low, 0.0)))
        rows.add(-entries.high, (a, -one), (y, np.where(entries.free, -entries.high, 0.0)))
        for plane in entries.above:
            total = plane.constant + plane.head + plane.tail
            rows.add(
                -plane.constant - entries.error,
                (a, -one), (heads, plane.head), (tails, plane.tail), (y, np.where(entries.free, -total, 0.0)),
            )  # fmt: skip
        plane, drop = entries.below, entries.drop
        total = plane.constant + plane.head + plane.tail + drop
        rows.add(
            plane.constant - entries.error,
            (a, one), (heads, -plane.head), (tails, -plane.tail), (y, np.where(entries.free, total, 0.0)),
        )  # fmt: skip

    def _add_sum(self, node: int) -> None:
        """Bounds s from below by the lines below ReLUs, and ReLUs with a positive weight by z and zero."""
        of, layers = self.relaxation, self.relaxation.layers
        row, size = self.around.rows[node], of.hidden.size[node]
        ends = np.concatenate([[node], row.ends])
        a = self.a + np.concatenate([self.entries.loops[[node]], self.entries.places[row.edges]])
        units = np.flatnonzero(unstable(of.hidden)[node] & (of.weights > 0))
        h = sum(low.size for low, _ in self.ranges) + np.arange(units.size)
        self.ranges.append((np.zeros(units.size), of.hidden.upper[node, units]))
        for i, unit in enumerate(units):
            right = layers.hidden_bias[unit] - layers.slack * size[unit]
            self.inequalities.add_one(right, (h[i : i + 1], np.ones(1)), (a, -layers.inputs[ends, unit]))
        slopes, constants = self.lines
        right = constants[node] + slopes[node] @ layers.hidden_bias - layers.slack * (size @ np.abs(of.weights))
        self.inequalities.add_one(
            right,
            (np.array([self.s + node]), np.ones(1)),
            (h, -of.weights[units]),
            (a, -(layers.inputs[ends] @ slopes[node])),
        )

    def _add_product(self, node: int) -> None:
        row, of = self.around.rows[0], self.relaxation
        edge = row.edges[row.ends == node]
        entry = self.entries.loops[0] if node == 0 else self.entries.places[edge[0]]
        small, large = self.entries.low[entry], self.entries.high[entry]
        low, high = of.low[node], of.high[node]
        p, a, s = np.array([[self.p + node], [self.a + entry], [self.s + node]])
        error = of.layers.slack * large * (abs(low) + abs(high))
        one, add = np.ones(1), self.inequalities.add_one
        add(0.0, (p, one), (a, -np.array([low])))
        add(-large * high - error, (p, one), (s, -np.array([large])), (a, -np.array([high])))
        reach = (self.y + edge, np.full(edge.size, small * (high - low)))
        add(-small * low - error, (p, one), (s, -np.array([small])), (a, -np.array([low])), reach)

    def solution(self) -> Solution:
        lowest, highest = (np.concatenate(each) for each in zip(*self.ranges, strict=True))
        matrix, right = self.inequalities.matrix(lowest.size), np.concatenate(self.inequalities.rights)
        sums, cost = self._sums_at_nodes(lowest.size), np.zeros(lowest.size)
        cost[self.p + self._ends_of_target()] = 1.0
        found = linprog(
            cost, -matrix, -right, sums, np.zeros(sums.shape[0]), np.stack([lowest, highest], axis=1), method="highs"
        )
        if found.status != 0:
            return Solution(-np.inf, np.zeros(self.delta))
        # Any multipliers give a bound, if they are not negative for inequalities: the remaining cost is least at an
        # end of each variable's range.
        multipliers, of_sums = np.maximum(-found.ineqlin.marginals, 0.0), found.eqlin.marginals
        reduced = cost - matrix.T @ multipliers - sums.T @ of_sums
        size = cost + abs(matrix).T @ multipliers + abs(sums).T @ np.abs(of_sums)
        constant, largest = self.relaxation.constant, np.maximum(np.abs(lowest), np.abs(highest))
        bound = right @ multipliers + np.minimum(reduced * lowest, reduced * highest).sum() + constant
        bound -= slack_of(*matrix.shape) * (np.abs(right) @ multipliers + size @ largest + abs(constant))
        return Solution(float(bound) if np.isfinite(bound) else -np.inf, found.x[: self.delta])

    def _sums_at_nodes(self, columns: int) -> sp.csr_array:
        """The rows that state delta - sum of y = 0."""
        nodes, pairs = self.around.degrees.size - 1, self.around.pairs
        ends, edges = pairs.T.ravel(), np.tile(np.arange(len(pairs)), 2)
        known = ends < nodes
        rows = np.concatenate([np.arange(nodes), ends[known]])
        variables = np.concatenate([self.delta + np.arange(nodes), self.y + edges[known]])
        return sp.csr_array((np.repeat([1.0, -1.0], [nodes, known.sum()]), (rows, variables)), shape=(nodes, columns))
