"""The verb `certify`, from votes to certificates, and the promise that certificates keep."""

from __future__ import annotations

from dataclasses import dataclass

from flipproof.errors import InvalidInputError
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import AlphaBudget, Rule, bounds_from_counts


def certify(
    votes: Votes, alpha: float = 0.01, rule: str = Rule.MULTI_CLASS, simultaneous: bool = False
) -> Certificates:
    """Turns votes into certificates that are wrong with probability at most alpha.

    Args:
        votes: counts of labels on noisy copies of every input.
        alpha: failure probability, over the estimation samples.
        rule: "multi-class" bounds the strongest other label, "two-class" only the prediction itself.
        simultaneous: False makes the promise for each input by itself, True for all inputs at once (Bonferroni).

    Example:
        >>> from flipproof import FlipNoise, Radii
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> certificates = certify(votes, alpha=0.01)
        >>> certificates.max_radius("delete"), certificates.certified(Radii(add=1, delete=2))
        (array([11]), array([ True]))
    """
    if not isinstance(votes, Votes):
        raise InvalidInputError(f"expected Votes, got {type(votes).__name__}")
    if not isinstance(simultaneous, bool):
        raise InvalidInputError(f"expected simultaneous to be True or False, got {simultaneous!r}")
    named = Rule.named(rule)
    budget = AlphaBudget(alpha, claims=max(1, len(votes)) if simultaneous else 1, sampling_error=votes.sampling_error)
    bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, named)
    return Certificates(votes, budget, named, simultaneous, bounds)


@dataclass(frozen=True, slots=True)
class PromiseSettings:
    """The promise of certificates: the arguments of `certify`."""

    alpha: float = 0.01
    rule: str = Rule.MULTI_CLASS
    simultaneous: bool = False

    def __post_init__(self) -> None:
        AlphaBudget(self.alpha)  # refuses an alpha that cannot be spent
        object.__setattr__(self, "rule", str(Rule.named(self.rule)))

    def of(self, votes: Votes) -> Certificates:
        """The certificates that keep it."""
        return certify(votes, self.alpha, self.rule, self.simultaneous)
