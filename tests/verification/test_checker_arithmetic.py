"""The arithmetic of the checker against exact fractions that share no code with it."""

from fractions import Fraction

import pytest

import flipproof as fp
from flipproof.errors import TooLargeError
from flipproof.theory import exact
from flipproof.verification.binomial import (
    best_lower_bound,
    best_upper_bound,
    is_above_every_lower_bound,
    is_lower_bound,
    tail_above,
    tail_below,
)
from flipproof.verification.worst_case import (
    FlipLaw,
    always_overlaps,
    margin,
    moves_nothing,
    worst_case,
    worst_case_of_all,
)

PROBABILITIES = [0.5, 0.01, 0.99, 1e-9, 1 - 1e-9, 2**-53, 1 - 2**-53, 1 / 3]


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("samples", [1, 2, 7, 60, 300])
def test_tails_enclose_the_exact_one_and_are_close_to_it(samples, p):
    for votes in {0, 1, samples // 3, samples // 2, samples - 1, samples}:
        truth = exact.clopper_pearson_tail(votes, samples, p)
        above, below = tail_above(votes, samples, Fraction(p)), tail_below(votes, samples, Fraction(p))
        assert below <= truth <= above
        if 2.0**-300 < truth < 1 - 2.0**-50:  # others settle every question anyway
            assert above - below <= above / 2**60


@pytest.mark.parametrize(("votes", "samples"), [(1, 10), (9, 10), (10, 10), (990, 1000), (3, 1000), (1000, 1000)])
@pytest.mark.parametrize("alpha", [Fraction(1, 100), Fraction(1, 20), Fraction(1, 10**12)])
def test_the_best_bound_is_one_and_a_better_one_is_none(votes, samples, alpha):
    best = best_lower_bound(votes, samples, alpha)
    assert exact.clopper_pearson_tail(votes, samples, best) <= alpha
    better = best + best * (1 - best) / 2**50
    assert exact.clopper_pearson_tail(votes, samples, better) > alpha
    assert not is_lower_bound(better, votes, samples, alpha)
    assert is_above_every_lower_bound(better, votes, samples, alpha)
    assert best_upper_bound(samples - votes, samples, alpha) == 1 - best


def test_a_hundred_million_samples_are_checked_and_far_more_are_not():
    assert float(tail_above(50_000_000, 10**8, Fraction(1, 2))) == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(TooLargeError, match="too many to be checked"):
        tail_above(10**15 // 2, 10**15, Fraction(1, 2))


def test_no_votes_prove_nothing():
    assert best_lower_bound(0, 100, Fraction(1, 100)) == 0
    assert best_upper_bound(100, 100, Fraction(1, 100)) == 1
    assert is_lower_bound(Fraction(0), 0, 100, Fraction(1, 100))
    assert not is_lower_bound(Fraction(1, 10**9), 0, 100, Fraction(1, 100))
    assert not is_lower_bound(Fraction(1), 100, 100, Fraction(1, 100))


@pytest.mark.parametrize(
    "noise",
    [
        fp.FlipNoise(0.01, 0.6),
        fp.FlipNoise(0.0, 0.4),
        fp.FlipNoise(0.4, 0.0),
        fp.FlipNoise(0.8, 0.7),
        fp.FlipNoise(0.5, 0.5),
        fp.FlipNoise(1.0, 0.3),
        fp.FlipNoise(5e-324, 1 - 2**-53),
        fp.FlipNoise(0.1, 0.3, 3),
        fp.FlipNoise(0.2, 0.2, 256),
        fp.FlipNoise(0.0, 0.9, 5),
    ],
)
def test_margins_are_the_exact_ones(noise):
    law = FlipLaw(Fraction(noise.p_plus), Fraction(noise.p_minus), noise.categories)
    for kind in law.kinds:
        for count in (0, 1, 2, 5, 9):
            worst, radii = worst_case(law, kind, count), fp.Radii(**{kind: count})
            for p, q in [(0, 1), (1, 0), (0.5, 0.5), (0.9, 0.05), (1 - 1e-15, 1e-15), (0.7, 0.0)]:
                assert margin(worst, Fraction(p), Fraction(q)) == exact.mu(noise, radii, p, q)


def test_changes_of_several_kinds_are_the_exact_ones():
    noise = fp.JointNoise(a=fp.FlipNoise(0.002, 0.4), b=fp.FlipNoise(0.1, 0.6, 3))
    radii = {"a": fp.Radii(2, 3), "b": fp.Radii(1, 0, 2)}
    laws = {name: FlipLaw(Fraction(part.p_plus), Fraction(part.p_minus), part.categories) for name, part in noise}
    worst = worst_case_of_all(
        [(laws[name], kind, getattr(one, kind)) for name, one in radii.items() for kind in laws[name].kinds]
    )
    for p, q in [(0.99, 0.01), (0.9999, 0.0001), (1 - 1e-12, 0.0)]:
        assert margin(worst, Fraction(p), Fraction(q)) == exact.mu(noise, radii, p, q)
    assert worst_case_of_all([(laws["a"], "delete", 400)] * 2) is None


def test_large_radii_are_exact_and_too_large_ones_are_refused():
    law, radii = FlipLaw(Fraction(0.01), Fraction(0.6), 2), fp.Radii(delete=500)
    worst = worst_case(law, "delete", 500)
    assert worst.least(Fraction(1) - Fraction(1, 10**15)) == exact.rho(
        fp.FlipNoise(0.01, 0.6), radii, 1 - Fraction(1, 10**15)
    )
    assert worst_case(FlipLaw(Fraction(0.1), Fraction(0.6), 3), "add", 1000) is None


def test_changes_that_do_not_show():
    half = FlipLaw(Fraction(1, 2), Fraction(1, 2), 2)
    assert moves_nothing(half, "add")
    assert always_overlaps(half, "add")
    assert not moves_nothing(FlipLaw(Fraction(0.4), Fraction(0.5), 2), "add")
    assert not always_overlaps(FlipLaw(Fraction(0), Fraction(1, 2), 2), "add")
    third = FlipLaw(Fraction(2, 3), Fraction(2, 3), 3)
    assert all(moves_nothing(third, kind) for kind in third.kinds)
