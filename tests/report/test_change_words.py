"""Sentences say no more than what is certified: one change in words is one change of the certificate."""

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.spaces.words import image_words, sequence_words, small_graph_words, table_words
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.words.promises import axis_words, plain_words
from flipproof.theory.radii import parts_of


def certified(noise, share=1.0):
    """Certificates of one input on whose noisy copies so many of 10,000 samples agree."""
    votes = fp.Votes.from_counts(
        selection=[[0, 100]], estimation=[[round(10_000 * (1 - share)), round(10_000 * share)]], noise=noise
    )
    return fp.certify(votes)


LONG = [*range(1, 40)]
"""A text longer than what is certified."""


def test_replaced_words_are_a_deletion_and_an_addition():
    noise, tokens = fp.FlipNoise(0.0, 0.85), fp.Tokens([LONG], mask=99)
    for share in (0.6, 0.8, 0.9, 0.97, 0.999):
        certificates = certified(noise, share)
        sentence = fp.in_words(certificates, 0, unit="message", entries="words", inputs=tokens)
        most = max(r for r in range(30) if certificates.certified(fp.Radii(add=r, delete=r))[0])
        if most:
            words = "word" if most == 1 else "words"
            assert sentence.startswith(f"No attacker who replaces up to {most} {words} in place can change")
        else:
            assert "replaces" not in sentence
            assert "blanks" in sentence or "No robustness proven" in sentence
    assert most > 1


def test_words_that_are_blanked_are_not_called_deleted():
    certificates = certified(fp.FlipNoise(0.0, 0.4))  # nothing can be added, so nothing can be replaced
    most = int(certificates.max_radius("delete")[0])
    sentence = fp.in_words(certificates, 0, entries="words", inputs=fp.Tokens([LONG], mask=99))
    assert sentence.startswith(f"No attacker who blanks up to {most} words and writes no words into empty places can")


def test_substitution_never_speaks_of_words_added():
    tokens = fp.Tokens([LONG])
    certificates = certified(fp.FlipNoise(0.75, 0.75, 50))
    most = int(certificates.max_l0_radius()[0])
    even = fp.in_words(certificates, 0, entries="words", inputs=tokens)
    assert even.startswith(f"No attacker who replaces up to {most} words in place can change the prediction")
    uneven = fp.in_words(certified(fp.FlipNoise(0.5, 0.75, 50)), 0, entries="words", inputs=tokens)
    assert "adds" not in uneven
    assert "deletes" not in uneven
    assert "replaces up to" in uneven


def test_bits_that_change_are_added_or_deleted():
    """Replacing a word of a bag is two changes, so "changes one word" would be false."""
    noise = fp.FlipNoise(0.02, 0.02)
    certificates = certified(noise)
    bags = fp.SparseRows(sp.csr_array([[1, 0, 1]]))
    radius = int(certificates.max_l0_radius()[0])
    assert radius == 1
    assert not certificates.certified(fp.Radii(add=1, delete=1))[0]
    sentence = fp.in_words(certificates, 0, entries="words", inputs=bags)
    assert sentence.startswith("No attacker who adds or deletes up to 1 word in all can change")


@pytest.mark.parametrize("one_hot", [True, False])
def test_kinds_of_nodes_are_entries_or_bits(one_hot):
    categories = 2 if one_hot else 7
    certificates = certified(fp.FlipNoise(0.2, 0.2, categories))
    described = DescribedInputs(unit="graph", **small_graph_words("attributes", one_hot))
    found = CertifiedInputs(certificates, described)
    sentence = plain_words(found, 0)
    assert ("bits of the kinds of nodes" in sentence) == one_hot
    assert ("changes up to" in sentence) == (not one_hot)
    assert ("adds or deletes" in sentence) == one_hot
    axes = [axis_words(axis, found) for axis in found.axes]
    if one_hot:
        assert axes == ["bits of the kinds of nodes added", "bits of the kinds of nodes deleted"]
    else:
        assert axes[:2] == ["nodes turned from kind 0", "nodes turned to kind 0"]


def test_colours_are_not_pixels():
    described = DescribedInputs(unit="image", **image_words(colours=True))
    certificates = certified(fp.FlipNoise(0.8, 0.8, 256))
    sentence = plain_words(CertifiedInputs(certificates, described), 0)
    assert f"up to {certificates.max_l0_radius()[0]} colour values in any way" in sentence
    assert "pixels" not in sentence
    assert image_words(colours=False)["entries"] == {"": "pixels"}


def test_cells_are_turned_and_not_added():
    table = fp.Table([[0, 2, 1]], [2, 3, 2])
    noise = table.noise(0.2, 0.3)
    described = DescribedInputs(unit="row", **table_words(parts_of(noise)))
    found = CertifiedInputs(certified(noise), described)
    words = [axis_words(axis, found) for axis in found.axes]
    assert words[0] == "cells with 2 values turned from category 0"
    assert not any("added" in each or "deleted" in each for each in words)
    certificates = certified(table.noise(0.2, 0.2))
    most = int(certificates.max_l0_radius()[0])
    assert f"changes up to {most} cells in any way, and leaves alone what gets no noise," in plain_words(
        CertifiedInputs(certificates, described), 0
    )


def test_the_promise_speaks_of_places():
    from flipproof.report.words.promises import not_promised, promise

    certificates = certified(fp.FlipNoise(0.0, 0.85))
    described = DescribedInputs(unit="message", **sequence_words(masking=True))
    inputs = CertifiedInputs(certificates, described)
    assert any("Inserting words, or closing a gap" in line for line in not_promised(inputs))
    assert any("add (words written into empty places)" in line for line in promise(inputs))


def test_pages_and_python_say_the_same(tmp_path):
    noise, tokens = fp.FlipNoise(0.0, 0.85), fp.Tokens([[1, 2, 3]], mask=9)
    classifier = fp.FunctionClassifier(lambda rows: np.ones(len(rows), dtype=int), classes=2)
    certificates = fp.certify(fp.vote(classifier, tokens, noise, 20, 200, progress=False))
    fp.write_report(tmp_path / "page.html", certificates, inputs=tokens, unit="message", entries="words")
    text = (tmp_path / "page.html").read_text()
    head = fp.in_words(certificates, 0, unit="message", entries="words", inputs=tokens).partition(" from ")[0]
    assert head in text
    assert "words blanked" in text
