import dataclasses
import itertools
import math

import numpy as np
import pytest

import flipproof as fp
from flipproof.report import shares as sh
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.theory.radii import axes_of, radii_at
from flipproof.theory.stairs import grid_counts

NOISES = {
    "binary": fp.FlipNoise(0.01, 0.6),
    "ternary": fp.FlipNoise(0.1, 0.3, categories=3),
    "joint": fp.JointNoise(a=fp.FlipNoise(0.05, 0.4), b=fp.FlipNoise(0.1, 0.5, 3)),
}


def make_certificates(rng, noise, inputs=40, samples=2_000, **how):
    p = np.sort(rng.dirichlet([0.2, 0.1, 0.1], size=inputs))[:, ::-1]
    votes = fp.Votes.from_counts(selection=rng.multinomial(200, p), estimation=rng.multinomial(samples, p), noise=noise)
    return fp.certify(votes, **how)


@pytest.fixture(params=NOISES)
def certificates(request, rng):
    return make_certificates(rng, NOISES[request.param])


def brute_force(certificates, counts, counted, of):
    """One question to `certified` for every cell."""
    shares = np.empty([len(one) for one in counts])
    for cell in np.ndindex(shares.shape):
        point = tuple(one[i] for one, i in zip(counts, cell, strict=True))
        shares[cell] = (certificates.certified(radii_at(certificates.noise, point)) & counted).sum() / of
    return shares


def few_counts(certificates):
    """Different lengths, gaps, and not only from 0."""
    return tuple(((0, 1, 4), (0, 2), (1, 3), (0, 1), (0,))[i] for i in range(len(axes_of(certificates.noise))))


def test_ratio_grid_is_the_share_of_certified_inputs(certificates):
    counts = few_counts(certificates)
    grid = CertifiedInputs(certificates).grid_of(counts)
    everyone = np.ones(len(certificates), dtype=bool)
    np.testing.assert_array_equal(grid.shares, brute_force(certificates, counts, everyone, len(certificates)))
    assert len(np.unique(grid.shares)) > 3
    assert grid.axes == tuple(map(str, axes_of(certificates.noise)))
    assert (grid.counts, grid.measure, grid.of, grid.held) == (counts, "certified ratio", 40, ())
    assert not grid.shares.flags.writeable


@pytest.mark.parametrize("as_mask", [False, True])
def test_accuracy_grid_counts_right_predictions_among_test_inputs(certificates, rng, as_mask):
    counts = few_counts(certificates)
    truth = np.where(rng.random(40) < 0.7, certificates.label, 2)
    test = rng.permutation(40)[:25]
    mask = np.isin(np.arange(40), test)
    grid = CertifiedInputs(certificates).grid_of(counts, truth, mask if as_mask else test)
    expected = brute_force(certificates, counts, mask & (truth == certificates.label), 25)
    np.testing.assert_array_equal(grid.shares, expected)
    assert (grid.measure, grid.of) == ("certified accuracy", 25)
    everyone = CertifiedInputs(certificates).grid_of(counts, truth)
    np.testing.assert_array_equal(
        everyone.shares, brute_force(certificates, counts, truth == certificates.label, everyone.of)
    )
    assert everyone.of == 40


def test_a_subset_keeps_the_bounds_of_all_inputs(rng):
    certificates = make_certificates(rng, NOISES["binary"], alpha=0.05, simultaneous=True)
    counts = (tuple(range(3)), tuple(range(6)))
    one = int(np.flatnonzero(~certificates.abstained)[0])
    shares = CertifiedInputs(certificates).grid_of(counts, certificates.label, [one]).shares
    assert set(np.unique(shares)) <= {0.0, 1.0}
    for add, delete in np.ndindex(3, 6):
        assert shares[add, delete] == certificates.certified(fp.Radii(add, delete))[one]
    subset = certificates.selected(np.array([one, 0]))
    assert (subset.p_lower.tolist(), subset.p_upper.tolist()) == (
        certificates.p_lower[[one, 0]].tolist(),
        certificates.p_upper[[one, 0]].tolist(),
    )
    assert (subset.budget, subset.rule) == (certificates.budget, certificates.rule)


def test_labels_of_inputs_that_do_not_count_may_be_unknown(rng):
    certificates = make_certificates(rng, NOISES["binary"])
    truth = np.where(np.arange(40) < 10, certificates.label, -1)
    at_zero = CertifiedInputs(certificates).grid_of(((0,), (0,)), truth, np.arange(10)).shares.item()
    assert at_zero == (~certificates.abstained[:10]).mean()


def test_lines_are_the_edges_of_the_grid(certificates, rng):
    truth = np.where(rng.random(40) < 0.7, certificates.label, 2)
    test = np.arange(5, 40)
    ratios, accuracies = CertifiedInputs(certificates).lines_of(), CertifiedInputs(certificates).lines_of(truth, test)
    axes = axes_of(certificates.noise)
    assert [line.axis for line in ratios] == [line.axis for line in accuracies] == list(map(str, axes))
    everyone, right = np.ones(40, dtype=bool), (truth == certificates.label) & np.isin(np.arange(40), test)
    for i, (ratio, accuracy) in enumerate(zip(ratios, accuracies, strict=True)):
        counts = tuple(ratio.counts if j == i else (0,) for j in range(len(axes)))
        np.testing.assert_array_equal(ratio.shares, brute_force(certificates, counts, everyone, 40).ravel())
        np.testing.assert_array_equal(accuracy.shares, brute_force(certificates, counts, right, 35).ravel())
        assert accuracy.counts == ratio.counts == tuple(range(len(ratio.counts)))
        assert (ratio.of, accuracy.of) == (40, 35)
        assert ratio.shares[0] > ratio.shares[-1] == 0.0


@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
def test_the_cap_is_the_radius_of_an_input_on_which_all_samples_agree(rng, rule):
    for noise in NOISES.values():
        certificates = make_certificates(rng, noise, rule=rule)
        agreed = fp.certify(
            fp.Votes.from_counts(selection=[[200, 0, 0]], estimation=[[2_000, 0, 0]], noise=noise), rule=rule
        )
        expected = tuple(agreed.max_radius(str(axis)).item() for axis in axes_of(noise))
        assert certificates.unanimous_radii() == expected
        assert tuple(line.cap for line in CertifiedInputs(certificates).lines_of()) == expected
        assert all(line.counts[-1] > line.cap for line in CertifiedInputs(certificates).lines_of())


def test_grids_end_where_the_last_certificate_ends(rng):
    certificates = make_certificates(rng, NOISES["binary"])
    add, delete = grid_counts(certificates.bounded)
    assert add == tuple(range(certificates.max_radius("add").max() + 2))
    assert delete == tuple(range(certificates.max_radius("delete").max() + 2))
    shares = CertifiedInputs(certificates).grid_of((add, delete)).shares
    assert not shares[-1].any()
    assert not shares[:, -1].any()
    assert shares[-2].any()
    assert shares[:, -2].any()


@pytest.mark.parametrize("most_cells", [1, 10, 500, 20_000])
def test_grids_are_not_too_large(certificates, most_cells):
    full, counts = grid_counts(certificates.bounded, 10**12), grid_counts(certificates.bounded, most_cells)
    lengths, full_lengths = list(map(len, counts)), list(map(len, full))
    assert math.prod(lengths) <= most_cells
    assert all(one == wanted[: len(one)] for one, wanted in zip(counts, full, strict=True))
    cut = [now for now, before in zip(lengths, full_lengths, strict=True) if now < before]
    assert not cut or max(lengths) - 1 <= min(cut)  # only the longest are cut
    grown = [math.prod(lengths) // now * (now + 1) for now in cut]
    assert not cut or max(grown) > most_cells  # and no more than necessary


def test_far_radii_are_not_followed_to_the_end():
    far = fp.Votes.from_counts(selection=[[99, 0]], estimation=[[10**6, 0]], noise=fp.FlipNoise(0.001, 0.97))
    certificates = fp.certify(far)
    assert certificates.max_radius("delete")[0] > 100
    assert grid_counts(certificates.bounded)[1] == tuple(range(61))
    assert CertifiedInputs(certificates).lines_of()[1].counts == tuple(range(101))
    ternary = fp.certify(dataclasses.replace(far, noise=fp.FlipNoise(0.5, 0.5, 3)))
    assert ternary.max_radius("change")[0] > 24
    assert set(map(len, grid_counts(ternary.bounded))) == {25}


def test_unbounded_certificates_are_followed_a_little():
    votes = fp.Votes.from_counts(
        selection=[[99, 1], [60, 40]], estimation=[[990, 10], [500, 500]], noise=fp.FlipNoise(0.25, 0.75)
    )
    certificates = fp.certify(votes)
    assert certificates.max_radius("add").tolist() == [fp.UNBOUNDED, 0]
    counts = grid_counts(certificates.bounded)
    assert counts == (tuple(range(11)),) * 2
    assert np.unique(CertifiedInputs(certificates).grid_of(counts).shares).tolist() == [0.5]
    for line in CertifiedInputs(certificates).lines_of():
        assert (line.cap, line.counts, set(line.shares.tolist())) == (fp.UNBOUNDED, tuple(range(11)), {0.5})


def test_when_all_inputs_abstain_there_is_still_a_grid():
    votes = fp.Votes.from_counts(selection=[[5, 5]] * 3, estimation=[[50, 50]] * 3, noise=NOISES["binary"])
    certificates = fp.certify(votes)
    assert grid_counts(certificates.bounded) == ((0, 1), (0, 1))
    assert not CertifiedInputs(certificates).grid_of(((0, 1), (0, 1))).shares.any()
    lines = CertifiedInputs(certificates).lines_of([0, 0, 0])
    assert not any(line.shares.any() for line in lines)
    assert [line.counts[-1] for line in lines] == [cap + 1 for cap in certificates.unanimous_radii()]


def test_one_input_is_certified_or_not():
    votes = fp.Votes.from_counts(selection=[[100, 0]], estimation=[[1_000, 0]], noise=NOISES["binary"])
    certificates = fp.certify(votes)
    grid = CertifiedInputs(certificates).grid_of(grid_counts(certificates.bounded))
    assert set(np.unique(grid.shares)) == {0.0, 1.0}
    assert grid.of == 1


def test_without_inputs_there_are_no_shares():
    nothing = np.zeros((0, 2), dtype=int)
    votes = fp.Votes.from_counts(
        selection=nothing, estimation=nothing, noise=NOISES["binary"], n_select=10, n_estimate=10
    )
    certificates = fp.certify(votes)
    for asked in (
        lambda: grid_counts(certificates.bounded),
        lambda: CertifiedInputs(certificates).grid_of(((0,), (0,))),
        lambda: CertifiedInputs(certificates).grid_of(((0,), (0,)), []),
        lambda: CertifiedInputs(certificates).lines_of(),
        lambda: CertifiedInputs(certificates).lines_of([]),
    ):
        with pytest.raises(fp.InvalidInputError, match="expected at least one input, got none"):
            asked()


@pytest.mark.parametrize(
    ("among", "words"),
    [
        ([], "at least one input, got none"),
        (np.zeros(40, dtype=bool), "at least one input, got none"),
        ([True, False], "expected a mask of 40 inputs or different indices, got bool"),
        ([3, 3], "expected a mask of 40 inputs or different indices"),
        ([0.5], "got float64"),
        ([[1]], r"got int64 of shape \(1, 1\)"),
        ([-1, 2], r"indices in \[0, 40\), got -1 to 2"),
        ([40], r"indices in \[0, 40\), got 40 to 40"),
    ],
)
def test_a_wrong_choice_of_inputs_is_refused(rng, among, words):
    certificates = make_certificates(rng, NOISES["binary"])
    with pytest.raises(fp.InvalidInputError, match=words):
        CertifiedInputs(certificates).grid_of(((0,), (0,)), certificates.label, among)


def test_wrong_labels_and_counts_are_refused(rng):
    certificates = make_certificates(rng, NOISES["binary"])
    with pytest.raises(fp.InvalidInputError, match="expected 40 true labels, got shape"):
        CertifiedInputs(certificates).grid_of(((0,), (0,)), [0, 1], [0, 1])
    with pytest.raises(fp.InvalidInputError, match="expected counts for add, delete, got 3 of them"):
        CertifiedInputs(certificates).grid_of(((0,), (0,), (0,)))
    with pytest.raises(fp.InvalidInputError, match="at least one cell, got most_cells = 0"):
        grid_counts(certificates.bounded, 0)


@pytest.fixture
def box():
    """Every cell has a share of its own."""
    shares = np.arange(24).reshape(2, 3, 4) / 24
    return sh.ShareGrid(("add", "delete", "change"), ((0, 1), (0, 2, 5), (0, 1, 2, 3)), shares, "certified ratio", 24)


def test_planes_are_cuts_through_the_grid(box):
    for y, x in itertools.permutations(box.axes, 2):
        (other,) = set(box.axes) - {y, x}
        for count in box.counts[box.axes.index(other)]:
            plane = box.plane(y, x, {other: count})
            assert (plane.axes, plane.held, plane.of) == ((y, x), ((other, count),), 24)
            for i, j in np.ndindex(plane.shares.shape):
                at = {y: plane.counts[0][i], x: plane.counts[1][j], other: count}
                cell = tuple(counts.index(at[axis]) for axis, counts in zip(box.axes, box.counts, strict=True))
                assert plane.shares[i, j] == box.shares[cell]
    np.testing.assert_array_equal(box.plane("change", "add").shares, box.shares[:, 0, :].T)
    assert not box.plane("change", "add").shares.flags.writeable


@pytest.mark.parametrize(
    ("y", "x", "held", "words"),
    [
        ("ad", "delete", {}, "expected axis to be one of add, delete, change, got 'ad'; did you mean add"),
        ("add", "delete", {"chang": 1}, "got 'chang'; did you mean change"),
        ("add", "delete", {"change": 4}, "expected change among 0, 1, 2, 3, got 4"),
        ("add", "change", {"delete": 1}, "expected delete among 0, 2, 5, got 1"),
        ("add", "add", {}, "expected two different axes that are not held, got 'add' and 'add'"),
        ("add", "delete", {"add": 0}, "expected two different axes that are not held"),
    ],
)
def test_wrong_planes_are_refused(box, y, x, held, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        box.plane(y, x, held)


def test_an_axis_without_zero_must_be_held_somewhere():
    grid = sh.ShareGrid(("a", "b", "c"), ((0,), (0,), (1, 2)), np.ones((1, 1, 2)), "certified ratio", 1)
    with pytest.raises(fp.InvalidInputError, match="expected c among 1, 2, got 0"):
        grid.plane("a", "b")


def test_values_are_checked_when_made():
    with pytest.raises(fp.InvalidInputError, match=r"expected shares of shape \(2, 1\)"):
        sh.ShareGrid(("a", "b"), ((0, 1), (0,)), np.ones((1, 2)), "certified ratio", 1)
    with pytest.raises(fp.InvalidInputError, match="expected counts for each of different axes"):
        sh.ShareGrid(("a", "a"), ((0,), (0,)), np.ones((1, 1)), "certified ratio", 1)
    with pytest.raises(fp.InvalidInputError, match=r"expected shares in \[0, 1\], got 0.0 to 1.5"):
        sh.ShareLine("a", (0, 1), np.array([0, 1.5]), "certified ratio", 1, 3)
    with pytest.raises(fp.InvalidInputError, match=r"expected shares in \[0, 1\], got nan"):
        sh.ShareLine("a", (0,), np.array([np.nan]), "certified ratio", 1, 3)
    with pytest.raises(fp.InvalidInputError, match="at least one, got shape"):
        sh.ShareLine("a", (), np.array([]), "certified ratio", 1, 3)
