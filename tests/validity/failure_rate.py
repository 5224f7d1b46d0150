"""The judge of the promise: failures that are too many for a probability of at most alpha."""

from scipy.special import betainc

ALPHA = 0.05
ERROR = 1e-4
"""That a promise which is kept is found broken."""


def binomial_p_value(failures, trials, alpha=ALPHA):
    """P(Binomial(trials, alpha) >= failures)."""
    return 1.0 if failures == 0 else float(betainc(failures, trials - failures + 1, alpha))


def is_broken(failures, trials):
    """Whether so many failures are hardly possible if each has at most probability alpha."""
    return binomial_p_value(int(failures), trials) <= ERROR
