import numpy as np
import pytest

import flipproof as fp

NOISE = fp.FlipNoise(0.01, 0.6)
ROWS = [[9, 1], [4, 6]]


def test_sample_counts_come_from_the_rows_or_are_given():
    votes = fp.Votes.from_counts(selection=ROWS, estimation=np.array(ROWS) * 10, noise=NOISE)
    assert (len(votes), votes.classes, votes.n_select, votes.n_estimate) == (2, 2, 10, 100)
    unlabelled = fp.Votes.from_counts(
        selection=[[9, 0]], estimation=[[90, 5]], noise=NOISE, n_select=10, n_estimate=100
    )
    assert (unlabelled.n_select, unlabelled.n_estimate) == (10, 100)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_any_integers_are_counts(dtype):
    votes = fp.Votes.from_counts(selection=np.array(ROWS, dtype), estimation=np.array(ROWS, dtype), noise=NOISE)
    assert votes.selection.dtype == np.int64


def test_votes_are_a_read_only_copy():
    given = np.array(ROWS)
    votes = fp.Votes.from_counts(selection=given, estimation=given, noise=NOISE)
    given[0, 0] = 0
    assert votes.selection[0, 0] == 9
    with pytest.raises(ValueError, match="read-only"):
        votes.estimation[0, 0] = 5


def test_an_input_without_votes_is_an_input():
    votes = fp.Votes.from_counts(selection=[[0, 0], [9, 1]], estimation=[[0, 0], [90, 10]], noise=NOISE)
    assert (votes.n_select, votes.n_estimate) == (10, 100)
    assert fp.certify(votes).reason[0] == "no selection votes"


def test_no_inputs_are_votes_too():
    empty = np.zeros((0, 3), dtype=int)
    assert len(fp.Votes.from_counts(selection=empty, estimation=empty, noise=NOISE)) == 0


@pytest.mark.parametrize(
    ("selection", "estimation", "more", "words"),
    [
        ([[9.0, 1.0]], ROWS, {}, "expected selection to be integer counts, got float64"),
        (ROWS, [[True, False]] * 2, {}, "expected estimation to be integer counts, got bool"),
        (ROWS, [["9", "1"]] * 2, {}, "expected estimation to be integer counts"),
        ([[-1, 11]], [[9, 1]], {}, "expected selection to be non-negative counts, got -1"),
        ([9, 1], ROWS, {}, r"expected selection of shape \[inputs, classes\], got shape \(2,\)"),
        (np.zeros((2, 0), int), ROWS, {}, "expected selection of shape"),
        ([[9, 1]], ROWS, {}, r"of equal shape \[inputs, classes\], got \(1, 2\) and \(2, 2\)"),
        ([[9, 1], [4, 5]], ROWS, {}, "got 10 in row 0 and 9 in row 1; give n_select= if some samples got no label"),
        (ROWS, ROWS, {"n_estimate": 9}, "expected rows of estimation to sum to at most 9, got 10 in row 0"),
        (ROWS, ROWS, {"n_estimate": 5}, "expected estimation counts of at most 5 samples, got 9"),
        (ROWS, ROWS, {"n_select": 10.5}, "expected n_select to be a non-negative integer"),
        (ROWS, ROWS, {"n_select": 2**60}, "expected n_select of at most"),
        ([[9, 1], [10]], ROWS, {}, "got rows of unequal length"),
        (np.full((1, 2), 2**63, np.uint64), [[1, 1]], {}, "expected rows of selection to sum to at most"),
        (
            np.array([[2**63, 1]], np.uint64),
            [[9, 1]],
            {"n_select": 10},
            "expected selection counts of at most 10 samples",
        ),
        (ROWS, ROWS, {"noise": (0.1, 0.2)}, "expected a FlipNoise or a JointNoise"),
    ],
)
def test_bad_counts_are_refused(selection, estimation, more, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Votes.from_counts(selection=selection, estimation=estimation, **({"noise": NOISE} | more))
