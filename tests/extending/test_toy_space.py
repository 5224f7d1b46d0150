"""A space of somebody else goes all the way: votes, certificates, words, report, and the check in exact arithmetic."""

import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.space import Space
from tests.extending.toy_space import Rings, spelled

NOISE = fp.FlipNoise(0.05, 0.3)
ROWS = np.array(list(itertools.product((0, 1), repeat=9)))
RINGS = np.unique(spelled(ROWS), axis=0)


def labels_of(rings):
    """Whether there are four white beads side by side, wherever the ring is cut open."""
    twice = np.concatenate([rings, rings], axis=1)
    return np.lib.stride_tricks.sliding_window_view(twice, 4, axis=1).all(axis=2).any(axis=1).astype(int)


def voted(rings, **options):
    options = {"n_select": 100, "n_estimate": 2_000, "seed": 5, "progress": False} | options
    return fp.vote(fp.FunctionClassifier(labels_of, classes=2), rings, NOISE, **options)


@pytest.fixture(scope="module")
def certificates():
    return fp.certify(voted(Rings(RINGS)), alpha=0.001)


def smoothed_labels():
    """The smoothed classifier at every ring, by the probabilities of all noisy rows."""
    flips = RINGS[:, None, :] != ROWS[None, :, :]
    rates = np.where(RINGS == 1, NOISE.p_minus, NOISE.p_plus)[:, None, :]
    return (np.where(flips, rates, 1 - rates).prod(axis=2) @ labels_of(ROWS) > 0.5).astype(int)


def changes_between(clean, changed):
    """How many beads are painted white and black on the way to any rotation of another ring."""
    rotations = [np.roll(changed, step) for step in range(changed.size)]
    return {(int(np.sum(other > clean)), int(np.sum(other < clean))) for other in rotations}


def test_it_is_a_space():
    assert isinstance(Rings(RINGS), Space)
    assert len(RINGS) == 60  # binary necklaces of nine beads
    assert np.array_equal(Rings(np.roll(RINGS, 4, axis=1)).values, RINGS)


def test_no_certified_ring_changes_its_label(certificates):
    """Over the whole space: every ring, every other one, and every way to turn it."""
    smoothed = smoothed_labels()
    proved = {
        (add, delete): certificates.certified(fp.Radii(add=add, delete=delete))
        for add, delete in itertools.product(range(10), repeat=2)
    }
    reached = 0
    for ring, other in itertools.product(range(len(RINGS)), repeat=2):
        if any(proved[changes][ring] for changes in changes_between(RINGS[ring], RINGS[other])):
            assert smoothed[other] == certificates.label[ring]
            reached += ring != other
    assert reached > 100


def test_rotations_are_one_ring(certificates):
    """Votes, and what they say about the data that were voted on."""
    turned = voted(Rings(np.roll(RINGS, 4, axis=1)))
    assert np.array_equal(turned.estimation, certificates.votes.estimation)
    assert turned.run.identity == certificates.votes.run.identity


def test_votes_do_not_depend_on_chunks_or_targets(certificates):
    some = [3, 40, 7]
    again = voted(Rings(RINGS), chunk_size=70)
    assert np.array_equal(again.estimation, certificates.votes.estimation)
    alone = voted(Rings(RINGS), targets=some)
    assert np.array_equal(alone.estimation, certificates.votes.estimation[some])


def test_its_words(certificates):
    def sentence(ring):
        return fp.in_words(certificates, ring, unit="ring", class_names=("no", "yes"), inputs=Rings(RINGS))

    assert (
        sentence(0) == "No attacker who repaints up to 2 beads can change the prediction for this ring from no to yes."
    )
    three = int(np.flatnonzero((RINGS == [0, 0, 0, 0, 0, 0, 1, 1, 1]).all(axis=1))[0])
    assert sentence(three).startswith("No attacker who paints up to 2 beads black and paints no beads white can change")


def test_no_more_beads_than_there_are(certificates):
    whites = RINGS.sum(axis=1)
    assert (certificates.max_radius("delete") <= whites).all()
    assert (certificates.max_radius("add") <= 9 - whites).all()


def test_its_page(certificates, tmp_path):
    fp.write_report(tmp_path / "rings.html", certificates, inputs=Rings(RINGS), labels=labels_of(RINGS), unit="ring")
    page = (tmp_path / "rings.html").read_text(encoding="utf-8")
    assert "beads painted black" in page
    assert "Turning the ring is no change." in page


def test_a_page_of_other_rings_is_refused(certificates, tmp_path):
    with pytest.raises(InvalidInputError, match="expected the data that were voted on, got other data"):
        fp.write_report(tmp_path / "rings.html", certificates, inputs=Rings(1 - RINGS))


def test_a_noise_that_does_not_fit():
    classifier, noise = fp.FunctionClassifier(labels_of, classes=2), fp.JointNoise(beads=NOISE, string=NOISE)
    with pytest.raises(InvalidInputError, match="expected noise on parts beads, got noise on string"):
        fp.vote(classifier, Rings(RINGS), noise, 10, 10, progress=False)


def test_votes_and_certificates_are_read_back_and_confirmed(certificates, tmp_path):
    certificates.votes.save(tmp_path / "votes.npz")
    again = fp.certify(fp.Votes.load(tmp_path / "votes.npz"), alpha=0.001)
    assert again.votes.scope == certificates.votes.scope
    assert np.array_equal(again.max_l0_radius(), certificates.max_l0_radius())
    certificates.save(tmp_path / "certificates.json")
    check = fp.verify(tmp_path, arithmetic_only=True)
    assert check.confirmed
    assert check.certified_at({"add": 1, "delete": 1}) == certificates.certified(fp.Radii(add=1, delete=1)).sum()
