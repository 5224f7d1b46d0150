"""How far a check went."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """What was looked at; each level includes the ones before it.

    Attributes:
        ARITHMETIC: bounds and radii follow from the counts that the certificates state.
        EVIDENCE: these are the counts of the votes beside them; their portions, ranges, law, hashes, the weights and
            the inputs are there and fit.
        RESAMPLED: some portions of the votes were drawn again with the model.
    """

    ARITHMETIC = 1
    EVIDENCE = 2
    RESAMPLED = 3
