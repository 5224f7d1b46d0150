"""The common shape of results."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.baselines.proofs import Proofs, ProofTerms, Subject

PROMISE = ProofTerms("somebody", Subject.BASE, "r bits are flipped", "exact")


def test_what_abstained_is_certified_nowhere():
    proofs = Proofs(PROMISE, np.array([0, 1]), np.array([3, 3]), np.array([False, True]))
    assert proofs.radius.tolist() == [3, 0]
    assert proofs.certified(0).tolist() == [True, False]
    assert proofs.certified_ratio([0, 3, 4]).tolist() == [0.5, 0.5, 0.0]
    assert not proofs.radius.flags.writeable


def test_nothing():
    assert Proofs(PROMISE, np.array([]), np.array([]), np.array([])).certified_ratio([0]).tolist() == [0.0]


def test_refusals():
    with pytest.raises(fp.InvalidInputError, match="expected one label, radius and abstention per input"):
        Proofs(PROMISE, np.array([0, 1]), np.array([3]), np.array([False, True]))
    with pytest.raises(fp.InvalidInputError, match="expected radii of at least 0, got -1"):
        Proofs(PROMISE, np.array([0]), np.array([-1]), np.array([False]))
