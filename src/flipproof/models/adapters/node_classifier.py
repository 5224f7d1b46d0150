"""A graph neural network as a classifier of the nodes of a graph, and the code that calls its module."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.graph_calls import check_ignores_nothing, check_is_drawn
from flipproof.models.adapters.kept_edges import check_keeps_no_edges
from flipproof.models.adapters.tensors import AttributeForm, TensorCache, attribute_tensor, check_unchanged, edge_tensor
from flipproof.models.adapters.torch_modules import (
    call_module,
    check_takes,
    checked_classes,
    checked_logits,
    checked_uncached,
    device_of,
    evaluating,
    labels_of,
    torch,
)
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

if TYPE_CHECKING:
    from flipproof.models.fused.nodes import FusedNodes
    from flipproof.noise.spaces.noisy_graphs import GraphSampler, NoisyGraph
    from flipproof.noise.spaces.space import Space
    from flipproof.theory.base_law import Law


def is_node_module(module: object) -> bool:
    """Whether a module is one of ours and its call equals its three steps, without hooks or overridden methods."""
    from flipproof.models.networks.node_modules import NodeModule

    if not isinstance(module, NodeModule) or type(module).forward is not NodeModule.forward:
        return False
    return not (module._forward_hooks or module._forward_pre_hooks)


class NodeForward:
    """Computes logits of graphs, one after another, and reuses what it computed from the same array before.

    With gradients, features are recomputed each time, because the weights change from step to step. Without gradients,
    features are kept until `forget`.
    """

    def __init__(self, module: torch.nn.Module, form: AttributeForm) -> None:
        self._module: Any = module  # if it is one of ours, its steps are called
        self._form = form
        self._x, self._structure, self._features = TensorCache(), TensorCache(), TensorCache()

    def __call__(self, graph: NoisyGraph) -> Any:
        """Logits [nodes, classes]."""
        device, ours = device_of(self._module), is_node_module(self._module)
        x = self._x.of(graph.attributes, device, lambda: attribute_tensor(graph, self._form, device))
        if ours:
            structure = self._structure.of(
                graph.edge_index, device, lambda: self._module.structure(edge_tensor(graph, device), graph.nodes)
            )
            return self._module.combine(self._features_of(graph, x), structure)
        edges = self._structure.of(graph.edge_index, device, lambda: edge_tensor(graph, device))
        logits = self._called(x, edges)
        check_unchanged(x, edges)
        return logits

    def forget(self) -> None:
        """Discards everything that depends on the weights of the module."""
        self._features = TensorCache()

    def _features_of(self, graph: NoisyGraph, x: torch.Tensor) -> Any:
        if torch.is_grad_enabled():
            return self._module.features(x)
        return self._features.of(graph.attributes, x.device, lambda: self._module.features(x))

    def _called(self, x: torch.Tensor, edges: torch.Tensor) -> Any:
        try:
            return call_module(self._module, x, edges)
        except RuntimeError as error:
            if self._form is AttributeForm.SPARSE and "Sparse" in str(error):
                reason = str(error).partition(".")[0]
                raise InvalidInputError(
                    f"expected a linear map first, got: {reason}; use attributes='dense'"
                ) from error
            raise


@dataclass(frozen=True, eq=False)
class NodeClassifier:
    """Gives each node of each graph the index of its largest logit.

    Args:
        module: called as `module(x, edge_index)` for one graph at a time; returns logits [nodes, classes]. `GCN`,
            `GAT` and `APPNP` of flipproof know their `hops` and take sparse attributes by themselves.
        classes: the number of labels.
        attributes: "dense", the default, gives the module an ordinary float32 tensor. "sparse" gives it a
            `torch.sparse_csr` tensor, which is much faster for bags of words. "sparse" works if the module first
            applies a linear map to x: `torch.nn.Linear`, hence also an MLP before APPNP, and torch_geometric's
            convolutions GCNConv, GATConv, GATv2Conv, TransformerConv, SuperGATConv, FiLMConv, ResGatedGraphConv,
            LEConv, and SAGEConv with project=True. It does not work if the module first passes x along edges:
            SAGEConv, GINConv, GraphConv, SGConv, SSGConv, TAGConv, ChebConv, ClusterGCNConv, ARMAConv.
        hops: the number of steps along edges that the label of a node depends on, if it depends on nothing else. Omit
            it if the module uses the whole graph, as PairNorm or a virtual node does.

    Example:
        >>> import torch
        >>> from flipproof.noise.spaces.noisy_graphs import NoisyGraph
        >>> class Neighbours(torch.nn.Module):
        ...     def forward(self, x, edge_index):
        ...         return x.index_add(0, edge_index[1], x[edge_index[0]])
        >>> graph = NoisyGraph(3, np.array([[0, 1], [1, 0]]), np.array([[0, 2], [1, 0], [1, 0]]))
        >>> NodeClassifier(Neighbours(), classes=2, hops=1)([graph])
        array([[1, 1, 0]])
    """

    module: Any
    classes: int
    attributes: str | None = None
    hops: int | None = None
    engine: ClassVar[str] = "torch"

    def __post_init__(self) -> None:
        check_takes(checked_uncached(self.module), "x", "edge_index")
        object.__setattr__(self, "classes", checked_classes(self.classes))
        ours = is_node_module(self.module)
        default = AttributeForm.SPARSE if ours else AttributeForm.DENSE
        object.__setattr__(
            self, "attributes", default if self.attributes is None else AttributeForm.named(self.attributes)
        )
        object.__setattr__(self, "hops", self.module.hops if ours and self.hops is None else _checked_hops(self.hops))

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.module), amount(self.classes, "class"))

    def __call__(self, graphs: Sequence[NoisyGraph]) -> IntArray:
        """Labels [graphs, nodes] of noisy copies of one graph."""
        return np.stack(self._of_each(graphs, lambda logits: labels_of(logits, len(logits), self.classes)))

    def check_on(self, space: Space, noise: Law) -> None:
        """Refuses a module that keeps the edges of the observed data, which noise then cannot reach."""
        if not is_node_module(self.module):  # ours keep nothing
            check_keeps_no_edges(self.module, None, self, space, noise)

    def label_scores(self, graphs: Sequence[NoisyGraph]) -> Any:
        """The logits [graphs, nodes, classes] behind the labels, a tensor."""
        return torch.stack(self._of_each(graphs, lambda logits: logits))

    def _of_each(self, graphs: Sequence[NoisyGraph], made_of: Callable[[Any], Any]) -> list[Any]:
        """Applies `made_of` to the logits [nodes, classes] of every graph; all graphs need equally many nodes."""
        if hasattr(graphs, "graph_of_node"):
            raise InvalidInputError("expected one graph with a label per node, got a collection: use GraphClassifier")
        if hasattr(graphs, "shape"):
            raise InvalidInputError("expected a graph, got rows: use TorchClassifier or SklearnClassifier")
        check_is_drawn(graphs)
        for graph in graphs[:1]:
            check_ignores_nothing(self.module, graph)
        forward = self.forward()
        with evaluating(self.module):
            made = [made_of(checked_logits(forward(graph), graph.nodes, self.classes)) for graph in graphs]
        sizes = {len(each) for each in made}
        if len(sizes) != 1:
            raise InvalidInputError(f"expected graphs of one size, got {sorted(sizes) or 'no graph'}")
        return made

    def fused(self, sampler: GraphSampler) -> FusedNodes | str:
        """The fused evaluation, which computes labels while drawing noise, or the reason why it is unavailable."""
        from flipproof.models.fused.nodes import fused_nodes

        if not hasattr(sampler, "graph"):
            return "these are no copies of one graph"
        return fused_nodes(self.module, sampler, self.classes)

    @property
    def bytes_per_edge(self) -> int:
        """Memory that the module needs for every edge; most modules make a message of some hundred bytes per edge."""
        return int(getattr(self.module, "bytes_per_edge", 512))

    def forward(self) -> NodeForward:
        """A way to call the module on one graph after another."""
        return NodeForward(self.module, AttributeForm.named(self.attributes or AttributeForm.DENSE))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the module and the options in their current state."""
        return fingerprint(("NodeClassifier", self.module, self.classes, str(self.attributes), self.hops))


def _checked_hops(hops: Any) -> int | None:
    try:
        number = None if hops is None else operator.index(hops)
    except TypeError:
        number = -1
    if isinstance(hops, bool) or (number is not None and number < 0):
        raise InvalidInputError(f"expected hops to be a non-negative integer or None, got {hops!r}")
    return number
