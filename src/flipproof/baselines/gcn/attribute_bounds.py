"""How far flipped attribute bits can move the hidden units of a GCN: the first half of `gcn_attributes`.

Before its ReLU, hidden unit h of node m is H[m, h] = b[h] + sum_n A[m, n] sum_d X[n, d] W[d, h]. Flipping bit d of
node n moves it by A[m, n] s[n, d] W[d, h] with s = 1 for an added and -1 for a deleted bit: flips do not interact.
So with at most `local` flips per node and `total` altogether, the largest upward move is exactly the sum of the `total`
largest positive moves among the `local` largest of every node. The same holds for downward moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import IntArray, checked_count, chosen
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.networks.node_modules import SparseMatrix

require("torch")
import torch  # noqa: E402

PORTION = 2**20
"""How many numbers are processed at once: 8 MB, about what a cache holds."""
FLOOR = 2.0**-90
"""Added to sizes, so that a rounding error relative to them also covers float32 numbers rounded to zero."""


class Flips(StrEnum):
    """Which bits an attacker may flip."""

    BOTH = "both"
    ADD = "add"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class BitThreat:
    """At most `local` attribute bits of every node are flipped, and at most one of `totals` altogether.

    Attributes:
        local: the budget of a node, at most its number of attributes.
        totals: budgets for the whole graph, in increasing order; each is certified separately.
        flips: "add" allows only zeros to become ones, "delete" only ones to become zeros, "both" allows either.

    Example:
        >>> BitThreat(local=2, totals=(1, 5), flips="add").per_node
        2
    """

    local: int
    totals: tuple[int, ...]
    flips: str = Flips.BOTH

    def __post_init__(self) -> None:
        object.__setattr__(self, "flips", chosen(Flips, self.flips, "flips"))
        object.__setattr__(self, "totals", tuple(checked_count(total, "a budget") for total in self.totals))
        if not self.totals or any(np.diff(self.totals) < 1):
            raise InvalidInputError(f"expected budgets in increasing order, got {list(self.totals)[:9]}")
        checked_count(self.local, "local")

    @property
    def per_node(self) -> int:
        """The most bits of a node that may be flipped."""
        return min(self.local, self.totals[-1])


class Weights(NamedTuple):
    """The weights of a GCN in float64: A relu(A X first + first_bias) second + second_bias."""

    first: torch.Tensor
    first_bias: torch.Tensor
    second: torch.Tensor
    second_bias: torch.Tensor

    @classmethod
    def of(cls, module: Any) -> Weights:
        """The weights of a module; gradients reach it."""
        weights = (module.first.weight, module.first_bias, module.second.weight, module.second_bias)
        return cls(*(weight.cpu().double() for weight in weights))


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The public data: which nodes send to which, and the clean attributes.

    Attributes:
        adjacency: csr_array [nodes, nodes] of float64; row m holds the factors by which m multiplies its senders' rows.
        attributes: csr_array [nodes, features] of zeros and ones.
    """

    adjacency: Any
    attributes: Any

    @property
    def most_ones(self) -> int:
        """The largest number of ones in a row of attributes."""
        return int(np.diff(self.attributes.indptr).max(initial=0))

    @property
    def most_senders(self) -> int:
        """The largest number of nodes that send to one."""
        return int(np.diff(self.adjacency.indptr).max(initial=0))

    def signs(self, nodes: IntArray, flips: str) -> torch.Tensor:
        """The change of each bit [nodes, features] when it is flipped; 0 where flipping is not allowed."""
        ones = torch.from_numpy(self.attributes[nodes].toarray().astype(np.float64))
        if flips == Flips.ADD:
            return 1.0 - ones
        return -ones if flips == Flips.DELETE else 1.0 - 2.0 * ones


class HiddenBounds(NamedTuple):
    """Bounds on the hidden units of some nodes before their ReLU.

    Attributes:
        nodes: the nodes, sorted.
        clean: the values [nodes, hidden] without flips.
        lower: lower bounds [budgets, nodes, hidden] under all flips that a budget allows, rounded down.
        upper: upper bounds [budgets, nodes, hidden] under all flips that a budget allows, rounded up.
        size: the sum [nodes, hidden] of the sizes of all terms under any of these flips.
    """

    nodes: torch.Tensor
    clean: torch.Tensor
    lower: torch.Tensor
    upper: torch.Tensor
    size: torch.Tensor


def hidden_bounds(weights: Weights, scene: Scene, threat: BitThreat, nodes: IntArray) -> HiddenBounds:
    """Bounds on the hidden units of some nodes (sorted), for every budget of the threat; gradients reach the weights.

    All arithmetic is float64. The terms are exact products, and their sums have at most ones + senders + total + 5
    rounded steps, so the error is at most gamma = steps * u / (1 - steps * u) times the sum of the sizes of the terms
    (Higham, 2002, lemma 3.1). The bounds are moved outwards by twice that, which also covers the rounding of that sum.
    """
    near = scene.adjacency[nodes]
    senders = np.unique(near.indices)
    near = near[:, senders]
    spread, ones = sparse_matrix_of(near), sparse_matrix_of(scene.attributes[senders])
    clean = spread.times(ones.times(weights.first)) + weights.first_bias
    size = _size(weights, threat, ones, spread)
    rise, fall = _largest_moves(weights.first, scene, threat, near, senders)
    slack = 2 * gamma(scene.most_ones + scene.most_senders + threat.totals[-1] + 5, ROUNDOFF) * size
    return HiddenBounds(torch.from_numpy(nodes), clean, clean - fall - slack, clean + rise + slack, size)


def gamma(steps: int, roundoff: float) -> float:
    """A bound on the relative error of a sum of products after this many rounded steps, in any order."""
    return steps * roundoff / (1.0 - steps * roundoff) if steps * roundoff < 0.5 else math.inf


def sparse_matrix_of(matrix: Any) -> SparseMatrix:
    """A scipy CSR matrix, as an operator that sums rows in float64."""
    parts = (matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64), matrix.data.astype(np.float64))
    return SparseMatrix(*map(torch.from_numpy, parts))


def _size(weights: Weights, threat: BitThreat, ones: SparseMatrix, spread: SparseMatrix) -> torch.Tensor:
    """The sizes of hidden units, as if every node also flipped on the largest weights of every unit."""
    first = weights.first.detach().abs()
    flipped = first.topk(min(threat.per_node, first.shape[0]), dim=0).values.sum(dim=0)
    return spread.times(ones.times(first) + flipped) + weights.first_bias.detach().abs() + FLOOR


def _largest_moves(
    first: torch.Tensor, scene: Scene, threat: BitThreat, near: Any, senders: IntArray
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest upward and downward moves, each [budgets, nodes, hidden], for some hidden units at a time."""
    per_node = min(threat.per_node, first.shape[0])
    units = max(1, 8 * PORTION // max(1, near.nnz * per_node))
    moves: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    for block in first.t().chunk(-(-first.shape[1] // units)):
        for moved, direction in zip(moves, (block, -block), strict=True):
            own = _own_moves(direction, scene, threat, senders, per_node)
            moved.append(_shared_moves(own, threat, near))
    return torch.cat(moves[0], dim=2), torch.cat(moves[1], dim=2)


def _own_moves(units: torch.Tensor, scene: Scene, threat: BitThreat, senders: IntArray, count: int) -> torch.Tensor:
    """The largest moves [units, senders, count] that flips at each sender make, given weights [units, features].

    Flips are chosen without gradients and only then looked up, so that gradients need little memory. Senders with
    similar numbers of ones are processed together.
    """
    order = np.argsort(np.diff(scene.attributes.indptr)[senders], kind="stable")
    work = senders.size * len(units) * (2 * scene.most_ones + count)
    columns, signs = [], []
    with torch.no_grad():
        for part in np.array_split(senders[order], max(1, min(senders.size, -(-work // PORTION)))):
            place, sign = _candidates(units, scene, threat, part, count)
            best = (_looked_up(units, place) * sign).topk(count, dim=2).indices
            columns.append(place.gather(2, best))
            signs.append(sign.gather(2, best))
    back = torch.from_numpy(np.argsort(order))
    place, sign = torch.cat(columns, dim=1)[:, back], torch.cat(signs, dim=1)[:, back]
    return (_looked_up(units, place) * sign).clamp(min=0.0)


def _candidates(
    units: torch.Tensor, scene: Scene, threat: BitThreat, senders: IntArray, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Bits [units, senders, candidates] that include the best `count`, and how flipping changes them.

    The candidates are all ones, and the largest weights until enough of them belong to zeros. Sign 0 means "no flip".
    """
    bits = scene.attributes[senders]
    numbers = np.diff(bits.indptr)
    most = int(numbers.max())
    there = np.arange(most) < numbers[:, None]
    ones = np.zeros(there.shape, dtype=np.int64)
    ones[there] = bits.indices
    largest = units.topk(min(units.shape[1], count + most), dim=1).indices
    shape = (len(units), senders.size, -1)
    added = largest.unsqueeze(1).expand(*shape)
    deleted, kept = (torch.from_numpy(part).expand(*shape) for part in (ones, there))
    taken = torch.from_numpy(bits.toarray()).expand(*shape).gather(2, added).double()
    signs = (1.0 - taken) * (threat.flips != Flips.DELETE), -kept.double() * (threat.flips != Flips.ADD)
    return torch.cat([added, deleted], dim=2), torch.cat(signs, dim=2)


def _looked_up(units: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    return units.gather(1, columns.flatten(1)).view(columns.shape)


def _shared_moves(own: torch.Tensor, threat: BitThreat, near: Any) -> torch.Tensor:
    """The largest sums [budgets, nodes, units] of moves over all senders of a node, from the largest moves of each.

    For a total below the local budget, the `total` largest moves of each sender would suffice; more change nothing.
    """
    senders = np.diff(near.indptr)
    sums, order = [], np.argsort(senders, kind="stable")
    for number in np.unique(senders):  # all nodes with this many senders at once
        entries = near.indptr[order[senders[order] == number], None] + np.arange(number)
        scale = torch.from_numpy(near.data[entries]).unsqueeze(2)
        moves = (own[:, torch.from_numpy(near.indices[entries])] * scale).flatten(2)
        most = min(threat.totals[-1], moves.shape[2])
        running = torch.nn.functional.pad(moves.topk(most, dim=2).values.cumsum(dim=2), (1, 0))
        sums.append(running[:, :, [min(total, most) for total in threat.totals]])
    return torch.cat(sums, dim=1)[:, torch.from_numpy(np.argsort(order))].permute(2, 1, 0)
