"""The protocol of all certificates, from which words, tables, pages and comparisons are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, localcontext
from enum import Enum
from typing import Any, Protocol

from flipproof.base.values import BoolArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.theory.claims import Claim
from flipproof.theory.radii import UNBOUNDED, Axis

ANY = "any"
"""The kind of an axis that counts changes of all kinds together."""


class Subject(Enum):
    """The classifier whose prediction is proved: the base classifier itself, or its smoothed version."""

    BASE = "base classifier"
    SMOOTHED = "smoothed classifier"


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise of certificates, in words for a table.

    Attributes:
        system: who published the certificates.
        subject: whose prediction is proved.
        threat: what an attacker may do; "r" is the radius.
        rule: how the radius was found.
        alpha: bounds the probability that a certificate is wrong; 0 for a proof without samples.
        simultaneous: whether alpha is for all inputs at once, not for each by itself.
    """

    system: str
    subject: Subject
    threat: str
    rule: str
    alpha: float = 0.0
    simultaneous: bool = False

    def threat_of(self, radius: float) -> str:
        """What an attacker with this radius may do.

        Example:
            >>> Promise("somebody", Subject.BASE, "at most r edges are deleted", "exact").threat_of(3)
            'at most 3 edges are deleted'
        """
        return re.sub(r"\br\b", f"{int(radius):,}" if radius == int(radius) else _rounded_down(radius), self.threat)


def _rounded_down(radius: float) -> str:
    """Four digits of a radius, never more than is proved."""
    with localcontext(prec=4, rounding=ROUND_DOWN):
        return format(+Decimal(repr(float(radius))), ",f")


class Certificate(Protocol):
    """Certificates of every input of some data.

    `Certificates` and the `Proofs` of baselines have this shape. Any object of this shape can be shown by
    `write_report`, put into words by `in_words`, and compared with other certificates.
    """

    @property
    def label(self) -> IntArray:
        """The prediction, one per input. It means nothing where the certificate abstains."""

    @property
    def abstained(self) -> BoolArray:
        """True where nothing is proved, not even for the unchanged input."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The kinds of change that are counted."""

    @property
    def promise(self) -> Promise:
        """The promise that holds for all inputs."""

    def __len__(self) -> int: ...

    def certified(self, radii: Any) -> BoolArray:
        """Whether each input's prediction is proved within the radii, in the way the certificate counts changes."""

    def max_radius(self, along: str) -> Any:
        """The largest proved number of changes along an axis, nothing else being changed, one per input."""

    def claim(self, index: int) -> Claim:
        """The claim about one input."""


_MEMBERS = ("label", "abstained", "axes", "promise", "__len__", "certified", "max_radius", "claim")


def checked_certificate(given: Any) -> Any:
    """Returns an object that has the shape of a `Certificate`, and refuses any other."""
    missing = [name for name in _MEMBERS if not hasattr(type(given), name) and not hasattr(given, name)]
    if missing:
        raise InvalidInputError(
            f"expected certificates, which flipproof.certify makes, got {type(given).__name__} without {missing[0]}"
        )
    return given


def certificate_columns(certificate: Certificate) -> dict[str, Any]:
    """The facts that every certificate has: one column per fact, one row per input."""
    return {
        "label": certificate.label,
        "abstained": certificate.abstained,
        **{f"max_{axis}": certificate.max_radius(str(axis)) for axis in certificate.axes},
    }


def shown_radius(value: Any) -> Any:
    """A radius in the form that files have: a number, or "unbounded"."""
    return "unbounded" if value == UNBOUNDED else value
