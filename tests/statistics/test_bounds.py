import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.smoothing.run import sampling_error
from flipproof.statistics.bounds import AlphaBudget, Counts, Rule, bounds_from_counts, lower_bound, upper_bound


def counts(*rows, samples=None):
    votes = np.array(rows)
    return Counts(votes, int(votes[0].sum()) if samples is None else samples)


def bounds(selection, estimation, rule, alpha=0.01):
    return bounds_from_counts(selection, estimation, AlphaBudget(alpha), rule)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 1e-9, 0.1, 0.3])
@pytest.mark.parametrize("claims", [1, 3, 2810, 10**6])
def test_the_parts_of_alpha_never_exceed_it(alpha, claims):
    budget = AlphaBudget(alpha, claims)
    assert Fraction(budget.for_lower) + Fraction(budget.for_upper) <= Fraction(budget.per_claim)
    assert claims * Fraction(budget.per_claim) <= Fraction(alpha)
    assert budget.for_lower + budget.for_upper > 0.999999 * budget.per_claim > 0.999998 * alpha / claims


@pytest.mark.parametrize("alpha", [0.01, 0.05, 1e-9, 0.3])
@pytest.mark.parametrize("share", [1e-300, 1e-17, 1e-6, 0.3, 1 - 2**-30])
@pytest.mark.parametrize("claims", [1, 3, 2810])
def test_the_parts_of_alpha_never_exceed_what_sampling_leaves(alpha, share, claims):
    error = alpha * share
    budget = AlphaBudget(alpha, claims, sampling_error=error)
    left = Fraction(alpha) - Fraction(error)
    assert Fraction(budget.for_lower) + Fraction(budget.for_upper) <= Fraction(budget.per_claim)
    assert claims * Fraction(budget.per_claim) <= left
    assert claims * Fraction(budget.per_claim) > left * Fraction(999_999, 1_000_000)
    assert budget.shared_by(7) == AlphaBudget(alpha, 7, sampling_error=error)


def test_sampling_that_costs_all_of_alpha_leaves_nothing():
    for error in (0.01, 0.02, 1.0, math.nan, -1e-9, math.inf):
        with pytest.raises(fp.InvalidInputError, match=r"expected alpha above .*, which sampling may cost, got 0.01"):
            AlphaBudget(0.01, sampling_error=error)
    with pytest.raises(fp.InvalidInputError, match="expected alpha"):
        AlphaBudget(1e-99, claims=100, sampling_error=1e-101)


def test_what_sampling_costs_is_paid_by_both_bounds():
    votes = counts([80, 15, 5]), counts([800, 50, 150])
    budget = AlphaBudget(0.01, sampling_error=0.004)
    multi, two = (bounds_from_counts(*votes, budget, rule) for rule in (Rule.MULTI_CLASS, Rule.TWO_CLASS))
    assert multi.p_lower[0] == lower_bound(800, 1000, budget.for_lower)
    assert multi.p_upper[0] == upper_bound(150, 1000, budget.for_upper)
    assert two.p_lower[0] == lower_bound(800, 1000, budget.per_claim) < lower_bound(800, 1000, 0.0061)


def test_sampling_costs_less_than_a_millionth_of_alpha_on_data_as_large_as_cora_ml(rng):
    """2810 papers with 2879 words and 7981 links, a million samples, alpha = 0.01."""
    words = fp.SparseRows(sp.csr_array(rng.random((2810, 2879)) < 0.0176))
    heads, tails = np.triu_indices(2810, 1)
    chosen = rng.choice(heads.size, 7981, replace=False)
    pairs = np.stack([heads[chosen], tails[chosen]])
    graph = fp.Graph.from_edge_index(np.concatenate([pairs, pairs[::-1]], axis=1), 2810, words)
    for p_plus in (2e-5, 0.001, 0.01, 0.1):
        noise = fp.FlipNoise(p_plus, 0.6)
        for sampler in (words.sampler(noise, 0), graph.sampler(fp.JointNoise(structure=noise, attributes=noise), 0)):
            cost = sampling_error(sampler.distance, 10**6)
            assert 0.0 < cost < 1e-6 * 0.01
            assert AlphaBudget(0.01, sampling_error=cost).per_claim >= 0.01 * (1 - 1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0.0,), "expected alpha"), ((0.01, 0), "expected at least one claim"), ((0.01, 1, 1.0), "expected lower_share")],
)
def test_bad_budgets_are_refused(arguments, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        AlphaBudget(*arguments)


def test_two_class_rule_spends_all_on_the_prediction():
    result = bounds(counts([80, 15, 5]), counts([800, 150, 50]), Rule.TWO_CLASS)
    assert result.label.tolist() == [0]
    assert result.runner_up.tolist() == [1]
    assert result.p_lower[0] == lower_bound(800, 1000, 0.01)
    assert result.p_upper[0] == 1 - result.p_lower[0]


def test_multi_class_rule_bounds_the_strongest_other_label_of_the_estimation_votes():
    """Not the runner-up of the selection votes: that one may be the wrong one to fear."""
    result = bounds(counts([80, 15, 5]), counts([800, 50, 150]), Rule.MULTI_CLASS)
    budget = AlphaBudget(0.01)
    assert result.runner_up.tolist() == [2]
    assert result.p_lower[0] == lower_bound(800, 1000, budget.for_lower)
    assert result.p_upper[0] == upper_bound(150, 1000, budget.for_upper)


def test_two_labels_are_not_worth_a_split():
    multi, two = (bounds(counts([60, 40]), counts([600, 400]), rule) for rule in (Rule.MULTI_CLASS, Rule.TWO_CLASS))
    assert multi.p_lower[0] == two.p_lower[0]
    assert multi.p_upper[0] == two.p_upper[0]


def test_the_default_rule_gains_where_the_other_votes_are_spread(rng):
    p = rng.dirichlet([6, 1, 1, 1], size=2000)
    selection, estimation = Counts(rng.multinomial(1000, p), 1000), Counts(rng.multinomial(10_000, p), 10_000)
    multi, two = (bounds(selection, estimation, rule) for rule in (Rule.MULTI_CLASS, Rule.TWO_CLASS))
    gain = (multi.p_lower - multi.p_upper) - (two.p_lower - two.p_upper)
    assert gain.min() > -0.01
    assert gain.mean() > 0.05


def test_p_upper_is_capped_by_what_p_lower_leaves(rng):
    p = rng.dirichlet([3, 1], size=500)
    selection, estimation = Counts(rng.multinomial(100, p), 100), Counts(rng.multinomial(500, p), 500)
    result = bounds(selection, estimation, Rule.MULTI_CLASS)
    assert np.all(result.p_lower + result.p_upper <= 1 + 1e-15)


def test_ties_go_to_the_smaller_label():
    result = bounds(counts([5, 5, 0]), counts([400, 400, 200]), Rule.MULTI_CLASS)
    assert result.label.tolist() == [0]
    assert result.runner_up.tolist() == [1]
    assert result.p_lower[0] < result.p_upper[0]


@pytest.mark.parametrize("rule", Rule)
def test_edges_have_defined_answers(rule):
    none = bounds(counts([0, 0], samples=0), counts([0, 0], samples=0), rule)
    assert (none.label[0], none.p_lower[0], none.p_upper[0]) == (0, 0.0, 1.0)
    one_sample = bounds(counts([1, 0]), counts([1, 0]), rule)
    assert 0 < one_sample.p_lower[0] < one_sample.p_upper[0] <= 1
    all_agree = bounds(counts([0, 10, 0]), counts([0, 1000, 0]), rule)
    spent = AlphaBudget(0.01).for_lower if rule is Rule.MULTI_CLASS else 0.01
    assert all_agree.p_lower[0] == lower_bound(1000, 1000, spent)
    assert all_agree.p_upper[0] == 1 - all_agree.p_lower[0]
    one_class = bounds(counts([10]), counts([1000]), rule)
    assert one_class.runner_up[0] == one_class.label[0] == 0
    assert one_class.p_upper[0] == (0.0 if rule is Rule.MULTI_CLASS else 1 - one_class.p_lower[0])


def test_an_unknown_rule_is_refused():
    with pytest.raises(fp.InvalidInputError, match="expected rule to be one of multi-class, two-class, got 'best'"):
        Rule.named("best")
