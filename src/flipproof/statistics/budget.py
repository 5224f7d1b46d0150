"""The failure probability as a budget: what is promised, for how many inputs at once, and who spends it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flipproof.base.arguments import checked_count
from flipproof.errors import InvalidInputError
from flipproof.statistics.clopper_pearson import checked_alpha

LOWER_SHARE = 0.9
"""The part of alpha that bounds the predicted label under the multi-class rule; the rest bounds all others."""


@dataclass(frozen=True, slots=True)
class AlphaBudget:
    """The probability `alpha` that something certified is wrong, shared by `claims` inputs.

    With one claim the promise holds for each input by itself; with as many claims as inputs it holds for
    all of them at once (Bonferroni). All parts are rounded down, so together they never exceed alpha.
    `sampling_error` is what it costs, once for all inputs, that the samples were drawn from a law which is only
    that close to the exact one.

    Example:
        >>> budget = AlphaBudget(alpha=0.01, claims=4)
        >>> budget.for_lower + budget.for_upper <= budget.per_claim <= 0.01 / 4
        True
    """

    alpha: float
    claims: int = 1
    lower_share: float = LOWER_SHARE
    sampling_error: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        if not 0.0 <= self.sampling_error < self.alpha:
            raise InvalidInputError(
                f"expected alpha above {self.sampling_error:.2g}, which sampling may cost, got {self.alpha!r}"
            )
        if checked_count(self.claims, "claims") < 1:
            raise InvalidInputError(f"expected at least one claim, got {self.claims}")
        if self.claims > 1 or self.sampling_error:
            checked_alpha(self.per_claim)
        if not 0.0 < self.lower_share < 1.0:
            raise InvalidInputError(f"expected lower_share strictly between 0 and 1, got {self.lower_share!r}")

    @property
    def per_claim(self) -> float:
        """What one input may spend."""
        left = self.alpha
        if self.sampling_error:
            left = math.nextafter(self.alpha - self.sampling_error, 0.0)
        return left if self.claims == 1 else math.nextafter(left / self.claims, 0.0)

    @property
    def for_lower(self) -> float:
        """What the bound on the predicted label may spend under the multi-class rule."""
        return math.nextafter(self.lower_share * self.per_claim, 0.0)

    @property
    def for_upper(self) -> float:
        """What the bound on all other labels may spend under the multi-class rule."""
        return math.nextafter(self.per_claim - self.for_lower, 0.0)

    def shared_by(self, claims: int) -> AlphaBudget:
        """The budget with this alpha for another number of inputs."""
        return AlphaBudget(self.alpha, claims, self.lower_share, self.sampling_error)
