"""What an attacker can change, and what is claimed, as values."""

import dataclasses

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory.claims import Budget, Claim
from flipproof.theory.radii import UNBOUNDED, Axis
from flipproof.theory.scope import Scope

JOINT = fp.JointNoise(a=fp.FlipNoise(0.1, 0.2), b=fp.FlipNoise(0.1, 0.2, 3))
ADD, DELETE = Axis(None, "add"), Axis(None, "delete")


def test_room_by_axis():
    scope = Scope([[3, 1]], [[2, 4]])
    assert scope.room(JOINT).tolist() == scope.room_alone(JOINT).tolist() == [[3, 2, 1, 4, 4]]
    assert scope.totals.tolist() == [10]


def test_a_deletion_makes_room():
    scope, noise = Scope([[3]], [[2]], makes_room=True), fp.FlipNoise(0.0, 0.5)
    assert scope.room(noise).tolist() == [[5, 2]]
    assert scope.room_alone(noise).tolist() == [[3, 2]]
    assert scope.totals.tolist() == [7]  # every token replaced, and every empty place filled


def test_where_gaps_close_there_is_always_room_for_more():
    scope, noise = Scope([[0], [0]], [[2], [0]], closes_gaps=True), fp.FlipNoise(0.0, 0.5)
    assert scope.room(noise).tolist() == scope.room_alone(noise).tolist() == [[UNBOUNDED, 2], [UNBOUNDED, 0]]
    assert scope.totals.tolist() == [UNBOUNDED, UNBOUNDED]
    assert scope.selected(np.array([1])) == Scope([[0]], [[0]], closes_gaps=True)
    assert scope != Scope([[0], [0]], [[2], [0]])
    assert scope.fits(noise, 2)
    assert not scope.fits(fp.FlipNoise(0.1, 0.5), 2)


@pytest.mark.parametrize(
    ("zeros", "nonzeros", "more"),
    [
        ([1, 2], [[1], [2]], {}),
        ([[-1]], [[1]], {}),
        ([[0.5]], [[1]], {}),
        ([[1]], [[1], [1]], {}),
        ([[1], [1, 2]], [[1], [1]], {}),
        ([[2**62]], [[1]], {}),
        ([[1]], [[1]], {"fixed": "the padding"}),
        ([[1]], [[1]], {"makes_room": 1}),
        ([[1]], [[1]], {"closes_gaps": 1}),
        ([[1]], [[1]], {"makes_room": True, "closes_gaps": True}),
    ],
)
def test_other_scopes_are_refused(zeros, nonzeros, more):
    with pytest.raises(fp.InvalidInputError, match="expected"):
        Scope(zeros, nonzeros, **more)


def test_votes_refuse_the_scope_of_others():
    counts = {"selection": [[9, 1]], "estimation": [[9, 1]], "noise": fp.FlipNoise(0.1, 0.2)}
    with pytest.raises(fp.InvalidInputError, match="expected the scope of 1 inputs"):
        fp.Votes.from_counts(**counts, inputs=[[0, 1], [1, 1]])


def test_what_a_claim_covers():
    claim = Claim(0, 1, (Budget((ADD,), 1), Budget((DELETE,), 2, room=2)), (), 0.01, False)
    within = [(a, d) for a in range(4) for d in range(4) if claim.covers({ADD: a, DELETE: d})]
    assert within == [(a, d) for a in range(2) for d in range(3)]
    together = Claim(0, 1, (Budget((ADD, DELETE), 2),), (), 0.01, False)
    assert [together.covers({ADD: a, DELETE: 2 - a}) for a in range(3)] == [True] * 3
    assert not together.covers({ADD: 2, DELETE: 1})
    alone = Claim(0, 1, (Budget((ADD,), 3),), (), 0.01, False)
    assert alone.covers({ADD: 3})
    assert not alone.covers({ADD: 1, DELETE: 1})
    assert not Claim(0, None, (Budget((ADD,), 3),), (), 0.01, False).covers({})


@pytest.mark.parametrize("makes_room", [False, True])
def test_what_is_certified_is_what_can_be_reached(rng, makes_room):
    """Radii beyond the room of an input are certified exactly where the room is, in every way of asking."""
    noise = fp.FlipNoise(0.02, 0.55)
    p = rng.beta(20, 1, size=40)
    estimation = np.stack([rng.binomial(5_000, p), np.zeros(40, dtype=int)], axis=1)
    votes = fp.Votes.from_counts(selection=[[9, 1]] * 40, estimation=estimation, noise=noise, n_estimate=5_000)
    zeros, nonzeros = rng.integers(0, 4, (40, 1)), rng.integers(0, 9, (40, 1))
    plain = fp.certify(votes)
    scope = Scope(zeros, nonzeros, makes_room=makes_room)
    capped = fp.certify(dataclasses.replace(votes, scope=scope))
    room = scope.room(noise)
    for add in range(6):
        for delete in range(12):
            reached = [(min(add, a), min(delete, d)) for a, d in room.tolist()]
            expected = [plain.certified(fp.Radii(*point))[i] for i, point in enumerate(reached)]
            assert capped.certified(fp.Radii(add, delete)).tolist() == expected
    grid = capped.certified_ratio(add=[0, 2, 5], delete=[1, 4, 11])
    assert grid.tolist() == [[capped.certified(fp.Radii(a, d)).mean() for d in (1, 4, 11)] for a in (0, 2, 5)]
    for kind, most in (("add", zeros[:, 0]), ("delete", nonzeros[:, 0])):
        assert capped.uncapped_radius(kind).tolist() == plain.max_radius(kind).tolist()
        assert capped.max_radius(kind).tolist() == np.minimum(plain.max_radius(kind), most).tolist()
    for i in np.flatnonzero(~capped.abstained)[:10]:
        corners = capped.frontier(i)
        assert all((r.add, r.delete) <= tuple(room[i]) for r in corners)
        for add in range(room[i, 0] + 1):
            for delete in range(room[i, 1] + 1):
                inside = any(add <= r.add and delete <= r.delete for r in corners)
                assert inside == capped.certified(fp.Radii(add, delete))[i]


def test_claims_are_what_is_certified(rng):
    noise = fp.FlipNoise(0.02, 0.55)
    votes = fp.Votes.from_counts(
        selection=[[9, 1]] * 3, estimation=[[4_990, 10], [4_600, 400], [2_500, 2_500]], noise=noise,
        inputs=[[0, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]],
    )  # fmt: skip
    certificates = fp.certify(votes)
    claim = certificates.claim(0)
    counts = {budget.axes[0].kind: budget.count for budget in claim.budgets}
    assert certificates.certified(fp.Radii(**counts))[0]
    assert (claim.input, claim.label, claim.fixed, claim.alpha) == (0, 0, (), 0.01)
    (together,) = certificates.claim(1, "any").budgets
    assert together.count == certificates.max_l0_radius()[1]
    assert [b.count for b in certificates.claim(1, "delete").budgets] == [0, certificates.max_radius("delete")[1]]
    assert certificates.claim(2).abstains
    assert UNBOUNDED not in [b.count for b in claim.budgets]
