"""A graph neural network as a classifier of whole graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.graph_calls import check_ignores_nothing, check_is_drawn
from flipproof.models.adapters.kept_edges import check_keeps_no_edges
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor, dense_tensor, edge_tensor
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
    from flipproof.noise.spaces.graphs import GraphUnion
    from flipproof.noise.spaces.space import Space
    from flipproof.theory.base_law import Law


@dataclass(frozen=True, eq=False)
class GraphClassifier:
    """Gives each graph the index of its largest logit.

    Args:
        module: called as `module(x, edge_index, batch)` for many graphs at once, where `batch` gives the graph of each
            node; returns logits [graphs, classes].
        classes: the number of labels.
        one_hot: the number of kinds of nodes, if the only attribute of a node is its kind; the module then gets
            a column of zeros and ones for each kind. None: the module gets the attributes unchanged.
        graphs_at_once: the number of graphs in a call of the module; its intermediate results should fit into the
            processor's cache. The last bits of the logits may depend on it, so it is part of the fingerprint.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from flipproof.noise.spaces.graphs import GraphUnion
        >>> class Total(torch.nn.Module):
        ...     def forward(self, x, edge_index, batch):
        ...         return x.new_zeros(int(batch.max()) + 1, 2).index_add(0, batch, x)
        >>> pair = GraphUnion(
        ...     graphs=2, nodes=3, graph_of_node=np.array([0, 0, 1]),
        ...     edge_index=np.array([[0, 1], [1, 0]]), attributes=np.array([[1, 0], [1, 0], [0, 3]]),
        ... )
        >>> GraphClassifier(Total(), classes=2)(pair)
        array([0, 1])
    """

    module: Any
    classes: int
    one_hot: int | None = None
    graphs_at_once: int = 512
    engine: ClassVar[str] = "torch"

    def __post_init__(self) -> None:
        check_takes(checked_uncached(self.module), "x", "edge_index", "batch")
        object.__setattr__(self, "classes", checked_classes(self.classes))
        for name in ("one_hot", "graphs_at_once"):
            number = getattr(self, name)
            if number is not None and checked_count(number, name) < 1:
                raise InvalidInputError(f"expected {name} to be at least 1, got {number}")

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.module), amount(self.classes, "class"))

    def __call__(self, union: GraphUnion) -> IntArray:
        """Labels [graphs] of a disjoint union of noisy graphs."""
        return labels_of(self.label_scores(union), union.graphs, self.classes)

    def check_on(self, space: Space, noise: Law) -> None:
        """Refuses a module that keeps the edges of the observed data, which noise then cannot reach."""
        check_keeps_no_edges(self.module, None, self, space, noise)

    def label_scores(self, union: GraphUnion) -> Any:
        """The logits [graphs, classes] behind the labels, a tensor."""
        check_is_drawn(union)
        if not hasattr(union, "graph_of_node"):
            raise InvalidInputError("expected many graphs, got something else: wrap one graph in Graphs([graph])")
        check_ignores_nothing(self.module, union)
        with evaluating(self.module):
            return torch.cat([self.logits(part) for part in union.cut(self.graphs_at_once)])

    def logits(self, union: GraphUnion) -> Any:
        """The logits [graphs, classes] of one call of the module in its current mode, with gradients if enabled."""
        device = device_of(self.module)
        x = attribute_tensor(union, AttributeForm.DENSE, device)
        if self.one_hot is not None:
            x = _one_hot(x, self.one_hot)
        batch = dense_tensor(union.graph_of_node, torch.int64, device)
        return checked_logits(
            call_module(self.module, x, edge_tensor(union, device), batch), union.graphs, self.classes
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the module and the options in their current state."""
        options = self.classes, self.one_hot, self.graphs_at_once
        return fingerprint(("GraphClassifier", self.module, *options))


def _one_hot(kinds: torch.Tensor, count: int) -> torch.Tensor:
    """One column for each of `count` kinds of nodes."""
    if kinds.shape[1] != 1:
        raise InvalidInputError(f"expected one kind for every node, got {kinds.shape[1]} columns")
    numbers = kinds.long()
    if numbers.numel() and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
        wrong = int(numbers.min()) if int(numbers.min()) < 0 else int(numbers.max())
        raise InvalidInputError(f"expected kinds of nodes from 0 to {count - 1}, got {wrong}")
    return kinds.new_zeros(len(kinds), count).scatter_(1, numbers, 1.0)
