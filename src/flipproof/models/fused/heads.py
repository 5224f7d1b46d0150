"""The steps after the first layer in fused evaluation: from features of nodes and edges to labels."""

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
"""What a network computes from the edges: the normalised adjacency, or for attention the edges sorted by target."""


class Head(Protocol):
    """Computes labels of the nodes of one graph."""

    @property
    def classes(self) -> int:
        """The number of labels."""

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """Writes labels from features [nodes, units] and the structure; the label of the i-th node goes to order[i]."""

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], with nodes in the order of the features."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoLayers:
    """The biases of the first layer, and the second layer with one row of weights per hidden unit; all padded."""

    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class GCNHead:
    """Both propagations of a `GCN`, from X W, which may differ between samples or stay the same."""

    layers: TwoLayers
    classes: int
    noisy_features: bool

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """Writes labels from X W and the normalised adjacency."""
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
    """The steps of an `APPNP`, from X W if the head has layers, else from the output of the layers."""

    layers: TwoLayers | None
    steps: int
    teleport: float
    classes: int

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """Writes labels from features and the normalised adjacency."""
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
    """The rest of a network after X W, on edges without noise; for attention, where sums take little of the time."""

    module: GAT
    width: int
    classes: int

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """Writes labels from X W and what the network computes from the edges."""
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
