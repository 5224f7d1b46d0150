"""One run in a report: its certificates, what its inputs are, and the facts about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.report.described_inputs import DescribedInputs, classes_of
from flipproof.theory.certificate import checked_certificate


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values under a title."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Blind:
    """What a classifier that ignores the noisy part reaches on the judged inputs: a certificate must beat it."""

    words: str
    accuracy: float


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """What a page says about one run.

    Attributes:
        name: a short name for it.
        certificates: what is proved: `Certificates`, or anything that is a `Certificate`.
        described: what the inputs are.
        base_accuracy: of the classifier without smoothing, if it is known.
        facts: about data, model, noise, votes, versions.
        command: what repeats the run.
        samples_per_second: how fast votes were drawn, if that is known.
        blind: what a classifier reaches that ignores the noisy part; by default the most frequent class.
        unjudged: why there are no accuracies, where a reader expects some.
    """

    name: str
    certificates: Any
    described: DescribedInputs = field(default_factory=DescribedInputs)
    base_accuracy: float | None = None
    facts: tuple[Facts, ...] = ()
    command: str | None = None
    samples_per_second: float | None = None
    blind: Blind | None = None
    unjudged: str | None = None

    @property
    def classes(self) -> int:
        """How many labels there are, as far as the certificates or the names of classes tell."""
        return classes_of(self.certificates, self.described)

    def __post_init__(self) -> None:
        checked_certificate(self.certificates)
        if not isinstance(self.name, str):
            raise InvalidInputError(f"expected a name for the run, got {self.name!r}")
        self.described.check(self.certificates)
