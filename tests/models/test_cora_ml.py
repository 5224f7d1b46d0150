"""The samplers and `vote` on a real graph: Cora-ML as the paper uses it."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.nn import GCNConv

import flipproof as fp
from flipproof.noise.sampling.samplers import Role


@pytest.fixture(scope="module")
def cora(cora_ml):
    """Adjacency and attributes."""
    return cora_ml.adjacency, cora_ml.attributes


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(2879, 16), GCNConv(16, 7)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def test_the_entries_are_those_of_the_paper(cora):
    graph = fp.Graph.from_scipy(*cora)
    assert (graph.nodes, graph.edges.count, graph.attributes.ones) == (2810, 7981, 142_286)
    assert graph.edges.pairs == 2810 * 2809 // 2


def test_noisy_copies_have_as_many_ones_as_the_law_says(cora):
    """Counts of kept and of added entries are binomial; six standard deviations."""
    noise, samples = fp.FlipNoise(0.01, 0.6), 50
    rows = fp.SparseRows(cora[1])
    noisy = rows.sampler(noise, seed=1).draw(Role.ESTIMATE, range(samples), np.arange(rows.inputs))
    clean = sp.vstack([rows.matrix] * samples)
    kept = noisy.multiply(clean).nnz
    for count, entries, p in (
        (kept, clean.nnz, 0.4),
        (noisy.nnz - kept, samples * rows.inputs * rows.columns - clean.nnz, 0.01),
    ):
        assert abs(count - entries * p) < 6 * np.sqrt(entries * p * (1 - p))


@pytest.mark.parametrize(
    ("noisy", "noise"),
    [
        ("attributes", fp.FlipNoise(0.01, 0.6)),
        ("structure", fp.FlipNoise(0.0, 0.4)),
        ("structure", fp.FlipNoise(0.001, 0.4)),
        ("both", fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(2e-5, 0.6))),
    ],
)
def test_some_nodes_have_the_votes_that_they_have_among_all(cora, noisy, noise):
    graph = fp.Graph.from_scipy(*cora, noisy=noisy)
    classifier = fp.NodeClassifier(GCN(), classes=7, attributes="sparse", hops=2)
    targets = [3, 1200, 2809]
    samples = {"n_select": 4, "n_estimate": 12, "chunk_size": 4}
    everything = fp.vote(classifier, graph, noise, **samples)
    some = fp.vote(classifier, graph, noise, **samples, targets=targets)
    assert (everything.estimation.sum(axis=1) == 12).all()
    assert (some.estimation == everything.estimation[targets]).all()
    assert (some.selection == everything.selection[targets]).all()
    assert 0.0 <= some.sampling_error < 1e-6 * 0.01
