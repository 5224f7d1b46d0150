"""Weighted sums of rows of a table: the one operation that sparse attributes and messages along edges need."""

from __future__ import annotations

from typing import NamedTuple

from flipproof.extras import require

require("torch")
import torch  # noqa: E402


class Gathering(NamedTuple):
    """Row i of the result is the sum of `weights[k] * table[columns[k]]` for k from `starts[i]` to `starts[i + 1]`.

    It is a sparse matrix in CSR form.
    """

    columns: torch.Tensor
    starts: torch.Tensor
    weights: torch.Tensor

    def of(self, table: torch.Tensor) -> torch.Tensor:
        """The sums; gradients reach the table and the weights."""
        return torch.nn.functional.embedding_bag(
            self.columns,
            table.contiguous(),
            self.starts,
            mode="sum",
            per_sample_weights=self.weights.to(table.dtype),
            include_last_offset=True,
        )


class Neighbours(NamedTuple):
    """Edges sorted by the node they lead to; those that lead to node i stand from `starts[i]` to `starts[i + 1]`."""

    sources: torch.Tensor
    targets: torch.Tensor
    starts: torch.Tensor


def neighbours(edge_index: torch.Tensor, nodes: int) -> Neighbours:
    """The edges of a graph, with one loop at every node whether it had one or not."""
    sources, targets = edge_index
    proper = sources != targets
    if not bool(proper.all()):
        sources, targets = sources[proper], targets[proper]
    loops = torch.arange(nodes, device=edge_index.device)
    sources, targets = torch.cat([sources, loops]), torch.cat([targets, loops])
    order = torch.argsort(targets, stable=True)
    starts = torch.zeros(nodes + 1, dtype=torch.int64, device=edge_index.device)
    torch.cumsum(torch.bincount(targets, minlength=nodes), 0, out=starts[1:])
    return Neighbours(sources[order], targets[order], starts)


def normalised_adjacency(edge_index: torch.Tensor, nodes: int) -> Gathering:
    """D^(-1/2) (A + I) D^(-1/2), the propagation of Kipf and Welling (2017), with D the degrees of A + I.

    Example:
        >>> adjacency = normalised_adjacency(torch.tensor([[0, 1], [1, 0]]), nodes=3)
        >>> adjacency.of(torch.eye(3))
        tensor([[0.5000, 0.5000, 0.0000],
                [0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    edges = neighbours(edge_index, nodes)
    scale = edges.starts.diff().to(torch.float32).rsqrt()
    return Gathering(edges.sources, edges.starts, scale[edges.sources] * scale[edges.targets])
