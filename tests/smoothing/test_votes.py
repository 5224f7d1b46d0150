from dataclasses import replace

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.ablation import AblationNoise

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
        (ROWS, ROWS, {"n_estimate": 5}, "expected rows of estimation to sum to at most 5, got 10 in row 0"),
        (ROWS, ROWS, {"n_select": 10.5}, "expected n_select to be a non-negative integer"),
        (ROWS, ROWS, {"n_select": 2**60}, "expected n_select of at most"),
        ([[9, 1], [10]], ROWS, {}, "got rows of unequal length"),
        (np.full((1, 2), 2**63, np.uint64), [[1, 1]], {}, "expected rows of selection to sum to at most"),
        (
            np.array([[2**63, 1]], np.uint64),
            [[9, 1]],
            {"n_select": 10},
            "expected rows of selection to sum to at most 10",
        ),
        (ROWS, ROWS, {"noise": (0.1, 0.2)}, "expected a FlipNoise or a JointNoise"),
    ],
)
def test_bad_counts_are_refused(selection, estimation, more, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Votes.from_counts(selection=selection, estimation=estimation, **({"noise": NOISE} | more))


def drawn(n_select=20, n_estimate=100, noise=NOISE, seed=0, inputs=((0, 1, 1), (1, 0, 0)), **options):
    first = fp.FunctionClassifier(lambda rows: rows[:, 0].astype(int), classes=2)
    return fp.vote(first, np.array(inputs), noise, n_select, n_estimate, seed, **options)


def test_merged_votes_are_those_of_all_samples():
    parts = [drawn(20, range(33)), drawn(0, range(50, 100)), drawn(0, range(33, 50))]
    whole, together = drawn(), parts[2].merged(parts[0]).merged(parts[1])
    np.testing.assert_array_equal(together.selection, whole.selection)
    np.testing.assert_array_equal(together.estimation, whole.estimation)
    assert (together.n_select, together.n_estimate, together.noise) == (20, 100, NOISE)
    assert (together.run.select, together.run.estimate) == (whole.run.select, whole.run.estimate)
    assert together.run.drawn == whole.run.drawn
    assert together.sampling_error == 0.0


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"n_estimate": range(99, 200)}, "expected disjoint estimate samples, got 1 in both, .*n_estimate=0"),
        ({"n_select": range(5, 25)}, "expected disjoint select samples, got 15 in both, .*n_select=0"),
        ({"seed": 1}, "expected votes of the same run, got votes of another: seed 1 instead of 0$"),
        ({"noise": fp.FlipNoise(0.02, 0.6)}, "got votes of another: noise.p_plus 0.02 instead of 0.01$"),
        (
            {"noise": AblationNoise(entries=3, kept=3)},
            r"of another: noise AblationNoise\(entries=3, kept=3\) instead of FlipNoise\(p_plus=0.01, p_minus=0.6, cat",
        ),
        ({"inputs": ((0, 1, 1), (1, 0, 1))}, "got votes of another: data [0-9a-f]{12} instead of [0-9a-f]{12}$"),
        ({"targets": [0, 1]}, "got votes of another: targets [0-9a-f]{12} instead of null$"),
        ({"chunk_size": 8}, "got votes of another: chunk size 8 instead of 1024$"),
    ],
)
def test_votes_of_another_run_are_not_merged(other, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        drawn().merged(drawn(**({"n_select": 0, "n_estimate": range(100, 200)} | other)))


def test_votes_from_elsewhere_are_not_merged():
    elsewhere = fp.Votes.from_counts(selection=ROWS, estimation=ROWS, noise=NOISE)
    for one, other in ((drawn(), elsewhere), (elsewhere, drawn()), (elsewhere, elsewhere)):
        with pytest.raises(fp.InvalidInputError, match=r"expected votes that flipproof.vote has drawn, got votes from"):
            one.merged(other)
    with pytest.raises(fp.InvalidInputError, match="expected Votes, got list"):
        drawn().merged(ROWS)


def test_a_run_has_as_many_samples_as_the_votes():
    votes = drawn()
    with pytest.raises(
        fp.InvalidInputError, match=r"expected the run's numbers of samples, \(20, 100\), got \(20, 101\)"
    ):
        fp.Votes(votes.selection, votes.estimation, NOISE, 20, 101, votes.run)
    with pytest.raises(
        fp.InvalidInputError, match=r"expected the run's numbers of samples, \(20, 100\), got \(21, 100\)"
    ):
        fp.Votes(votes.selection, votes.estimation, NOISE, 21, 100, votes.run)


def test_certificates_pay_for_how_the_samples_were_drawn():
    """As if alpha had been smaller by what drawing from a rounded table may cost."""
    exact = drawn(20, 1000)
    costly = replace(exact, run=replace(exact.run, sampling_error=0.004))
    for rule in ("multi-class", "two-class"):
        paid, less = fp.certify(costly, 0.01, rule), fp.certify(exact, 0.006, rule)
        np.testing.assert_allclose(paid.p_lower, less.p_lower, rtol=1e-12)
        assert (paid.p_lower <= less.p_lower).all()
        assert (paid.p_lower < fp.certify(exact, 0.01, rule).p_lower).all()
        assert paid.alpha == 0.01
    together = fp.certify(costly, 0.01, simultaneous=True)
    np.testing.assert_allclose(together.p_lower, fp.certify(exact, 0.006, simultaneous=True).p_lower, rtol=1e-12)
    with pytest.raises(fp.InvalidInputError, match=r"expected alpha above 0.004, which sampling may cost, got 0.004"):
        fp.certify(costly, 0.004)
    assert fp.certify(drawn(20, 1000)).budget.sampling_error == 0.0


def test_rows_whose_sum_would_wrap_around_are_refused():
    """2**14 times 2**50 is 0 in 64 bits."""
    counts = np.full((1, 2**14), 2**50)
    with pytest.raises(
        fp.InvalidInputError, match="expected rows of selection to sum to at most 1125899906842624, got 18"
    ):
        fp.Votes(counts, counts, fp.FlipNoise(0.1, 0.2), 2**50, 2**50)
