"""Edit distance: how many insertions, deletions and replacements in all a prediction of a sequence withstands.

Noise deletes entries of a sequence and closes the gaps. A replacement is a deletion together with an insertion, so
what withstands r additions together with r deletions withstands every edit distance up to r (docs/theory.md,
statement 27).
"""

from __future__ import annotations

import numpy as np

from flipproof.base.values import BoolArray, IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.radii import UNBOUNDED, Radii
from flipproof.theory.search import SEARCH_LIMIT, largest_passing, unbounded_axes


def max_edit_distance(inputs: BoundedInputs, limit: int = SEARCH_LIMIT) -> IntArray:
    """[inputs]: the largest edit distance within which the prediction is proved; 0 where nothing is certified.

    It is `UNBOUNDED` where noise deletes everything, and a result equal to `limit` means "at least".

    Example:
        >>> from flipproof import FlipNoise
        >>> from flipproof.theory.scope import Scope
        >>> scope = Scope(zeros=[[0], [0]], nonzeros=[[9], [1]], closes_gaps=True)
        >>> bounds = np.array([0.99, 0.99]), np.array([0.01, 0.01])
        >>> max_edit_distance(BoundedInputs(FlipNoise(0.0, 0.85), *bounds, scope, np.zeros(2, dtype=bool)))
        array([4, 4])
    """
    scope = inputs.scope
    if scope is None or not scope.closes_gaps:
        known = "that do not know their inputs" if scope is None else "from entries that keep their places"
        raise InvalidInputError(
            "expected votes on sequences whose gaps close, as those of flipproof.Texts and "
            f"flipproof.Tokens(values, gaps='closed') do under FlipNoise(0, p), got votes {known}; "
            "max_l0_radius and max_radius count other changes"
        )

    def passes(radius: int, chosen: IntArray) -> BoolArray:
        return inputs.selected(chosen).certified(Radii(add=radius, delete=radius))

    most = min(UNBOUNDED, checked_count(limit, "limit"))
    unbounded = np.asarray(unbounded_axes(inputs.noise, inputs.p_lower, inputs.p_upper).all(axis=0))
    return np.where(inputs.abstained, 0, largest_passing(passes, unbounded, most))
