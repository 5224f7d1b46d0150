"""The worst edges for a random walk, found by policy iteration and proved by the Bellman inequality.

A walk from node i goes on with probability a, along one of the edges of i, all equally likely. An attacker switches
a set S of fragile edges of i, at most b_i of them, and leaves the edges N(S). The most that the walk can earn is

    v_i = r_i + a max over S of (q_i - c_i |S| + sum of v_j over N(S)) / |N(S)|

with rewards r for a visit, q for the flow through each edge of a node, and prices c for switching one. Each node
chooses on its own, so this is a Markov decision process, and the best choice is best from every node at once.

The fraction above is larger than m exactly if q_i - c_i |S| + sum of (v_j - m) over N(S) is positive. The S that
maximises that sum consists of the edges with the largest positive gains, at most b_i of them; the gain is
+(v_j - m) - c_i for an added edge and -(v_j - m) - c_i for a deleted one. Policy iteration takes
m = (v_i - r_i) / a, the current fraction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.rounding import ROUNDOFF, TINY
from flipproof.base.values import BoolArray, FloatArray
from flipproof.baselines.walks.walk import Walk

ACCURACY = 1e-13
"""The accuracy of values, relative to the largest. The proved bounds account for the remaining error."""

_MOST_ROUNDS = 1000
_BETWEEN_LOOKS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Rewards:
    """What a walk earns: r for visiting a node, q for the flow through each of its edges, -c for switching an edge."""

    visit: FloatArray
    flow: FloatArray
    price: FloatArray

    @classmethod
    def of_visits(cls, visit: FloatArray, price: FloatArray | None = None) -> Rewards:
        """Rewards for visits only: no reward for flow through edges, and by default no prices."""
        return cls(visit, np.zeros(visit.size), np.zeros(visit.size) if price is None else price)


def summed(matrix: Any, factor: FloatArray, once: FloatArray, start: FloatArray, accuracy: float) -> FloatArray:
    """Solves v = once + factor * (matrix v) by fixed-point iteration; rows of factor * matrix sum to less than 1.

    Stops when v changes by no more than its largest entry times `accuracy`, or once the change must be due to rounding.
    """
    shrinking = float(np.max(factor * matrix.sum(axis=1), initial=0.0))
    most = 2 * math.ceil(math.log(ROUNDOFF) / math.log(max(shrinking, ROUNDOFF)))
    rows = factor.reshape(-1, *(1,) * (once.ndim - 1))
    values = start
    for _ in range(1 + most // _BETWEEN_LOOKS):
        for _ in range(_BETWEEN_LOOKS):
            before, values = values, once + rows * (matrix @ values)
        if np.abs(values - before).max(initial=0.0) <= accuracy * np.abs(values).max(initial=0.0):
            break
    return values


def worst_values(
    walk: Walk, rewards: Rewards, start: FloatArray | None = None, accuracy: float = ACCURACY
) -> FloatArray:
    """Upper bounds on what a walk from each node earns, whichever edges are switched within the local budgets.

    Policy iteration makes the bounds as tight as `accuracy`. Their validity does not depend on how the values were
    found: a final check of the Bellman inequality proves them, with every rounding error on the safe side.

    Args:
        walk: the walk and the local budgets.
        rewards: the rewards of the walk.
        start: values close to the solution, if any are known.
        accuracy: the accuracy of the values before the final check, relative to the largest.

    Example:
        Node 0 may lose its edge to node 1, where every visit costs 1; its edge to itself remains.

        >>> from flipproof.baselines.walks.walk import Threat
        >>> adjacency = sp.csr_array([[1, 1], [0, 1]])
        >>> walk = Walk.under(Threat([[0], [1]], local=1), adjacency, damping=0.5)
        >>> worst_values(walk, Rewards.of_visits(np.array([0.0, -1.0]))).round(9) + 0.0
        array([ 0., -2.])
    """
    switched = np.zeros(walk.heads.size, dtype=bool)
    if start is not None:
        switched, _ = _best(walk, rewards, start)
    values = _values(walk, rewards, switched, np.zeros(walk.nodes) if start is None else start, accuracy)
    for _ in range(_MOST_ROUNDS):
        best, excess = _best(walk, rewards, values)
        # A smaller excess may be due to the accuracy of the values; acting on it could change the choice endlessly.
        noise = 4.0 * accuracy * _terms(walk) * np.abs(values).max(initial=0.0) / walk.damping
        better = excess > noise
        if not better.any():
            break
        switched = np.where(better[walk.heads], best, switched)
        values = _values(walk, rewards, switched, values, accuracy)
    return np.nextafter(values + _shortfall(walk, rewards, values) / (1.0 - walk.damping), np.inf)


def _terms(walk: Walk) -> FloatArray:
    """The most numbers that are added up for each node."""
    return walk.degree + np.minimum(walk.budget, np.bincount(walk.heads, minlength=walk.nodes))


def _best(walk: Walk, rewards: Rewards, values: FloatArray) -> tuple[BoolArray, FloatArray]:
    """The edges to switch, and per node the largest q - c |S| + sum of (v_j - m) over N(S), m = (v - r) / a."""
    mean = (values - rewards.visit) / walk.damping
    gain = walk.signs * (values[walk.tails] - mean[walk.heads]) - rewards.price[walk.heads]
    worth = np.flatnonzero(gain > 0)
    worth = worth[np.lexsort((-gain[worth], walk.heads[worth]))]
    heads = walk.heads[worth]
    rank = np.arange(heads.size) - np.searchsorted(heads, heads)
    best = np.zeros(walk.heads.size, dtype=bool)
    best[worth[rank < walk.budget[heads]]] = True
    gained = np.bincount(walk.heads[best], gain[best], walk.nodes)
    return best, walk.clean @ values - walk.degree * mean + rewards.flow + gained


def _values(walk: Walk, rewards: Rewards, switched: BoolArray, start: FloatArray, accuracy: float) -> FloatArray:
    """What the walk earns from every node once the edges are switched."""
    heads, signs = walk.heads[switched], walk.signs[switched]
    degree = walk.degree + np.bincount(heads, signs, walk.nodes)
    there = walk.pattern.data.copy()
    there[walk.places[switched]] += signs
    matrix = sp.csr_array((there, walk.pattern.indices, walk.pattern.indptr), shape=walk.pattern.shape)
    share = walk.damping / degree
    paid = rewards.flow - rewards.price * np.bincount(heads, minlength=walk.nodes)
    return summed(matrix, share, rewards.visit + share * paid, start, accuracy)


def _shortfall(walk: Walk, rewards: Rewards, values: FloatArray) -> float:
    """The most that the values miss the Bellman inequality by; divided by 1 - a, the most that they can be too low.

    For every S the fraction is at most m + max(excess, 0) / |N(S)|, and r + a m = v up to rounding. If all values are
    replaced by v + d / (1 - a), the inequality holds for d = a max(excess, 0) / (fewest edges) + rounding, since a
    constant added to all values returns a times itself. Values that satisfy the inequality are upper bounds.

    Rounding, with M the largest |v| and |m|, of N terms of which k are gains, in units of 2^-53: the sum of the values
    costs (N - k)^2 M and that of the gains 2 k^2 M, together at most 2 N^2 M; a single gain is wrong by at most 9 M,
    since a price that is far above |v_j - m| makes it negative however rounded; all other steps cost 7 N M + 2 |q|.
    That is less than (N + 30) (2 N M + |q|). The reward, a difference of logits, and m cost 4 (|v| + |r|).
    """
    _, excess = _best(walk, rewards, values)
    mean = (values - rewards.visit) / walk.damping
    largest = max(np.abs(values).max(initial=0.0), np.abs(mean).max(initial=0.0))
    terms = _terms(walk)
    error = ROUNDOFF * (terms + 30.0) * (2.0 * terms * largest + np.abs(rewards.flow))
    missed = walk.damping * np.maximum(excess + error, 0.0) / walk.fewest
    rounded = 4.0 * ROUNDOFF * (np.abs(values) + np.abs(rewards.visit))
    return 1.01 * float(np.max(missed + rounded, initial=0.0)) + TINY
