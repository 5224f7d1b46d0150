"""The largest radius that a system proves for every input, in one form for all systems."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_index, read_only
from flipproof.errors import InvalidInputError
from flipproof.files.csv_file import write_csv
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import AlphaBudget, Bounds, Rule, bounds_from_counts
from flipproof.theory.certificate import ANY, Certificate, Promise, Subject, certificate_columns, shown_radius
from flipproof.theory.claims import Budget, Claim
from flipproof.theory.radii import UNBOUNDED, Axis


@dataclass(frozen=True, slots=True, eq=False)
class Proofs:
    """The largest proved radius of every input: a `Certificate` with one axis.

    Attributes:
        promise: the meaning of a radius, and the probability of an error.
        label: the prediction, one per input.
        radius: one per input; 0 where only the prediction on the input itself is known. A radius equal to the largest
            requested one means "at least".
        abstained: True where not even the prediction on the input itself is proved.
        along: what the radius counts: "add", "delete", "structure.add" and the like, or "any" kinds of change.
        ids: the names of the inputs; by default 0, 1, 2, ...
        checked: whether the classifier was seen to label a repeated noisy input consistently; None where that is
            unknown or no votes exist.

    Example:
        >>> from flipproof.theory.certificate import Subject
        >>> promise = Promise("somebody", Subject.BASE, "r bits are flipped", "exact")
        >>> proofs = Proofs(promise, np.array([1, 0, 0]), np.array([2, 0, 5]), np.array([False, True, False]))
        >>> proofs.certified(2), proofs.certified_ratio([0, 1, 3])
        (array([ True, False,  True]), array([0.66666667, 0.66666667, 0.33333333]))
    """

    promise: Promise
    label: IntArray
    radius: NDArray[Any]
    abstained: BoolArray
    along: str = ANY
    ids: IntArray | None = None
    checked: bool | None = None

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
        ids = np.arange(self.label.size) if self.ids is None else np.asarray(self.ids, dtype=np.int64)
        if ids.shape != self.label.shape:
            raise InvalidInputError(f"expected {self.label.size} ids, got shape {ids.shape}")
        object.__setattr__(self, "ids", read_only(ids))

    def __repr__(self) -> str:
        return short_repr(
            self,
            self.promise.system,
            amount(len(self), "input"),
            f"{int(self.abstained.sum()):,} abstained",
            f"along {self.along!r}",
            f"alpha={self.promise.alpha:g}",
        )

    @classmethod
    def of(cls, certificate: Certificate, along: str, radius: NDArray[Any] | None = None) -> Proofs:
        """The proofs of any certificate along one axis; pass `radius` if it was computed already."""
        found = certificate.max_radius(along) if radius is None else radius
        votes = getattr(certificate, "votes", certificate)
        ids, checked = getattr(votes, "ids", None), getattr(votes, "checked", None)
        return cls(certificate.promise, certificate.label, found, certificate.abstained, along, ids, checked)

    def __len__(self) -> int:
        return int(self.label.size)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The one axis."""
        part, _, kind = self.along.rpartition(".")
        return (Axis(part or None, kind),)

    def selected(self, rows: IntArray) -> Proofs:
        """The proofs about the inputs in `rows`, in that order."""
        arrays = self.label[rows], self.radius[rows], self.abstained[rows]
        return Proofs(self.promise, *arrays, self.along, np.asarray(self.ids)[rows], self.checked)

    def certified(self, radii: float) -> BoolArray:
        """Whether each input's prediction is proved at this radius."""
        if isinstance(radii, bool) or not isinstance(radii, int | float | np.number):
            raise InvalidInputError(f"expected a radius as a number, got {radii!r}")
        return np.asarray((self.radius >= radii) & ~self.abstained)

    def max_radius(self, along: str = ANY) -> NDArray[Any]:
        """The proved radii, one per input."""
        if str(along) != self.along:
            raise InvalidInputError(f"expected along to be {self.along!r}, got {along!r}")
        return self.radius

    def claim(self, index: int) -> Claim:
        """The claim that is proved about one input."""
        number = checked_index(index, len(self), "index")
        radius = self.radius[number].item()
        return Claim(
            input=int(np.asarray(self.ids)[number]),
            label=None if self.abstained[number] else int(self.label[number]),
            budgets=(Budget(self.axes, radius, UNBOUNDED),),
            fixed=None,
            alpha=self.promise.alpha,
            simultaneous=self.promise.simultaneous,
            checked=self.checked,
            threat=self.promise.threat_of(radius),
            whose=self.promise.subject.value,
        )

    def certified_ratio(self, radii: Iterable[float]) -> FloatArray:
        """The share of certified inputs at each radius."""
        return np.array([float(self.certified(radius).mean()) if len(self) else 0.0 for radius in radii])

    def to_columns(self) -> dict[str, Any]:
        """One column per fact and one row per input, in a form that `pandas.DataFrame` accepts."""
        return {"input": self.ids, **certificate_columns(self)}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_columns` as a CSV file, completely or not at all."""
        write_csv(path, self.to_columns(), shown_radius)


RadiusRule = Callable[[FloatArray, FloatArray], NDArray[Any]]
"""Maps the bounds p_lower and p_upper to the largest radii."""


def checked_votes(votes: Any) -> Votes:
    """Returns the argument if it is a `Votes`, and raises an error otherwise."""
    if not isinstance(votes, Votes):
        raise InvalidInputError(f"expected Votes, got {type(votes).__name__}")
    return votes


def proofs_of(votes: Votes, system: str, threat: str, alpha: float, rule: str, radius_at: RadiusRule) -> Proofs:
    """The proofs about the smoothed classifier that votes give under a system's rule for the radius."""
    named = Rule.named(rule)
    bounds, abstained = bounds_of(votes, alpha, named)
    promise = Promise(system, Subject.SMOOTHED, threat, str(named), alpha)
    radius = radius_at(bounds.p_lower, bounds.p_upper)
    return Proofs(promise, bounds.label, radius, abstained, ids=votes.ids, checked=votes.checked)


def bounds_of(votes: Votes, alpha: float, rule: Rule) -> tuple[Bounds, BoolArray]:
    """Labels with bounds on their probabilities, and where no label is proved to lead all others."""
    budget = AlphaBudget(alpha, sampling_error=votes.sampling_error)
    bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, budget, rule)
    unseen = (votes.selection.sum(axis=1) == 0) | (votes.estimation.sum(axis=1) == 0)
    return bounds, np.asarray(unseen | (bounds.p_lower <= bounds.p_upper))
