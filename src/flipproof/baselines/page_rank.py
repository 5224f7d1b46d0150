"""Bojchevski and Guennemann (NeurIPS 2019), "Certifiable Robustness to Graph Perturbations": PageRank and edges.

The model is PPNP with a random walk: node t gets the logits (1 - a) e_t' (I - a D^-1 A)^-1 H, the average over where
a walk from t ends, and H does not depend on the edges. That is label propagation if H holds the known labels. It is
*not* flipproof's `APPNP`, which normalises symmetrically, adds self-loops and stops after some steps: what is proved
here is proved for the PPNP with the same H.

The threat: a set of fragile edges, each of which may be switched; at most b_i of those of node i, and, if there is a
global budget, at most B in all. Edges are directed: (i, j), which node i listens to, and (j, i) are two. An attacker of
an undirected graph who changes k edges switches 2 k directed ones, at most k at each node, so that the directed
threat with b = k and B = 2 k contains all he can do; `Budget.UNDIRECTED` is that one. Local budgets alone contain him
with b = k.

With local budgets the certificate is exact but for rounding: policy iteration, one run per pair of classes for all
nodes. With a global budget it is a lower bound, by a linear program per node and class. Both are proofs about the
classifier itself, and no solver needs to be believed; see `page_rank_policy` and `page_rank_program`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from flipproof.baselines.page_rank_policy import ACCURACY, Rewards, summed, worst_values
from flipproof.baselines.page_rank_program import Program, flow_bounds
from flipproof.baselines.page_rank_walk import Threat, Walk, checked_nodes, outside_forest
from flipproof.baselines.proofs import Promise, Proofs, Subject
from flipproof.datasets.labels import checked_labels
from flipproof.errors import InvalidInputError
from flipproof.noise.rows import binary_csr
from flipproof.noise.space import as_array
from flipproof.theory.arrays import BoolArray, FloatArray, IntArray, read_only, read_only_csr
from flipproof.theory.choices import chosen
from flipproof.theory.radii import checked_count

if TYPE_CHECKING:
    from flipproof.noise.graph import Graph

SYSTEM = "Bojchevski and Guennemann 2019"

_LEAST_TELEPORT = 0.001  # with less, values take more than 10^5 steps to settle


class Budget(StrEnum):
    """What an attacker of radius r may do.

    Attributes:
        LOCAL: switch r fragile edges of every node.
        GLOBAL: switch r directed fragile edges in all, the setting of the paper's comparison, b = B = r.
        UNDIRECTED: switch 2 r directed fragile edges in all and r of every node, which contains every change of r
            undirected edges.
    """

    LOCAL = "local"
    GLOBAL = "global"
    UNDIRECTED = "undirected"

    @classmethod
    def named(cls, name: str) -> Budget:
        """The budget with this name."""
        return chosen(cls, name, "budget")

    def threat(self, fragile: Any, radius: int) -> Threat:
        """The threat of this radius."""
        totals = {Budget.LOCAL: None, Budget.GLOBAL: radius, Budget.UNDIRECTED: 2 * radius}
        return Threat(fragile, radius, totals[self])


_WORDS = {
    Budget.LOCAL: "at most r fragile edges of every node are switched",
    Budget.GLOBAL: "at most r directed fragile edges are switched",
    Budget.UNDIRECTED: "at most r fragile edges are switched, each in one or both directions",
}


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """Logits that are diffused by personalised PageRank: the model that is certified.

    Attributes:
        adjacency: sparse [nodes, nodes], zeros and ones; row i holds what node i listens to. No self-loops are added.
        features: H [nodes, classes], which does not depend on the edges; float64.
        teleport: 1 - a, the probability of staying where one is. The certificate takes the float64 1 - teleport for a.

    Example:
        >>> path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> model = PageRank(path, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), teleport=0.5)
        >>> model.logits().round(4)
        array([[0.5833, 0.0833],
               [0.1667, 0.1667],
               [0.0833, 0.5833]])
    """

    adjacency: Any
    features: FloatArray
    teleport: float = 0.15

    def __post_init__(self) -> None:
        starts, columns = binary_csr(self.adjacency, "the adjacency matrix")
        if self.adjacency.shape[0] != self.adjacency.shape[1]:
            raise InvalidInputError(f"expected a square adjacency matrix, got shape {self.adjacency.shape}")
        features, nodes = as_array(self.features, "features").astype(np.float64), starts.size - 1
        if features.ndim != 2 or features.shape[0] != nodes or not features.shape[1]:
            raise InvalidInputError(f"expected features of shape [{nodes} nodes, classes], got shape {features.shape}")
        if not np.isfinite(features).all():
            raise InvalidInputError(f"expected finite features, got {features[~np.isfinite(features)][0]}")
        if not _LEAST_TELEPORT <= self.teleport < 1.0:
            raise InvalidInputError(f"expected teleport in [{_LEAST_TELEPORT}, 1), got {self.teleport!r}")
        adjacency = sp.csr_array((np.ones(columns.size), columns, starts), shape=(nodes, nodes))
        object.__setattr__(self, "adjacency", read_only_csr(adjacency))
        object.__setattr__(self, "features", read_only(features))

    @classmethod
    def from_appnp(cls, module: Any, graph: Graph) -> PageRank:
        """With the H and the teleport probability of a trained `APPNP`, and the edges of the graph as they are."""
        from flipproof.models.node_modules import APPNP
        from flipproof.models.tensors import AttributeForm, attribute_tensor
        from flipproof.models.torch_modules import device_of, evaluating

        if not isinstance(module, APPNP):
            raise InvalidInputError(f"expected an APPNP, got {type(module).__name__}")
        clean = graph.clean()
        with evaluating(module):
            features = module.features(attribute_tensor(clean, AttributeForm.SPARSE, device_of(module)))
        tails, heads = clean.edge_index  # messages go from the first row to the second
        adjacency = sp.csr_array((np.ones(heads.size), (heads, tails)), shape=(clean.nodes, clean.nodes))
        return cls(adjacency, as_array(features, "features"), module.teleport)

    @classmethod
    def from_labels(cls, adjacency: Any, labels: Any, known: Any, teleport: float = 0.15) -> PageRank:
        """Label propagation from the nodes `known`, whose labels are looked at, to all others.

        Example:
            >>> path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
            >>> PageRank.from_labels(path, [1, 0, 0], known=[0, 2]).features
            array([[0., 1.],
                   [0., 0.],
                   [1., 0.]])
        """
        nodes = int(adjacency.shape[0])
        labels, known = checked_labels(labels, nodes, "node"), checked_nodes(known, nodes)
        features = np.zeros((nodes, int(labels.max(initial=0)) + 1))
        features[known, labels[known]] = 1.0
        return cls(adjacency, features, teleport)

    @property
    def damping(self) -> float:
        """The probability a of going on."""
        return 1.0 - self.teleport

    def walk(self, threat: Threat) -> Walk:
        """The random walk, as an attacker may change it."""
        return Walk.under(threat, self.adjacency, self.damping)

    def logits(self) -> FloatArray:
        """Logits [nodes, classes] with clean edges."""
        walk = self.walk(Threat(np.zeros((2, 0), dtype=np.int64), 0))
        share = self.damping / walk.degree
        return self.teleport * summed(walk.clean, share, self.features, self.features, ACCURACY)


def worst_margins(model: PageRank, threat: Threat, label: int, other: int, nodes: Any = None) -> FloatArray:
    """Lower bounds on logits[label] - logits[other] of nodes, whatever is switched: exact without a global budget.

    With one, each is the bound of a linear program, or that of the local budgets if there is no better.

    Example:
        >>> triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        >>> model = PageRank(triangle, np.eye(3, 2), teleport=0.5)
        >>> worst_margins(model, Threat(outside_forest(triangle), local=1), label=0, other=1).round(4) + 0.0
        array([ 0.4, -0.4,  0. ])
    """
    walk, visit = model.walk(threat), model.features[:, other] - model.features[:, label]
    which = checked_nodes(nodes, walk.nodes)
    earned = worst_values(walk, Rewards.of_visits(visit))[which]
    if threat.total is not None:
        bounds = flow_bounds(walk, which)
        for i, node in enumerate(which):
            earned[i] = min(earned[i], Program(walk, int(node), threat.total, bounds[i]).bound(visit))
    return np.nextafter(-model.teleport * earned, -np.inf)


def certify(
    model: PageRank, radii: Iterable[int], budget: str = Budget.LOCAL, fragile: Any = None, nodes: Any = None
) -> Proofs:
    """The largest of some radii at which the prediction of each node is proved.

    Args:
        model: whose predictions.
        radii: those to try, from the smallest, until it fails.
        budget: what a radius is: "local", "global" or "undirected".
        fragile: integers [2, edges] that may be switched; by default both directions of all edges outside a spanning
            forest, for deletion only.
        nodes: which nodes; by default all. A global budget takes a linear program or more for each of them.

    Example:
        >>> triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        >>> model = PageRank(triangle, np.array([[1.0, 0.0], [0.0, 0.2], [0.0, 0.2]]))
        >>> certify(model, [1, 2]).radius
        array([2, 2, 2])
    """
    budget = Budget.named(budget)
    fragile = outside_forest(model.adjacency) if fragile is None else fragile
    which = checked_nodes(nodes, model.adjacency.shape[0])
    label = model.logits().argmax(axis=1)[which]
    radius, alive = np.full(which.size, -1), np.ones(which.size, dtype=bool)
    for each in sorted({0, *(checked_count(given, "a radius") for given in radii)}):
        alive[alive] = _proved(model, budget.threat(fragile, each), which[alive], label[alive])
        radius[alive] = each
    rule = "policy iteration" if budget is Budget.LOCAL else "linear program, dual bound proved"
    return Proofs(Promise(SYSTEM, Subject.BASE, _WORDS[budget], rule), label, radius, radius < 0)


def _proved(model: PageRank, threat: Threat, nodes: IntArray, label: IntArray) -> BoolArray:
    """For each node whether its label is proved under the threat."""
    walk = model.walk(threat)
    earned = _within_local(model, walk, nodes, label)
    proved = np.asarray((earned < 0.0).all(axis=1))
    open_ = np.flatnonzero(~proved)
    if not threat.total or not open_.size:
        return proved
    bounds = flow_bounds(walk, nodes[open_])
    for i, flows in zip(open_, bounds, strict=True):
        program = Program(walk, int(nodes[i]), threat.total, flows)
        others = [other for other in np.argsort(-earned[i]) if earned[i, other] >= 0.0]
        proved[i] = all(program.bound(_visit(model, label[i], other)) < 0.0 for other in others)
    return proved


def _within_local(model: PageRank, walk: Walk, nodes: IntArray, label: IntArray) -> FloatArray:
    """Upper bounds [nodes, classes] on what a walk from each node earns, within the local budgets alone."""
    earned = np.full((nodes.size, model.features.shape[1]), -np.inf)
    for own in np.unique(label):
        mine = label == own
        for other in range(model.features.shape[1]):
            if other != own:
                earned[mine, other] = worst_values(walk, Rewards.of_visits(_visit(model, own, other)))[nodes[mine]]
    return earned


def _visit(model: PageRank, label: int, other: int) -> FloatArray:
    """What a walk earns for the other class against its own."""
    return np.asarray(model.features[:, other] - model.features[:, label])
