"""What follows the first layer in fused evaluation: from features of nodes and edges to labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_modules import evaluating, labels_of, torch
from flipproof.models.fused.kernels import Adjacency, gcn_logits, largest, page_rank, perceptron
from flipproof.models.networks.node_modules import GAT, Neighbours

Structure = Adjacency | Neighbours
"""What is made of the edges: the normalised adjacency matrix, or for attention the edges by the nodes they lead to."""


class Head(Protocol):
    """Labels of the nodes of one graph."""

    @property
    def classes(self) -> int:
        """How many labels there are."""

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """From features [nodes, units] and what was made of the edges; that of the i-th node at order[i]."""

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], nodes as the features have them."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoLayers:
    """Biases of the first layer, and the second layer; all padded, one row of weights per hidden unit."""

    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class GCNHead:
    """Both propagations of a `GCN`, from X W, which is another one for every sample or always the same."""

    layers: TwoLayers
    classes: int
    noisy_features: bool

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """From X W and the normalised adjacency."""
        _write_labels(out, order, self.logits(features, structure), self.classes)

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes]."""
        return self.logits(features, structure)[:, : self.classes]

    def logits(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], padded."""
        layers, logits = self.layers, np.empty((len(features), len(self.layers.second_bias)), np.float32)
        gcn_logits(
            logits, features, structure, layers.first_bias, layers.second, layers.second_bias, self.noisy_features
        )
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class APPNPHead:
    """The steps of an `APPNP`; from X W if there are layers, else from what the layers make of it."""

    layers: TwoLayers | None
    steps: int
    teleport: float
    classes: int

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """From features and the normalised adjacency."""
        _write_labels(out, order, self.logits(features, structure), self.classes)

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes]."""
        return self.logits(features, structure)[:, : self.classes]

    def logits(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], padded."""
        if self.layers is not None:
            products, layers = features, self.layers
            features = np.empty((len(products), len(layers.second_bias)), np.float32)
            perceptron(features, products, layers.first_bias, layers.second, layers.second_bias)
        logits = np.empty_like(features)
        page_rank(logits, features, structure, self.steps, self.teleport)
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class TorchHead:
    """What a network makes of X W, on edges that noise leaves alone: for attention, whose time is not in the sums."""

    module: GAT
    width: int
    classes: int

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """From X W and what the network makes of the edges."""
        with evaluating(self.module):
            out[order] = labels_of(self.logits(features, structure), len(features), self.classes)

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes]."""
        with evaluating(self.module):
            logits: NDArray[np.float32] = self.logits(features, structure).numpy()
        return logits

    def logits(self, features: NDArray[np.float32], structure: Structure) -> torch.Tensor:
        """Logits [nodes, classes], a tensor; in evaluation mode only."""
        rows = torch.from_numpy(features)[:, : self.width].contiguous()
        return self.module.combine(rows, structure)  # type: ignore[arg-type]  # what a GAT makes of edges: neighbours


def _write_labels(out: IntArray, order: IntArray, logits: NDArray[np.float32], classes: int) -> None:
    undefined = largest(out, order, logits, classes)
    if undefined:
        raise InvalidInputError(f"expected logits without NaN, got NaN for {undefined} of {len(logits)} rows")
