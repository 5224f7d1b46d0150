"""A certificate that lives outside of the package goes where those of the package go: words, CSV, page, comparison."""

import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.baselines.proofs import Proofs
from flipproof.comparison.comparison import Comparison, Entry
from flipproof.theory.certificate import checked_certificate
from tests.extending.toy_certificate import TriangleCertificate

NOISE = fp.FlipNoise(0.4, 0.35)
INPUTS = np.array(list(itertools.product((0, 1), repeat=4)))


def parity_of_many(rows):
    return (np.asarray(rows).sum(axis=1) >= 2).astype(int)


@pytest.fixture(scope="module")
def votes():
    classifier = fp.FunctionClassifier(parity_of_many, classes=2)
    return fp.vote(classifier, INPUTS, NOISE, 200, 4000, seed=3, progress=False)


@pytest.fixture(scope="module")
def toy(votes):
    return TriangleCertificate(fp.certify(votes))


def exact_labels():
    """The smoothed classifier on the whole space, by the probabilities of all 16 noisy copies."""
    flips = INPUTS[:, None, :] != INPUTS[None, :, :]
    rates = np.where(INPUTS == 1, NOISE.p_minus, NOISE.p_plus)[:, None, :]
    chance = np.where(flips, rates, 1 - rates).prod(axis=2)
    return (chance @ parity_of_many(INPUTS) > 0.5).astype(int)


def test_no_certified_point_of_the_whole_space_changes_its_label(toy):
    distance = (INPUTS[:, None, :] != INPUTS[None, :, :]).sum(axis=2)
    labels, radii = exact_labels(), toy.max_radius()
    assert radii.max() >= 1
    for number in np.flatnonzero(~toy.abstained):
        assert (labels[distance[number] <= radii[number]] == toy.label[number]).all()


def test_it_is_weaker_than_the_tight_one(toy):
    assert (toy.max_radius() <= toy.tight.max_l0_radius()).all()


def test_its_words(toy):
    certain = int(np.flatnonzero(toy.max_radius() == toy.max_radius().max())[0])
    sentence = fp.in_words(toy, certain, unit="row")
    bits = toy.max_radius().max()
    assert sentence.endswith(f"if nothing else changes: at most {bits} bits are flipped.")
    vague = int(np.flatnonzero((toy.max_radius() == 0) & ~toy.abstained)[0])
    assert fp.in_words(toy, vague).startswith("No robustness proven")


def test_its_page(toy, tmp_path):
    fp.write_report(tmp_path / "toy.html", toy, labels=parity_of_many(INPUTS), unit="row")
    page = (tmp_path / "toy.html").read_text(encoding="utf-8")
    assert "if nothing else changes: at most r bits are flipped" in page
    assert "certified accuracy" in page


def test_a_comparison_takes_it(toy):
    entries = tuple(
        Entry(system, "any", "parity", "(0.4, 0.35)", Proofs.of(toy, "any", radius), seconds=0.0)
        for system, radius in (("toy", None), ("flipproof", toy.tight.max_l0_radius()))
    )
    comparison = Comparison(entries, np.arange(len(toy)), parity_of_many(INPUTS))
    rows = {row["system"]: row["certified_ratio"] for row in comparison.rows([1])}
    assert 0.0 < rows["toy"] <= rows["flipproof"]


def test_its_columns(toy, tmp_path):
    proofs = Proofs.of(toy, "any")
    proofs.to_csv(tmp_path / "toy.csv")
    first, second, *_ = (tmp_path / "toy.csv").read_text().splitlines()
    assert first == "input,label,abstained,max_any"
    assert second == f"0,{toy.label[0]},{toy.abstained[0]},{toy.max_radius()[0]}"


def test_what_is_no_certificate_is_refused():
    with pytest.raises(fp.InvalidInputError, match=r"which flipproof\.certify makes, got list"):
        checked_certificate([1, 2])
