"""Claim: one gathering is faster than sparse products, for sparse attributes and for messages, at Cora-ML's size.

One thread.
"""

import warnings

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from claims import best_of
from flipproof.models.networks.node_modules import SparseMatrix, normalised_adjacency
from flipproof.noise.sampling.samplers import Role

NODES, WORDS, ONES, EDGES, HIDDEN = 2810, 2879, 142_286, 7981, 64


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    cells = rng.choice(NODES * WORDS, ONES, replace=False)
    words = fp.SparseRows(sp.csr_array((np.ones(ONES), (cells // WORDS, cells % WORDS)), shape=(NODES, WORDS)))
    noisy = words.sampler(fp.FlipNoise(0.01, 0.6), 0).draw(Role.SELECT, range(1), np.arange(NODES))
    weights, hidden = torch.randn(WORDS, HIDDEN), torch.randn(NODES, HIDDEN)
    rows = [torch.tensor(part) for part in (noisy.indptr, noisy.indices, noisy.data)]
    attributes = torch.sparse_csr_tensor(*rows, size=noisy.shape)
    pairs = rng.integers(0, NODES, (2, EDGES))
    adjacency = normalised_adjacency(torch.tensor(np.concatenate([pairs, pairs[::-1]], axis=1)), NODES)
    matrix = torch.sparse_csr_tensor(adjacency.starts, adjacency.columns, adjacency.weights, size=(NODES, NODES))
    gathering = SparseMatrix(rows[1], rows[0], rows[2])
    for name, ours, theirs in (
        ("attributes times weights", lambda: gathering.of(weights), lambda: attributes @ weights),
        ("messages of 64 numbers", lambda: adjacency.of(hidden), lambda: matrix @ hidden),
    ):
        fast, slow = best_of(ours, 30), best_of(theirs, 30)
        print(f"{name}: {1e3 * fast:.2f} ms, {slow / fast:.1f} times faster than {1e3 * slow:.2f} ms")


if __name__ == "__main__":
    main()
