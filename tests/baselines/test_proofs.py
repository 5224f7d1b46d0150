"""Proofs say what is proved: never more, about the right inputs, and whether the classifier was checked."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.baselines import ablation, f_divergence, gaussian, lee
from flipproof.theory.certificate import Promise, Subject

ROWS = np.repeat(np.eye(2, dtype=int), 12, axis=1)[[0, 1] * 6]


def votes(noise=None, **options):
    classifier = fp.FunctionClassifier(lambda rows: (rows[:, 12:].sum(1) > 6).astype(int), classes=2)
    law = fp.FlipNoise(0.1, 0.1) if noise is None else noise
    return fp.vote(classifier, ROWS, law, 50, 500, progress=False, **options)


@pytest.mark.parametrize("radius", [0.92169730, 0.99999999, 1.00009, 12345.678, 1e-7])
def test_a_radius_is_rounded_down(radius):
    said = Promise("somebody", Subject.BASE, "a norm of r", "exact").threat_of(radius)
    shown = float(said.removeprefix("a norm of ").replace(",", ""))
    assert radius * 0.999 < shown <= radius


@pytest.mark.parametrize(
    ("certify", "noise"),
    [(lee.certify, None), (lambda given: f_divergence.certify(given, "add"), None),
     (ablation.certify, fp.AblationNoise(24, 8))],
)  # fmt: skip
def test_proofs_are_about_the_inputs_that_were_voted_on(certify, noise):
    proofs = certify(votes(noise, targets=[7, 3, 11]))
    assert [proofs.claim(i).input for i in range(3)] == [7, 3, 11] == proofs.to_columns()["input"].tolist()
    assert proofs.selected(np.array([2])).claim(0).input == 11
    assert proofs.checked is True


def test_what_nobody_checked_is_said(tmp_path):
    unchecked = votes(check=False)
    for proofs in (lee.certify(unchecked), fp.certify(unchecked)):
        assert fp.in_words(proofs, 0).startswith("If the classifier always gives the same label")
        fp.write_report(tmp_path / "report.html", proofs)
        assert "That was not checked" in (tmp_path / "report.html").read_text()
    assert fp.in_words(lee.certify(votes()), 0).startswith("The smoothed classifier keeps its prediction")


def test_a_radius_of_gaussian_noise_is_said_rounded_down():
    given = fp.Votes.from_counts(selection=[[99, 1]], estimation=[[9_900, 100]], noise=fp.GaussianNoise(0.5))
    proofs = gaussian.certify(given)
    norm = float(fp.in_words(proofs, 0).rpartition(" ")[2].rstrip("."))
    assert 0 < norm <= proofs.radius[0]


def test_other_radii_than_numbers_are_refused():
    with pytest.raises(fp.InvalidInputError, match="expected a radius as a number, got Radii"):
        lee.certify(votes()).certified(fp.Radii(add=1))
