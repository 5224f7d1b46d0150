"""Words and tables on a page are the observed ones and those of the very noisy copies that were voted on."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.pictures.pictures import pictures, table_rows
from flipproof.report.pictures.word_pictures import bags, sequences
from page_data import PICTURES_OF_A_PAGE, unpacked

WORDS = ("any other", "free", "win", "hello", "mum", "tonight")
EMPTY = len(WORDS)


def certified(space, noise):
    classifier = fp.FunctionClassifier(lambda batch: np.zeros(batch.shape[0], dtype=int), classes=2)
    return fp.certify(fp.vote(classifier, space, noise, n_select=3, n_estimate=5, seed=4))


def counted(inputs, noise):
    return fp.certify(fp.Votes.from_counts(selection=[[9, 1]] * inputs, estimation=[[9, 1]] * inputs, noise=noise))


def drawn(space, noise, rows, samples=3):
    return space.sampler(noise, 4).draw(Role.ESTIMATE, range(samples), np.arange(rows))


@pytest.fixture
def tokens(rng):
    values = rng.integers(0, EMPTY, (7, 9))
    for row, length in enumerate((9, 1, 4, 6, 2, 8, 3)):
        values[row, length:] = EMPTY
    return values


@pytest.mark.parametrize("mask", [None, EMPTY])
def test_sequences_and_their_noisy_copies(mask, tokens):
    space = fp.Tokens(tokens, padding=EMPTY, mask=mask)
    noise = fp.FlipNoise(0.4, 0.4, categories=EMPTY) if mask is None else fp.FlipNoise(0.0, 0.4)
    shown = sequences(CertifiedInputs(certified(space, noise)), space, WORDS)
    assert (shown["words"], shown["copies"], shown["hides"]) == (list(WORDS), [0, 1, 2], mask is not None)
    assert np.array_equal(unpacked(shown["clean"]), np.where(tokens == EMPTY, 0, tokens + 1))
    noisy = drawn(space, noise, 7).reshape(3, 7, 9)
    assert np.array_equal(unpacked(shown["noisy"]), np.where(noisy == EMPTY, 0, noisy + 1))


def test_bags_and_their_noisy_copies(rng):
    matrix = sp.csr_array(rng.random((8, 100)) < 0.1, dtype=np.float32)
    space, noise = fp.SparseRows(matrix), fp.FlipNoise(0.3, 0.4)
    shown = bags(CertifiedInputs(certified(space, noise)), space, tuple(map(str, range(100))))
    starts, clean, kept = (unpacked(shown[name]) for name in ("starts", "clean", "kept"))
    counts, added_starts, added = (unpacked(shown[name]) for name in ("added_counts", "added_starts", "added"))
    noisy = drawn(space, noise, 8).toarray().reshape(3, 8, 100)
    for copy, bag in np.ndindex(3, 8):
        own = clean[starts[bag] : starts[bag + 1]]
        assert np.array_equal(own, np.flatnonzero(matrix.toarray()[bag]))
        assert np.array_equal(kept[copy, starts[bag] : starts[bag + 1]], noisy[copy, bag, own])
        place = copy * 8 + bag
        new = np.setdiff1d(np.flatnonzero(noisy[copy, bag]), own)
        assert counts[copy, bag] == new.size
        assert np.array_equal(added[added_starts[place] : added_starts[place + 1]], new[:30])
    assert counts.max() > 30 > counts.min()


def test_rows_of_a_table(rng):
    categories = [2, 3, 5]
    space = fp.Table(np.column_stack([rng.integers(0, count, 6) for count in categories]), categories)
    noise = space.noise(0.2, 0.4)
    values = (("no", "yes"), ("", "<b>", "x"), tuple("vwxyz"))
    shown = table_rows(CertifiedInputs(certified(space, noise)), space, ("a", "b", "c"), values)
    assert shown["values"] == [list(names) for names in values]
    assert (shown["columns"], shown["count"], shown["copies"]) == (["a", "b", "c"], 6, [0, 1, 2])
    assert np.array_equal(unpacked(shown["clean"]), space.values)
    assert np.array_equal(unpacked(shown["noisy"]), drawn(space, noise, 6).reshape(3, 6, 3))


def test_copies_are_left_out_where_the_run_is_not_known(tokens, rng):
    table, matrix = fp.Table(rng.integers(0, 2, (4, 3)), [2, 2, 2]), sp.csr_array([[0, 1.0], [1, 1]])
    cases = [
        ("sequences", fp.Tokens(tokens, mask=EMPTY), fp.FlipNoise(0.0, 0.4), {"vocabulary": WORDS}, 7),
        ("bags", fp.SparseRows(matrix), fp.FlipNoise(0.1, 0.4), {"vocabulary": ("a", "b")}, 2),
        ("rows", table, fp.FlipNoise(0.1, 0.4), {}, 4),
    ]
    for name, space, noise, names, count in cases:
        (picture,) = pictures(CertifiedInputs(counted(count, noise), DescribedInputs(space=space, **names))).items()
        assert (picture[0], picture[1]["copies"], picture[1]["count"]) == (name, [], count)
        json.dumps(picture[1], allow_nan=False)


def test_words_without_names_are_not_drawn(tokens):
    space = fp.Tokens(tokens, mask=EMPTY)
    assert pictures(CertifiedInputs(certified(space, fp.FlipNoise(0.0, 0.4)), DescribedInputs(space=space))) is None


@pytest.mark.parametrize(
    ("space", "noise", "names", "reason"),
    [
        (
            fp.Tokens([[0, 1]]),
            fp.FlipNoise(0.1, 0.1, 3),
            {"vocabulary": ("a", "b")},
            "vocabulary to name 3 tokens, got 2 words",
        ),
        (
            fp.Tokens([[0, 4, 9]], mask=9),
            fp.FlipNoise(0.0, 0.1),
            {"vocabulary": ("a", "b")},
            "vocabulary to name 5 tokens, got 2 words",
        ),
        (
            fp.SparseRows(sp.csr_array([[0.0, 1.0, 1.0]])),
            fp.FlipNoise(0.1, 0.1),
            {"vocabulary": ("a",)},
            "vocabulary to name 3 columns, got 1 words",
        ),
        (
            fp.Table([[0, 1]], [2, 2]),
            fp.FlipNoise(0.1, 0.1),
            {"column_names": ("a",)},
            "expected 2 column names, got 1",
        ),
        (
            fp.Table([[0, 1]], [2, 2]),
            fp.FlipNoise(0.1, 0.1),
            {"node_names": "CNO"},
            "expected node_names to be a tuple of texts, got 'CNO'",
        ),
    ],
)
def test_names_that_do_not_fit(space, noise, names, reason):
    with pytest.raises(fp.InvalidInputError, match=reason):
        CertifiedInputs(counted(1, noise), DescribedInputs(space=space, **names)).check()


def test_words_of_many_long_messages_fit_a_page(rng):
    """Numbers that cannot be compressed, and a vocabulary of six bytes a letter."""
    vocabulary = tuple(f"{i} " + 10 * "\u0436" for i in range(30_000))
    space = fp.Tokens(rng.integers(0, 30_000, (1_500, 200)))
    shown = sequences(CertifiedInputs(certified(space, fp.FlipNoise(0.9, 0.9, categories=30_000))), space, vocabulary)
    assert 900 < shown["count"] < 1_500
    assert len(shown["words"]) < 30_000
    assert len(json.dumps(shown)) < PICTURES_OF_A_PAGE


def test_bags_that_noise_fills_fit_a_page(rng):
    columns = (rng.integers(0, 200, (5_000, 100)) + 200 * np.arange(100)).ravel()
    matrix = sp.csr_array((np.ones(columns.size), columns, np.arange(0, columns.size + 1, 100)), shape=(5_000, 20_000))
    space = fp.SparseRows(matrix)
    inputs = CertifiedInputs(certified(space, fp.FlipNoise(0.005, 0.5)))
    shown = bags(inputs, space, tuple(f"word {i}" for i in range(20_000)))
    assert 1_000 < shown["count"] < 5_000
    assert len(json.dumps(shown)) < PICTURES_OF_A_PAGE


def test_a_wide_table_fits_a_page(rng):
    space = fp.Table(rng.integers(0, 50_000, (800, 400)), [50_000] * 400)
    names = tuple(f"{i} " + 500 * "\u0436" for i in range(400))
    shown = table_rows(CertifiedInputs(certified(space, fp.FlipNoise(0.9, 0.9, categories=50_000))), space, names)
    assert 400 < shown["count"] < 800
    assert len(json.dumps(shown)) < PICTURES_OF_A_PAGE


def test_long_names_of_many_categories_fit_a_page(rng):
    space = fp.Table(rng.integers(0, 256, (2, 400)), [256] * 400)
    values = tuple(tuple(f"{i} {j} " + 10 * "\u0436" for j in range(256)) for i in range(400))
    inputs = CertifiedInputs(counted(2, fp.FlipNoise(0.9, 0.9, categories=256)))
    shown = table_rows(inputs, space, None, values)["values"]
    held = [names for names in shown if names]
    assert len(shown) == 400 > len(held) > 5
    assert all(tuple(names) == all_names[: len(names)] for names, all_names in zip(shown, values, strict=True))
    assert [len(names) for names in held[:-1]] == [256] * (len(held) - 1)
    assert 200_000 < len(json.dumps(shown)) < 270_000
