"""Claim: sampling costs what it must. Noise on attributes and edges of a graph as large as Cora-ML, one thread."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import flipproof as fp
from claims import Claim, best_of, report
from flipproof.noise.sampling.samplers import Role

NODES, WORDS, DENSITY, EDGES = 2810, 2879, 0.017588, 7981
ATTRIBUTE_NOISE, STRUCTURE_NOISE = fp.FlipNoise(0.01, 0.6), fp.FlipNoise(0.001, 0.4)


def attributes(rng):
    return (rng.random((NODES, WORDS)) < DENSITY).astype(np.uint8)


def graph(rng):
    codes = rng.choice(NODES * (NODES - 1) // 2, EDGES, replace=False)
    heads, tails = (index[codes] for index in np.triu_indices(NODES, 1))
    return fp.Graph.from_edge_index(np.concatenate([[heads, tails], [tails, heads]], axis=1), NODES)


def dense_numpy(clean, probability, rng):
    """The obvious way: one uniform number per entry."""
    return clean ^ (rng.random(clean.shape) < probability)


def main():
    rng = np.random.default_rng(0)
    clean = attributes(rng)
    sampler = fp.SparseRows(sp.csr_array(clean)).sampler(ATTRIBUTE_NOISE, seed=0)
    rows, samples = np.arange(NODES), 32
    ours = best_of(lambda: sampler.draw(Role.ESTIMATE, range(samples), rows)) / samples
    probability = np.where(clean, ATTRIBUTE_NOISE.p_minus, ATTRIBUTE_NOISE.p_plus)
    numpy = best_of(lambda: dense_numpy(clean, probability, rng), repeats=5)
    pairs = graph(rng).sampler(STRUCTURE_NOISE, seed=0)
    ranks = best_of(lambda: pairs.structure.draw(Role.ESTIMATE, range(256), np.zeros(1, np.int64))) / 256
    edges = (
        best_of(lambda: [graph.nodes for graph in pairs.draw(Role.ESTIMATE, range(256), np.zeros(1, np.int64))]) / 256
    )
    report(
        "sampling",
        [
            Claim("attributes (0.01, 0.6), CSR matrices", 1 / ours, "samples/s", at_least=800),
            Claim("attributes, against dense uniform draws in numpy", numpy / ours, "x", at_least=10),
            Claim("structure (0.001, 0.4), flipped pairs", 1 / ranks, "samples/s", at_least=5000),
            Claim("structure (0.001, 0.4), edge_index for a model", 1 / edges, "samples/s", at_least=5000),
            Claim(
                "share of alpha = 0.01 that 10^6 samples cost", float(sampler.distance) * 1e6 / 0.01, "", at_most=1e-6
            ),
        ],
    )


if __name__ == "__main__":
    main()
