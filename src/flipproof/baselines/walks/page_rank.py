"""Bojchevski and Günnemann (NeurIPS 2019), "Certifiable Robustness to Graph Perturbations": PageRank and edges.

The model is PPNP with a random walk: node t gets the logits (1 - a) e_t' (I - a D^-1 A)^-1 H, the average over where
a walk from t ends, and H does not depend on the edges. That is label propagation if H holds the known labels. It is
*not* flipproof's `APPNP`, which normalises symmetrically, adds self-loops and stops after some steps: the proofs here
cover the PPNP with the same H.

The attacker may switch edges from a fragile set: at most b_i edges of node i and, if there is a global budget, at most
B in total. Edges are directed: (i, j), which node i listens to, and (j, i) are two edges. Changing k edges of an
undirected graph switches 2 k directed ones, at most k at each node, so the directed threat with b = k and B = 2 k
contains every such change; `SwitchLimit.UNDIRECTED` is this threat. Local budgets b = k alone contain it, too.

With local budgets the certificate is exact up to rounding; policy iteration runs once per pair of classes for all
nodes. With a global budget it is a lower bound, from one linear program per node and class. Both are proofs about the
classifier itself and do not rely on any solver being correct; see `policy` and `program`.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.progress import one_by_one
from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import (
    BoolArray,
    FloatArray,
    IntArray,
    as_array,
    checked_count,
    chosen,
    read_only,
    read_only_csr,
)
from flipproof.baselines.checked_arguments import check_width, checked_nodes, checked_radii, graph_of
from flipproof.baselines.proofs import Proofs
from flipproof.baselines.walks.policy import ACCURACY, Rewards, summed, worst_values
from flipproof.baselines.walks.program import Program, flow_bounds
from flipproof.baselines.walks.walk import Threat, Walk, outside_forest, square_csr
from flipproof.datasets import NodeDataset
from flipproof.datasets.kinds.labels import checked_labels
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor
from flipproof.models.adapters.torch_modules import device_of, evaluating
from flipproof.noise.spaces.graph import Graph
from flipproof.theory.certificate import Promise, Subject

_LEAST_TELEPORT = 0.001  # with less, values take more than 10^5 steps to settle
_LARGEST = 1e100  # products and long sums of such numbers stay within float64


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """The certified model: logits diffused by personalised PageRank.

    Attributes:
        adjacency: sparse [nodes, nodes], zeros and ones; row i holds what node i listens to. No self-loops are added.
        features: H [nodes, classes], which does not depend on the edges; float64.
        teleport: 1 - a, the probability that the walk stops. The certificate uses the float64 1 - teleport as a.

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
        starts, columns = square_csr(self.adjacency)
        features, nodes = as_array(self.features, "features").astype(np.float64), starts.size - 1
        if features.ndim != 2 or features.shape[0] != nodes or not features.shape[1]:
            raise InvalidInputError(f"expected features of shape [{nodes} nodes, classes], got shape {features.shape}")
        if not (np.abs(features) <= _LARGEST).all():
            wrong = features[~(np.abs(features) <= _LARGEST)][0]
            raise InvalidInputError(f"expected finite features, at most {_LARGEST:g}, got {wrong}")
        if not isinstance(self.teleport, numbers.Real) or not _LEAST_TELEPORT <= self.teleport < 1.0:
            raise InvalidInputError(f"expected teleport in [{_LEAST_TELEPORT}, 1), got {self.teleport!r}")
        adjacency = sp.csr_array((np.ones(columns.size), columns, starts), shape=(nodes, nodes))
        object.__setattr__(self, "adjacency", read_only_csr(adjacency))
        object.__setattr__(self, "features", read_only(features))
        object.__setattr__(self, "teleport", float(self.teleport))

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(self.adjacency.shape[0], "node"),
            f"features {shape_words(self.features)}",
            f"teleport={self.teleport:g}",
        )

    @classmethod
    def from_appnp(cls, model: Any, data: NodeDataset | Graph) -> PageRank:
        """Makes the model from a trained `APPNP`'s H and teleport probability, with the graph's edges unchanged.

        Args:
            model: an `APPNP`, or a `NodeClassifier` of one.
            data: the clean graph with attributes, or a dataset that contains it.
        """
        from flipproof.models.networks.node_modules import APPNP  # only this needs torch

        module = model.module if isinstance(model, NodeClassifier) else model
        if not isinstance(module, APPNP):
            raise InvalidInputError(f"expected an APPNP, or a NodeClassifier of one, got {type(module).__name__}")
        clean = graph_of(data, "structure").clean()
        check_width(clean.attributes, module.first.weight)
        with evaluating(module):
            features = module.features(attribute_tensor(clean, AttributeForm.SPARSE, device_of(module)))
        tails, heads = clean.edge_index  # messages go from the first row to the second
        adjacency = sp.csr_array((np.ones(heads.size), (heads, tails)), shape=(clean.nodes, clean.nodes))
        return cls(adjacency, as_array(features, "features"), module.teleport)

    @classmethod
    def from_labels(cls, adjacency: Any, labels: Any, known: Any, teleport: float = 0.15) -> PageRank:
        """Makes a model that propagates labels from the `known` nodes; it does not use the labels of other nodes.

        Example:
            >>> path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
            >>> PageRank.from_labels(path, [1, 0, 0], known=[0, 2]).features
            array([[0., 1.],
                   [0., 0.],
                   [1., 0.]])
        """
        nodes = square_csr(adjacency)[0].size - 1
        labels, known = checked_labels(labels, nodes, "node"), checked_nodes(known, nodes)
        features = np.zeros((nodes, int(labels.max(initial=0)) + 1))
        features[known, labels[known]] = 1.0
        return cls(adjacency, features, teleport)

    def with_self_loops(self) -> PageRank:
        """Adds a self-loop to every node, so that all other edges may be fragile.

        Example:
            >>> model = PageRank(sp.csr_array([[0, 1], [1, 0]]), np.eye(2))
            >>> model.with_self_loops().adjacency.toarray()
            array([[1., 1.],
                   [1., 1.]])
        """
        looped = sp.csr_array(self.adjacency.maximum(sp.eye_array(self.adjacency.shape[0], format="csr")))
        return PageRank(looped, self.features, self.teleport)

    @property
    def damping(self) -> float:
        """The probability a that the walk goes on."""
        return 1.0 - self.teleport

    def walk(self, threat: Threat) -> Walk:
        """The model's random walk under a threat."""
        return Walk.under(threat, self.adjacency, self.damping)

    def logits(self) -> FloatArray:
        """The logits [nodes, classes] on the clean edges."""
        walk = self.walk(Threat(np.zeros((2, 0), dtype=np.int64), 0))
        share = self.damping / walk.degree
        return self.teleport * summed(walk.clean, share, self.features, self.features, ACCURACY)


class SwitchLimit(StrEnum):
    """The changes that an attacker of radius r may make.

    Attributes:
        LOCAL: switch r fragile edges of every node.
        GLOBAL: switch r directed fragile edges in total, the setting of the paper's comparison, b = B = r.
        UNDIRECTED: switch 2 r directed fragile edges in total and r of every node, which contains every change of r
            undirected edges.
    """

    LOCAL = "local"
    GLOBAL = "global"
    UNDIRECTED = "undirected"

    def threat(self, fragile: Any, radius: int) -> Threat:
        """The threat of this radius."""
        totals = {SwitchLimit.LOCAL: None, SwitchLimit.GLOBAL: radius, SwitchLimit.UNDIRECTED: 2 * radius}
        return Threat(fragile, radius, totals[self])


_WORDS = {
    SwitchLimit.LOCAL: "at most r fragile edges of every node are switched",
    SwitchLimit.GLOBAL: "at most r directed fragile edges are switched",
    SwitchLimit.UNDIRECTED: "at most r fragile edges are switched, each in one or both directions",
}


def worst_margins(model: PageRank, threat: Threat, label: int, other: int, nodes: Any = None) -> FloatArray:
    """Lower bounds on logits[label] - logits[other] per node under all allowed switches; exact without a global budget.

    With a global budget, each is the bound of a linear program, or that of the local budgets if this is no worse.

    Example:
        >>> import scipy.sparse as sp
        >>> triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        >>> model = PageRank(triangle, np.eye(3, 2), teleport=0.5)
        >>> worst_margins(model, Threat(outside_forest(triangle), local=1), label=0, other=1).round(4) + 0.0
        array([ 0.4, -0.4,  0. ])
    """
    _check_model(model)
    if not isinstance(threat, Threat):
        raise InvalidInputError(f"expected a Threat, got {type(threat).__name__}")
    classes = model.features.shape[1]
    for each in (label, other):
        if checked_count(each, "a class") >= classes:
            raise InvalidInputError(f"expected classes from 0 to {classes - 1}, got {each}")
    walk, visit = model.walk(threat), _visit(model, label, other)
    which = checked_nodes(nodes, walk.nodes)
    earned = worst_values(walk, Rewards.of_visits(visit))[which]
    if threat.total is not None:
        bounds = flow_bounds(walk, which)
        for i, node in enumerate(which):
            earned[i] = min(earned[i], Program(walk, int(node), threat.total, bounds[i]).bound(visit))
    return np.nextafter(-model.teleport * earned, -np.inf)


def certify(
    model: PageRank,
    radii: Iterable[int],
    budget: str = SwitchLimit.LOCAL,
    fragile: Any = None,
    nodes: Any = None,
    progress: bool = False,
) -> Proofs:
    """The largest of the given radii at which each node's prediction is proved.

    Args:
        model: the model whose predictions are certified.
        radii: the radii to try, in increasing order until one fails; 0, the prediction itself, is always tried.
        budget: the meaning of a radius: "local", "global" or "undirected".
        fragile: the edges that may be switched, integers [2, edges]; by default both directions of all edges outside a
            spanning forest, for deletion only.
        nodes: the nodes to certify; by default all. A global budget takes at least one linear program per node.
        progress: whether to show progress in a terminal.

    Example:
        >>> import scipy.sparse as sp
        >>> triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        >>> model = PageRank(triangle, np.array([[1.0, 0.0], [0.0, 0.2], [0.0, 0.2]]))
        >>> certify(model, [1, 2]).radius
        array([2, 2, 2])
    """
    _check_model(model)
    budget, tried = chosen(SwitchLimit, budget, "budget"), checked_radii(radii, "radii")
    fragile = outside_forest(model.adjacency) if fragile is None else fragile
    which = checked_nodes(nodes, model.adjacency.shape[0])
    label = model.logits().argmax(axis=1)[which]
    radius, alive = np.full(which.size, -1), np.ones(which.size, dtype=bool)
    for each in tried:
        alive[alive] = _proved(model, budget.threat(fragile, each), which[alive], label[alive], progress)
        radius[alive] = each
    rule = "policy iteration" if budget is SwitchLimit.LOCAL else "linear program, dual bound proved"
    return Proofs(
        Promise("Bojchevski and Günnemann 2019", Subject.BASE, _WORDS[budget], rule), label, radius, radius < 0
    )


def _check_model(model: Any) -> None:
    if not isinstance(model, PageRank):
        raise InvalidInputError(f"expected a PageRank, got {type(model).__name__}")


def _proved(model: PageRank, threat: Threat, nodes: IntArray, label: IntArray, progress: bool) -> BoolArray:
    """Whether each node's label is proved under the threat."""
    walk = model.walk(threat)
    earned = _within_local(model, walk, nodes, label)
    proved = np.asarray((earned < 0.0).all(axis=1))
    open_ = np.flatnonzero(~proved)
    if not threat.total or not open_.size:
        return proved
    pairs = list(zip(open_, flow_bounds(walk, nodes[open_]), strict=True))
    for i, flows in one_by_one(pairs, f"{threat.total} edges switched", progress):
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
    """The rewards for visits: H of the other class minus H of the label."""
    return np.asarray(model.features[:, other] - model.features[:, label])
