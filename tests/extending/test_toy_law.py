"""A law of somebody else goes all the way: votes, certificates, words, report, and the check in exact arithmetic."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.noise.laws import law_from_record
from flipproof.theory.exact import regions as exact_regions
from flipproof.verification import other_laws
from tests.extending.toy_law import RedrawNoise, masses

LAW = RedrawNoise(0.25, 3)
SPACE = np.array(list(itertools.product(range(3), repeat=5)))


def labels_of(rows):
    """Whether twos outnumber zeros."""
    return ((rows == 2).sum(axis=1) > (rows == 0).sum(axis=1)).astype(int)


@pytest.fixture(scope="module")
def certificates():
    classifier = fp.FunctionClassifier(labels_of, classes=2)
    votes = fp.vote(classifier, SPACE, LAW, n_select=100, n_estimate=2_000, progress=False)
    return fp.certify(votes, alpha=0.001)


def test_a_record_becomes_the_law_again():
    assert law_from_record(json.loads(json.dumps(LAW.record()))) == LAW


def test_masses_are_those_of_all_noisy_inputs():
    clean, changed = (0, 0, 1), (0, 2, 2)

    def probability(of, seen):
        one = Fraction(1, 4) / 3
        return np.prod([Fraction(3, 4) * (a == b) + one for a, b in zip(of, seen, strict=True)])

    by_ratio = {}
    for seen in itertools.product(range(3), repeat=3):
        pair = probability(clean, seen), probability(changed, seen)
        before = by_ratio.get(pair[0] / pair[1], (0, 0))
        by_ratio[pair[0] / pair[1]] = before[0] + pair[0], before[1] + pair[1]
    assert sorted(by_ratio.values()) == sorted(masses(LAW.record()["redraw"], {"change": 2}))


def test_no_certified_input_changes_its_label(certificates):
    """Over the whole space, with the smoothed classifier computed exactly."""
    one = 0.25 / 3
    same = SPACE[:, None, :] == SPACE[None, :, :]
    probability = np.where(same, 0.75 + one, one).prod(axis=2)  # [clean, noisy]
    smoothed = (probability @ labels_of(SPACE) > 0.5).astype(int)
    radius, distance = certificates.max_radius("change"), (~same).sum(axis=2)
    assert set(radius.tolist()) == {0, 1}
    for row in np.flatnonzero(~certificates.abstained):
        assert set(smoothed[distance[row] <= radius[row]]) == {certificates.label[row]}


def test_all_answers_agree(certificates):
    radius = certificates.max_radius("change")
    assert (certificates.max_l0_radius() == radius).all()
    for count in range(4):
        certified = certificates.certified(fp.Radii(change=count))
        assert (certified == (radius >= min(count, 5)) & ~certificates.abstained).all()
    ratio = certificates.certified_ratio(change=range(4))
    assert ratio.tolist() == [certificates.certified(fp.Radii(change=count)).mean() for count in range(4)]
    best = int(radius.argmax())
    assert certificates.frontier(best) == [fp.Radii(change=int(radius[best]))]
    assert fp.largest_radius(LAW, certificates.p_lower, "change", certificates.p_upper).max() == radius.max()


def test_the_safe_side_of_the_same_noise_as_flips():
    """Redrawing is a flip with another probability, which the engine of flips computes in its own way."""
    law, flips = RedrawNoise(0.75, 3), fp.FlipNoise(0.5, 0.5, categories=3)
    for count in range(1, 6):
        exact = {(region.clean, region.adversarial) for region in exact_regions(flips, fp.Radii(change=count))}
        assert set(masses(law.record()["redraw"], {"change": count})) == exact
        ours, theirs = (fp.rho(noise, fp.Radii(change=count), 0.99) for noise in (law, flips))
        assert ours == pytest.approx(theirs, abs=1e-13)
        assert fp.critical_probability(law, fp.Radii(change=count)) == pytest.approx(
            fp.critical_probability(flips, fp.Radii(change=count)), abs=1e-13
        )
    assert fp.critical_table(law, change=range(3)).tolist() == [
        fp.critical_probability(law, fp.Radii(change=count)) for count in range(3)
    ]


def test_an_axis_that_it_does_not_have(certificates):
    with pytest.raises(InvalidInputError, match="expected add = 0 for noise with the axes change, got add = 1"):
        certificates.certified(fp.Radii(add=1))


def test_a_space_without_a_sampler():
    with pytest.raises(InvalidInputError, match="got RedrawNoise"):
        fp.vote(fp.FunctionClassifier(labels_of, classes=2), fp.Tokens(SPACE), LAW, 10, 10, progress=False)


def test_words_and_report(certificates, tmp_path):
    best = int(certificates.max_radius("change").argmax())
    sentence = fp.in_words(certificates, best, unit="row", entries="values", inputs=SPACE)
    assert sentence.startswith(
        "No attacker who changes up to 1 value in any way can change the prediction for this row"
    )
    assert certificates.claim(best).withstands_a_change
    page = tmp_path / "report.html"
    fp.write_report(page, certificates, inputs=SPACE)
    assert "redraw, probability" in page.read_text()


def test_votes_are_read_back(certificates, tmp_path):
    certificates.votes.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").noise == LAW


def test_the_checker_confirms_in_exact_arithmetic(certificates, tmp_path):
    certificates.save(tmp_path / "certificates.json")
    check = fp.verify(tmp_path, arithmetic_only=True)
    assert check.confirmed
    certified = certificates.certified(fp.Radii(change=1)).sum()
    assert check.certified_at({"change": 1}) == certified


def test_the_checker_refuses_a_law_that_it_does_not_know(certificates, tmp_path, monkeypatch):
    certificates.save(tmp_path / "certificates.json")
    monkeypatch.delitem(other_laws._KNOWN, "redraw")
    with pytest.raises(FileFormatError, match="a noise that this checker does not know, redraw"):
        fp.verify(tmp_path, arithmetic_only=True)


def test_the_checker_objects_to_another_law(certificates, tmp_path):
    path = tmp_path / "certificates.json"
    certificates.save(path)
    record = json.loads(path.read_text())
    record["noise"][0]["law"]["redraw"]["probability"] = 0.5
    path.write_text(json.dumps(record))
    check = fp.verify(tmp_path, arithmetic_only=True)
    assert "noise and identity do not fit" in check.objections
    assert not check.confirmed
