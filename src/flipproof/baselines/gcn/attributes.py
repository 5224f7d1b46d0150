"""Certificates for a trained GCN when attribute bits of nodes are flipped (Zügner and Günnemann, KDD 2019).

The paper is "Certifiable Robustness and Robust Training for Graph Convolutional Networks". An attacker flips binary
attributes of any nodes, at most `local` bits of every node and at most `total` altogether, and leaves the edges alone.
The network is known, and its own prediction is proved, not that of a smoothed version. For every other class the ReLUs
are relaxed to lines (`attribute_margins`), inside bounds that hold for all flips (`attribute_bounds`), and the smallest
relaxed margin is found in closed form. If it is positive for all other classes, no allowed flips change the label;
otherwise nothing is known. There are no samples: alpha is 0.

The proof covers the network in exact arithmetic on its float32 numbers (weights, and the adjacency as the module
normalises it), and also its float32 evaluation on a CPU, in any order of additions: a bound counts only if it exceeds
the largest error of both evaluations (`attribute_margins.rounding`). A node abstains if its label without any flips
does not pass this test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import BoolArray, IntArray, checked_count
from flipproof.baselines.checked_arguments import check_width, checked_gcn, checked_nodes, checked_radii, graph_of
from flipproof.baselines.gcn.attribute_bounds import (
    PORTION,
    BitThreat,
    Flips,
    HiddenBounds,
    Scene,
    Weights,
    hidden_bounds,
)
from flipproof.baselines.gcn.attribute_margins import Paths, chords, lowest, paths_to, relaxed, rounding
from flipproof.baselines.proofs import Proofs
from flipproof.datasets import NodeDataset
from flipproof.errors import TooLargeError
from flipproof.extras import require
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.adapters.tensors import edge_tensor
from flipproof.models.networks.node_modules import GCN
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.rows import binary_csr
from flipproof.theory.certificate import Promise, Subject

require("torch")
import torch  # noqa: E402

_MOST_BOUNDS = 2**28
_LEARNING_RATE = 0.1


def certify(
    model: Any,
    data: NodeDataset | Graph,
    nodes: Any = None,
    local: int | None = None,
    budgets: Iterable[int] = range(1, 13),
    flips: str = Flips.BOTH,
    steps: int = 0,
) -> Proofs:
    """The largest number of flipped attribute bits, anywhere in the graph, that provably leaves each label unchanged.

    Args:
        model: a trained `GCN`, or a `NodeClassifier` of one.
        data: the clean graph with binary attributes.
        nodes: the nodes whose labels to prove; by default all.
        local: how many bits of one node may be flipped; by default a hundredth of them, as in the paper, at least one.
        budgets: total numbers of flips to try. Bisection finds the largest proved one, since robustness is monotone;
            where the bound is not monotone, a larger one may exist. The label without flips is always checked: a node
            abstains where rounding errors leave it open.
        flips: "both", or only "add" (zeros become ones) or "delete" (ones become zeros).
        steps: the number of gradient steps that improve the slopes of the lines below ReLUs, for every bound that does
            not prove its label; any slopes give a valid proof. A step takes a few times as long as the bound itself.

    Example:
        >>> _ = torch.manual_seed(5)
        >>> graph = Graph.from_edge_index([[0, 1], [1, 0]], attributes=np.eye(3, dtype=int), noisy="attributes")
        >>> certify(GCN(features=3, classes=2), graph, budgets=[1, 2]).radius
        array([1, 1, 0])
    """
    module, graph = checked_gcn(model), graph_of(data, "attributes")
    scene, radii = scene_of(module, graph), checked_radii(budgets, "budgets")
    threat = threat_of(scene, local, radii, flips)
    targets, steps = checked_nodes(nodes, graph.nodes), checked_count(steps, "steps")
    labels = NodeClassifier(module, classes=module.second_bias.numel())([graph.clean()])[0][targets]
    with torch.inference_mode(False), torch.no_grad():
        place = _Prover(Weights.of(module), scene, threat, steps).largest(targets, labels)
    # The largest radius of each budget; several radii share a budget where they exceed all that can be flipped.
    cut = np.minimum(radii, threat.local * graph.nodes)
    radius = np.array(radii)[np.searchsorted(cut, [0, *threat.totals], side="right") - 1]
    return Proofs(_promise(threat), labels, radius[place.clip(0)], place < 0)


class _Prover:
    """Proves labels for many targets and budgets from the same bounds on hidden units."""

    def __init__(self, weights: Weights, scene: Scene, threat: BitThreat, steps: int) -> None:
        self._weights, self._scene, self._threat, self._steps = weights, scene, threat, steps

    def largest(self, targets: IntArray, labels: IntArray) -> IntArray:
        """The position, from 1, of each target's largest proved budget; 0 if only its clean label is, else -1."""
        place = self._bisected(targets, labels)
        left = np.flatnonzero(place == 0)
        if left.size:
            clean = _Prover(self._weights, self._scene, BitThreat(0, (0,)), steps=0)
            place[left] = clean._bisected(targets[left], labels[left]) - 1
        return place

    def _bisected(self, targets: IntArray, labels: IntArray) -> IntArray:
        """The position, from 1, of the largest proved budget of each target; 0 where none is proved."""
        if not targets.size or self._weights.second.shape[1] == 1:  # nothing else can be predicted
            return np.full(targets.size, len(self._threat.totals))
        near = np.unique(self._scene.adjacency[targets].indices).astype(np.int64)
        if 2 * len(self._threat.totals) * near.size * self._weights.first_bias.numel() > _MOST_BOUNDS:
            raise TooLargeError("expected bounds that fit into 2 GB, got more; ask for fewer nodes or budgets at once")
        hidden = hidden_bounds(self._weights, self._scene, self._threat, near)
        proved, not_proved = np.zeros(targets.size, dtype=np.int64), np.full(targets.size, len(self._threat.totals) + 1)
        while (open_ := proved + 1 < not_proved).any():
            middle = (proved + not_proved) // 2
            for place in np.unique(middle[open_]):
                members = np.flatnonzero(open_ & (middle == place))
                holds = self._proves(targets[members], labels[members], hidden, int(place) - 1)
                proved[members[holds]] = place
                not_proved[members[~holds]] = place
        return proved

    def _proves(self, targets: IntArray, labels: IntArray, hidden: HiddenBounds, budget: int) -> BoolArray:
        """Whether each target provably keeps its label."""
        holds = self._exceed(self._bounds, targets, labels, hidden, budget)
        if self._steps:
            left = np.flatnonzero(~holds)
            holds[left] = self._exceed(self._improved, targets[left], labels[left], hidden, budget)
        return holds

    def _exceed(
        self, bounds: Callable[..., torch.Tensor], targets: IntArray, labels: IntArray, hidden: HiddenBounds,
        budget: int,
    ) -> BoolArray:  # fmt: skip
        """Whether the bounds of each target exceed the rounding threshold, computed for some targets at a time."""
        holds = np.zeros(targets.size, dtype=bool)
        for block in self._blocks(targets) if targets.size else ():
            paths, own = paths_to(targets[block], self._scene.adjacency), torch.from_numpy(labels[block])
            needed = rounding(self._weights, self._scene, self._threat, hidden, paths, own)
            holds[block] = (bounds(hidden, budget, paths, own) > needed).all(dim=1).numpy()
        return holds

    def _bounds(self, hidden: HiddenBounds, budget: int, paths: Paths, labels: Any, slopes: Any = None) -> torch.Tensor:
        line = relaxed(self._weights, hidden, budget, paths, labels, slopes)
        return lowest(line, self._weights, self._scene, self._threat, budget, paths)

    def _improved(self, hidden: HiddenBounds, budget: int, paths: Paths, labels: Any) -> torch.Tensor:
        """The best bounds found during the gradient steps; each bound depends on its own slopes."""
        start = chords(hidden, budget, paths)[0].expand(-1, self._weights.second.shape[1] - 1, -1)
        slopes = start.clone().requires_grad_()
        optimizer = torch.optim.Adam([slopes], lr=_LEARNING_RATE, maximize=True)
        best = torch.full((len(labels), start.shape[1]), -torch.inf, dtype=torch.float64)
        for _ in range(self._steps):
            with torch.enable_grad():
                bounds = self._bounds(hidden, budget, paths, labels, slopes)
                (slopes.grad,) = torch.autograd.grad(bounds.sum(), slopes)
            best = torch.maximum(best, bounds.detach())
            optimizer.step()
            slopes.clamp_(0.0, 1.0)
        return torch.maximum(best, self._bounds(hidden, budget, paths, labels, slopes))

    def _blocks(self, targets: IntArray) -> Iterator[IntArray]:
        """Positions of targets, in blocks whose paths fit into memory together."""
        senders = np.diff(self._scene.adjacency.indptr)
        near = self._scene.adjacency[targets]
        far = np.add.reduceat(senders[near.indices], near.indptr[:-1])
        rows = np.maximum(far, self._threat.totals[-1])
        numbers = np.cumsum(rows * self._weights.second.numel()) // (4 * PORTION)
        yield from np.split(np.arange(targets.size), np.flatnonzero(np.diff(numbers)) + 1)


def scene_of(module: GCN, graph: Graph) -> Scene:
    """The module's inputs: its own adjacency, as exact float64 copies of float32 numbers, and binary attributes."""
    clean = graph.clean()
    given = clean.attributes if sp.issparse(clean.attributes) else sp.csr_array(clean.attributes)
    starts, columns = binary_csr(given, "attributes")
    check_width(given, module.first.weight)
    attributes = sp.csr_array((np.ones(columns.size, dtype=np.float32), columns, starts), shape=given.shape)
    structure = module.structure(edge_tensor(clean, "cpu"), graph.nodes)
    parts = structure.weights.double().numpy(), structure.columns.numpy(), structure.starts.numpy()
    return Scene(sp.csr_array(parts, shape=(graph.nodes, graph.nodes)), attributes)


def threat_of(scene: Scene, local: Any, radii: Iterable[int], flips: str = Flips.BOTH) -> BitThreat:
    """The threat at these radii; an attacker cannot flip more bits than exist.

    The local budget defaults to the paper's: a hundredth of the attributes, but at least one.
    """
    features = int(scene.attributes.shape[1])
    each = min(max(1, features // 100) if local is None else checked_count(local, "local"), features)
    totals = sorted({min(radius, each * int(scene.attributes.shape[0])) for radius in radii} - {0})
    return BitThreat(each, tuple(totals) or (0,), flips)


def _promise(threat: BitThreat) -> Promise:
    kind = {Flips.BOTH: "flipped", Flips.ADD: "added", Flips.DELETE: "deleted"}[Flips(threat.flips)]
    return Promise(
        "Zügner and Günnemann 2019",
        Subject.BASE,
        f"r attribute bits are {kind}, at most {threat.local} of a node",
        "linear relaxation of the ReLUs",
    )
