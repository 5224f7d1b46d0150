"""The model that PageRank certificates cover: logits diffused along random walks."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import FloatArray, as_array, read_only, read_only_csr
from flipproof.baselines.checked_arguments import check_width, checked_nodes, graph_of
from flipproof.baselines.walks.policy import ACCURACY, summed
from flipproof.baselines.walks.walk import Threat, Walk, square_csr
from flipproof.datasets import NodeDataset
from flipproof.datasets.kinds.labels import checked_labels
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor
from flipproof.models.adapters.torch_modules import device_of, evaluating
from flipproof.noise.spaces.graph import Graph

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
