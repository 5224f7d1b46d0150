"""The checker's verdict on every input: whether its bounds and radii follow from its votes."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from flipproof.errors import TooLargeError
from flipproof.verification import any_changes
from flipproof.verification.binomial import (
    best_lower_bound,
    best_upper_bound,
    is_above_every_lower_bound,
    is_below_every_upper_bound,
    is_lower_bound,
    is_upper_bound,
)
from flipproof.verification.certificate import UNBOUNDED, StatedAxis, StatedCertificate, StatedClaim, StatedPromise
from flipproof.verification.limits import OVER, check_time, is_over
from flipproof.verification.other_laws import OtherLaw, ball
from flipproof.verification.worst_case import FlipLaw, WorstCase, always_overlaps, margin, moves_nothing, worst_case

LOWER_SHARE = Fraction(9, 10)
"""The share of alpha spent on the prediction under the multi-class rule; the rest is spent on the other labels."""

_SLACK, _LAST_DIGITS = Fraction(1, 2**30), 64
"""A bound counts as the best one if it differs by at most this share of p (1 - p), or this many last-digit units."""


class Verdict(StrEnum):
    """The outcome of checking a claim."""

    CONFIRMED = "confirmed"
    LOOSER = "looser than possible"
    UNCHECKED = "not checked"
    WRONG = "WRONG"


class Finding(NamedTuple):
    """A verdict and its reason; a confirmed claim needs no reason."""

    verdict: Verdict
    reason: str = ""


_CONFIRMED = Finding(Verdict.CONFIRMED)
_NOT_REACHED = Finding(Verdict.UNCHECKED, OVER)
_RECENT = 2**10
"""How many claims are remembered in case they recur; fewer if they have many counts."""
_RECENT_COUNTS = 2**15


@dataclass(frozen=True, slots=True)
class Levels:
    """The share of alpha that each bound may spend, derived independently as exact fractions."""

    lower: Fraction
    upper: Fraction
    split: bool

    @classmethod
    def of(cls, promise: StatedPromise, classes: int) -> Levels:
        """Only the multi-class rule on more than two labels divides alpha between two bounds."""
        per_claim = (promise.alpha - promise.sampling_error) / promise.claims
        split = promise.rule == "multi-class" and classes > 2
        lower = LOWER_SHARE * per_claim if split else per_claim
        return cls(lower, per_claim - lower, split)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A lower bound on the probability of the prediction and an upper bound on that of every other label."""

    p_lower: Fraction
    p_upper: Fraction


@dataclass(frozen=True, slots=True)
class Checker:
    """Judges each claim of one certificate separately."""

    certificate: StatedCertificate
    levels: Levels
    overlapping: bool

    @classmethod
    def of(cls, certificate: StatedCertificate) -> Checker:
        """Derives what the bounds may spend, and whether noise can ever tell two inputs apart with certainty."""
        overlapping = all(
            isinstance(axis.law, FlipLaw) and always_overlaps(axis.law, axis.kind) for axis in certificate.axes
        )  # unknown, and so not assumed, for laws not made of flips
        return cls(certificate, Levels.of(certificate.promise, certificate.classes), overlapping)

    def verdicts(self, progress: Callable[[int, int], None]) -> tuple[Finding, ...]:
        """One finding per input. Inputs with equal radii are judged in succession, and equal claims only once."""
        inputs = self.certificate.inputs
        found = [_NOT_REACHED] * inputs
        recent: OrderedDict[StatedClaim, Finding] = OrderedDict()
        most = max(1, min(_RECENT, _RECENT_COUNTS // self.certificate.classes))
        for done, index in enumerate(self._in_order()):
            if is_over():
                break
            claim = self.certificate.claim(index)
            if claim not in recent:
                recent[claim] = self._judged_or_not(claim)
                if len(recent) > most:
                    recent.popitem(last=False)
            found[index] = recent[claim]
            progress(done + 1, inputs)
        return tuple(found)

    def _in_order(self) -> list[int]:
        """All inputs, sorted by their radii."""
        order = list(range(self.certificate.inputs))
        for axis in reversed(self.certificate.axes):
            radii = self.certificate.columns[f"max_{axis.name}"].numbers
            order.sort(key=radii.__getitem__)
        return order

    def _judged_or_not(self, claim: StatedClaim) -> Finding:
        try:
            return self.judged(claim)
        except TooLargeError as error:
            return Finding(Verdict.UNCHECKED, str(error))

    def judged(self, claim: StatedClaim) -> Finding:
        """The first finding that is wrong; if there is none, the first that is not checked or could be better."""
        findings = []
        for check in (self._votes, self._labels, self._p_lower, self._p_upper, self._abstention):
            findings.append(check(claim))
            if findings[-1].verdict is Verdict.WRONG:
                return findings[-1]
        if not claim.abstained:
            room = self.certificate.room(claim)
            findings += [
                self._radius(claim, *each) for each in zip(self.certificate.axes, claim.radii, room, strict=True)
            ]
            findings.append(self._any_radius(claim))
        order = (Verdict.WRONG, Verdict.UNCHECKED, Verdict.LOOSER, Verdict.CONFIRMED)
        return min(findings, key=lambda finding: order.index(finding.verdict))

    def _votes(self, claim: StatedClaim) -> Finding:
        """Checks that no sample votes twice."""
        for role, samples in (("selection", self.certificate.n_select), ("estimation", self.certificate.n_estimate)):
            votes = sum(getattr(claim, role))
            if votes > samples:
                return _wrong(f"{votes} {role} votes of {samples} samples")
        return _CONFIRMED

    def _labels(self, claim: StatedClaim) -> Finding:
        """Checks that the selection votes alone choose the label."""
        label = claim.selection.index(max(claim.selection))
        if claim.label != label:
            return _wrong(f"label {claim.label}, the selection votes choose {label}")
        others = [votes if other != label else -1 for other, votes in enumerate(claim.estimation)]
        runner_up = others.index(max(others)) if len(others) > 1 else label
        if claim.runner_up != runner_up:
            return _wrong(f"runner-up {claim.runner_up}, the estimation votes say {runner_up}")
        return _CONFIRMED

    def _p_lower(self, claim: StatedClaim) -> Finding:
        p, evidence = claim.p_lower, (claim.estimation[claim.label], self.certificate.n_estimate, self.levels.lower)
        if not is_lower_bound(p, *evidence):
            return _wrong(f"p_lower {float(p):.9g}, the votes prove {float(best_lower_bound(*evidence)):.9g}")
        if evidence[0] and not is_above_every_lower_bound(_apart(p, 1), *evidence):
            return _looser(f"p_lower {float(p):.9g}, the votes prove {float(best_lower_bound(*evidence)):.9g}")
        return _CONFIRMED

    def _p_upper(self, claim: StatedClaim) -> Finding:
        """Checks p_upper: 1 - p_lower, or under the multi-class rule a better bound from the other labels' votes."""
        p, rest = claim.p_upper, 1 - claim.p_lower
        if self._alone:
            return _CONFIRMED if p == 0 else _looser(f"p_upper {float(p):.9g}, there is no other label")
        votes, samples = _others_most(claim), self.certificate.n_estimate
        by_votes = self.levels.split and is_upper_bound(p, votes, samples, self.levels.upper)
        if p < rest and not by_votes:
            return _wrong(f"p_upper {float(p):.9g}, the votes prove {float(self._best(claim).p_upper):.9g}")
        below = _apart(p, -1)
        votes_prove_less = self.levels.split and votes < samples
        if votes_prove_less:
            votes_prove_less = not is_below_every_upper_bound(below, votes, samples, self.levels.upper)
        if votes_prove_less or below >= rest < p:
            return _looser(f"p_upper {float(p):.9g}, the votes prove {float(self._best(claim).p_upper):.9g}")
        return _CONFIRMED

    def _abstention(self, claim: StatedClaim) -> Finding:
        no_votes = not sum(claim.selection) or not sum(claim.estimation)
        ahead = claim.p_lower > claim.p_upper and not no_votes
        if not claim.abstained and not ahead:
            return _wrong("a prediction, though another label may be as probable")
        if claim.abstained and any((*claim.radii, claim.any_radius)):
            return _wrong("radii without a prediction")
        if claim.abstained and ahead:
            return _looser("no prediction, though no other label is as probable")
        return _CONFIRMED

    def _radius(self, claim: StatedClaim, axis: StatedAxis, radius: int, room: int) -> Finding:
        """Checks that the radius holds for the confirmed bounds, and the next one for no bounds that the votes prove.

        No next radius exists where nothing is left to change, and none is checked where there is only one label.
        """
        stated = _Bounds(claim.p_lower, claim.p_upper)
        if radius > room:
            return _wrong(f"radius {axis.name} {radius}, there are only {room} to change")
        if self._is_unbounded(axis, stated):
            largest = radius == room or self._alone
            return _CONFIRMED if largest else _looser(f"radius {axis.name} {radius}, which is unbounded")
        if radius == UNBOUNDED:
            return _wrong(f"unbounded radius {axis.name}, which is bounded")
        holds = _holds(axis, radius, stated)
        if holds is None:
            return Finding(Verdict.UNCHECKED, f"radius {axis.name} {radius} is too large for exact arithmetic")
        if not holds:
            return _wrong(f"radius {axis.name} {radius}, of which the bounds prove {_largest(axis, radius, stated)}")
        ends = self._alone or radius >= min(room, self.certificate.radius_limit)
        if not ends and self._next_holds(claim, axis, radius):
            return _looser(f"radius {axis.name} {radius}, the votes prove more")
        return _CONFIRMED

    def _any_radius(self, claim: StatedClaim) -> Finding:
        """Checks the radius for changes of all kinds together; a larger one may hold as well."""
        stated, radius = _Bounds(claim.p_lower, claim.p_upper), claim.any_radius
        room = self.certificate.total_room(claim)
        if radius > room:
            return _wrong(f"radius any {radius}, there are only {room} to change")
        if all(self._is_unbounded(axis, stated) for axis in self.certificate.axes):
            return _CONFIRMED
        if radius == UNBOUNDED:
            return _wrong("unbounded radius any, which is bounded")
        holds = _all_hold(self.certificate, radius, stated)
        if holds is None:
            return Finding(Verdict.UNCHECKED, f"radius any {radius} is too large for exact arithmetic")
        return _CONFIRMED if holds else _wrong(f"radius any {radius}, which the bounds do not prove")

    def _next_holds(self, claim: StatedClaim, axis: StatedAxis, radius: int) -> bool:
        """Whether the next radius holds; tries slightly too good bounds first, which nearly always settle it."""
        too_good = _Bounds(_apart(claim.p_lower, 1), _apart(claim.p_upper, -1))
        return bool(_holds(axis, radius + 1, too_good)) and bool(_holds(axis, radius + 1, self._best(claim)))

    def _is_unbounded(self, axis: StatedAxis, bounds: _Bounds) -> bool:
        """Whether noise hides the changes, or no other label is possible and noise never surely tells inputs apart."""
        check_time()
        return (isinstance(axis.law, FlipLaw) and moves_nothing(axis.law, axis.kind)) or (
            bounds.p_upper == 0 < bounds.p_lower and self.overlapping
        )

    @property
    def _alone(self) -> bool:
        return self.certificate.classes == 1 and self.certificate.promise.rule == "multi-class"

    def _best(self, claim: StatedClaim) -> _Bounds:
        """The bounds that the votes prove."""
        samples = self.certificate.n_estimate
        p_lower = best_lower_bound(claim.estimation[claim.label], samples, self.levels.lower)
        if self._alone:
            return _Bounds(p_lower, Fraction(0))
        p_upper = 1 - p_lower
        if self.levels.split:
            p_upper = min(p_upper, best_upper_bound(_others_most(claim), samples, self.levels.upper))
        return _Bounds(p_lower, p_upper)


def _others_most(claim: StatedClaim) -> int:
    """The number of votes for the strongest other label."""
    return max((votes for other, votes in enumerate(claim.estimation) if other != claim.label), default=0)


def _apart(p: Fraction, side: int) -> Fraction:
    """A probability moved slightly up or down."""
    distance = max(_SLACK * p * (1 - p), _LAST_DIGITS * Fraction(math.ulp(float(p))))
    return min(max(p + side * distance, Fraction(0)), Fraction(1))


def _holds(axis: StatedAxis, radius: int, bounds: _Bounds) -> bool | None:
    """Whether a positive margin remains after this number of changes; None if deciding would take too long."""
    if isinstance(axis.law, OtherLaw):
        along = (tuple(count * (kind == axis.kind) for kind in axis.law.kinds) for count in range(radius + 1))
        return axis.law.holds(along, bounds.p_lower, bounds.p_upper)
    worst: WorstCase | None = worst_case(axis.law, axis.kind, radius)
    return None if worst is None else margin(worst, bounds.p_lower, bounds.p_upper) > 0


def _all_hold(certificate: StatedCertificate, radius: int, bounds: _Bounds) -> bool | None:
    """Whether a positive margin remains after this many changes of any kinds; None if deciding would take too long."""
    if certificate.other_law is not None:
        return certificate.other_law.holds(ball(len(certificate.axes), radius), bounds.p_lower, bounds.p_upper)
    laws = dict.fromkeys(axis.law for axis in certificate.axes if isinstance(axis.law, FlipLaw))
    return any_changes.holds(laws, radius, bounds.p_lower, bounds.p_upper)


def _largest(axis: StatedAxis, failing: int, bounds: _Bounds) -> int:
    """The largest radius that holds, below one that fails."""
    low, high = 0, failing
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _holds(axis, middle, bounds) else (low, middle)
    return low


def _wrong(reason: str) -> Finding:
    return Finding(Verdict.WRONG, reason)


def _looser(reason: str) -> Finding:
    return Finding(Verdict.LOOSER, reason)
