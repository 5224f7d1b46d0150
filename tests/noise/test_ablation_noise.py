"""Draws that keep exactly so many entries: all subsets alike, the same everywhere, in every space."""

import itertools
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

import flipproof as fp
from flipproof.noise.ablation import HIDDEN, AblationNoise
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role

ALL = 4000


def spread(counts, expected):
    """The probability of counts that are at least as far from equal shares."""
    counts = np.asarray(counts, float)
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1)


@pytest.mark.parametrize("kept", [1, 2, 3, 5, 6])
def test_every_subset_is_as_probable_as_any_other(kept):
    sampler = sampler_of(fp.DenseRows(np.ones((1, 6), int)), AblationNoise(6, kept), seed=3)
    drawn = sampler.draw(Role.ESTIMATE, range(ALL), np.arange(1))
    assert ((drawn != HIDDEN).sum(axis=1) == kept).all()
    found = Counter(tuple(np.flatnonzero(row != HIDDEN)) for row in drawn)
    subsets = list(itertools.combinations(range(6), kept))
    assert set(found) == set(subsets)
    assert len(subsets) == 1 or spread([found[s] for s in subsets], ALL / len(subsets)) > 1e-3


def test_listed_entries_have_the_law_of_a_whole_draw():
    """Two ones among seven entries: how many are kept, and which, is hypergeometric."""
    rows = fp.SparseRows(sp.csr_array(np.array([[0, 1, 0, 0, 1, 0, 0]])))
    drawn = sampler_of(rows, AblationNoise(7, 3), seed=1).draw(Role.ESTIMATE, range(ALL), np.arange(1)).toarray()
    assert not drawn[:, [0, 2, 3, 5, 6]].any()
    found = Counter(map(tuple, drawn[:, [1, 4]].astype(int)))
    expected = {(0, 0): 10 / 35, (0, 1): 10 / 35, (1, 0): 10 / 35, (1, 1): 5 / 35}
    assert sum((found[k] - ALL * p) ** 2 / (ALL * p) for k, p in expected.items()) < chi2.isf(1e-3, 3)


def test_samples_and_rows_do_not_depend_on_how_they_are_drawn():
    rng = np.random.default_rng(0)
    bits = sp.csr_array(rng.random((5, 40)) < 0.3)
    images, tokens = rng.integers(0, 4, (5, 3, 4)), rng.integers(0, 9, (5, 12))
    graph = fp.Graph.from_edge_index([[0, 1], [1, 0]], attributes=bits, noisy="attributes")
    for space, entries in (
        (fp.SparseRows(bits), 40), (fp.DenseRows(images), 12), (fp.Tokens(tokens, mask=99), 12),
    ):  # fmt: skip
        sampler = sampler_of(space, AblationNoise(entries, 5), seed=7)
        whole = dense(sampler.draw(Role.SELECT, range(10), np.arange(5))).reshape(10, 5, -1)
        part = dense(sampler.draw(Role.SELECT, range(4, 6), np.array([3, 1]))).reshape(2, 2, -1)
        assert (part == whole[4:6][:, [3, 1]]).all()
        assert (whole != dense(sampler.draw(Role.ESTIMATE, range(10), np.arange(5))).reshape(10, 5, -1)).any()
    sampler = sampler_of(graph, AblationNoise(200, 60), seed=7)
    copies = sampler.draw(Role.SELECT, range(10), np.arange(1))
    again = sampler.draw(Role.SELECT, range(4, 6), np.arange(1))
    assert (copies[4].attributes != again[0].attributes).nnz == 0
    assert all((copy.attributes > bits).nnz == 0 for copy in copies)
    around = sampler.restricted(np.array([0]), 1)
    assert (around.draw(Role.SELECT, range(4, 5), np.arange(1))[0].attributes != again[0].attributes[[0, 1]]).nnz == 0


def dense(drawn):
    return drawn.toarray() if sp.issparse(drawn) else drawn


def test_what_is_hidden_and_what_is_kept():
    tokens = fp.Tokens([[5, 2, 7, 9]], padding=9, mask=0)
    drawn = sampler_of(tokens, AblationNoise(4, 2), seed=0).draw(Role.ESTIMATE, range(50), np.arange(1))
    assert ((drawn == 0) | (drawn == [[5, 2, 7, 9]])).all()
    assert ((drawn != 0).sum(axis=1) == 2).all()
    image = fp.DenseRows(np.full((1, 2, 3), 200))
    everything = sampler_of(image, AblationNoise(6, 6), seed=0).draw(Role.ESTIMATE, range(2), np.arange(1))
    assert everything.shape == (2, 2, 3)
    assert (everything == 200).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AblationNoise(10, 0), "expected 1 <= kept <= entries"),
        (lambda: AblationNoise(10, 11), "expected 1 <= kept <= entries"),
        (lambda: sampler_of(fp.DenseRows([[0, 1]]), AblationNoise(3, 1), 0), "expected an ablation of the 2 entries"),
        (
            lambda: sampler_of(fp.Tokens([[0, 1]]), AblationNoise(2, 1), 0),
            "expected rows, tokens with a mask",
        ),
        (
            lambda: sampler_of(fp.Graph.from_edge_index([[0, 1], [1, 0]], 2), AblationNoise(1, 1), 0),
            "expected a graph whose attributes",
        ),
    ],
)
def test_refusals(make, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        make()
