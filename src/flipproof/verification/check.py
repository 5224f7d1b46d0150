"""The complete check of a certificate: the files beside it and every claim in it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError, TooLargeError, one_line
from flipproof.verification import evidence, statements
from flipproof.verification.certificate import StatedCertificate, StatedClaim, read_certificate
from flipproof.verification.evidence import OWN, RECORD
from flipproof.verification.limits import USUAL_MINUTES, checked_minutes, minutes_at_most
from flipproof.verification.other_laws import box
from flipproof.verification.verdicts import Checker, Finding, Verdict
from flipproof.verification.worst_case import FlipLaw, margin, worst_case_of_all

ALONE = "no evidence: there is no run beside these certificates"
_BUILT_ON = (Verdict.CONFIRMED, Verdict.LOOSER)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """The result of a check: how far it went, objections to the files, and one finding per input.

    Attributes:
        certificate: the certificate that was checked.
        wanted: the level that the check must reach.
        level: the level that it reached.
        objections: each inconsistency, in words.
        findings: one per input.
        notes: what could not be checked, in words.
    """

    certificate: StatedCertificate = field(repr=False)
    wanted: Level
    level: Level
    objections: tuple[str, ...]
    findings: tuple[Finding, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        found = f"{self.counts[Verdict.CONFIRMED]:,} of {len(self.findings):,} inputs confirmed"
        objected = (
            f", {len(self.objections)} objections, such as {self.objections[0][:80]!r}" if self.objections else ""
        )
        return f"Check({found}, {self.level.name.lower()} of {self.wanted.name.lower()}{objected})"

    @property
    def confirmed(self) -> bool:
        """Whether the check reached the wanted level and found nothing to object to."""
        fits = self.level >= self.wanted and not self.objections
        return fits and all(finding.verdict is Verdict.CONFIRMED for finding in self.findings)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many inputs got each verdict."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in Verdict}

    def certified_at(self, radii: Mapping[str, int]) -> int:
        """How many inputs are certified against simultaneous changes of several kinds, in exact arithmetic.

        Only inputs whose bounds were not found wrong can count.
        """
        axes = {axis.name: axis for axis in self.certificate.axes}
        if unknown := [name for name in radii if name not in axes]:
            raise InvalidInputError(f"expected radii for {', '.join(axes)}, got {unknown[0]}")
        if wrong := [count for count in radii.values() if type(count) is not int or count < 0]:
            raise InvalidInputError(f"expected radii to be non-negative integers, got {wrong[0]!r}")
        claims = (self.certificate.claim(i) for i, each in enumerate(self.findings) if each.verdict in _BUILT_ON)
        wanted = tuple(radii.get(name, 0) for name in axes)
        with minutes_at_most(USUAL_MINUTES):
            return sum(not claim.abstained and self._certified(claim, wanted) for claim in claims)

    def _certified(self, claim: StatedClaim, radii: tuple[int, ...]) -> bool:
        """Whether an input is certified; no attacker can change more entries than exist."""
        reached = radii
        if self.level >= Level.EVIDENCE:  # below that, the numbers of entries are unverified
            room = self.certificate.room(claim, beside=True)
            reached = tuple(min(each) for each in zip(radii, room, strict=True))
        holds = _holds(self.certificate, reached, claim)
        if holds is None:
            raise TooLargeError(f"expected radii that exact arithmetic can deal with, got {reached}")
        return holds

    def others(self) -> Iterator[tuple[int, Finding]]:
        """The inputs whose claims are not confirmed, with their findings."""
        return ((i, each) for i, each in enumerate(self.findings) if each.verdict is not Verdict.CONFIRMED)


def _holds(certificate: StatedCertificate, radii: tuple[int, ...], claim: StatedClaim) -> bool | None:
    if certificate.other_law is not None:
        return certificate.other_law.holds(box(radii), claim.p_lower, claim.p_upper)
    counts = zip(certificate.axes, radii, strict=True)
    changes = [(axis.law, axis.kind, count) for axis, count in counts if count and isinstance(axis.law, FlipLaw)]
    worst = worst_case_of_all(changes)
    return None if worst is None else margin(worst, claim.p_lower, claim.p_upper) > 0


def verify(
    path: Any,
    arithmetic_only: bool = False,
    minutes: float = USUAL_MINUTES,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Check:
    """Checks a `certificates.json` file against its votes and the files beside it.

    Args:
        path: the file, or the run folder that contains it.
        arithmetic_only: whether it is enough that bounds and radii follow from the stated counts. Otherwise the
            evidence must be present: the run folder with votes, weights and inputs.
        minutes: time limit; claims not reached within it are "not checked".
        progress: called with the number of inputs done and the total number.

    Raises:
        FileFormatError: a file cannot be read or is not a certificate.

    Example:
        >>> import tempfile, flipproof as fp
        >>> noise = fp.FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = fp.Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.certify(votes).save(f"{folder}/certificates.json")
        ...     verify(folder, arithmetic_only=True).confirmed, verify(folder).objections[0]
        (True, 'no evidence: there is no run beside these certificates')
    """
    path = _checked_path(path)
    if not isinstance(arithmetic_only, bool):
        raise InvalidInputError(f"expected arithmetic_only to be True or False, got {arithmetic_only!r}")
    if not callable(progress):
        raise InvalidInputError(f"expected progress to be a function, got {progress!r}")
    with minutes_at_most(checked_minutes(minutes)):
        certificate = read_certificate(path)
        found = Checker.of(certificate).verdicts(progress)
        objected = list(statements.objections(certificate))
        level = Level.ARITHMETIC
        if not arithmetic_only:
            against = list(_about_evidence(certificate))
            level = Level.ARITHMETIC if against else Level.EVIDENCE
            objected += against
    wanted = Level.ARITHMETIC if arithmetic_only else Level.EVIDENCE
    return Check(certificate, wanted, level, tuple(map(one_line, objected)), found)


def _about_evidence(certificate: StatedCertificate) -> Iterator[str]:
    if RECORD in evidence.missing(certificate.path):
        yield ALONE
        return
    try:
        yield from evidence.objections(certificate)
    except TooLargeError as error:
        yield f"the evidence was not looked at: {error}"


def _checked_path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"expected the path of a run folder or of a file, got {path!r}")
    file = Path(path)
    if os.path.isdir(file):
        file = file / OWN
    if not os.path.lexists(file):
        raise InvalidInputError(f"expected a run folder with {OWN}, got no {file}; see flipproof certify")
    if file.suffix != ".json":
        raise InvalidInputError(f"expected a run folder, or a {OWN}, got {file.name}; name the folder that it is in")
    return file


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
