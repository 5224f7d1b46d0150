"""Every sampler with a hundred million entries: how often each outcome of a row is drawn, against the exact law."""

import functools
import itertools
from math import ceil, comb

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtr
from scipy.stats import binom

import flipproof as fp
from chi_square import ENOUGH, assert_standard_normal, p_value
from flipproof.noise.ablation import HIDDEN, AblationNoise
from flipproof.noise.gaussian import GaussianNoise, RealRows
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role

pytestmark = pytest.mark.slow

ENTRIES = 10**8
CHUNK = 4 * 10**6
COPIES = 500
"""So many equal rows are drawn in each sample: an outcome is that of a row."""


def draws(space, noise, entries_per_row, seed=201):
    """Pieces of what is drawn, together at least ENTRIES entries."""
    sampler = sampler_of(space, noise, seed)
    rows = np.arange(sampler.rows)
    samples, step = ceil(ENTRIES / (rows.size * entries_per_row)), ceil(CHUNK / (rows.size * entries_per_row))
    for start in range(0, samples, step):
        yield sampler.draw(Role.ESTIMATE, range(start, min(start + step, samples)), rows)


def counted(pieces, codes, outcomes):
    """How often each outcome was drawn; `codes` has the number of the outcome of every row of a piece."""
    return sum(np.bincount(codes(piece), minlength=outcomes) for piece in pieces)


def copies(row):
    return np.tile(row, (COPIES, 1))


# Rows of values: the first entry counts most in the number of an outcome, as in the product of laws.


def entry_law(noise, value):
    """The probability of each value of a noisy entry."""
    flip = noise.p_minus if value else noise.p_plus
    law = np.full(noise.categories, flip / (noise.categories - 1))
    law[value] = 1.0 - flip
    return law


def row_law(*laws):
    return functools.reduce(np.kron, laws)


def coded(sizes):
    """Numbers of dense rows; as few as possible are int64 at a time."""
    places = np.cumprod([1, *sizes[:0:-1]])[::-1]

    def codes(piece):
        flat = piece.reshape(len(piece), -1)
        return sum(column.astype(np.int64) * place for column, place in zip(flat.T, places, strict=True))

    return codes


def of_sparse(width):
    """Numbers of the rows of a sparse matrix of zeros and ones."""

    def codes(piece):
        owners = np.repeat(np.arange(piece.shape[0]), np.diff(piece.indptr))
        return np.bincount(owners, 2.0 ** (width - 1 - piece.indices), piece.shape[0]).astype(np.int64)

    return codes


BITS = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1, 0])
NOISES = {
    "deletions": fp.FlipNoise(0.0, 0.6),
    "few additions": fp.FlipNoise(0.03, 0.4),
    "many additions": fp.FlipNoise(0.2, 0.3),
    "more flips than not": fp.FlipNoise(0.7, 0.8),
}


ROWS = {
    "dense": (fp.DenseRows(copies(BITS)), coded([2] * BITS.size)),
    "sparse": (fp.SparseRows(sp.csr_array(copies(BITS))), of_sparse(BITS.size)),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("noise", NOISES)
def test_rows_of_bits(noise, rows):
    noise, (space, codes) = NOISES[noise], ROWS[rows]
    counts = counted(draws(space, noise, BITS.size), codes, 2**BITS.size)
    assert counts.sum() * BITS.size >= ENTRIES
    assert p_value(counts, row_law(*(entry_law(noise, bit) for bit in BITS))) > ENOUGH
    assert_standard_normal(flips_of_ones_and_zeros(counts, noise))


def flips_of_ones_and_zeros(counts, noise):
    """How far their numbers are from what is expected: finds a wrong probability sooner than all outcomes do."""
    flipped = (np.arange(2**BITS.size)[:, None] >> np.arange(BITS.size)[::-1] & 1) != BITS
    found = counts @ np.stack([flipped[:, BITS == 1].sum(axis=1), flipped[:, BITS == 0].sum(axis=1)], axis=1)
    trials, p = counts.sum() * np.array([BITS.sum(), (1 - BITS).sum()]), np.array([noise.p_minus, noise.p_plus])
    return (found - trials * p)[p > 0] / np.sqrt(trials * p * (1 - p))[p > 0]


def test_wide_sparse_rows():
    """3000 columns, 60 ones: how often each column is on, and how many are."""
    row = np.zeros(3000, dtype=int)
    row[::50] = 1
    noise, on, rows = fp.FlipNoise(0.01, 0.6), np.zeros(3000), 0
    ones = np.zeros(3001)
    for piece in draws(fp.SparseRows(sp.csr_array(np.tile(row, (20, 1)))), noise, 3000):
        on += np.bincount(piece.indices, minlength=3000)
        ones += np.bincount(np.diff(piece.indptr), minlength=3001)
        rows += piece.shape[0]
    assert rows * 3000 >= ENTRIES
    p = np.where(row, 1 - noise.p_minus, noise.p_plus)
    assert_standard_normal((on - rows * p) / np.sqrt(rows * p * (1 - p)))
    law = np.convolve(binom.pmf(np.arange(61), 60, 0.4), binom.pmf(np.arange(2941), 2940, 0.01))
    assert p_value(ones, law) > ENOUGH


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.3, 0.6, 3), fp.FlipNoise(0.9, 0.2, 4), fp.FlipNoise(1.0, 0.5, 5)])
def test_rows_of_categories(noise):
    row = np.array([0, 1, 2, 0, 1])
    codes = coded([noise.categories] * row.size)
    counts = counted(draws(fp.DenseRows(copies(row)), noise, row.size), codes, noise.categories**row.size)
    assert counts.sum() * row.size >= ENTRIES
    assert p_value(counts, row_law(*(entry_law(noise, value) for value in row))) > ENOUGH


@pytest.mark.parametrize("categories", [256, 70_000])
def test_entries_of_many_categories(categories):
    noise, row = fp.FlipNoise(0.5, 0.9, categories), np.full(50, 7)
    counts = counted(draws(fp.DenseRows(copies(row)), noise, row.size), np.ravel, categories)
    assert counts.sum() >= ENTRIES
    assert p_value(counts, entry_law(noise, 7)) > ENOUGH


def test_tokens_with_padding():
    row, noise = np.array([0, 2, 1, 3, 2, 3]), fp.FlipNoise(0.2, 0.7, 3)
    counts = counted(draws(fp.Tokens(copies(row), padding=3), noise, row.size), coded([4] * row.size), 4**row.size)
    assert counts.sum() * row.size >= ENTRIES
    padding = np.eye(4)[3]
    laws = [padding if token == 3 else np.append(entry_law(noise, token), 0.0) for token in row]
    assert p_value(counts, row_law(*laws)) > ENOUGH


def test_masked_tokens():
    row, noise = np.array([0, 2, 1, 3, 2, 0]), fp.FlipNoise(0.0, 0.7)
    counts = counted(draws(fp.Tokens(copies(row), mask=3), noise, row.size), coded([4] * row.size), 4**row.size)
    assert counts.sum() * row.size >= ENTRIES
    laws = [(1 - noise.p_minus) * np.eye(4)[token] + noise.p_minus * np.eye(4)[3] for token in row]
    assert p_value(counts, row_law(*laws)) > ENOUGH


def test_tables():
    row, categories = np.array([1, 2, 0, 0, 3, 1]), (2, 3, 2, 3, 4, 2)
    space = fp.Table(copies(row), categories)
    noise = fp.JointNoise(k2=fp.FlipNoise(0.1, 0.4), k3=fp.FlipNoise(0.3, 0.5, 3), k4=fp.FlipNoise(0.2, 0.9, 4))
    counts = counted(draws(space, noise, row.size), coded(categories), np.prod(categories))
    assert counts.sum() * row.size >= ENTRIES
    laws = [entry_law(noise.parts[f"k{count}"], value) for count, value in zip(categories, row, strict=True)]
    assert p_value(counts, row_law(*laws)) > ENOUGH


# Graphs


def of_graphs(nodes, pairs, words):
    """Numbers of the graphs of a union: the pairs that are edges first, then the attributes."""
    place = np.zeros((nodes, nodes), dtype=np.int64)
    place[tuple(np.transpose(pairs))] = 2 ** np.arange(len(pairs))[::-1]

    def codes(union):
        heads, tails = union.edge_index
        edges = np.bincount(heads // nodes, place[heads % nodes, tails % nodes].astype(float), union.graphs)
        bits = union.attributes.tocoo()
        of_word = 2.0 ** (nodes * words - 1 - (bits.row % nodes * words + bits.col))
        attributes = np.bincount(bits.row // nodes, of_word, union.graphs)
        return (edges * 2 ** (nodes * words) + attributes).astype(np.int64)

    return codes


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("p_plus", [0.0, 0.05, 0.3])
def test_pairs_and_attributes_of_graphs(p_plus, directed):
    """All outcomes of structure and attributes together: 5 nodes and 10 pairs, or 3 and 6 if directed; 1 attribute."""
    nodes = 3 if directed else 5
    pairs = np.array(list((itertools.permutations if directed else itertools.combinations)(range(nodes), 2)))
    edges, words = np.arange(len(pairs)) % 3 == 0, np.arange(nodes) % 2
    index = np.concatenate([pairs[edges], *([] if directed else [pairs[edges][:, ::-1]])]).T
    graph = fp.Graph.from_edge_index(index, nodes, sp.csr_array(words[:, None]), directed=directed)
    noise = fp.JointNoise(structure=fp.FlipNoise(p_plus, 0.4), attributes=fp.FlipNoise(0.1, 0.6))
    entries = len(pairs) + nodes
    pieces = draws(fp.Graphs([graph] * COPIES), noise, len(pairs))
    counts = counted(pieces, of_graphs(nodes, pairs, 1), 2**entries)
    assert counts.sum() * len(pairs) >= ENTRIES
    laws = [entry_law(noise.parts["structure"], int(bit)) for bit in edges]
    laws += [entry_law(noise.parts["attributes"], int(bit)) for bit in words]
    assert p_value(counts, row_law(*laws)) > ENOUGH


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_of_one_large_graph(directed):
    """A ring of 1500 nodes: how often each pair is an edge of a copy (of a million pairs, or two), and how many are."""
    nodes, noise = 1500, fp.FlipNoise(0.01, 0.4)
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    graph = fp.Graph.from_edge_index(
        ring if directed else np.concatenate([ring, ring[::-1]], axis=1), nodes, directed=directed
    )
    edges, sampler = graph.edges, graph.sampler(noise, 205).structure
    samples, on, z = ceil(ENTRIES / edges.pairs), np.zeros(edges.pairs), []
    variance = edges.count * 0.24 + (edges.pairs - edges.count) * 0.0099
    for i in range(samples):
        _, ranks = sampler.draw(Role.ESTIMATE, range(i, i + 1), np.zeros(1, np.int64))
        on[ranks] += 1
        z.append((ranks.size - edges.count * 0.6 - (edges.pairs - edges.count) * 0.01) / np.sqrt(variance))
    assert samples * edges.pairs >= ENTRIES
    is_edge = np.isin(np.arange(edges.pairs), edges.ranks)
    for group, p in ((is_edge, 0.6), (~is_edge, 0.01)):
        found = np.bincount(on[group].astype(int), minlength=samples + 1)
        assert p_value(found, binom.pmf(np.arange(samples + 1), samples, p)) > ENOUGH
    assert_standard_normal(np.array(z))


# Ablation and real numbers


@pytest.mark.parametrize("kept", [1, 4, 7])
def test_kept_entries(kept):
    """All subsets of so many of 10 entries are as probable as one another, and no others."""
    subsets = np.array([bin(code).count("1") == kept for code in range(1024)])
    noise, codes = AblationNoise(10, kept), coded([2] * 10)
    pieces = draws(fp.DenseRows(copies(np.ones(10, int))), noise, 10)
    counts = counted(pieces, lambda piece: codes(piece != HIDDEN), 1024)
    assert counts.sum() * 10 >= ENTRIES
    assert p_value(counts, subsets / subsets.sum()) > ENOUGH


@pytest.mark.parametrize("kept", [1, 4, 7])
def test_kept_ones_of_sparse_rows(kept):
    """Subsets of the 4 ones among 10 entries: of so many others are the rest."""
    pieces = draws(fp.SparseRows(sp.csr_array(copies(BITS))), AblationNoise(10, kept), 10)
    counts = counted(pieces, of_sparse(10), 1024)
    assert counts.sum() * 10 >= ENTRIES
    law = np.zeros(1024)
    own = int(BITS @ 2 ** np.arange(10)[::-1])
    for code in (code for code in range(1024) if code & ~own == 0):
        ones = bin(code).count("1")
        law[code] = comb(6, kept - ones) / comb(10, kept) if ones <= kept else 0.0
    assert p_value(counts, law) > ENOUGH


def test_normal_numbers():
    """Pairs of neighbours in 300 x 300 boxes, all as probable as one another. Values are rounded to float32: that
    moves a share of at most 2^-24 of a box's draws, far below the spread of their number."""
    pieces = draws(RealRows(np.zeros((COPIES, 10))), GaussianNoise(1.0), 10)

    def codes(piece):
        first, second = np.minimum((ndtr(piece.astype(np.float64)) * 300).astype(np.int64), 299).reshape(-1, 2).T
        return first * 300 + second

    counts = counted(pieces, codes, 300**2)
    assert counts.sum() * 2 >= ENTRIES
    assert p_value(counts, np.full(300**2, 300.0**-2)) > ENOUGH
