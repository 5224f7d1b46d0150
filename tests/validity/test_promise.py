"""The theorem itself: certificates from random votes are wrong with probability at most alpha.

Failures are judged by a one-sided binomial test. To show that it would find fault, some laws fail almost as often as
they may, and what is known to be wrong is judged by the same test: twice the alpha, only the runner-up bounded, one
set of votes for both roles, promises for each input taken as promises for all.
"""

import numpy as np
import pytest
from failure_rate import ALPHA, binomial_p_value, is_broken
from scipy.stats import binomtest

import flipproof as fp
from flipproof.statistics.bounds import Rule, upper_bound

# True class probabilities: clear, close, tied, many classes with equal rivals, near certainty.
LAWS = {
    "clear": [0.8, 0.15, 0.05],
    "close": [0.36, 0.33, 0.31],
    "tied": [0.4, 0.4, 0.2],
    "many rivals": [0.28] + [0.08] * 9,
    "all tied": [0.05] * 20,
    "two classes": [0.55, 0.45],
    "near certain": [0.999, 0.0005, 0.0005],
}
RULES = list(Rule)
NOISE = fp.FlipNoise(0.1, 0.3)
MANY = 10_000
"""So many estimation samples that a bound fails almost as often as it may: one vote more or less hardly matters."""


def simulate(rng, laws, n_select=30, n_estimate=200):
    """Votes on one input for each row of laws."""
    votes = {"selection": rng.multinomial(n_select, laws), "estimation": rng.multinomial(n_estimate, laws)}
    return fp.Votes.from_counts(**votes, noise=NOISE)


def true_pair(label, laws):
    """The true probability of every predicted label, and of the most probable other one."""
    own = np.arange(laws.shape[1]) == label[:, None]
    return laws[own], np.where(own, 0.0, laws).max(axis=1)


def wrong_bounds(certificates, laws):
    """Where p_lower or p_upper is on the wrong side of the truth."""
    own, others = true_pair(certificates.label, laws)
    return (certificates.p_lower > own) | (certificates.p_upper < others)


def wrong_labels(certificates, laws):
    """Certified at radius 0 although another label is as probable."""
    own, others = true_pair(certificates.label, laws)
    return certificates.certified(fp.Radii()) & (own <= others)


# Each input by itself


def check_each(rng, law, rule, trials, **samples):
    laws = np.tile(LAWS[law], (trials, 1))
    certificates = fp.certify(simulate(rng, laws, **samples), ALPHA, rule)
    failures = wrong_bounds(certificates, laws).sum()
    assert not is_broken(failures, trials)
    assert not is_broken(wrong_labels(certificates, laws).sum(), trials)
    return failures / trials


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("law", LAWS)
def test_each_certificate_is_wrong_with_probability_at_most_alpha(law, rule, rng):
    check_each(rng, law, rule, 20_000)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("law", ["clear", "close", "two classes"])
def test_and_not_much_less_often_where_samples_are_many(law, rule, rng):
    assert check_each(rng, law, rule, 20_000, n_estimate=MANY) > 0.85 * ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("law", LAWS)
def test_each_certificate_over_a_million_trials(law, rule, rng):
    check_each(rng, law, rule, 1_000_000)


# All inputs at once


RUNS = 2500


def runs_of(rng, laws, runs, rule, alpha=ALPHA, simultaneous=True):
    """Certificates of the same inputs from new votes, again and again."""
    for _ in range(runs):
        yield fp.certify(simulate(rng, laws, n_estimate=MANY), alpha, rule, simultaneous)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("law", ["clear", "many rivals"])
def test_simultaneous_certificates_are_all_right_with_probability_at_least_1_minus_alpha(law, rule, rng):
    laws, runs = np.tile(LAWS[law], (20, 1)), RUNS
    failures = sum(wrong_bounds(one, laws).any() for one in runs_of(rng, laws, runs, rule))
    assert not is_broken(failures, runs)
    assert failures > 0.6 * ALPHA * runs


EDGE = fp.critical_probability(NOISE, fp.Radii(delete=1)) * (1 - 1e-12)
AT = fp.Radii(delete=1)
"""At these radii a label of probability EDGE, and one other, are just not robust."""

CROWDS = {
    "all at the edge": [[EDGE, 1 - EDGE]] * 20,
    "half at the edge": [[EDGE, 1 - EDGE]] * 10 + [[0.999, 0.001]] * 10,
    "others at the edge": [[EDGE, 0.7 - 0.7 * EDGE, 0.3 - 0.3 * EDGE]] * 10 + [[0.999, 0.001, 0.0]] * 10,
}


def wrong_at_the_edge(certified, certificates, laws):
    """Whether an input is certified that is not robust: one at the edge, or one whose label is not the likeliest."""
    own, others = true_pair(certificates.label, laws)
    return bool((certified & ((own <= EDGE) | (own <= others))).any())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("crowd", ["all at the edge", "half at the edge"])
def test_holm_is_right_for_all_inputs_at_once(crowd, rule, rng):
    """And as often wrong as it may be: certified inputs leave their share to the rest."""
    laws, runs, failures, by_bonferroni = np.array(CROWDS[crowd]), RUNS, 0, 0
    for one in runs_of(rng, laws, runs, rule):
        failures += wrong_at_the_edge(one.certified_holm(AT), one, laws)
        by_bonferroni += wrong_at_the_edge(one.certified(AT), one, laws)
    assert not is_broken(failures, runs)
    assert failures > 0.6 * ALPHA * runs
    assert failures > 1.4 * by_bonferroni or crowd == "all at the edge"


def test_holm_is_right_with_more_labels_than_two(rng):
    laws, runs = np.array(CROWDS["others at the edge"]), RUNS
    truth = fp.mu(NOISE, AT, laws[:, 0], np.sort(laws, axis=1)[:, -2]) > 0
    failures = 0
    for one in runs_of(rng, laws, runs, Rule.MULTI_CLASS):
        failures += bool((one.certified_holm(AT) & ~(truth & (one.label == 0))).any())
    assert not is_broken(failures, runs)


# What is wrong is found to be wrong


@pytest.mark.parametrize("rule", RULES)
def test_the_judge_rejects_twice_the_alpha(rule, rng):
    laws = np.tile(LAWS["clear"], (20_000, 1))
    certificates = fp.certify(simulate(rng, laws, n_estimate=MANY), 2 * ALPHA, rule)
    assert is_broken(wrong_bounds(certificates, laws).sum(), len(laws))


@pytest.mark.parametrize("rule", RULES)
def test_the_judge_rejects_twice_the_alpha_for_all_inputs_at_once(rule, rng):
    laws, runs = np.array(CROWDS["half at the edge"]), RUNS
    certificates = list(runs_of(rng, laws, runs, rule, 2 * ALPHA))
    assert is_broken(sum(wrong_bounds(one, laws).any() for one in certificates), runs)
    assert is_broken(sum(wrong_at_the_edge(one.certified_holm(AT), one, laws) for one in certificates), runs)


def test_the_judge_rejects_a_tenth_more_than_alpha_over_a_million_trials(rng):
    laws = np.tile(LAWS["two classes"], (1_000_000, 1))
    certificates = fp.certify(simulate(rng, laws, n_estimate=MANY), 1.1 * ALPHA)
    assert is_broken(wrong_bounds(certificates, laws).sum(), len(laws))


def test_the_judge_rejects_a_bound_on_the_runner_up_of_the_selection_only(rng):
    """As in the published code: the runner-up of a few votes need not be the likeliest rival."""
    laws = np.tile([0.5, 0.3, 0.2], (2_000, 1))
    certificates = fp.certify(simulate(rng, laws, n_select=10, n_estimate=MANY), ALPHA)
    votes, label = certificates.votes, certificates.label
    rivals = np.where(np.arange(3) == label[:, None], -1, votes.selection).argmax(axis=1)
    counts = votes.estimation[np.arange(len(laws)), rivals]
    own, others = true_pair(label, laws)
    p_upper = np.minimum(1 - certificates.p_lower, upper_bound(counts, MANY, certificates.budget.for_upper))
    assert is_broken(((certificates.p_lower > own) | (p_upper < others)).sum(), len(laws))
    assert not is_broken(wrong_bounds(certificates, laws).sum(), len(laws))


@pytest.mark.parametrize("rule", RULES)
def test_the_judge_rejects_labels_that_are_selected_on_the_votes_that_bound_them(rule, rng):
    laws = np.tile(LAWS["all tied"], (2_000, 1))
    votes = simulate(rng, laws, n_estimate=MANY)
    same = fp.Votes.from_counts(selection=votes.estimation, estimation=votes.estimation, noise=NOISE)
    assert is_broken(wrong_bounds(fp.certify(same, ALPHA, rule), laws).sum(), len(laws))


@pytest.mark.parametrize("rule", RULES)
def test_the_judge_rejects_promises_for_each_input_as_promises_for_all(rule, rng):
    laws, runs = np.array(CROWDS["all at the edge"]), 100
    certificates = list(runs_of(rng, laws, runs, rule, simultaneous=False))
    assert is_broken(sum(wrong_bounds(one, laws).any() for one in certificates), runs)
    assert is_broken(sum(wrong_at_the_edge(one.certified(AT), one, laws) for one in certificates), runs)


@pytest.mark.parametrize(("failures", "trials"), [(0, 10), (1, 1), (7, 40), (620, 10_000)])
def test_the_judge_is_a_binomial_test(failures, trials):
    expected = binomtest(failures, trials, ALPHA, alternative="greater").pvalue
    assert binomial_p_value(failures, trials) == pytest.approx(expected, rel=1e-9)
