"""One plain sentence per input: what it says is certified, all of it together, and nothing larger of its kind is."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

import flipproof as fp
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.content import content
from flipproof.report.section import Section
from flipproof.report.words.promises import plain_words
from flipproof.theory.radii import axes_of, parts_of
from flipproof.theory.scope import Scope
from page_data import unpacked

ENTRIES = {"": "words", "structure": "edges", "attributes": "attributes"}
NOISES = {
    "binary": fp.FlipNoise(0.01, 0.6),
    "levels": fp.FlipNoise(0.3, 0.5, categories=4),
    "joint": fp.JointNoise(structure=fp.FlipNoise(0.01, 0.4), attributes=fp.FlipNoise(0.02, 0.5)),
}
EVEN = fp.FlipNoise(0.3, 0.3, categories=3)
TABLE = fp.JointNoise(k2=fp.FlipNoise(0.2, 0.2), k3=fp.FlipNoise(0.2, 0.2, 3), k5=fp.FlipNoise(0.2, 0.2, 5))


def certificates_of(noise, inputs=30, classes=2, samples=1_000, fixed=()):
    """From inputs that abstain to one that all samples agree on; they have room for any changes."""
    wrong = np.linspace(0, samples // 2, inputs).astype(int)[::-1]
    counts = np.zeros((inputs, classes), dtype=int)
    counts[:, 1], counts[:, 0] = samples - wrong, wrong
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise)
    room = np.full((inputs, len(parts_of(noise))), 10**6)
    return fp.certify(dataclasses.replace(votes, scope=Scope(room, room, fixed)))


def subject_of(classes=2):
    return DescribedInputs(unit="message", entries=ENTRIES, class_names=("ham", "spam", "other")[:classes])


def said(sentence, noise):
    """The combination in a sentence, as counts along the axes of the noise."""
    changes = re.findall(r"(add|delete|change)s (?:up to ([\d,]+)|no|none)\b", sentence)
    counts = {}
    parts = list(dict.fromkeys(axis.part for axis in axes_of(noise)))
    width = len(changes) // len(parts)
    for i, (kind, count) in enumerate(changes):
        counts[parts[i // width], kind] = int(count.replace(",", "") or 0)
    return tuple(counts[axis.part, axis.kind] for axis in axes_of(noise))


def radii_at(noise, point):
    parts = {}
    for axis, count in zip(axes_of(noise), point, strict=True):
        parts.setdefault(axis.part, {})[axis.kind] = count
    return fp.Radii(**parts[None]) if None in parts else {part: fp.Radii(**kinds) for part, kinds in parts.items()}


@pytest.mark.parametrize("name", NOISES)
def test_what_is_said_is_certified_and_nothing_larger(name):
    noise = NOISES[name]
    certificates, described = certificates_of(noise, inputs=16), subject_of()
    points = itertools.product(range({2: 9, 3: 6, 4: 4}[len(axes_of(noise))]), repeat=len(axes_of(noise)))
    certified = {point: certificates.certified(radii_at(noise, point)) for point in points}
    spoken = 0
    for i in np.flatnonzero(~certificates.abstained):
        sentence = plain_words(CertifiedInputs(certificates, described), i)
        if "No robustness proven" in sentence:
            assert not any(flags[i] for point, flags in certified.items() if sum(point) == 1)
            continue
        point = said(sentence, noise)
        assert certificates.certified(radii_at(noise, point))[i], sentence
        size = np.prod(np.add(point, 1))
        assert all(np.prod(np.add(other, 1)) <= size for other, flags in certified.items() if flags[i])
        spoken += 1
    assert spoken > 3


def test_a_spam():
    certificates = certificates_of(NOISES["binary"])
    assert plain_words(CertifiedInputs(certificates, subject_of()), 29) == (
        "No attacker who adds up to 1 word and deletes up to 7 can change the prediction for this message "
        "from spam to ham."
    )
    assert plain_words(CertifiedInputs(certificates, subject_of()), 0) == (
        "The smoothed classifier abstains from this message: nothing is certified."
    )


def test_with_more_classes_it_is_turned_into_nothing_else():
    sentence = plain_words(CertifiedInputs(certificates_of(NOISES["binary"], classes=3), subject_of(classes=3)), 29)
    assert sentence.endswith("from spam to anything else.")


def test_what_is_not_done_is_said():
    sentence = plain_words(CertifiedInputs(certificates_of(NOISES["binary"]), subject_of()), 20)
    assert "who deletes up to 2 words and adds none can" in sentence


@pytest.mark.parametrize("noise", [EVEN, TABLE], ids=["even", "table"])
def test_changes_of_any_kind(noise):
    certificates = certificates_of(noise)
    radii = certificates.max_l0_radius()
    assert radii.max() > 0
    for i in np.flatnonzero(radii > 0):
        number = f"{radii[i]} words" if radii[i] > 1 else "1 word"
        assert plain_words(CertifiedInputs(certificates, subject_of()), i) == (
            f"No attacker who changes up to {number} in any way can change the prediction for this message "
            "from spam to ham."
        )


def test_one_kind_alone_where_no_mixture_is_certified():
    noise = fp.JointNoise(a=fp.FlipNoise(0.001, 0.4, 3), b=fp.FlipNoise(0.3, 0.3, 3))
    certificates = certificates_of(noise)
    (only,) = np.flatnonzero(certificates.max_radius("b.add") > 0)[-1:]
    assert certificates.max_l0_radius()[only] == 0
    sentence = plain_words(CertifiedInputs(certificates, DescribedInputs(entries={"b": "pixels"})), only)
    found = re.search(r"who (?:add|delete|change)s up to (\d+) (?:pixel|entr).+ and changes nothing else", sentence)
    assert int(found[1]) == max(certificates.max_radius(str(axis))[only] for axis in axes_of(noise))


def test_no_end():
    certificates = certificates_of(fp.FlipNoise(0.4, 0.6))
    assert "who adds any number of words and deletes any or all 1,000,000 can" in plain_words(
        CertifiedInputs(certificates, subject_of()), 29
    )
    unknown = dataclasses.replace(certificates, votes=dataclasses.replace(certificates.votes, scope=None))
    assert (
        "who adds any number of words and deletes any number, and leaves alone what gets no noise, can"
        in plain_words(CertifiedInputs(unknown, subject_of()), 29)
    )


def test_what_gets_no_noise_is_left_alone():
    certificates = certificates_of(NOISES["binary"], fixed=("the padding", "self-loops"))
    sentence = plain_words(CertifiedInputs(certificates, subject_of()), 29)
    assert "who adds up to 1 word and deletes up to 7, and leaves the padding and self-loops alone, can" in sentence


def test_no_robustness():
    certificates = certificates_of(NOISES["binary"])
    (weak,) = np.flatnonzero(~certificates.abstained & (certificates.max_radius("delete") == 0))[:1]
    assert plain_words(CertifiedInputs(certificates, subject_of()), weak) == (
        "No robustness proven: even one changed word might change the prediction for this message."
    )


@pytest.mark.parametrize("noise", [*NOISES.values(), EVEN, TABLE], ids=[*NOISES, "even", "table"])
def test_the_page_says_the_same(noise):
    certificates, described = certificates_of(noise, inputs=12), subject_of()
    page = content(Section("a run", certificates, described))
    index = unpacked(page["sentences"]["index"])
    for i in range(12):
        head, whole = page["sentences"]["heads"][index[i]], plain_words(CertifiedInputs(certificates, described), i)
        assert whole == (head if head.endswith(".") else f"{head} from spam to ham.")


@pytest.mark.parametrize("index", [-1, 30])
def test_an_input_that_is_not_there(index):
    with pytest.raises(fp.InvalidInputError, match=rf"expected the number of an input in \[0, 30\), got {index}"):
        plain_words(CertifiedInputs(certificates_of(NOISES["binary"]), subject_of()), index)


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (EVEN, "words changed in any way"),
        (NOISES["joint"], "words changed in any way"),
        (NOISES["levels"], "words changed in any way"),
    ],
    ids=["even", "joint", "levels"],
)
def test_radii_of_any_changes_are_on_the_page(noise, words):
    certificates, truth = certificates_of(noise), np.arange(30) % 2
    split = fp.Split([0, 1], [2], np.arange(3, 30))
    described = DescribedInputs(entries=ENTRIES, labels=truth, split=split)
    page, radii = content(Section("any", certificates, described)), certificates.max_l0_radius()
    assert page["any"]["words"] == words
    assert np.array_equal(unpacked(page["any"]["radius"]), radii)
    assert (page["any"]["mean"], page["any"]["largest"]) == (radii.mean(), radii.max())
    right = ~certificates.abstained & (certificates.label == truth)
    for count in page["any"]["line_counts"]:
        ratio, accuracy = (measure["lines"][-1][count] for measure in page["measures"])
        assert ratio == (~certificates.abstained & (radii >= count)).mean()
        assert accuracy == (right & (radii >= count))[3:].mean()
    (tile,) = [number for number in page["numbers"] if number["name"] == f"mean radius, {words}"]
    assert tile["value"] == f"{radii.mean():.2f}"


def test_two_parts_are_named_together():
    page = content(
        Section("both", certificates_of(NOISES["joint"]), DescribedInputs(entries=dict(list(ENTRIES.items())[1:])))
    )
    assert page["any"]["words"] == "edges or attributes changed in any way"


def test_any_changes_are_left_out_where_they_say_little():
    assert content(Section("two kinds", certificates_of(NOISES["binary"])))["any"] is None


def test_promises_say_whether_the_classifier_was_checked():
    from flipproof.report.words.promises import not_promised, promise
    from flipproof.report.words.verdict import cautions

    majority = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 2).astype(int), 2, "majority")
    rows, noise = [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], fp.FlipNoise(0.05, 0.1)
    unchecked = "The certificates hold only if the classifier always gives the same label to the same noisy input."
    elsewhere = "The votes were counted elsewhere."
    for check in (True, False):
        votes = fp.vote(majority, rows, noise, 50, 500, progress=False, check=check)
        certificates = fp.certify(votes)
        for shown in (certificates, certificates.selected(np.array([0]))):  # some inputs were drawn like all of them
            described = DescribedInputs(unit="row")
            for said in (promise(CertifiedInputs(shown, described)), cautions(CertifiedInputs(shown, described))):
                assert any(each.startswith(unchecked) for each in said) is not check
            assert not any(each.startswith(elsewhere) for each in not_promised(CertifiedInputs(shown, described)))
    counted = fp.certify(fp.Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise))
    rows = CertifiedInputs(counted, DescribedInputs(unit="row"))
    assert any(each.startswith(elsewhere) for each in not_promised(rows))
    assert not any(each.startswith(unchecked) for each in promise(rows))
