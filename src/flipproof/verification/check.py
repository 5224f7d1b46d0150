"""The whole check of a certificate: the files beside it, and every claim in it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError, TooLargeError, one_line
from flipproof.verification.certificate import Axis, Certificate, Claim, read_certificate
from flipproof.verification.evidence import objections
from flipproof.verification.verdicts import Checker, Finding, Verdict
from flipproof.verification.worst_case import WorstCase, margin, worst_case_of_all

FILE = "certificates.json"
_BUILT_ON = (Verdict.CONFIRMED, Verdict.LOOSER)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What was found: objections to the files, and one finding for every input."""

    certificate: Certificate = field(repr=False)
    objections: tuple[str, ...]
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def confirmed(self) -> bool:
        """Whether there is nothing to object to."""
        return not self.objections and all(finding.verdict is Verdict.CONFIRMED for finding in self.findings)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many inputs got each verdict."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in Verdict}

    def certified_at(self, radii: Mapping[str, int]) -> int:
        """How many inputs are certified against changes of several kinds at once, in exact arithmetic.

        Only the bounds of inputs that are not wrong are built on.
        """
        axes = {axis.name: axis for axis in self.certificate.axes}
        if unknown := [name for name in radii if name not in axes]:
            raise InvalidInputError(f"expected radii for {', '.join(axes)}, got {unknown[0]}")
        if wrong := [count for count in radii.values() if type(count) is not int or count < 0]:
            raise InvalidInputError(f"expected radii to be non-negative integers, got {wrong[0]!r}")
        claims = (self.certificate.claim(i) for i, each in enumerate(self.findings) if each.verdict in _BUILT_ON)
        wanted = tuple(radii.get(name, 0) for name in axes)
        return sum(not claim.abstained and self._certified(claim, wanted) for claim in claims)

    def _certified(self, claim: Claim, radii: tuple[int, ...]) -> bool:
        """Nobody can make more changes than there are entries to change."""
        known = self.certificate.path.with_name("votes.npz").exists()  # else the numbers of entries are mere statements
        reached = radii
        if known:
            room = self.certificate.room(claim, beside=True)
            reached = tuple(min(each) for each in zip(radii, room, strict=True))
        worst = _worst_case(self.certificate.axes, reached)
        if worst is None:
            raise TooLargeError(f"expected radii that exact arithmetic can deal with, got {reached}")
        return margin(worst, claim.p_lower, claim.p_upper) > 0

    def others(self) -> Iterator[tuple[int, Finding]]:
        """The inputs that are not confirmed."""
        return ((i, each) for i, each in enumerate(self.findings) if each.verdict is not Verdict.CONFIRMED)


@lru_cache(maxsize=64)
def _worst_case(axes: tuple[Axis, ...], radii: tuple[int, ...]) -> WorstCase | None:
    return worst_case_of_all([(axis.law, axis.kind, count) for axis, count in zip(axes, radii, strict=True) if count])


def verify(path: Any, progress: Callable[[int, int], None] = lambda done, total: None) -> Check:
    """Checks `certificates.json`, or that of a run folder, against its votes and against the files beside it.

    Args:
        path: of the file or of the folder.
        progress: is told how many claims are done, and of how many.

    Raises:
        FileFormatError: a file cannot be read, or is no certificate.

    Example:
        >>> import tempfile, flipproof as fp
        >>> noise = fp.FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = fp.Votes.from_counts(selection=[[99, 1]], estimation=[[9990, 10]], noise=noise)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.certify(votes).save(f"{folder}/certificates.json")
        ...     verify(folder).confirmed
        True
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"expected the path of a run folder or of a file, got {path!r}")
    if not callable(progress):
        raise InvalidInputError(f"expected progress to be a function, got {progress!r}")
    path = Path(path)
    if os.path.isdir(path):
        path = path / FILE
    if not os.path.exists(path):
        raise InvalidInputError(f"expected a run folder with {FILE}, got no {path}; see flipproof certify")
    certificate = read_certificate(path)
    found = Checker.of(certificate).verdicts(progress)
    return Check(certificate, tuple(map(one_line, objections(certificate))), found)
