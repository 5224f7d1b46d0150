"""Sentences and headline numbers that claimed more than was proved: each was seen, and none may come back."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.content import content
from flipproof.report.section import BlindClassifier, Section
from flipproof.report.words.verdict import NOTHING_PROVEN, cautions, class_results, headline, majority, withstanding
from flipproof.report.writing import change_words


def constant(label=0, classes=2):
    return fp.FunctionClassifier(lambda rows: np.full(rows.shape[0], label), classes=classes)


def section_of(certificates, space, **fields):
    return Section("run", certificates, DescribedInputs(**change_words(certificates, space, None), **fields))


# Uncovered entries


def table_that_one_cell_turns():
    """The label is the value of a column that gets no noise."""
    table = fp.Table([[0, 1, 2, 1, 0]] * 3, categories=[3, 2, 3, 3, 2])
    classifier = fp.FunctionClassifier(lambda rows: rows[:, 1].astype(int), classes=2)
    votes = fp.vote(classifier, table, fp.JointNoise(k3=fp.FlipNoise(0.5, 0.5, 3)), 100, 20_000, progress=False)
    return table, fp.certify(votes)


def test_columns_without_noise_are_not_covered():
    table, certificates = table_that_one_cell_turns()
    assert fp.in_words(certificates, 0, inputs=table, entries="cells") == (
        "No attacker who changes any or all 3 cells in any way, and leaves the columns with 2 values alone, can change "
        "the prediction for this row from 1 to 0."
    )
    assert "leaves the columns with 2 values alone" in fp.in_words(certificates, 0)
    page = content(section_of(certificates, table))
    assert "leaves the columns with 2 values alone" in " ".join(page["words"]["promise"])
    assert "the columns with 2 values and the model must stay the same" in " ".join(page["words"]["not_promised"])
    assert page["words"]["promise"][0] == (
        "3 of 3 inputs (100 %) withstand any one changed cell, with the columns with 2 values left alone."
    )
    spoken = [number for number in page["numbers"] if "changed" in number["name"]]
    assert len(spoken) == 2
    assert all("with the columns with 2 values left alone" in number["note"] for number in spoken)


def test_padding_is_not_covered():
    """A word written into the padding turns this classifier."""
    tokens = fp.Tokens([[1, 2, 3, 9, 9]] * 2, padding=9)
    classifier = fp.FunctionClassifier(lambda rows: (rows[:, 4] != 9).astype(int), classes=2)
    votes = fp.vote(classifier, tokens, fp.FlipNoise(0.6, 0.6, 9), 100, 5_000, progress=False)
    sentence = fp.in_words(fp.certify(votes), 0, inputs=tokens, entries="words", unit="message")
    assert sentence.startswith(
        "No attacker who replaces any or all 3 words in place, and leaves the padding alone, can"
    )


def test_padding_that_no_row_has_is_not_covered():
    """It may be written over a token, and noise never takes it away again."""
    tokens = fp.Tokens([[1, 2, 1, 0], [2, 2, 1, 1]], padding=3)
    classifier = fp.FunctionClassifier(lambda rows: (rows == 3).any(axis=1).astype(int), classes=2)
    votes = fp.vote(classifier, tokens, fp.FlipNoise(0.6, 0.6, 3), 100, 5_000, progress=False)
    assert "and leaves the padding alone, can" in fp.in_words(fp.certify(votes), 0, inputs=tokens)


def test_a_part_is_not_called_by_a_number_that_it_has_not():
    table = fp.Table([[0, 1, 4], [1, 2, 3]], [3, 3, 5], columns=["k5", "k5", "x"])
    votes = fp.vote(constant(), table, fp.JointNoise(x=fp.FlipNoise(0.5, 0.5, 5)), 100, 5_000, progress=False)
    assert "and leaves the columns of part k5 alone" in fp.in_words(fp.certify(votes), 0, inputs=table)


def test_votes_on_some_targets_do_not_get_the_room_of_others():
    rows = [[1, 1, 0, 0, 0, 0, 0, 0], [1] * 8]
    classifier = fp.FunctionClassifier(lambda noisy: (noisy.sum(axis=1) > 0).astype(int), classes=2)
    votes = fp.vote(classifier, rows, fp.FlipNoise(0.0, 0.3), 100, 5_000, targets=[1, 0], progress=False)
    old = fp.certify(dataclasses.replace(votes, scope=None))
    assert "any or all" not in fp.in_words(old, 0, inputs=rows)


# Radii beyond what exists


def bags(lengths, columns=60):
    return sp.csr_array((np.arange(columns) < np.array(lengths)[:, None]).astype(int))


def test_nobody_deletes_more_words_than_there_are():
    certificates = fp.certify(
        fp.vote(constant(), bags([10, 2, 1, 59]), fp.FlipNoise(0.0, 0.8), 100, 100_000, progress=False)
    )
    assert certificates.uncapped_radius("delete").min() > 20
    assert certificates.max_radius("delete").tolist() == [10, 2, 1, *certificates.uncapped_radius("delete")[3:]]
    assert certificates.to_columns()["max_delete"].tolist() == certificates.max_radius("delete").tolist()
    words = [fp.in_words(certificates, i, entries="words", unit="message") for i in range(4)]
    assert "deletes any or all 10 can" in words[0]
    assert "deletes any or all 2 can" in words[1]
    assert "deletes up to 1 can" in words[2]
    assert "adds up to 1 word and deletes up to 40 can" in words[3]
    page = content(section_of(certificates, None))
    assert page["axes"][1]["mean"] == certificates.max_radius("delete").mean()
    assert certificates.certified(fp.Radii(delete=50)).tolist() == [True, True, True, False]


# Radius 0 is not robustness


@pytest.fixture
def unsure():
    """Certain of their predictions, and certified against no change at all."""
    votes = fp.Votes.from_counts(
        selection=[[90, 10]] * 12, estimation=[[600, 400]] * 12, noise=fp.FlipNoise(0.01, 0.1), inputs=bags([3] * 12)
    )
    return fp.certify(votes)


def test_nothing_is_proven_against_a_single_change(unsure):
    assert not unsure.abstained.any()
    assert not unsure.certified(fp.Radii(delete=1)).any()
    described = DescribedInputs(unit="row")
    assert headline(CertifiedInputs(unsure, described)) == NOTHING_PROVEN
    page = content(Section("run", unsure, described))
    assert page["words"]["promise"][0] == NOTHING_PROVEN
    assert [number["value"] for number in page["numbers"][:2]] == ["0 %", "0 %"]
    assert fp.in_words(unsure, 0, entries="words").startswith(
        "No robustness proven: even one changed word might change"
    )


def test_kinds_that_are_certified_where_not_all_are_have_a_headline():
    table = fp.Table([[0, 1, 2], [1, 2, 2]], [2, 3, 3])
    noise = fp.JointNoise(k2=fp.FlipNoise(0.0, 0.0), k3=fp.FlipNoise(0.6, 0.6, 3))
    certificates = fp.certify(fp.vote(constant(), table, noise, 100, 5_000, progress=False))
    described = DescribedInputs(**change_words(certificates, table, None))
    said = headline(CertifiedInputs(certificates, described))
    assert said.startswith("0 of 2 inputs (0 %) withstand any one changed cell, ")
    assert "2 (100 %) any one cell with 3 values turned to category 0" in said


def test_the_headline_counts_single_changes():
    votes = fp.Votes.from_counts(
        selection=[[90, 10]] * 3, estimation=[[99_990, 10], [600 * 100, 400 * 100], [50_000, 50_000]],
        noise=fp.FlipNoise(0.01, 0.6), inputs=bags([3, 3, 0]),
    )  # fmt: skip
    described = DescribedInputs(unit="message", entries={"": "words"})
    certificates = fp.certify(votes)
    found = withstanding(CertifiedInputs(certificates, described))
    assert [(each.change, each.count) for each in found] == [("add", 1), ("delete", 1)]
    assert headline(CertifiedInputs(certificates, described)) == (
        "1 of 3 messages (33 %) withstands any one added word and 1 (33 %) any one deleted word."
    )


# One class


def test_a_constant_is_called_one():
    labels = np.array([1] * 2 + [0] * 48)
    certificates = fp.certify(fp.vote(constant(), bags([5] * 50), fp.FlipNoise(0.01, 0.6), 100, 2_000, progress=False))
    described = DescribedInputs(unit="message", labels=labels, class_names=("ham", "spam"))
    assert certificates.certified_accuracy(labels) == 0.96
    ham, spam = class_results(CertifiedInputs(certificates, described))
    assert (ham.name, ham.inputs, ham.predicted, ham.accuracy) == ("ham", 48, 50, 1.0)
    assert (spam.name, spam.inputs, spam.predicted, spam.accuracy) == ("spam", 2, 0, 0.0)
    assert spam.right["delete"] == 0.0
    assert spam.withstand["delete"] == 1.0
    said = " ".join(cautions(CertifiedInputs(certificates, described)))
    assert "answers ham for every message" in said
    assert "always answering ham, which no such change can affect, would be right for 0.960" in said
    page = content(Section("run", certificates, described))
    assert page["words"]["cautions"] == cautions(CertifiedInputs(certificates, described))
    assert [row[0] for row in page["by_class"]["rows"]] == ["ham", "spam"]


def test_a_part_of_the_data_that_is_enough_is_named():
    labels = np.array([1, 0] * 25)
    certificates = fp.certify(fp.vote(constant(), bags([5] * 50), fp.FlipNoise(0.01, 0.6), 100, 2_000, progress=False))
    described = DescribedInputs(labels=labels)
    blind = BlindClassifier("logistic regression on the attributes alone", 0.7)
    assert "logistic regression on the attributes alone, which no such change" in " ".join(
        cautions(CertifiedInputs(certificates, described), blind)
    )
    assert majority(CertifiedInputs(certificates, described)).accuracy == 0.5
    unlabelled = CertifiedInputs(certificates, DescribedInputs())
    assert cautions(unlabelled)[1:] == []  # without labels only the constant is seen


def test_noise_that_drowns_the_input_is_called_so():
    rows = bags([2] * 20, columns=2_000)
    half = fp.FunctionClassifier(lambda noisy: np.diff(noisy.indptr) % 2, classes=2)
    certificates = fp.certify(fp.vote(half, rows, fp.FlipNoise(0.01, 0.6), 100, 200, progress=False))
    (said,) = cautions(CertifiedInputs(certificates, DescribedInputs(entries={"": "words"})))
    assert "p_plus = 0.01 adds about 10.0 others" in said
    quiet = fp.certify(fp.vote(half, rows, fp.FlipNoise(0.001, 0.6), 100, 200, progress=False))
    assert cautions(CertifiedInputs(quiet, DescribedInputs())) == []


def test_a_class_without_inputs_has_no_accuracy():
    certificates = fp.certify(fp.vote(constant(), bags([5] * 3), fp.FlipNoise(0.01, 0.6), 100, 2_000, progress=False))
    absent, present = class_results(CertifiedInputs(certificates, DescribedInputs(labels=np.array([1, 1, 1]))))
    assert (absent.inputs, absent.predicted, absent.accuracy, absent.right["add"]) == (0, 3, None, None)
    assert present.accuracy == 0.0


# Any change, as one number


def test_more_axes_than_an_array_has_dimensions(tmp_path):
    noise = fp.JointNoise(**{f"c{i}": fp.FlipNoise(0.5, 0.4, 3) for i in range(22)})
    votes = fp.Votes.from_counts(selection=[[9, 1]] * 2, estimation=[[9_990, 10]] * 2, noise=noise)
    certificates = fp.certify(votes)
    assert certificates.certified_ratio({"c0": {"add": [0, 1, 2]}}).tolist() == [1.0, 1.0, 1.0]
    fp.write_report(tmp_path / "report.html", certificates)


def test_twenty_cardinalities_have_one_number_and_a_report(tmp_path, rng):
    categories = list(range(2, 22))
    table = fp.Table(rng.integers(0, categories, size=(40, 20)), categories)
    votes = fp.vote(constant(), table, table.noise(0.4, 0.4), 100, 20_000, progress=False)
    certificates = fp.certify(votes)
    radii = certificates.max_l0_radius()
    assert 0 < radii.min() <= radii.max() <= 20
    assert certificates.to_columns()["max_any"].tolist() == radii.tolist()
    assert fp.in_words(certificates, 0, inputs=table).startswith(
        f"No attacker who changes up to {radii[0]} cells in any"
    )
    fp.write_report(tmp_path / "report.html", certificates, inputs=table, labels=np.zeros(40, dtype=int))
    page = content(section_of(certificates, table))
    assert page["words"]["promise"][0] == "40 of 40 inputs (100 %) withstand any one changed cell."
    assert [number["name"] for number in page["numbers"]] == [
        "withstand any one changed cell", "not abstained", "mean radius, cells changed in any way",
    ]  # fmt: skip
    assert len(page["details"]) == len(page["axes"]) == 59
    certificates.save(tmp_path / "certificates.json")
    assert fp.verify(tmp_path / "certificates.json", arithmetic_only=True).confirmed
