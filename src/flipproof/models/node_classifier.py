"""A graph neural network as a classifier of the nodes of a graph."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.models.tensors import AttributeForm, Remembered, attribute_tensor, check_unchanged, edge_tensor
from flipproof.models.torch_modules import checked_classes, checked_uncached, device_of, evaluating, labels_of
from flipproof.smoothing.fingerprints import fingerprint
from flipproof.theory.arrays import IntArray

if TYPE_CHECKING:
    from flipproof.noise.graph import NoisyGraph


@dataclass(frozen=True, eq=False)
class NodeClassifier:
    """Gives each node of each graph the index of its largest logit.

    Args:
        module: called as `module(x, edge_index)` for one graph at a time; returns logits [nodes, classes].
        classes: how many labels there are.
        attributes: "dense" gives the module an ordinary float32 tensor. "sparse" gives it a `torch.sparse_csr`
            tensor, which is much faster for bags of words. It works where the first thing that happens to x is
            a linear map: `torch.nn.Linear`, and so an MLP before APPNP, and of torch_geometric's convolutions GCNConv,
            GATConv, GATv2Conv, TransformerConv, SuperGATConv, FiLMConv, ResGatedGraphConv, LEConv and SAGEConv with
            project=True. It does not where x is passed along edges first: SAGEConv, GINConv, GraphConv, SGConv,
            SSGConv, TAGConv, ChebConv, ClusterGCNConv, ARMAConv.
        hops: how many steps along edges the label of a node depends on, if it depends on nothing else. Leave it
            out if the module looks at the whole graph, as PairNorm or a virtual node do.

    Example:
        >>> import torch
        >>> from flipproof.noise.graph import NoisyGraph
        >>> class Neighbours(torch.nn.Module):
        ...     def forward(self, x, edge_index):
        ...         return x.index_add(0, edge_index[1], x[edge_index[0]])
        >>> graph = NoisyGraph(3, np.array([[0, 1], [1, 0]]), np.array([[0, 2], [1, 0], [1, 0]]))
        >>> NodeClassifier(Neighbours(), classes=2, hops=1)([graph])
        array([[1, 1, 0]])
    """

    module: Any
    classes: int
    attributes: str = AttributeForm.DENSE
    hops: int | None = None
    _x: Remembered = field(init=False, repr=False, default_factory=Remembered)
    _edges: Remembered = field(init=False, repr=False, default_factory=Remembered)

    def __post_init__(self) -> None:
        checked_uncached(self.module)
        object.__setattr__(self, "classes", checked_classes(self.classes))
        object.__setattr__(self, "attributes", AttributeForm.named(self.attributes))
        object.__setattr__(self, "hops", _checked_hops(self.hops))

    def __call__(self, graphs: Sequence[NoisyGraph]) -> IntArray:
        """Labels [graphs, nodes] of noisy copies of one graph."""
        if hasattr(graphs, "graph_of_node"):
            raise InvalidInputError("expected one graph with a label per node, got a collection: use GraphClassifier")
        if hasattr(graphs, "shape"):
            raise InvalidInputError("expected a graph, got rows: use TorchClassifier or SklearnClassifier")
        with evaluating(self.module):
            labels = [self._labels(graph) for graph in graphs]
        sizes = {label.size for label in labels}
        if len(sizes) != 1:
            raise InvalidInputError(f"expected graphs of one size, got {sorted(sizes) or 'no graph'}")
        return np.stack(labels)

    @property
    def fingerprint(self) -> str:
        """Of the module and the options as they are now."""
        return fingerprint(("NodeClassifier", self.module, self.classes, str(self.attributes), self.hops))

    def _labels(self, graph: NoisyGraph) -> IntArray:
        device, form = device_of(self.module), AttributeForm(self.attributes)
        x = self._x.tensor(graph.attributes, device, lambda: attribute_tensor(graph, form, device))
        edges = self._edges.tensor(graph.edge_index, device, lambda: edge_tensor(graph, device))
        labels = labels_of(self._logits(x, edges), graph.nodes, self.classes)
        check_unchanged(x, edges)
        return labels

    def _logits(self, x: Any, edges: Any) -> Any:
        try:
            return self.module(x, edges)
        except RuntimeError as error:
            if self.attributes == AttributeForm.SPARSE and "Sparse" in str(error):
                reason = str(error).partition(".")[0]
                raise InvalidInputError(
                    f"expected a linear map first, got: {reason}; use attributes='dense'"
                ) from error
            raise


def _checked_hops(hops: Any) -> int | None:
    try:
        number = None if hops is None else operator.index(hops)
    except TypeError:
        number = -1
    if isinstance(hops, bool) or (number is not None and number < 0):
        raise InvalidInputError(f"expected hops to be a non-negative integer or None, got {hops!r}")
    return number
