"""Where additions fall among the 200 million pairs of a graph with 20,001 nodes."""

import numpy as np
import pytest

from chi_square import p_value
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.theory.law import FlipNoise

NODES, PAIRS = 20_001, 20_001 * 20_000 // 2
RING = np.arange(NODES)
EDGES = np.stack([np.append(RING, np.roll(RING, 1)), np.append(np.roll(RING, 1), RING)])
NOISE = FlipNoise(p_plus=1.5e-6, p_minus=0.999)


@pytest.fixture(scope="module")
def additions():
    """Ranks of the added pairs of 500 samples, about 300 each, and how many ranks come before each bucket of pairs."""
    edges = Graph.from_edge_index(EDGES, NODES).edges
    sampler = Graph.from_edge_index(EDGES, NODES).sampler(NOISE, 9).structure
    assert edges.pairs == PAIRS
    starts, ranks = sampler.draw(Role.ESTIMATE, range(500), np.zeros(1, np.int64))
    added = ~np.isin(ranks, edges.ranks)
    return edges, ranks[added], np.add.reduceat(added, starts[:-1])


def test_every_rank_is_equally_likely(additions):
    edges, ranks, _ = additions
    ends = np.linspace(0, PAIRS, 1001).astype(np.int64)
    zeros = np.diff(ends) - np.histogram(edges.ranks, ends)[0]
    assert p_value(np.histogram(ranks, ends)[0], zeros / zeros.sum()) > 1e-4


def test_every_bit_of_a_rank_is_right(additions):
    """Ranks modulo small numbers, where a bias of the range reduction or of the blocks would show."""
    edges, ranks, _ = additions
    for modulus in (2, 3, 64, 1000):
        zeros = np.bincount(np.arange(PAIRS % modulus), minlength=modulus) + PAIRS // modulus
        zeros = zeros - np.bincount(edges.ranks % modulus, minlength=modulus)
        assert p_value(np.bincount(ranks % modulus, minlength=modulus), zeros / zeros.sum()) > 1e-4


def test_heads_and_tails_are_those_of_uniform_pairs(additions):
    """Node u is the smaller of NODES - 1 - u pairs and the larger of u; the ring takes two away from each node."""
    edges, ranks, _ = additions
    heads, tails = edges.index(np.sort(ranks))[:, : ranks.size]
    clean_heads, clean_tails = edges.index()[:, : edges.count]
    buckets = np.arange(NODES) // 67
    for found, clean, pairs in (
        (heads, clean_heads, NODES - 1 - np.arange(NODES)),
        (tails, clean_tails, np.arange(NODES)),
    ):
        zeros = np.bincount(buckets, weights=pairs - np.bincount(clean, minlength=NODES))
        assert p_value(np.bincount(buckets[found], minlength=zeros.size), zeros / zeros.sum()) > 1e-4


def test_how_many_are_added(additions):
    """Binomial with n = 2 * 10**8 and p = 1.5e-6, which is Poisson up to p in total variation (Le Cam)."""
    edges, _, counts = additions
    mean = (PAIRS - edges.count) * NOISE.p_plus
    k = np.arange(600)
    law = np.exp(k * np.log(mean) - mean - np.cumsum(np.log(np.maximum(k, 1))))
    ends = [0, 285, 292, 297, 301, 306, 312, 320, 600]
    assert p_value(np.histogram(counts, ends)[0], np.add.reduceat(law, ends[:-1])) > 1e-4


def test_no_pair_is_added_twice():
    """Pairs come in order, first all as (smaller, larger), then all turned round."""
    sampler = Graph.from_edge_index(EDGES, NODES).sampler(NOISE, 9)
    for noisy in sampler.draw(Role.ESTIMATE, range(5), np.zeros(1, np.int64)):
        smaller, larger = np.split(noisy.edge_index, 2, axis=1)[0]
        assert (np.diff(smaller * NODES + larger) > 0).all()
        assert (smaller < larger).all()
        assert noisy.edge_index.tolist() == [[*smaller, *larger], [*larger, *smaller]]
