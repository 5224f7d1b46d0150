"""What a page carries equals what the certificates say, number by number."""

import itertools
import json
import re

import numpy as np
import pytest

import flipproof as fp
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.content import at_cap, content, forecasts
from flipproof.report.section import Section
from flipproof.theory.radii import axes_of
from page_data import unpacked

NOISES = {
    "binary": fp.FlipNoise(0.01, 0.6),
    "levels": fp.FlipNoise(0.05, 0.3, categories=4),
    "joint": fp.JointNoise(structure=fp.FlipNoise(0.01, 0.4), attributes=fp.FlipNoise(0.02, 0.5)),
}


def certificates_of(rng, noise, inputs=40, classes=3, samples=2_000, **promise):
    """Votes of a classifier that is sure of some inputs and not of others; two inputs have no votes."""
    shares = np.array([rng.dirichlet([alpha, *[0.3] * (classes - 1)]) for alpha in np.geomspace(0.5, 300, inputs)])
    selection = np.array([rng.multinomial(200, share) for share in shares])
    estimation = np.array([rng.multinomial(samples, share) for share in shares])
    selection[3], estimation[5] = 0, 0
    votes = fp.Votes.from_counts(
        selection=selection, estimation=estimation, noise=noise, n_select=200, n_estimate=samples
    )
    return fp.certify(votes, **promise)


def radii_at(noise, point):
    if isinstance(noise, fp.FlipNoise):
        return fp.Radii(**{axis.kind: count for axis, count in zip(axes_of(noise), point, strict=True)})
    parts = {}
    for axis, count in zip(axes_of(noise), point, strict=True):
        parts.setdefault(axis.part, {})[axis.kind] = count
    return {part: fp.Radii(**kinds) for part, kinds in parts.items()}


@pytest.fixture(params=NOISES)
def shown(request, rng):
    certificates = certificates_of(rng, NOISES[request.param])
    truth = rng.integers(0, 3, len(certificates))
    split = fp.Split(np.arange(4), np.arange(4, 8), np.arange(8, 40))
    return certificates, truth, content(Section("a run", certificates, DescribedInputs(labels=truth, split=split)))


def test_it_is_json(shown):
    json.dumps(shown[2], allow_nan=False)


def test_every_cell_of_the_grid(shown, rng):
    certificates, truth, page = shown
    counts = [axis["counts"] for axis in page["axes"]]
    ratio, accuracy = (unpacked(measure["grid"]) for measure in page["measures"])
    assert ratio.shape == tuple(map(len, counts))
    cells = list(itertools.product(*map(range, ratio.shape)))
    for cell in [cells[0], *(cells[i] for i in rng.integers(0, len(cells), 150))]:
        point = [along[i] for along, i in zip(counts, cell, strict=True)]
        certified = certificates.certified(radii_at(certificates.noise, point))
        assert ratio[cell] == certified.mean()
        assert accuracy[cell] == (certified & (certificates.label == truth))[8:].mean()
    assert [measure["count"] for measure in page["measures"]] == [40, 32]


def test_every_staircase(shown, rng):
    certificates, _, page = shown
    counts = [axis["counts"] for axis in page["axes"]]
    index, height = (unpacked(page["stairs"][name]) for name in ("index", "height"))
    cells = list(itertools.product(*(range(len(along)) for along in counts)))
    for cell in [cells[0], *(cells[i] for i in rng.integers(0, len(cells), 150))]:
        point = [along[i] for along, i in zip(counts, cell, strict=True)]
        expected = certificates.certified(radii_at(certificates.noise, point))
        assert np.array_equal(cell[-1] < height[(index, *cell[:-1])], expected)


def test_the_table(shown):
    certificates, truth, page = shown
    table = page["table"]
    for name in ("label", "p_lower", "p_upper"):
        assert np.array_equal(unpacked(table[name]), getattr(certificates, name))
    assert np.array_equal(unpacked(table["truth"]), truth)
    assert np.array_equal(unpacked(table["votes"]["counts"]), certificates.votes.estimation)
    assert unpacked(table["votes"]["classes"]).tolist() == [[0, 1, 2]] * 40
    assert not unpacked(table["votes"]["others"]).any()
    assert [table["parts"][part] for part in unpacked(table["part"])[[0, 4, 8]]] == ["training", "validation", "test"]
    reasons = np.array(table["reasons"])[unpacked(table["abstention"])]
    assert np.array_equal(reasons, certificates.reason)
    assert {each["reason"]: each["count"] for each in page["abstentions"]} == {
        reason: int((certificates.reason == reason).sum()) for reason in set(certificates.reason) - {""}
    }
    for axis, radius in zip(axes_of(certificates.noise), table["radius"], strict=True):
        assert np.array_equal(unpacked(radius), certificates.max_radius(str(axis)))


def test_lines(shown):
    certificates, _, page = shown
    for i, axis in enumerate(page["axes"]):
        for count, share in zip(axis["line_counts"], page["measures"][0]["lines"][i], strict=True):
            point = [count if j == i else 0 for j in range(len(page["axes"]))]
            assert share == certificates.certified(radii_at(certificates.noise, point)).mean()
        assert axis["mean"] == certificates.max_radius(axis["name"]).mean()
        assert axis["largest"] == certificates.max_radius(axis["name"]).max()


def test_forecasts_are_certificates_of_more_votes(shown):
    certificates, _, page = shown
    votes = certificates.votes
    more = fp.certify(
        fp.Votes.from_counts(
            selection=votes.selection,
            estimation=votes.estimation * 10,
            noise=votes.noise,
            n_select=votes.n_select,
            n_estimate=votes.n_estimate * 10,
        )
    )
    now, then = page["forecast"]["rows"][0], page["forecast"]["rows"][2]
    assert (now["samples"], then["samples"]) == (2_000, 20_000)
    assert then["abstained"] == more.abstained.sum() <= now["abstained"] == certificates.abstained.sum()
    for before, after in zip(now["axes"], then["axes"], strict=True):
        today, later = (each.max_radius(before["name"]) for each in (certificates, more))
        assert (before["more"], after["more"]) == (0, (later > today).sum())
        assert (before["mean"], after["mean"]) == (today.mean(), later.mean())
        assert after["cap"] >= before["cap"]
    assert any(after["more"] for after in then["axes"])


def test_the_cap_binds_where_all_samples_agree(rng):
    noise = NOISES["binary"]
    votes = fp.Votes.from_counts(
        selection=[[100, 0], [100, 0], [90, 10]], estimation=[[1000, 0], [1000, 0], [900, 100]], noise=noise
    )
    certificates = fp.certify(votes)
    assert at_cap(CertifiedInputs(certificates)) == {"add": 2, "delete": 2}
    row = forecasts(CertifiedInputs(certificates))[0]
    assert [each["cap"] for each in row["axes"]] == [certificates.max_radius(kind)[0] for kind in ("add", "delete")]
    assert CertifiedInputs(certificates).with_samples(5).votes.n_estimate == 5_000


def test_forecasts_stop_where_counts_would_be_too_large():
    votes = fp.Votes.from_counts(selection=[[3, 0]], estimation=[[2**48, 0]], noise=NOISES["binary"])
    assert [row["samples"] for row in forecasts(CertifiedInputs(fp.certify(votes)))] == [2**48, 2**49]


def test_radii_without_an_end_are_marked():
    votes = fp.Votes.from_counts(selection=[[9, 1]], estimation=[[90, 10]], noise=fp.FlipNoise(0.4, 0.6))
    page = content(Section("endless", fp.certify(votes)))
    assert [unpacked(radius).tolist() for radius in page["table"]["radius"]] == [[-1], [-1]]
    assert [(axis["cap"], axis["largest"], axis["mean"]) for axis in page["axes"]] == [(-1, -1, None)] * 2
    assert "unbounded" in {number["value"] for number in page["numbers"]}


def test_a_run_without_inputs_and_one_without_labels(rng):
    empty = np.zeros((0, 2), dtype=int)
    votes = fp.Votes.from_counts(selection=empty, estimation=empty, noise=NOISES["binary"], n_select=1, n_estimate=1)
    page = content(Section("nothing", fp.certify(votes)))
    assert (page["inputs"], page["axes"], page["measures"], page["stairs"]) == (0, [], [], None)
    json.dumps(page)
    page = content(Section("no labels", certificates_of(rng, NOISES["binary"])))
    assert page["table"]["truth"] is None
    assert [measure["name"] for measure in page["measures"]] == ["certified ratio"]


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        (DescribedInputs(labels=np.array([0, 1])), r"expected 40 true labels, got shape \(2,\)"),
        (DescribedInputs(labels=np.full(40, 7)), "expected true labels below 3, got 7"),
        (DescribedInputs(names=("a",)), "expected 40 names, one per input, got 1"),
        (DescribedInputs(texts=("a",), unit="message"), "expected 40 texts, one per message, got 1"),
        (DescribedInputs(class_names=("a",)), "expected 3 class names, got 1"),
        (DescribedInputs(split=fp.Split([0], [1], [40])), "expected a split of 40 inputs, got input 40"),
        (DescribedInputs(image_shape=(8, 8)), "expected the images themselves beside image_shape, got none"),
        (
            DescribedInputs(space=fp.DenseRows([[0]] * 40), image_shape=(8,)),
            r"expected image_shape as \(height, width\)",
        ),
        (
            DescribedInputs(space=fp.DenseRows([[0]] * 40), image_shape=(0, 8)),
            r"expected image_shape as \(height, width\)",
        ),
        (DescribedInputs(unit=""), "expected unit to be a word, got ''"),
        (DescribedInputs(entries={"": 3}), "expected entries to be a word, got 3"),
    ],
)
def test_what_does_not_fit_is_refused(described, reason, rng):
    with pytest.raises(fp.InvalidInputError, match=reason):
        Section("wrong", certificates_of(rng, NOISES["binary"]), described)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_words_say_what_is_promised(simultaneous, rng):
    certificates = certificates_of(rng, NOISES["binary"], alpha=0.02, simultaneous=simultaneous)
    words = content(Section("words", certificates, DescribedInputs(unit="image", entries={"": "pixels"})))["words"]
    promise, not_promised = " ".join(words["promise"]), " ".join(words["not_promised"])
    certified = int((~certificates.abstained).sum())
    assert f"gives {certified} images a label and abstains from {40 - certified}" in promise
    assert "holds if nothing of another kind changes" in promise
    assert "add (pixels added: a zero becomes a one), delete (pixels deleted: a one becomes a zero)" in promise
    for kind in ("add", "delete"):
        count = int((certificates.max_radius(kind) > 0).sum())
        done = {"add": "added", "delete": "deleted"}[kind]
        assert re.search(rf"\b{count} (of 40 images )?\(\d+ %\) (withstand )?any one {done} pixel", promise)
    assert "correct with at least 98 % probability over" in promise
    assert ("All certificates together" in promise) == simultaneous
    assert ("expect at most about 0.8 to be wrong" in not_promised) == (not simultaneous)
    for word in ("evasion", "poisoning", "observed", "smoothed", "Only these changes are covered", "until"):
        assert word in not_promised


def test_words_never_round_up(rng):
    votes = fp.Votes.from_counts(
        selection=[[90, 10]] * 3_000, estimation=[[95_000, 5_000]] * 2_999 + [[50_000, 50_000]], noise=NOISES["binary"],
        n_select=100, n_estimate=100_000,
    )  # fmt: skip
    page = content(Section("almost all", fp.certify(votes, alpha=1e-12)))
    (share,) = [number["value"] for number in page["numbers"] if number["name"] == "not abstained"]
    assert share == "0.999"
    assert "correct with at least 1 - 1e-12 probability over" in page["words"]["promise"][3]


def test_radii_at_the_limit_of_the_search_are_not_taken_for_exact():
    votes = fp.Votes.from_counts(selection=[[100, 0]], estimation=[[100_000, 0]], noise=fp.FlipNoise(0.4999, 0.4999))
    certificates = fp.certify(votes)
    assert certificates.max_radius("add")[0] == 1_000
    page = content(Section("far", certificates))
    assert page["limit"] == 1_000
    for axis, now in zip(page["axes"], page["forecast"]["rows"][0]["axes"], strict=True):
        assert (axis["cap"], axis["mean"], axis["largest"]) == (-1, None, 1_000)
        assert (now["cap"], now["mean"]) == (-1, None)
    assert [each["count"] for each in page["forecast"]["at_cap"]] == [0, 0]
    assert [each["more"] for row in page["forecast"]["rows"] for each in row["axes"]] == [None] * 8
    assert {number["value"] for number in page["numbers"] if "radius" in number["name"]} == {"1,000+"}


def test_of_many_classes_those_with_votes_are_kept(rng):
    counts = rng.multinomial(10_000, rng.dirichlet([0.2] * 30), 5)
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=NOISES["binary"])
    kept = content(Section("many", fp.certify(votes)))["table"]["votes"]
    classes, shown, others = (unpacked(kept[name]) for name in ("classes", "counts", "others"))
    for row in range(5):
        assert sorted(shown[row]) == sorted(counts[row])[-10:]
        assert np.array_equal(counts[row][classes[row]], shown[row])
        assert (np.diff(classes[row].astype(int)) > 0).all()
        assert others[row] == 10_000 - shown[row].sum()


def test_a_comparison_leaves_the_inputs_out(rng):
    page = content(Section("one of two", certificates_of(rng, NOISES["binary"])), inputs=False)
    assert [page[name] for name in ("table", "stairs", "forecast", "pictures")] == [None] * 4
    assert page["measures"]


def test_other_data_than_those_voted_on_are_refused(rng):
    images = (rng.random((6, 8)) < 0.3).astype(np.uint8)
    classifier = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 3).astype(int), classes=2)
    certificates = fp.certify(fp.vote(classifier, images, NOISES["binary"], n_select=5, n_estimate=10))
    Section("right", certificates, DescribedInputs(space=fp.DenseRows(images)))
    with pytest.raises(fp.InvalidInputError, match="expected the data that were voted on, got other data"):
        Section("wrong", certificates, DescribedInputs(space=fp.DenseRows(1 - images)))
    counted = fp.certify(fp.Votes.from_counts(selection=[[3, 1]], estimation=[[3, 1]], noise=NOISES["binary"]))
    with pytest.raises(fp.InvalidInputError, match="expected the data of 1 inputs, got those of 6"):
        Section("wrong", counted, DescribedInputs(space=fp.DenseRows(images)))


def test_votes_on_some_targets_get_no_pictures_of_others(rng):
    images = (rng.random((6, 8)) < 0.3).astype(np.uint8)
    classifier = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 3).astype(int), classes=2)
    votes = fp.vote(classifier, images, NOISES["binary"], n_select=5, n_estimate=10, targets=[5, 2])
    described = DescribedInputs(space=fp.DenseRows(images), image_shape=(2, 4))
    assert content(Section("some", fp.certify(votes), described))["pictures"] is None


def test_a_new_run_takes_all_of_its_samples(rng):
    section = Section("fast", certificates_of(rng, NOISES["binary"]), samples_per_second=100.0)
    rows = content(section)["forecast"]["rows"]
    assert [(row["samples"], row["seconds"]) for row in rows[:3]] == [(2_000, 22.0), (4_000, 42.0), (20_000, 202.0)]


def test_nothing_is_certified_where_all_abstain():
    votes = fp.Votes.from_counts(selection=[[5, 5]] * 3, estimation=[[50, 50]] * 3, noise=NOISES["binary"])
    words = content(Section("none", fp.certify(votes)))["words"]["promise"]
    assert words == ["Nothing is certified: the smoothed classifier abstains from all of 3 inputs."]


def test_counts_of_any_size_fit():
    votes = fp.Votes.from_counts(selection=[[3, 0]], estimation=[[2**33, 5]], noise=NOISES["binary"])
    counts = content(Section("large", fp.certify(votes)))["table"]["votes"]["counts"]
    assert unpacked(counts).tolist() == [[2**33, 5]]
