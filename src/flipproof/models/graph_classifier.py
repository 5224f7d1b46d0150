"""A graph neural network as a classifier of whole graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.tensors import AttributeForm, attribute_tensor, dense_tensor, edge_tensor
from flipproof.models.torch_modules import checked_classes, checked_uncached, device_of, evaluating, labels_of
from flipproof.smoothing.fingerprints import fingerprint
from flipproof.theory.arrays import IntArray

if TYPE_CHECKING:
    from flipproof.noise.graphs import GraphUnion


@dataclass(frozen=True, eq=False)
class GraphClassifier:
    """Gives each graph the index of its largest logit.

    Args:
        module: called as `module(x, edge_index, batch)` for many graphs at once, where `batch` says to which graph
            a node belongs; returns logits [graphs, classes].
        classes: how many labels there are.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from flipproof.noise.graphs import GraphUnion
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

    def __post_init__(self) -> None:
        checked_uncached(self.module)
        object.__setattr__(self, "classes", checked_classes(self.classes))

    def __call__(self, union: GraphUnion) -> IntArray:
        """Labels [graphs] of a disjoint union of noisy graphs."""
        if not hasattr(union, "graph_of_node"):
            raise InvalidInputError("expected many graphs, got something else: wrap one graph in Graphs([graph])")
        device = device_of(self.module)
        x = attribute_tensor(union, AttributeForm.DENSE, device)
        batch = dense_tensor(union.graph_of_node, require("torch").int64, device)
        with evaluating(self.module):
            return labels_of(self.module(x, edge_tensor(union, device), batch), union.graphs, self.classes)

    @property
    def fingerprint(self) -> str:
        """Of the module and the options as they are now."""
        return fingerprint(("GraphClassifier", self.module, self.classes))
