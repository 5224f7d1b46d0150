import csv
import math
import sys

import numpy as np
import pytest

import flipproof as fp

NOISE = fp.FlipNoise(0.01, 0.6)
JOINT = fp.JointNoise(a=fp.FlipNoise(0.05, 0.4), b=fp.FlipNoise(0.1, 0.5, 3))


def make_votes(rng, inputs=60, noise=NOISE, samples=10_000):
    p = np.sort(rng.dirichlet([0.4, 0.3, 0.2], size=inputs))[:, ::-1]
    return fp.Votes.from_counts(selection=rng.multinomial(200, p), estimation=rng.multinomial(samples, p), noise=noise)


@pytest.fixture(params=["multi-class", "two-class"])
def certificates(request, rng):
    return fp.certify(make_votes(rng), alpha=0.01, rule=request.param)


def test_certified_is_the_margin_of_each_input(certificates):
    for radii in (fp.Radii(), fp.Radii(1), fp.Radii(0, 3), fp.Radii(1, 5)):
        margins = [fp.mu(NOISE, radii, p, q) for p, q in zip(certificates.p_lower, certificates.p_upper, strict=True)]
        np.testing.assert_array_equal(certificates.certified(radii), np.array(margins) > 0)


def test_abstained_means_not_certified_at_radius_zero(certificates):
    np.testing.assert_array_equal(certificates.abstained, ~certificates.certified(fp.Radii()))
    np.testing.assert_array_equal(certificates.abstained, certificates.p_lower <= certificates.p_upper)
    assert 0 < certificates.abstained.sum() < len(certificates)


def test_max_radius_agrees_with_certified(certificates):
    for along in ("add", "delete"):
        radii = certificates.max_radius(along)
        assert radii.dtype == np.int64
        for r in range(radii.max() + 2):
            expected = certificates.certified(fp.Radii(**{along: r}))
            np.testing.assert_array_equal((radii >= r) & ~certificates.abstained, expected)


def test_frontier_holds_all_certified_radii(certificates):
    for i in range(0, len(certificates), 7):
        maximal = certificates.frontier(i)
        assert bool(maximal) != certificates.abstained[i]
        for add in range(9):
            for delete in range(25):
                below = any(add <= r.add and delete <= r.delete for r in maximal)
                assert below == (fp.mu(NOISE, fp.Radii(add, delete), *_bounds(certificates, i)) > 0)


def _bounds(certificates, i):
    return float(certificates.p_lower[i]), float(certificates.p_upper[i])


def test_certified_ratio_and_accuracy_are_means_of_certified(certificates, rng):
    truth = np.where(rng.random(len(certificates)) < 0.8, certificates.label, 2)
    ratio = certificates.certified_ratio(add=range(3), delete=range(5))
    accuracy = certificates.certified_accuracy(truth, add=range(3), delete=range(5))
    for a in range(3):
        for d in range(5):
            certified = certificates.certified(fp.Radii(a, d))
            assert math.isclose(ratio[a, d], certified.mean())
            assert math.isclose(accuracy[a, d], (certified & (truth == certificates.label)).mean())
    assert type(certificates.certified_ratio(add=1)) is float
    assert certificates.certified_accuracy(truth) == accuracy[0, 0]


def test_a_ratio_computed_in_pieces_is_the_same(certificates, monkeypatch):
    from flipproof.theory import bounded_inputs as module

    whole = certificates.certified_ratio(add=range(3), delete=range(9))
    monkeypatch.setattr(module, "_PAIRS_TIMES_CELLS", 40)
    np.testing.assert_array_equal(certificates.certified_ratio(add=range(3), delete=range(9)), whole)


def test_l0_radius_is_at_most_the_radius_along_any_axis(certificates):
    mixed = certificates.max_l0_radius()
    assert np.all(mixed <= np.minimum(certificates.max_radius("add"), certificates.max_radius("delete")))
    assert mixed.max() > 0


def test_joint_noise_answers_by_part(rng):
    certificates = fp.certify(make_votes(rng, noise=JOINT))
    assert certificates.max_radius("b.change").max() > 0
    box = {"a": {"delete": range(3)}, "b": {"add": 1, "change": range(2)}}
    ratio = certificates.certified_ratio(box)
    assert ratio.shape == (3, 2)
    radii = {"a": fp.Radii(delete=2), "b": fp.Radii(add=1, change=1)}
    assert math.isclose(ratio[2, 1], certificates.certified(radii).mean())
    assert isinstance(certificates.frontier(int(certificates.p_lower.argmax()))[0], dict)
    assert "max_b.change" in certificates.to_columns()


def test_simultaneous_is_bonferroni(rng):
    votes = make_votes(rng, inputs=50)
    together = fp.certify(votes, alpha=0.01, rule="two-class", simultaneous=True)
    each = fp.certify(votes, alpha=0.01 / 50, rule="two-class")
    np.testing.assert_allclose(together.p_lower, each.p_lower, rtol=1e-12)
    assert together.alpha == 0.01
    assert together.budget.claims == 50


@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
def test_holm_certifies_at_least_what_bonferroni_does(rng, rule):
    votes = make_votes(rng, inputs=300, samples=300)
    together, each = (fp.certify(votes, 0.05, rule, simultaneous=flag) for flag in (True, False))
    gained = 0
    for radii in (fp.Radii(), fp.Radii(1), fp.Radii(delete=2), fp.Radii(delete=4)):
        holm, bonferroni = together.certified_holm(radii), together.certified(radii)
        assert np.all(holm >= bonferroni)
        gained += (holm & ~bonferroni).sum()
        assert np.all(holm <= each.certified(radii))
    assert gained > 0


def test_holm_against_its_textbook_form(rng):
    """Sorted p-values p_(j) are rejected while p_(j) <= alpha / (N - j + 1)."""
    from flipproof.theory.exact import clopper_pearson_tail

    votes = make_votes(rng, inputs=40, samples=60)
    radii, alpha = fp.Radii(delete=1), 0.05
    certificates = fp.certify(votes, alpha, "two-class", simultaneous=True)
    critical = fp.critical_probability(NOISE, radii)
    p_values = np.array([float(clopper_pearson_tail(int(k), 60, critical))
                         for k in votes.estimation_counts.of(certificates.label)])  # fmt: skip
    expected = np.zeros(40, dtype=bool)
    for rank, i in enumerate(np.argsort(p_values)):
        if p_values[i] > alpha / (40 - rank):
            break
        expected[i] = True
    np.testing.assert_array_equal(certificates.certified_holm(radii), expected)
    assert 0 < expected.sum() < 40


def test_reasons_to_abstain():
    votes = fp.Votes.from_counts(
        selection=[[0, 0], [10, 0], [10, 0], [10, 0]],
        estimation=[[100, 0], [0, 0], [52, 48], [100, 0]],
        noise=NOISE, n_select=10, n_estimate=100,
    )  # fmt: skip
    certificates = fp.certify(votes)
    assert certificates.reason.tolist() == [
        "no selection votes", "no estimation votes", "p_lower does not exceed p_upper", "",
    ]  # fmt: skip
    assert certificates.certified(fp.Radii()).tolist() == [False, False, False, True]
    assert certificates.max_radius("delete").tolist() == [0, 0, 0, 4]
    assert certificates.certified_holm(fp.Radii()).tolist() == [False, False, False, True]
    assert certificates.certified_ratio() == 0.25
    assert certificates.certified_accuracy([0, 0, 0, 0]) == 0.25


def test_one_class_cannot_be_changed():
    certificates = fp.certify(fp.Votes.from_counts(selection=[[5]], estimation=[[1]], noise=NOISE))
    assert not certificates.abstained[0]
    assert certificates.p_upper[0] == 0.0
    assert certificates.max_radius("delete").tolist() == [fp.UNBOUNDED]
    assert certificates.frontier(0) == [fp.Radii(fp.UNBOUNDED, fp.UNBOUNDED)]


def test_no_inputs():
    empty = np.zeros((0, 2), dtype=int)
    for simultaneous in (False, True):
        votes = fp.Votes.from_counts(selection=empty, estimation=empty, noise=NOISE)
        certificates = fp.certify(votes, simultaneous=simultaneous)
        assert len(certificates) == 0
        assert certificates.certified(fp.Radii(1)).shape == (0,)
        assert certificates.certified_holm(fp.Radii(1)).shape == (0,)
        assert certificates.max_radius("add").shape == (0,)
        with pytest.raises(fp.InvalidInputError, match="expected at least one input"):
            certificates.certified_ratio(add=range(2))


def test_unbounded_radii_survive_the_way_to_a_file(tmp_path):
    hidden = fp.FlipNoise(0.5, 0.5)
    certificates = fp.certify(fp.Votes.from_counts(selection=[[9, 1]], estimation=[[99, 1]], noise=hidden))
    assert certificates.max_radius("add").tolist() == [fp.UNBOUNDED]
    certificates.to_csv(tmp_path / "out.csv")
    with open(tmp_path / "out.csv") as file:
        (row,) = csv.DictReader(file)
    assert row["max_add"] == "unbounded"


def test_csv_has_one_line_per_input(certificates, tmp_path):
    path = tmp_path / "out.csv"
    certificates.to_csv(path)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(certificates)
    assert [int(row["label"]) for row in rows] == certificates.label.tolist()
    assert [float(row["p_lower"]) for row in rows] == certificates.p_lower.tolist()
    assert [int(row["max_delete"]) for row in rows] == certificates.max_radius("delete").tolist()
    assert {row["abstained"] for row in rows} == {"True", "False"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"alpha": 0}, "expected alpha strictly between 0 and 1, got 0"),
        ({"alpha": 1.5}, "expected alpha strictly between 0 and 1, got 1.5"),
        ({"alpha": 1e-99, "simultaneous": True}, "expected alpha .for each input. of at least"),
        ({"simultaneous": "no"}, "expected simultaneous to be True or False, got 'no'"),
        ({"alpha": math.nan}, "expected alpha"),
        ({"rule": "three-class"}, "expected rule to be one of multi-class, two-class, got 'three-class'"),
    ],
)
def test_bad_arguments_are_refused(rng, arguments, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.certify(make_votes(rng), **arguments)


def test_arrays_cannot_be_changed(certificates):
    for array in (certificates.label, certificates.p_lower, certificates.p_upper, certificates.abstention):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_votes_must_be_votes_and_labels_must_fit(certificates):
    with pytest.raises(fp.InvalidInputError, match="expected Votes, got list"):
        fp.certify([[1, 2]])
    for labels in ([0, 1], np.zeros(len(certificates)), [["a"]] * len(certificates)):
        with pytest.raises(fp.InvalidInputError, match=f"expected {len(certificates)} integer labels"):
            certificates.certified_accuracy(labels)


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0]])
def test_true_labels_are_numbers_of_classes(labels):
    votes = fp.Votes.from_counts(
        selection=[[9, 1, 0]] * 2, estimation=[[90, 10, 0]] * 2, noise=fp.FlipNoise(0.1, 0.2)
    )  # fmt: skip
    with pytest.raises(fp.InvalidInputError, match=r"expected true labels as numbers of classes in \[0, 3\), got"):
        fp.certify(votes).certified_accuracy(labels)


def test_without_radii_a_joint_noise_is_at_radius_zero(rng):
    noise = fp.JointNoise(a=fp.FlipNoise(0.1, 0.3), b=fp.FlipNoise(0.05, 0.4))
    votes = fp.Votes.from_counts(selection=[[9, 1], [5, 5]], estimation=[[900, 100], [500, 500]], noise=noise)
    certificates = fp.certify(votes)
    assert certificates.certified_ratio() == certificates.certified_accuracy([0, 0]) == 0.5


def test_what_samples_can_certify_does_not_depend_on_selection_samples():
    votes = fp.Votes.from_counts(selection=[[9, 1]], estimation=[[900, 100]], noise=NOISE)
    unselected = fp.Votes.from_counts(selection=[[0, 0]], estimation=[[900, 100]], noise=NOISE)
    caps = fp.certify(votes).unanimous_radii()
    assert fp.certify(unselected).unanimous_radii() == caps
    assert min(caps) > 0


def test_counts_by_name_are_radii(certificates):
    for counts in ({"delete": 1}, {"add": 1, "delete": 2}, {"add": 0}):
        radii = fp.Radii(**counts)
        np.testing.assert_array_equal(certificates.certified(**counts), certificates.certified(radii))
        np.testing.assert_array_equal(certificates.certified_holm(**counts), certificates.certified_holm(radii))


@pytest.mark.parametrize("method", ["certified", "certified_holm"])
def test_radii_have_one_form(certificates, method):
    of = getattr(certificates, method)
    with pytest.raises(fp.InvalidInputError, match=r"either as a value or as counts, such as delete=1, got nothing$"):
        of()
    with pytest.raises(fp.InvalidInputError, match=r"got Radii\(add=1, delete=0, change=0\) and delete=$"):
        of(fp.Radii(1), delete=0)
    with pytest.raises(fp.InvalidInputError, match="expected delete to be a non-negative integer, got -1"):
        of(delete=-1)
    with pytest.raises(fp.InvalidInputError, match="expected change = 0 for noise with 2 categories"):
        of(change=1)


def test_radii_under_joint_noise_are_a_mapping():
    joint = fp.JointNoise(a=fp.FlipNoise(0.01, 0.6), b=fp.FlipNoise(0.01, 0.6))
    certificates = fp.certify(fp.Votes.from_counts(selection=[[99, 1]], estimation=[[999, 1]], noise=joint))
    assert certificates.certified({"a": fp.Radii(delete=1)}).tolist() == [True]
    with pytest.raises(fp.InvalidInputError, match="expected a mapping from part name to Radii for a JointNoise"):
        certificates.certified(delete=1)


def test_a_frame_has_the_columns_of_the_csv(certificates, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = certificates.to_pandas()
    certificates.to_csv(tmp_path / "out.csv")
    pandas.testing.assert_frame_equal(
        frame.reset_index(), pandas.read_csv(tmp_path / "out.csv", keep_default_na=False), check_dtype=False
    )
    assert frame.index.name == "input"
    votes = fp.Votes.from_counts(
        selection=[[9, 1], [1, 9]], estimation=[[90, 10], [5, 95]], noise=NOISE, input_names=["Ann", "Bob"]
    )
    assert fp.certify(votes).to_pandas().loc["Bob", "label"] == 1


def test_without_pandas_the_extra_is_named(certificates, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(fp.MissingExtraError, match=r'expected pandas .* pip install "flipproof\[sklearn\]"$'):
        certificates.to_pandas()
