"""Lower bounds on the margins of a GCN under flipped attribute bits: the second half of `gcn_attributes`.

The margin of target v over class k is a sum of hidden units relu(H[m, h]) times w = A[v, m] (V[h, y] - V[h, k]).
With R <= H <= S (`attribute_bounds`) each is replaced by a line: where w >= 0, relu(z) >= a z for every a in [0, 1];
where w < 0, relu(z) <= c z + max((1 - c) S, -c R) for every c in [0, 1] and z in [R, S], since relu is convex and the
line is above it at both ends; c = S / (S - R) makes it touch both. Where R >= 0 or S <= 0, c is 1 or 0 and the line is
exact. The relaxed margin is linear in the attributes, so its minimum over all flips is again a sum of largest terms.
This is the dual of Zügner and Günnemann (2019, theorem 4.3) with its variables for the budgets (eta, psi, rho) at their
optimum; the slopes a are their Omega.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import IntArray
from flipproof.baselines.gcn.attribute_bounds import (
    FLOOR,
    PORTION,
    BitThreat,
    HiddenBounds,
    Scene,
    Weights,
    gamma,
    hidden_bounds,
    sparse_matrix_of,
)
from flipproof.extras import require
from flipproof.models.networks.node_modules import SparseMatrix

require("torch")
import torch  # noqa: E402

_SINGLE_ROUNDOFF, _SINGLE_MOST = 2.0**-24, 2.0**120


class Paths(NamedTuple):
    """The paths on which messages reach some targets: from far nodes to near nodes to targets.

    Attributes:
        owner: the target that each near node belongs to.
        near: nodes that send to a target, grouped by target.
        weights: the factors by which the targets multiply the rows of near nodes.
        spread: row i holds the weights with which far node i sends to the near nodes of its target.
        far: nodes that send to near nodes, grouped by target.
        starts: where each target's far nodes begin.
    """

    owner: torch.Tensor
    near: torch.Tensor
    weights: torch.Tensor
    spread: SparseMatrix
    far: IntArray
    starts: IntArray


class Relaxed(NamedTuple):
    """A linear function of the attributes that bounds the margins [targets, rivals] from below.

    Attributes:
        clean: its value at the clean attributes.
        pull: [far nodes, rivals, hidden]; its product with the first weights is the slope in every attribute.
    """

    clean: torch.Tensor
    pull: torch.Tensor


def paths_to(targets: IntArray, adjacency: Any) -> Paths:
    """The paths of length two that end at the targets."""
    near = adjacency[targets]
    owner = np.repeat(np.arange(targets.size), np.diff(near.indptr))
    senders = adjacency[near.indices]
    via = np.repeat(np.arange(owner.size), np.diff(senders.indptr))
    pairs, place = np.unique(owner[via] * adjacency.shape[0] + senders.indices, return_inverse=True)
    spread = sp.csr_array((senders.data, (place, via)), shape=(pairs.size, owner.size))
    return Paths(
        torch.from_numpy(owner),
        torch.from_numpy(near.indices.astype(np.int64)),
        torch.from_numpy(near.data),
        sparse_matrix_of(spread),
        pairs % adjacency.shape[0],
        np.searchsorted(pairs, np.arange(targets.size + 1) * adjacency.shape[0]),
    )


def margin_bounds(
    weights: Weights, scene: Scene, threat: BitThreat, targets: IntArray, labels: torch.Tensor
) -> torch.Tensor:
    """Lower bounds on margins [targets, rivals] under a threat's largest budget; gradients reach the weights."""
    near = np.unique(scene.adjacency[targets].indices).astype(np.int64)
    hidden = hidden_bounds(weights, scene, threat, near)
    paths, largest = paths_to(targets, scene.adjacency), len(threat.totals) - 1
    return lowest(relaxed(weights, hidden, largest, paths, labels), weights, scene, threat, largest, paths)


def rivals_of(labels: torch.Tensor, classes: int) -> torch.Tensor:
    """All classes but each target's label [targets, classes - 1].

    Example:
        >>> rivals_of(torch.tensor([1, 0]), 3).tolist()
        [[0, 2], [1, 2]]
    """
    others = torch.arange(classes - 1).expand(len(labels), -1)
    return others + (others >= labels.unsqueeze(1))


def chords(hidden: HiddenBounds, budget: int, paths: Paths) -> tuple[torch.Tensor, torch.Tensor]:
    """Slopes and values at zero of the lines above the units [near, 1, hidden]; all slopes are in [0, 1]."""
    place = torch.searchsorted(hidden.nodes, paths.near)
    upper = hidden.upper[budget][place].clamp(min=0.0).unsqueeze(1)
    lower = hidden.lower[budget][place].clamp(max=0.0).unsqueeze(1)
    slope = upper / (upper - lower).clamp(min=FLOOR)
    return slope, torch.maximum((1.0 - slope) * upper, -slope * lower)


def relaxed(
    weights: Weights, hidden: HiddenBounds, budget: int, paths: Paths, labels: torch.Tensor, slopes: Any = None
) -> Relaxed:
    """Bounds the margins by a linear function, in which a line replaces every hidden unit.

    Args:
        weights: the weights of the network.
        hidden: bounds that cover all near nodes.
        budget: the index of the total among the threat's totals.
        paths: the paths to the targets.
        labels: the classes whose margins are bounded, one per target.
        slopes: the slopes [near, rivals, hidden], in [0, 1], of the lines below units; by default equal to the slopes
            of the lines above.
    """
    rivals = rivals_of(labels, weights.second.shape[1])
    second = weights.second.t()
    weight = paths.weights[:, None, None] * (second[labels].unsqueeze(1) - second[rivals])[paths.owner]
    above, height = chords(hidden, budget, paths)
    sent = weight * torch.where(weight < 0, above, above if slopes is None else slopes)
    clean = hidden.clean[torch.searchsorted(hidden.nodes, paths.near)].unsqueeze(1)
    terms = (sent * clean + weight.clamp(max=0.0) * height).sum(dim=2)
    bias = weights.second_bias[labels].unsqueeze(1) - weights.second_bias[rivals]
    pull = paths.spread.times(sent.flatten(1)).view(-1, *sent.shape[1:])
    return Relaxed(bias.index_add(0, paths.owner, terms), pull)


def lowest(line: Relaxed, weights: Weights, scene: Scene, threat: BitThreat, budget: int, paths: Paths) -> torch.Tensor:
    """The minimum of a linear function over all flips [targets, rivals].

    Flips are chosen without gradients; only their values are computed with gradients.
    """
    if not min(threat.local, threat.totals[budget]):
        return line.clean
    rows, columns, signs = _worst_flips(line.pull.detach(), weights, scene, threat, budget, paths)
    rivals = torch.arange(line.pull.shape[1])[None, :, None]
    moves = signs * (line.pull[rows, rivals] * weights.first[columns]).sum(dim=3)
    return line.clean + moves.clamp(max=0.0).sum(dim=2)


def _worst_flips(
    pull: torch.Tensor, weights: Weights, scene: Scene, threat: BitThreat, budget: int, paths: Paths
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The far node, attribute and sign [targets, rivals, flips] of the flips that lower a linear function most.

    The lowest `total` moves can be found at the `total` far nodes whose lowest moves are lowest, since each of these
    nodes has a move that is at least as low as any move elsewhere. So only these nodes are searched for several moves.
    """
    total, first = threat.totals[budget], weights.first.detach()
    rows, there = _lowest_rows(pull, first, scene, threat, paths, total)
    count = min(threat.local, total, len(first))
    chosen = pull[rows, torch.arange(pull.shape[1])[None, :, None]].view(-1, 1, pull.shape[2])
    columns, found, flipped = [], [], []
    for moves, flips in _moves(chosen, paths.far[rows.flatten().numpy()], first, scene, threat):
        own = moves.topk(count, dim=2, largest=False)
        columns.append(own.indices)
        found.append(own.values)
        flipped.append(flips.gather(2, own.indices))
    shape = (*rows.shape, count)
    moved, signs = (torch.cat(part).view(shape) * there.unsqueeze(3) for part in (found, flipped))
    best = moved.flatten(2).topk(min(total, rows.shape[2] * count), dim=2, largest=False).indices
    places = torch.cat(columns).view(shape).flatten(2)
    return rows.gather(2, best // count), places.gather(2, best), signs.flatten(2).gather(2, best)


def _lowest_rows(
    pull: torch.Tensor, first: torch.Tensor, scene: Scene, threat: BitThreat, paths: Paths, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The far nodes [targets, rivals, at most `most`] with the lowest moves, and which of the places are filled."""
    lows = torch.cat([moves.amin(dim=2) for moves, _ in _moves(pull, paths.far, first, scene, threat)])
    sizes = np.diff(paths.starts)
    shape = (sizes.size, pull.shape[1], min(most, int(sizes.max())))
    rows, there = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.bool)
    for target, (start, size) in enumerate(zip(paths.starts[:-1], sizes, strict=True)):
        lowest_ones = lows[start : start + size].topk(min(most, int(size)), dim=0, largest=False).indices
        rows[target, :, : len(lowest_ones)] = start + lowest_ones.t()
        there[target, :, : len(lowest_ones)] = True
    return rows, there


def _moves(
    pull: torch.Tensor, far: IntArray, first: torch.Tensor, scene: Scene, threat: BitThreat
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The amounts by which flips move linear functions [far nodes, functions, attributes], with signs, in portions."""
    portion = max(1, PORTION // (pull.shape[1] * len(first)))
    for start in range(0, far.size, portion):
        flips = scene.signs(far[start : start + portion], threat.flips).unsqueeze(1)
        yield (pull[start : start + portion] @ first.t()).mul_(flips), flips


def rounding(
    weights: Weights, scene: Scene, threat: BitThreat, hidden: HiddenBounds, paths: Paths, labels: torch.Tensor
) -> torch.Tensor:
    """The threshold [targets, rivals] that a computed bound must exceed to prove that the label stays, even in float32.

    Let size[v, k] be the sum of the sizes of all terms of a logit under any flips. A float32 evaluation of the
    network multiplies and adds at most ones + flips + 2 * senders + hidden + 6 times on the way from a weight to a
    logit, so each logit is off by at most gamma(that number, 2^-24) * size. The bound itself takes at most
    senders * hidden + senders + total + 14 further steps in float64. Each of its terms is a weight w times a term of H
    or a line's value at zero, which is no larger than the size of H. Rounded moves choose first the nodes and then the
    flips: each choice may miss the worst by twice the error of the moves, and the sum of the moves is off once more. So
    terms of H count at most five times and values at zero once; 8 covers that and the rounding of the sizes.
    """
    place = torch.searchsorted(hidden.nodes, paths.near)
    second = weights.second.detach()
    sent = (hidden.size[place] @ second.abs()) * paths.weights.unsqueeze(1)
    size = (weights.second_bias.detach().abs() + FLOOR).expand(len(labels), -1).index_add(0, paths.owner, sent)
    ways = scene.most_ones + threat.per_node + 2 * scene.most_senders + len(second) + 6
    steps = ways + scene.most_senders * (len(second) + 1) + threat.totals[-1] + 14
    both = size.gather(1, labels.unsqueeze(1)) + size.gather(1, rivals_of(labels, second.shape[1]))
    error = (gamma(ways, _SINGLE_ROUNDOFF) + 8 * gamma(steps, ROUNDOFF)) * both
    # No intermediate result may leave the range of float32 either: X W, the hidden layer, and its terms of a logit.
    sizes = hidden.size.max() if hidden.size.numel() else torch.zeros(())
    first = weights.first.detach().abs().max() * (scene.most_ones + threat.per_node)
    largest = max(float(first), float(sizes), float(sizes * second.abs().max()) * len(second))
    return torch.where((both < _SINGLE_MOST) & (largest < _SINGLE_MOST), error, torch.inf)
