"""Certificates from divergences: thresholds against solvers, divergences against sums, and never past the tight one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import flipproof as fp
from flipproof.baselines import f_divergence
from flipproof.baselines.from_votes.f_divergence import Divergence, threshold_at
from flipproof.theory import exact

probabilities = st.floats(0.02, 0.98)


@st.composite
def cases(draw):
    p_plus = draw(st.sampled_from([0.0, 1e-9]) | st.floats(1e-6, 0.9))
    noise = fp.FlipNoise(p_plus, draw(st.floats(0.01, 0.95)), draw(st.sampled_from([2, 2, 3, 5])))
    most = 4 if noise.categories == 2 else 2
    counts = {kind: draw(st.integers(0, most)) for kind in ("add", "delete", "change")}
    radii = fp.Radii(counts["add"], counts["delete"], counts["change"] if noise.categories > 2 else 0)
    p_lower = draw(st.floats(0.3, 1.0))
    return noise, radii, p_lower, draw(st.floats(0.0, 1.0)) * (1.0 - p_lower)


@given(cases(), st.sampled_from(list(Divergence)))
def test_never_more_than_the_tight_certificate(case, divergence):
    noise, radii, p_lower, p_upper = case
    if f_divergence.certified(noise, radii, np.array([p_lower]), np.array([p_upper]), divergence)[0]:
        assert exact.mu(noise, radii, Fraction(p_lower), Fraction(p_upper)) > 0


@pytest.mark.parametrize("order", [0.1, 0.5, 0.9, 1.0, 1.3, 3.0, 20.0])
def test_the_threshold_is_the_smallest_divergence_at_which_the_runner_up_catches_up(order, rng):
    for _ in range(20):
        b, a, rest = rng.dirichlet([1, 1, 1])[[0, 1, 2]]
        a, b = max(a, b), min(a, b)
        share = np.linspace(0, 0.5, 400_001)[1:-1]
        before, after = np.array([a, b, rest])[:, None], np.stack([share, share, 1 - 2 * share])
        if order == 1.0:
            apart = (after * np.log(after / before)).sum(axis=0)
        else:
            apart = np.log((after**order * before ** (1 - order)).sum(axis=0)) / (order - 1)
        found = threshold_at(np.array([a]), np.array([b]), Divergence.RENYI, order)[0]
        assert found <= apart.min()
        assert found == pytest.approx(apart.min(), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("order", [0.3, 0.9, 1.0, 1.2, 2.5])
def test_the_hockey_stick_threshold_is_that_of_a_linear_program(order, rng):
    """Minimise the sum of t_i >= q_i - k p_i over laws q with equal first probabilities."""
    for _ in range(20):
        a, b, rest = rng.dirichlet([1, 1, 1])
        a, b = max(a, b), min(a, b)
        p = np.array([a, b, rest])
        rows = np.concatenate([np.eye(3), -np.eye(3)], axis=1)
        solved = linprog(
            c=[0, 0, 0, 1, 1, 1], A_ub=rows, b_ub=order * p, A_eq=[[1, 1, 1, 0, 0, 0], [1, -1, 0, 0, 0, 0]], b_eq=[1, 0]
        )
        least = solved.fun - max(0.0, 1 - order)  # below order one, some of it is there whatever q is
        found = threshold_at(np.array([a]), np.array([b]), Divergence.HOCKEY_STICK, order)[0]
        assert max(found, 0.0) == pytest.approx(least, abs=1e-7)


@given(cases(), st.sampled_from([0.2, 0.7, 1.0, 1.5, 4.0]))
def test_divergences_add_up_over_entries(case, order):
    """Against the sum over the regions of all changed entries together."""
    noise, radii, *_ = case
    regions = exact.regions(noise, radii)
    clean, changed = (np.array([float(getattr(r, name)) for r in regions]) for name in ("clean", "adversarial"))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if order == 1.0:
            terms = np.where(changed > 0, changed * (np.log(changed) - np.log(clean)), 0.0)
            apart = terms.sum()
        else:
            terms = np.where(changed > 0, order * np.log(changed) + (1 - order) * np.log(clean), -np.inf)
            apart = np.logaddexp.reduce(terms) / (order - 1)
    bound = f_divergence.divergence_bound(noise, radii, "renyi", order)
    if np.isinf(apart):
        assert bound == apart
        return
    assert bound >= apart - 1e-12 * (1 + abs(apart))
    assert bound == pytest.approx(apart, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("keep", "radius", "published"),
    [(0.2, 1, 0.942972), (0.2, 3, 0.998067), (0.2, 5, 0.999885), (0.2, 7, 0.999991), (0.1, 1, 0.832042)],
)
def test_critical_probabilities_for_images_of_256_levels(keep, radius, published):
    """The best of KL and Renyi on a grid of its own, whose values this package's grid reaches or beats by a hair."""
    noise = fp.FlipNoise(1 - keep, 1 - keep, categories=256)
    assert f_divergence.critical_probability(noise, fp.Radii(change=radius)) == pytest.approx(published, abs=2e-4)


def test_radii_from_votes_are_at_most_the_tight_ones(rng):
    counts = rng.multinomial(2000, [0.94, 0.04, 0.02], size=40)
    counts[:5] = [2000, 0, 0]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.05, 0.5))
    tight = fp.certify(votes)
    for along in ("add", "delete"):
        for divergence in Divergence:
            proofs = f_divergence.certify(votes, along, divergence=divergence)
            assert (proofs.radius <= tight.max_radius(along)).all()
            assert proofs.radius.max() > 0
            assert (proofs.label == tight.label).all()


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.05, 0.5), fp.FlipNoise(0.0, 0.4), fp.FlipNoise(0.3, 0.3, 4)])
def test_radii_are_the_largest_that_are_certified(noise, rng):
    counts = rng.multinomial(3000, [0.9, 0.07, 0.03], size=30)
    counts[:10] = [[3000 - i, i, 0] for i in range(10)]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise)
    tight = fp.certify(votes)
    for along in ("add", "delete"):
        for divergence in ("kl", "renyi"):
            radius = f_divergence.certify(votes, along, divergence=divergence, limit=40).radius
            for r in range(1, 42):
                proved = f_divergence.certified(noise, fp.Radii(**{along: r}), tight.p_lower, tight.p_upper, divergence)
                assert ((radius >= r) == (proved & (r <= 40))).all()


def test_no_noise_and_all_noise():
    nothing, everything = fp.FlipNoise(0.0, 0.0), fp.FlipNoise(0.5, 0.5)
    for divergence in Divergence:
        assert not f_divergence.certified(nothing, fp.Radii(add=1), np.array([1.0]), None, divergence)[0]
        assert f_divergence.certified(everything, fp.Radii(add=9), np.array([0.6]), None, divergence)[0]
    assert f_divergence.critical_probability(nothing, fp.Radii(delete=1)) == np.inf


@pytest.mark.parametrize(
    ("divergence", "order"),
    [("renyi", np.inf), ("renyi", -1.0), ("renyi", np.nan), ("hockey-stick", np.inf), ("kl", 2.0)],
)
def test_orders_that_there_are_not(divergence, order):
    with pytest.raises(fp.InvalidInputError, match=r"expected (a positive, finite order|order 1)"):
        f_divergence.divergence_bound(fp.FlipNoise(0.1, 0.2), fp.Radii(add=1), divergence, order)


def test_many_categories_are_rounded_up_too():
    """Where logarithms are large and the order is close to one."""
    noise = fp.FlipNoise(0.3040044809933222, 0.9999999999997704, 2**31)
    bound = f_divergence.divergence_bound(noise, fp.Radii(change=1000), "renyi", 0.98)
    assert bound >= 3.28725581e-6
    assert bound == pytest.approx(3.28725581e-6, rel=1e-2)


@given(cases(), st.floats(0.3, 30.0))
def test_hockey_sticks_are_at_least_the_exact_ones(case, order):
    noise, radii, *_ = case
    k = Fraction(order)
    exactly = sum(max(r.adversarial - k * r.clean, 0) for r in exact.regions(noise, radii)) - max(1 - k, 0)
    bound = f_divergence.divergence_bound(noise, radii, "hockey-stick", order)
    assert exactly <= Fraction(bound) <= exactly + Fraction(1, 10**9)


def test_refusals():
    with pytest.raises(
        fp.InvalidInputError, match="expected divergence to be one of kl, renyi, hockey-stick, got 'tv'"
    ):
        f_divergence.certified(fp.FlipNoise(0.1, 0.1), fp.Radii(add=1), np.array([0.9]), None, "tv")
