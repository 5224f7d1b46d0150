"""A graph neural network for whole graphs, GIN, fast on a CPU for many small graphs at once."""

from __future__ import annotations

from flipproof.base.short_repr import model_words
from flipproof.base.values import checked_count, checked_probability
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.torch_modules import checked_size
from flipproof.models.networks.node_modules import SparseMatrix

require("torch")  # names the extra if it is missing
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

_MOST_LAYERS = 1_000


class GIN(torch.nn.Module):
    """A graph isomorphism network (Xu et al., 2019).

    Every layer gives a node MLP((1 + eps) x + the sum of its neighbours' x) with a learned eps and batch normalisation.
    The network sums the rows of all nodes over each graph, before the first layer and after every layer. A linear map
    of all these sums gives the logits.

    Args:
        features: the number of attributes per node.
        classes: the number of labels.
        hidden: the width of every layer.
        layers: the number of steps along edges; with 0 the network sees only the attributes.
        dropout: the dropout rate of the sums in training.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> x, edges, batch = torch.eye(3, 5), torch.tensor([[0, 1], [1, 0]]), torch.tensor([0, 0, 1])
        >>> GIN(features=5, classes=2).eval()(x, edges, batch).shape
        torch.Size([2, 2])
    """

    def __init__(self, features: int, classes: int, hidden: int = 32, layers: int = 4, dropout: float = 0.5) -> None:
        super().__init__()
        features, hidden = checked_size(features, "features"), checked_size(hidden, "hidden")
        classes = checked_size(classes, "classes")
        widths = [features] + [hidden] * _checked_layers(layers)
        self.features, self.dropout = features, checked_probability(dropout, "dropout")
        self.layers = torch.nn.ModuleList(_Layer(before, hidden) for before in widths[:-1])
        self.last = torch.nn.Linear(sum(widths), classes)

    def __repr__(self) -> str:
        return f"<{model_words(self)}>"

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        """Logits [graphs, classes] of attributes [nodes, features], edges [2, edges] and the graph of every node."""
        if x.shape[1] != self.features:
            raise InvalidInputError(f"expected attributes with {self.features} columns, got {x.shape[1]}")
        nodes = x.shape[0]
        edges = _sums(edge_index[0], edge_index[1], nodes)
        graphs = _sums(torch.arange(nodes, device=x.device), batch, int(batch.max()) + 1 if nodes else 0)
        pooled = [graphs.times(x)]
        for layer in self.layers:
            x = layer(x, edges)
            pooled.append(graphs.times(x))
        return self.last(F.dropout(torch.cat(pooled, dim=1), self.dropout, self.training))  # type: ignore[no-any-return]  # a module's call is Any


def _checked_layers(layers: int) -> int:
    if checked_count(layers, "layers") > _MOST_LAYERS:
        raise InvalidInputError(f"expected at most {_MOST_LAYERS} layers, got {layers}")
    return layers


class _Layer(torch.nn.Module):
    """One step along edges."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.eps = torch.nn.Parameter(torch.zeros(()))
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(before, after),
            torch.nn.BatchNorm1d(after),
            torch.nn.ReLU(),
            torch.nn.Linear(after, after),
            torch.nn.BatchNorm1d(after),
            torch.nn.ReLU(),
        )

    def forward(self, x: torch.Tensor, edges: SparseMatrix) -> torch.Tensor:
        return self.mlp((1 + self.eps) * x + edges.times(x))  # type: ignore[no-any-return]  # a module's call is Any


def _sums(sources: torch.Tensor, targets: torch.Tensor, rows: int) -> SparseMatrix:
    """The matrix that sums, in row i, the sources whose target is i, in their given order."""
    order = torch.argsort(targets.to(torch.int32), stable=True)  # half the time that 64 bits take
    starts = torch.zeros(rows + 1, dtype=torch.int64, device=targets.device)
    torch.cumsum(torch.bincount(targets, minlength=rows), 0, out=starts[1:])
    return SparseMatrix(sources[order], starts, torch.ones(sources.numel(), device=targets.device))
