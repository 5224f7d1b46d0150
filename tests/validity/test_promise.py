"""The theorem itself: certificates from random votes are wrong with probability at most alpha."""

import numpy as np
import pytest
from scipy.special import betainc

import flipproof as fp

ALPHA = 0.05
# True class probabilities: clear, close, tied, many classes with equal rivals, near certainty.
LAWS = {
    "clear": [0.8, 0.15, 0.05],
    "close": [0.36, 0.33, 0.31],
    "tied": [0.4, 0.4, 0.2],
    "many rivals": [0.28] + [0.08] * 9,
    "two classes": [0.55, 0.45],
    "near certain": [0.999, 0.0005, 0.0005],
}


def binomial_p_value(failures, trials, alpha):
    """P(Binomial(trials, alpha) >= failures)."""
    return 1.0 if failures == 0 else float(betainc(failures, trials - failures + 1, alpha))


def simulate(rng, law, trials, n_select=30, n_estimate=200):
    p = np.array(law)
    selection, estimation = rng.multinomial(n_select, p, trials), rng.multinomial(n_estimate, p, trials)
    noise = fp.FlipNoise(0.1, 0.3)
    return fp.Votes.from_counts(selection=selection, estimation=estimation, noise=noise)


def true_pair(certificates, law):
    """The true probability of every predicted label, and of the most probable other one."""
    p = np.array(law)
    others = np.where(np.arange(len(p)) == certificates.label[:, None], 0.0, p).max(axis=1)
    return p[certificates.label], others


def wrong_bounds(certificates, law):
    """Where p_lower or p_upper is on the wrong side of the truth."""
    own, others = true_pair(certificates, law)
    return (certificates.p_lower > own) | (certificates.p_upper < others)


def wrong_labels(certificates, law):
    """Certified at radius 0 although another label is as probable."""
    own, others = true_pair(certificates, law)
    return certificates.certified(fp.Radii()) & (own <= others)


@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
@pytest.mark.parametrize("law", LAWS)
def test_each_certificate_is_wrong_with_probability_at_most_alpha(law, rule, rng):
    trials = 20_000
    certificates = fp.certify(simulate(rng, LAWS[law], trials), alpha=ALPHA, rule=rule)
    assert binomial_p_value(wrong_bounds(certificates, LAWS[law]).sum(), trials, ALPHA) > 1e-4
    assert binomial_p_value(wrong_labels(certificates, LAWS[law]).sum(), trials, ALPHA) > 1e-4


@pytest.mark.parametrize("law", ["clear", "tied", "many rivals"])
def test_simultaneous_certificates_are_all_right_with_probability_at_least_1_minus_alpha(law, rng):
    runs, inputs = 300, 40
    broken = 0
    for _ in range(runs):
        certificates = fp.certify(simulate(rng, LAWS[law], inputs), alpha=ALPHA, simultaneous=True)
        broken += wrong_bounds(certificates, LAWS[law]).any()
    assert binomial_p_value(broken, runs, ALPHA) > 1e-4


@pytest.mark.parametrize("law", ["tied", "clear"])
def test_holm_is_right_for_all_inputs_at_once(law, rng):
    """At a radius that the truth does not allow, no input may be certified, in all but alpha of the runs."""
    runs, inputs, broken = 200, 30, 0
    for _ in range(runs):
        certificates = fp.certify(simulate(rng, LAWS[law], inputs), alpha=ALPHA, simultaneous=True)
        own, others = true_pair(certificates, LAWS[law])
        for radii in (fp.Radii(), fp.Radii(delete=2)):
            truth = fp.mu(certificates.noise, radii, own, others) > 0
            broken += (certificates.certified_holm(radii) & ~truth).any()
    assert binomial_p_value(broken, 2 * runs, ALPHA) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
@pytest.mark.parametrize("law", LAWS)
def test_each_certificate_over_a_million_trials(law, rule, rng):
    trials = 1_000_000
    certificates = fp.certify(simulate(rng, LAWS[law], trials), alpha=ALPHA, rule=rule)
    assert binomial_p_value(wrong_bounds(certificates, LAWS[law]).sum(), trials, ALPHA) > 1e-4
