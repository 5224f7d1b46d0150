"""Sequences whose gaps close: what the checker says about them, and what a model gets of sequences of numbers."""

import json

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given, sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.verification.check import verify as check_files
from flipproof.verification.verdicts import Verdict
from tests.door.texts_and_models import LEARNED, NUMBERS, REPLACED, SOME, prizes

DELETED = fp.FlipNoise(0.0, 0.4)


# The checker


def saved(tmp_path, votes):
    path = tmp_path / "certificates.json"
    fp.certify(votes).save(path)
    return path


def check(path):
    return check_files(path, arithmetic_only=True)


def test_the_checker_confirms(tmp_path):
    votes = {
        "texts": prizes(),
        "empty": prizes(["", ""]),
        "masked": prizes(fp.Texts(SOME, mask="#")),
        "replaced": prizes(LEARNED, REPLACED),
        "tokens": fp.vote(ones, fp.Tokens(NUMBERS, 0, gaps="closed"), DELETED, 100, 1_000, classes=2, progress=False),
    }
    for name, each in votes.items():
        assert check(saved(tmp_path, each)).confirmed, name


def forged(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    return path


def test_the_checker_is_not_fooled_about_gaps(tmp_path):
    def kept(record):
        del record["scope"]["closes_gaps"]

    found = check(forged(saved(tmp_path, prizes()), kept))
    assert any("the claim in words" in objection for objection in found.objections)
    reasons = [finding.reason for _, finding in found.others() if finding.verdict is Verdict.WRONG]
    assert any("there are only 0 to change" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("texts", "noise"), [(fp.Texts(SOME, mask="#"), DELETED), (LEARNED, REPLACED), ([[0, 1]], fp.FlipNoise(0.1, 0.2))]
)
def test_the_checker_knows_what_closes_gaps(tmp_path, texts, noise):
    votes = fp.vote(lambda batch: np.zeros(len(batch), dtype=int), texts, noise, 20, 200, classes=2, progress=False)
    path = forged(saved(tmp_path, votes), lambda record: record["scope"].update(closes_gaps=True))
    with pytest.raises(fp.FileFormatError, match="gaps that close"):
        check(path)


# Sequences of numbers


def ones(rows):
    return np.array([int(np.count_nonzero(row == 1) > 1) for row in rows])


def test_what_a_model_gets_is_as_wide_as_the_data():
    sampler = fp.Tokens(NUMBERS, 0, gaps="closed").sampler(fp.FlipNoise(0.0, 0.6), 5)
    for rows in (np.arange(3), np.array([2]), np.array([0, 2])):
        drawn = sampler.draw(Role.ESTIMATE, range(4), rows)
        assert drawn.shape == (4 * rows.size, 5)
        assert all((row[np.count_nonzero(row) :] == 0).all() for row in drawn)


def test_without_padding_a_model_gets_a_list():
    rows = [[5, 1, 2], [1, 1, 1]]
    sampler = fp.Tokens(rows, gaps="closed").sampler(fp.FlipNoise(0.0, 0.6), 5)
    padded = fp.Tokens(rows, -1, gaps="closed").sampler(fp.FlipNoise(0.0, 0.6), 5)
    listed = sampler.draw(Role.ESTIMATE, range(50), np.arange(2))
    for one, other in zip(listed, padded.draw(Role.ESTIMATE, range(50), np.arange(2)), strict=True):
        assert one.tolist() == other[other != -1].tolist()
    votes = [
        fp.vote(ones, fp.Tokens(rows, padding, gaps="closed"), DELETED, 50, 500, classes=2, progress=False)
        for padding in (None, -1)
    ]
    assert (votes[0].estimation == votes[1].estimation).all()


def test_a_module_gets_padded_tokens():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Embedding(6, 4, padding_idx=0), torch.nn.Flatten(), torch.nn.Linear(20, 2))
    space, noise = fp.Tokens(NUMBERS, 0, gaps="closed"), fp.FlipNoise(0.0, 0.8)
    votes = fp.vote(fp.TorchClassifier(module, 2, dtype="int64"), space, noise, 50, 500, progress=False)
    drawn = torch.tensor(sampler_of(space, noise, 0).draw(Role.ESTIMATE, range(500), np.arange(3)))
    labels = module(drawn).argmax(dim=1).reshape(500, 3)
    assert votes.estimation[:, 1].tolist() == labels.sum(dim=0).tolist()
    assert fp.certify(votes).max_edit_distance().max() >= 1


def test_tokens_are_drawn_like_texts():
    letters = [" ".join("abcdef"[number] for number in row if number) for row in NUMBERS]
    samplers = [sampler_of(space, DELETED, 3) for space in (fp.Texts(letters), fp.Tokens(NUMBERS, 0, gaps="closed"))]
    drawn = [as_given(each, each.draw(Role.ESTIMATE, range(50), np.arange(3))) for each in samplers]
    assert drawn[0] == [" ".join("abcdef"[number] for number in row if number) for row in drawn[1].tolist()]


def test_old_tokens_keep_their_places_and_their_fingerprint():
    rows = [[5, 1, 2], [1, 1, 1]]
    assert fingerprint(fp.Tokens(rows, 0)) == fingerprint(fp.Tokens(rows, 0, gaps="".join(["ke", "pt"])))
    assert fingerprint(fp.Tokens(rows, 0)) != fingerprint(fp.Tokens(rows, 0, gaps="closed"))
