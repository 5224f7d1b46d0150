"""What a certificate says about every input, in one shape for all systems: so that one table can hold them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.arrays import BoolArray, FloatArray, IntArray, read_only
from flipproof.errors import InvalidInputError


class Subject(Enum):
    """Whose prediction is proved: that of the classifier itself, or that of its smoothed version."""

    BASE = "base classifier"
    SMOOTHED = "smoothed classifier"


@dataclass(frozen=True, slots=True)
class ProofTerms:
    """What a system proves, in words for a table.

    Attributes:
        system: who published it.
        subject: whose prediction is proved.
        threat: what an attacker may do; "r" is the radius.
        rule: how the radius was found.
        alpha: the probability, for each input, that its certificate is wrong; 0 for a proof without samples.
    """

    system: str
    subject: Subject
    threat: str
    rule: str
    alpha: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Proofs:
    """The largest radius that is proved for every input.

    Attributes:
        promise: what that means.
        label: the prediction, one per input.
        radius: one per input; 0 where only the prediction on the input itself is known. One that equals the largest
            radius that was asked for means "at least".
        abstained: where there is not even that.

    Example:
        >>> promise = ProofTerms("somebody", Subject.BASE, "r bits are flipped", "exact")
        >>> proofs = Proofs(promise, np.array([1, 0, 0]), np.array([2, 0, 5]), np.array([False, True, False]))
        >>> proofs.certified(2), proofs.certified_ratio([0, 1, 3])
        (array([ True, False,  True]), array([0.66666667, 0.66666667, 0.33333333]))
    """

    promise: ProofTerms
    label: IntArray
    radius: NDArray[Any]
    abstained: BoolArray

    def __post_init__(self) -> None:
        shapes = {np.shape(getattr(self, name)) for name in ("label", "radius", "abstained")}
        if len(shapes) != 1 or len(shapes.pop()) != 1:
            raise InvalidInputError("expected one label, radius and abstention per input, got other numbers of them")
        radius = np.where(self.abstained, 0, self.radius)
        if radius.size and not radius.min() >= 0:
            raise InvalidInputError(f"expected radii of at least 0, got {radius.min()}")
        object.__setattr__(self, "label", read_only(np.asarray(self.label, dtype=np.int64)))
        object.__setattr__(self, "radius", read_only(radius))
        object.__setattr__(self, "abstained", read_only(np.asarray(self.abstained, dtype=bool)))

    def __len__(self) -> int:
        return int(self.label.size)

    def selected(self, rows: IntArray) -> Proofs:
        """The proofs about some of the inputs, in this order."""
        return Proofs(self.promise, self.label[rows], self.radius[rows], self.abstained[rows])

    def certified(self, radius: float) -> BoolArray:
        """For every input, whether its prediction is proved at this radius."""
        return np.asarray((self.radius >= radius) & ~self.abstained)

    def certified_ratio(self, radii: Iterable[float]) -> FloatArray:
        """The share of inputs that are certified, at each of the radii."""
        return np.array([float(self.certified(radius).mean()) if len(self) else 0.0 for radius in radii])
