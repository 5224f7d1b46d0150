"""How far a check went."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """What a check examined; each level includes the ones before it.

    Attributes:
        ARITHMETIC: bounds and radii follow from the counts stated in the certificates.
        EVIDENCE: these counts match the votes stored beside the certificates; the portions, ranges, law and hashes of
            the votes, the weights and the inputs are present and consistent.
        RESAMPLED: some portions of the votes were redrawn with the model.
    """

    ARITHMETIC = 1
    EVIDENCE = 2
    RESAMPLED = 3
