"""Samples that are drawn once more: what may have changed since, and what may not."""

from dataclasses import replace

import numpy as np
import pytest

import flipproof as fp
from flipproof.smoothing.run import STREAM_VERSION
from flipproof.smoothing.vote import vote_again
from flipproof.smoothing.voting.vote_counts import ROLES

ROWS = np.random.default_rng(0).integers(0, 2, (4, 6))
CLASSIFIER = fp.FunctionClassifier(lambda rows: rows[:, 0] | rows[:, 1], classes=2)


@pytest.fixture(scope="module")
def votes():
    return fp.vote(CLASSIFIER, ROWS, fp.FlipNoise(0.1, 0.3), 20, 60, chunk_size=10)


def drawn_again(votes, **changes):
    """All of the votes, as if some of their identity had been noted otherwise; what is ... was not noted."""
    identity = {name: each for name, each in (votes.run.identity | changes).items() if each is not ...}
    known = replace(votes, run=replace(votes.run, identity=identity))
    return vote_again(
        CLASSIFIER, ROWS, known, {role: getattr(votes.vote_counts, role).pieces for role in ROLES}, progress=False
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"code": "ab" * 32},
        {"files": {"model.py": "ab" * 32}},
        {"code": ..., "files": ..., "engine version": ...},
    ],
)
def test_code_and_files_may_be_others_because_votes_are_compared(votes, changes):
    again = drawn_again(votes, **changes)
    assert np.array_equal(again.estimate.counts, votes.estimation)
    assert np.array_equal(again.select.counts, votes.selection)


def test_versions_may_be_others(votes):
    older = replace(votes, run=replace(votes.run, versions={"numpy": "1.0"}, sources=()))
    assert np.array_equal(drawn_again(older).estimate.counts, votes.estimation)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stream version": 2}, f"stream version {STREAM_VERSION} instead of 2; take the flipproof that drew them"),
        ({"stream version": ...}, "instead of nothing; take the flipproof that drew them"),
        ({"engine version": 1}, "engine version null instead of 1; take the flipproof that drew them"),
        ({"engine version": ...}, "engine version null instead of nothing; take the flipproof that drew them"),
        ({"model": "ab" * 32}, "model [0-9a-f]{12} instead of abababababab$"),
    ],
)
def test_noise_and_engine_must_be_the_same(votes, changes, words):
    with pytest.raises(
        fp.InvalidInputError, match=f"expected the model and the data of the votes, got a difference: .*{words}"
    ):
        drawn_again(votes, **changes)


def test_fingerprints_of_an_older_flipproof_cannot_be_compared(votes):
    words = r"got votes made by an older flipproof \(fingerprints of version 1\); take the one that drew them"
    with pytest.raises(fp.InvalidInputError, match=words):
        drawn_again(votes, fingerprints=...)


def test_data_cannot_be_compared_with_votes_of_an_older_flipproof(votes, tmp_path):
    identity = {name: each for name, each in votes.run.identity.items() if name != "fingerprints"}
    older = fp.certify(replace(votes, run=replace(votes.run, identity=identity)))
    fp.write_report(tmp_path / "report.html", older)
    with pytest.raises(fp.InvalidInputError, match=r"older flipproof .* leave out `inputs`"):
        fp.write_report(tmp_path / "with_data.html", older, inputs=ROWS)
