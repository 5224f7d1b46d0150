"""A checkpoint cut at every byte: a run starts anew or goes on, and ends with the same votes."""

import numpy as np
import pytest

import flipproof as fp

ASKED = {
    "inputs": np.random.default_rng(0).integers(0, 2, (4, 6)), "noise": fp.FlipNoise(0.1, 0.3), "n_select": 8,
    "n_estimate": 24, "chunk_size": 8,
}  # fmt: skip


def vote(path):
    classifier = fp.FunctionClassifier(lambda rows: rows @ (np.arange(6) + 1) % 3, 3, fingerprint="cut")
    return fp.vote(classifier, **ASKED, checkpoint=path, progress=False)


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


@pytest.fixture
def journal(tmp_path):
    """A checkpoint with one record for each chunk, its votes, and where its header ends: the run it belongs to."""
    path = tmp_path / "run.ckpt"
    votes = vote(path)
    whole = path.read_bytes()
    return path, whole, counts(votes), whole.index(b"\xf1\x1aFP", whole.index(b"\xf1\x1aFP") + 1)


def test_a_header_cut_at_every_byte_starts_anew(journal):
    path, whole, expected, header = journal
    assert whole.startswith(b"flipproof-checkpoint 1\n")
    for length in range(header):
        path.write_bytes(whole[:length])
        votes = vote(path)
        assert counts(votes) == expected
        assert votes.run.drawn == 32
        assert path.read_bytes() == whole


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_votes_cut_at_every_byte_go_on_where_they_are_whole(journal, step):
    """The default run takes every fifth byte; tests/smoothing/test_checkpoint.py reads files cut at every one."""
    path, whole, expected, header = journal
    drawn = []
    for length in [*range(header, len(whole), step), len(whole)]:
        path.write_bytes(whole[:length])
        votes = vote(path)
        assert counts(votes) == expected
        drawn.append(votes.run.drawn)
    assert drawn == sorted(drawn, reverse=True)
    assert set(drawn) == {32, 24, 16, 8, 0}


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_header_with_any_byte_wrong_is_refused_or_starts_anew(journal, step, rng):
    """Damage that no crash explains is told in one line and left alone; votes are never taken for those of this run."""
    path, whole, expected, header = journal
    refused = []
    for position in range(0, header, step):
        damaged = bytearray(whole[:header])
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            votes = vote(path)
        except fp.FlipproofError as error:
            refused.append(str(error))
            assert path.read_bytes() == damaged
        else:
            assert counts(votes) == expected
            assert votes.run.drawn == 32
    assert len(refused) >= len(b"flipproof-checkpoint 1\n") / step
    assert not any("\n" in line for line in refused)
