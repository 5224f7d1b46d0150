"""The published way of voting on noisy graphs, as the paper describes it: what speed is compared with.

Copies of the graph are made noisy in a batch. Ones are deleted by Bernoulli draws; a binomial number of cells is
drawn for additions, cells that were drawn twice are coalesced and cells that were ones are dropped. The batch is one
large graph for a GCN of PyTorch Geometric, whose first layer multiplies a sparse matrix with the weights. Written from
the text of Bojchevski, Gasteiger and Günnemann (ICML 2020); it shares no line with the authors' program.
"""

from __future__ import annotations

import warnings

import torch
from torch_geometric.nn import GCNConv

warnings.filterwarnings("ignore", message="Sparse CSR tensor support")


class SparseInputGCN(torch.nn.Module):
    """A GCN whose first layer takes a sparse matrix; self-loops and normalisation are PyTorch Geometric's."""

    def __init__(self, features, classes, hidden=64):
        super().__init__()
        self.first, self.second = GCNConv(features, hidden), GCNConv(hidden, classes)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def with_weights_of(gcn):
    """The same network as a `flipproof.GCN`."""
    features, hidden = gcn.first.weight.shape
    plain = SparseInputGCN(features, gcn.second.weight.shape[1], hidden)
    with torch.no_grad():
        plain.first.lin.weight.copy_(gcn.first.weight.T)
        plain.first.bias.copy_(gcn.first_bias)
        plain.second.lin.weight.copy_(gcn.second.weight.T)
        plain.second.bias.copy_(gcn.second_bias)
    return plain.eval()


def noisy_cells(cells, rows, columns, noise, copies):
    """Cells [2, n] of `copies` noisy matrices, one below the other, from the cells [2, ones] of the clean one."""
    ones = cells.shape[1]
    shift = torch.arange(copies).repeat_interleave(ones) * rows
    stacked = cells.repeat(1, copies)
    stacked = torch.stack([stacked[0] + shift, stacked[1]])
    kept = torch.bernoulli(torch.full((ones * copies,), 1 - noise.p_minus)).bool()
    if noise.p_plus == 0:
        return stacked[:, kept]
    total = rows * columns * copies
    count = int(torch.binomial(torch.tensor(float(total)), torch.tensor(noise.p_plus)))
    drawn = torch.randint(total, (count,))
    added = torch.stack([drawn // columns, drawn % columns])
    # What has been a one is decided by its own coin alone: its number outweighs any number of additions.
    coins = torch.where(kept, 1e6, -1e6)
    merged = torch.sparse_coo_tensor(
        torch.cat([added, stacked], dim=1), torch.cat([torch.ones(count), coins]), (rows * copies, columns),
        check_invariants=False,
    ).coalesce()  # fmt: skip
    return merged.indices()[:, merged.values() > 0]


def attribute_votes(model, cells, shape, edge_index, noise, samples, copies):
    """Labels counted [nodes, classes] under noise on the attributes."""
    nodes, columns = shape
    shift = torch.arange(copies).repeat_interleave(edge_index.shape[1]) * nodes
    edges = edge_index.repeat(1, copies) + shift

    def logits():
        noisy = noisy_cells(cells, nodes, columns, noise, copies)
        ones = torch.ones(noisy.shape[1])
        x = torch.sparse_coo_tensor(noisy, ones, (nodes * copies, columns), is_coalesced=True, check_invariants=False)
        return model(x, edges)

    return _counted(logits, nodes, samples, copies)


def structure_votes(model, x, edge_index, noise, samples, copies):
    """Labels counted [nodes, classes] under noise on the edges."""
    nodes = x.shape[0]
    pairs = edge_index[:, edge_index[0] < edge_index[1]]
    batch = torch.cat([x] * copies) if copies > 1 else x

    def logits():
        noisy = noisy_cells(pairs, nodes, nodes, noise, copies)
        copy, heads = noisy[0] // nodes, noisy[0] % nodes
        upper = heads < noisy[1]
        heads, tails, shift = heads[upper], noisy[1][upper], copy[upper] * nodes
        one_way = torch.stack([heads + shift, tails + shift])
        return model(batch, torch.cat([one_way, one_way.flip(0)], dim=1))

    return _counted(logits, nodes, samples, copies)


@torch.inference_mode()
def _counted(logits, nodes, samples, copies):
    votes = None
    for _ in range(0, samples, copies):
        labels = logits()
        one_hot = torch.nn.functional.one_hot(labels.argmax(dim=1), labels.shape[1])
        counted = one_hot.view(copies, nodes, -1).sum(dim=0)
        votes = counted if votes is None else votes + counted
    return votes
