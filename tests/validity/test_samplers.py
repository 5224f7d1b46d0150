"""The samplers' promise with many more draws: every entry flips independently with exactly its probability."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import chdtrc, ndtri

import flipproof as fp
from chi_square import ENOUGH, assert_standard_normal, p_value
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.rows import DenseRows, SparseRows

pytestmark = pytest.mark.slow

PROBABILITIES = [(0.0, 0.6), (0.002, 0.6), (0.03, 0.0), (0.1249, 0.3), (0.125, 0.4), (0.7, 0.9), (1.0, 0.5)]


def ones_probabilities(dense, noise):
    return np.where(dense, 1.0 - noise.p_minus, noise.p_plus)


def centred(drawn, p):
    """Zeros and ones with mean 0 and variance 1, entries that cannot vary left out."""
    free = (p > 0.0) & (p < 1.0)
    return (drawn[:, free] - p[free]) / np.sqrt(p[free] * (1.0 - p[free]))


@pytest.mark.parametrize(("p_plus", "p_minus"), PROBABILITIES)
@pytest.mark.parametrize("ones", [(), (1, 4), (0, 1, 2, 3, 4, 5, 6, 7)])
def test_all_256_outcomes_of_a_row_of_eight(p_plus, p_minus, ones):
    samples, row = 5_000_000, np.isin(np.arange(8), ones)
    noise = fp.FlipNoise(p_plus, p_minus)
    drawn = SparseRows(sp.csr_array(row[None])).sampler(noise, 101).draw(Role.ESTIMATE, range(samples), np.array([0]))
    masks = np.bincount(np.repeat(np.arange(samples), np.diff(drawn.indptr)), 2.0**drawn.indices, samples)
    law = np.ones(1)
    for on in ones_probabilities(row, noise):
        law = np.concatenate([law * (1.0 - on), law * on])
    assert p_value(np.bincount(masks.astype(np.int64), minlength=256), law) > ENOUGH


@pytest.mark.parametrize(("p_plus", "p_minus"), [pair for pair in PROBABILITIES if pair[0] != 0.002])
def test_marginals_pairs_and_lags_of_a_matrix(p_plus, p_minus, rng):
    """A 6 x 40 matrix with row densities from 0 to 1, all 28,680 pairs of entries.

    Two zeros flip together in 360 samples or more (in none for p_plus = 0), so sums over samples are about normal.
    """
    samples, chunk, noise = 400_000, 50_000, fp.FlipNoise(p_plus, p_minus)
    dense = rng.random((6, 40)) < np.linspace(0.0, 1.0, 6)[:, None]
    p = ones_probabilities(dense, noise).ravel()
    sampler = SparseRows(sp.csr_array(dense)).sampler(noise, 102)

    def draw(role, start):
        drawn = sampler.draw(role, range(start, start + chunk), np.arange(6))
        return centred(drawn.toarray().reshape(chunk, 240), p)

    sums, pairs, lags, roles = 0.0, 0.0, 0.0, 0.0
    for start in range(0, samples, chunk):
        select, estimate = draw(Role.SELECT, start), draw(Role.ESTIMATE, start)
        sums = sums + select.sum(axis=0)
        pairs = pairs + select.T @ select
        lags = lags + select[1:].T @ select[:-1]
        roles = roles + select.T @ estimate
    assert_standard_normal(sums / np.sqrt(samples))
    assert_standard_normal(pairs[np.triu_indices(sums.size, k=1)] / np.sqrt(samples))
    assert_standard_normal(lags.ravel() / np.sqrt(samples - samples // chunk))
    assert_standard_normal(roles.ravel() / np.sqrt(samples))


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.3, 0.6, 3), fp.FlipNoise(0.9, 0.2, 4), fp.FlipNoise(1.0, 1.0, 5)])
def test_all_outcomes_of_a_row_of_categories(noise):
    samples, row, k = 2_000_000, np.array([0, 1, 0, 2]), noise.categories
    drawn = DenseRows(row[None]).sampler(noise, 103).draw(Role.ESTIMATE, range(samples), np.array([0]))
    law = np.ones(1)
    for value in row:
        flip = noise.p_minus if value else noise.p_plus
        law = np.outer(np.where(np.arange(k) == value, 1.0 - flip, flip / (k - 1)), law).ravel()
    assert p_value(np.bincount(drawn.astype(np.int64) @ k ** np.arange(4), minlength=k**4), law) > ENOUGH


@pytest.mark.parametrize("categories", [256, 1000, 65_537])
def test_every_other_value_is_equally_likely(categories):
    noise, size = fp.FlipNoise(0.5, 0.9, categories), 2_000_000 // 50
    drawn = DenseRows(np.full((1, 50), 7)).sampler(noise, 104).draw(Role.SELECT, range(size), np.array([0]))
    law = np.full(categories, noise.p_minus / (categories - 1))
    law[7] = 1.0 - noise.p_minus
    assert p_value(np.bincount(drawn.ravel(), minlength=categories), law) > ENOUGH


@pytest.mark.parametrize("directed", [False, True])
def test_additions_among_hundreds_of_millions_of_pairs(directed):
    """Two million additions to a graph of 20,001 nodes without edges: their ranks, heads and tails are uniform."""
    nodes, noise = 20_001, fp.FlipNoise(1.5e-6, 0.5)
    edges = Graph.from_edge_index([], nodes, directed=directed).edges
    sampler = Graph.from_edge_index([], nodes, directed=directed).sampler(noise, 105).structure
    _, ranks = sampler.draw(Role.ESTIMATE, range(6000), np.zeros(1, np.int64))
    ends = np.linspace(0, edges.pairs, 10_001).astype(np.int64)
    assert p_value(np.histogram(ranks, ends)[0], np.diff(ends) / edges.pairs) > ENOUGH
    heads, tails = edges.index(ranks)[:, : ranks.size]
    number = np.arange(nodes)
    for found, pairs in ((heads, nodes - 1 - number), (tails, number)):
        law = (np.full(nodes, nodes - 1) if directed else pairs) / edges.pairs
        assert p_value(np.bincount(found, minlength=nodes), law) > ENOUGH


def test_counts_of_a_matrix_the_size_of_cora_ml(rng):
    """2810 x 2879, 1.76 % ones, 0.01 / 0.6: the ones of a sample are normal in number, with known mean and variance."""
    dense = rng.random((2810, 2879)) < 0.0176
    noise, ones = fp.FlipNoise(0.01, 0.6), int(dense.sum())
    sampler = SparseRows(sp.csr_array(dense)).sampler(noise, 106)
    counts = np.array([sampler.draw(Role.SELECT, range(i, i + 1), np.arange(2810)).nnz for i in range(400)])
    mean = ones * 0.4 + (dense.size - ones) * 0.01
    variance = ones * 0.24 + (dense.size - ones) * 0.0099
    z = (counts - mean) / np.sqrt(variance)
    assert abs(z.mean() * 20) < -ndtri(ENOUGH / 2)
    assert ENOUGH < chdtrc(400, (z**2).sum()) < 1 - ENOUGH
