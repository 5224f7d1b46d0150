"""The whole check of a certificate: the files beside it, and every claim in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.verification.certificate import Certificate, read_certificate
from flipproof.verification.evidence import objections
from flipproof.verification.verdicts import Checker, Finding, Verdict

FILE = "certificates.json"


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

    def others(self) -> Iterator[tuple[int, Finding]]:
        """The inputs that are not confirmed."""
        return ((i, each) for i, each in enumerate(self.findings) if each.verdict is not Verdict.CONFIRMED)


def check_certificate(path: Any, progress: Callable[[int, int], None] = lambda done, total: None) -> Check:
    """Checks `certificates.json`, or that of a run folder, against its votes and against the files beside it.

    Args:
        path: of the file or of the folder.
        progress: is told how many inputs are done, and of how many.
    """
    path = Path(path)
    if path.is_dir():
        path = path / FILE
    if not path.exists():
        raise InvalidInputError(f"expected a run folder with {FILE}, got no {path}; see flipproof certify")
    certificate = read_certificate(path)
    found = []
    for finding in Checker.of(certificate).verdicts():
        found.append(finding)
        progress(len(found), certificate.inputs)
    return Check(certificate, tuple(objections(certificate)), tuple(found))
