"""Fused evaluation: labels of the nodes of noisy copies of a graph, without making the noisy copies.

It supports the paper's networks as shipped. Parts that noise leaves alone are computed once. The first layer of noisy
attributes sums integers (see `fixed_point`); everything else is float32 and equals torch up to the last roundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor, edge_tensor
from flipproof.models.adapters.torch_modules import device_of, evaluating, torch
from flipproof.models.fused.kernels import (
    Adjacency,
    WeightTable,
    gcn_logits,
    largest,
    noisy_products,
    normalised,
    page_rank,
    perceptron,
)
from flipproof.models.fused.row_sums import fixed_point, in_large_pages, padded
from flipproof.models.networks.node_modules import APPNP, GAT, GCN, Neighbours, RowsLinear
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.noisy_graphs import GraphSampler, NoisyGraph

Network = GCN | APPNP | GAT

FUSED_VERSION = 1
"""This version changes whenever the same network may give another label to the same noisy graph."""

_AT_ONCE_BYTES, _MOST_AT_ONCE = 40 * 10**6, 16
"""Limits on the samples whose first layer is computed together: it should not exceed the processor's cache by much."""


Structure = Adjacency | Neighbours
"""What a network computes from the edges: the normalised adjacency, or for attention the edges sorted by target."""


class Head:
    """Computes labels of the nodes of one graph from features [nodes, units] and the structure."""

    __slots__ = ()
    classes: int

    def logits(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, at least `classes`], with nodes in the order of the features; columns may be padded."""
        raise NotImplementedError

    def write_labels(self, out: IntArray, order: IntArray, features: NDArray[np.float32], structure: Structure) -> None:
        """Writes labels; that of the i-th node goes to order[i]."""
        logits = self.logits(features, structure)
        undefined = largest(out, order, logits, self.classes)
        if undefined:
            raise InvalidInputError(f"expected logits without NaN, got NaN for {undefined} of {len(logits)} rows")

    def scores(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], with nodes in the order of the features."""
        return self.logits(features, structure)[:, : self.classes]


@dataclass(frozen=True, slots=True, eq=False)
class TwoLayers:
    """The biases of the first layer, and the second layer with one row of weights per hidden unit; all padded."""

    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class GCNHead(Head):
    """Both propagations of a `GCN`, from X W, which may differ between samples or stay the same."""

    layers: TwoLayers
    classes: int
    noisy_features: bool

    def logits(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes], padded."""
        layers, logits = self.layers, np.empty((len(features), len(self.layers.second_bias)), np.float32)
        gcn_logits(
            logits, features, structure, layers.first_bias, layers.second, layers.second_bias, self.noisy_features
        )
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class APPNPHead(Head):
    """The steps of an `APPNP`, from X W if the head has layers, else from the output of the layers."""

    layers: TwoLayers | None
    steps: int
    teleport: float
    classes: int

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
class TorchHead(Head):
    """The rest of a network after X W, on edges without noise; for attention, where sums take little of the time."""

    module: GAT
    width: int
    classes: int

    def logits(self, features: NDArray[np.float32], structure: Structure) -> NDArray[np.float32]:
        """Logits [nodes, classes]."""
        rows = torch.from_numpy(features)[:, : self.width].contiguous()
        with evaluating(self.module):
            logits: NDArray[np.float32] = self.module.combine(rows, structure).numpy()  # type: ignore[arg-type]  # what a GAT makes of edges
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class NoisyProducts:
    """Noisy attributes times the weights of the first layer, which are integers times steps."""

    sampler: GraphSampler
    nodes: IntArray
    table: Any
    steps: Any

    @property
    def _at_once(self) -> int:
        size = 4 * self.nodes.size * self.table.shape[1]
        return int(max(1, min(_MOST_AT_ONCE, _AT_ONCE_BYTES // max(1, size))))

    @property
    def bytes_at_once(self) -> int:
        """Memory for the samples that are computed together."""
        return int(4 * self._at_once * self.nodes.size * self.table.shape[1])

    def drawn(self, role: Role, samples: range) -> Iterator[Any]:
        """Yields an array [nodes, units] for every sample; use it before requesting the next one."""
        shape, at_once = (self.nodes.size, self.table.shape[1]), self._at_once
        out, weights = np.empty((at_once, *shape), np.float32), WeightTable(in_large_pages(self.table), self.steps)
        for start in range(samples.start, samples.stop, at_once):
            part = range(start, min(samples.stop, start + at_once))
            noisy_products(out, *self.sampler.attribute_arguments(role, part, self.nodes), weights)
            yield from out[: len(part)]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyAdjacency:
    """The normalised adjacency matrices of noisy copies of a graph."""

    sampler: GraphSampler

    def drawn(self, role: Role, samples: range) -> Iterator[Any]:
        """Yields one adjacency matrix for every sample."""
        return (adjacency_of(self.sampler.edges, ranks) for ranks in self.sampler.draw_ranks(role, samples))


@dataclass(frozen=True, slots=True, eq=False)
class Clean:
    """A value that noise leaves alone."""

    value: Any

    def drawn(self, role: Role, samples: range) -> Iterator[Any]:
        """Yields the clean value once for every sample."""
        return (self.value for _ in samples)


@dataclass(frozen=True, slots=True, eq=False)
class FusedNodes:
    """Labels of all nodes on noisy copies of a graph; made to be sent to workers.

    Attributes:
        features: what the network computes from the attributes of each node, with nodes in the order of `order`.
        structure: what the network computes from the edges, with nodes in the order of `order`.
        head: computes labels from `features` and `structure`.
        order: the nodes, in an order in which neighbours are close to each other.
    """

    features: NoisyProducts | Clean
    structure: NoisyAdjacency | Clean
    head: Head
    order: IntArray
    version: ClassVar[int] = FUSED_VERSION

    @property
    def bytes_per_sample(self) -> int:
        """Memory for the labels and the ranks of the noisy edges of a sample."""
        noisy = self.structure.sampler.expected_edges if isinstance(self.structure, NoisyAdjacency) else 0.0
        return 8 * self.order.size + int(8 * noisy) + 4096

    @property
    def working_bytes(self) -> int:
        """Memory for the first layer of the samples computed together, and for both directions of noisy edges."""
        noisy = self.structure.sampler.expected_edges if isinstance(self.structure, NoisyAdjacency) else 0.0
        first = self.features.bytes_at_once if isinstance(self.features, NoisyProducts) else 0
        return first + int(32 * noisy)

    def __call__(self, role: Role, samples: range) -> IntArray:
        """Labels [samples, nodes]."""
        labels = np.empty((len(samples), self.order.size), np.int64)
        parts = zip(self.features.drawn(role, samples), self.structure.drawn(role, samples), strict=True)
        for row, (features, structure) in zip(labels, parts, strict=True):
            self.head.write_labels(row, self.order, features, structure)
        return labels

    def scores(self, role: Role, samples: range) -> FloatArray:
        """Logits [samples, nodes, classes]."""
        scores = np.empty((len(samples), self.order.size, self.head.classes), np.float64)
        parts = zip(self.features.drawn(role, samples), self.structure.drawn(role, samples), strict=True)
        for each, (features, structure) in zip(scores, parts, strict=True):
            each[self.order] = self.head.scores(features, structure)
        return scores


def adjacency_of(edges: Edges, ranks: IntArray) -> Adjacency:
    """The normalised adjacency matrix of the edges with these ranks, in the form that compiled loops take."""
    count = (1 if edges.directed else 2) * ranks.size + edges.nodes
    columns, weights = np.empty(count, np.uint32), np.empty(count, np.float32)
    starts = np.empty(edges.nodes + 1, np.int64)
    normalised(columns, weights, starts, ranks, edges.nodes, edges.directed)
    return Adjacency(starts, columns, weights)


def fused_nodes(module: torch.nn.Module, sampler: GraphSampler, classes: int) -> FusedNodes | str:
    """The fused evaluation of a built-in network on noisy copies of a graph, or the reason why it is unavailable."""
    if not as_shipped(module):
        return f"{type(module).__name__} is not one of flipproof's own networks as they are shipped"
    if {(p.device.type, p.dtype) for p in module.parameters()} != {("cpu", torch.float32)}:
        return "its weights are not float32 numbers on the CPU"
    if not all(bool(parameter.isfinite().all()) for parameter in module.parameters()):
        return "some of its weights are not finite"
    if isinstance(module, GAT) and sampler.structure is not None:
        return "attention on noisy edges is no faster"
    if sampler.attributes is not None and not sampler.flips_attribute_bits:
        return "its attributes are not bits that flip"
    if not sampler.nodes.size:
        return "the graph has no nodes"
    if sampler.attribute_columns != module.first.weight.shape[0] or _second(module).shape[1] != classes:
        return "the network does not fit the graph"
    structure, order = _structure(module, sampler)
    features = _features(module, sampler, order)
    if isinstance(features, str):
        return features
    return FusedNodes(features, structure, _head(module, sampler, classes), order)


def as_shipped(module: torch.nn.Module) -> TypeGuard[Network]:
    """Whether a module is an unmodified built-in network whose weights have the shapes that the loops need."""
    if type(module) not in (GCN, APPNP, GAT):
        return False
    shadowed = {"forward", "features", "structure", "combine"}
    hooked = any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    changed = any(shadowed & vars(part).keys() or hasattr(part, "parametrizations") for part in module.modules())
    return not hooked and not changed and _parts_as_shipped(cast("Network", module))


def _parts_as_shipped(module: Network) -> bool:
    linear = isinstance(module, APPNP)
    second = torch.nn.Linear if linear else RowsLinear
    if type(module.first) is not RowsLinear or type(module.second) is not second:
        return False
    units, (inputs, classes) = module.first.weight.shape[1], _second(module).shape
    shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
    biases = {"first_bias": (units,), "second.bias" if linear else "second_bias": (classes,)}
    if isinstance(module, GAT):
        biases = {}
    return units == inputs and all(shapes.get(name) == shape for name, shape in biases.items())


def _second(module: Network) -> Any:
    """The weights of the second layer, one row per hidden unit."""
    linear = isinstance(module.second, torch.nn.Linear)
    return module.second.weight.detach().T if linear else module.second.weight.detach()


def _features(module: Network, sampler: GraphSampler, order: IntArray) -> NoisyProducts | Clean | str:
    if sampler.flips_attribute_bits:
        table = fixed_point(module.first.weight.detach().numpy())
        return table if isinstance(table, str) else NoisyProducts(sampler, sampler.nodes[order], *table)
    graph = NoisyGraph(sampler.nodes.size, np.zeros((2, 0), np.int64), sampler.clean_attributes)
    with evaluating(module):
        features = module.features(attribute_tensor(graph, AttributeForm.SPARSE, device_of(module)))
    return Clean(padded(features.numpy()))


def _structure(module: Network, sampler: GraphSampler) -> tuple[NoisyAdjacency | Clean, IntArray]:
    """What the network computes from the edges, and the order of the nodes in it."""
    as_they_are = np.arange(sampler.nodes.size)
    if sampler.structure is not None:
        return NoisyAdjacency(sampler), as_they_are
    if isinstance(module, GAT):
        graph = NoisyGraph(sampler.nodes.size, sampler.edges.index(), None)
        return Clean(module.structure(edge_tensor(graph, device_of(module)), graph.nodes)), as_they_are
    adjacency = adjacency_of(sampler.edges, sampler.edges.ranks)
    order = _neighbours_together(adjacency)
    return Clean(_reordered(adjacency, order)), order


def _neighbours_together(adjacency: Adjacency) -> IntArray:
    """The order of the nodes by Cuthill and McKee (1969), which puts neighbours together."""
    matrix = sp.csr_array((adjacency.weights, adjacency.columns.astype(np.int32), adjacency.starts))
    return np.asarray(reverse_cuthill_mckee(matrix), dtype=np.int64)


def _reordered(adjacency: Adjacency, order: IntArray) -> Adjacency:
    """The adjacency with its nodes in another order; the edges of each node keep their order."""
    new = np.empty(order.size, np.uint32)
    new[order] = np.arange(order.size, dtype=np.uint32)
    degrees = np.diff(adjacency.starts)[order]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    edges = np.arange(starts[-1]) + np.repeat(adjacency.starts[order] - starts[:-1], degrees)
    return Adjacency(starts, new[adjacency.columns[edges]], adjacency.weights[edges])


def _head(module: Network, sampler: GraphSampler, classes: int) -> Head:
    if isinstance(module, GAT):
        return TorchHead(module, int(module.first.weight.shape[1]), classes)
    bias = module.second.bias if isinstance(module, APPNP) else module.second_bias
    second = padded(_second(module).numpy())
    rows = np.zeros((-len(second) % 8, second.shape[1]), np.float32)
    layers = TwoLayers(
        padded(module.first_bias.detach().numpy()), np.concatenate([second, rows]), padded(bias.detach().numpy())
    )
    if isinstance(module, APPNP):
        # Attributes without noise have already passed through the layers.
        return APPNPHead(layers if sampler.attributes is not None else None, module.hops, module.teleport, classes)
    return GCNHead(layers, classes, sampler.attributes is not None)
