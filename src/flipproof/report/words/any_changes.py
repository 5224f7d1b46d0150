"""Changes of any kinds in any mixture, the l0 ball: how many are certified, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.arrays import BoolArray, IntArray
from flipproof.noise.spaces.words import ANY, Deed
from flipproof.report.described_inputs import Subject
from flipproof.report.forecast import mean_radius
from flipproof.report.page.packing import endless, known_cap, packed
from flipproof.report.section import Section
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO, ShareLine
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.claims import is_even
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, parts_of
from flipproof.theory.search import SEARCH_LIMIT

_FAR = 100
"""The largest count of a line."""


def any_radii(certificates: Certificates) -> IntArray | None:
    """The largest certified number of changes in any mixture of kinds, one per input.

    None for a noise of one part with two categories that treats them differently, where additions and deletions by
    themselves say more.
    """
    noise = certificates.noise
    if not len(certificates) or not (is_even(noise) or len(parts_of(noise)) > 1 or _has_levels(noise)):
        return None
    return certificates.max_l0_radius()


def withstands_any(certificates: Certificates, radii: IntArray, count: int) -> BoolArray:
    """Whether any `count` changes are certified; `radii` are those of `any_radii`.

    Where all that can change may change, more changes than that are certified too.
    """
    scope = certificates.votes.scope
    return (radii >= (count if scope is None else np.minimum(count, scope.totals))) & ~certificates.abstained


def _has_levels(noise: Noise) -> bool:
    return any(part.categories > 2 for _, part in parts_of(noise))


def any_entries(noise: Noise, subject: Subject) -> str:
    """What is changed, whatever part it is of.

    The entry "" of `Subject.entries` says it for all parts; otherwise two parts are named and more are not.
    """
    names = dict.fromkeys(subject.entries_of(name) for name, _ in parts_of(noise))
    return subject.entries.get("", " or ".join(names) if len(names) <= 2 else "entries")


def any_deed(noise: Noise, subject: Subject) -> Deed:
    """Changes of all kinds together. Bits are added or deleted: who exchanges two of them changes both."""
    entries = any_entries(noise, subject)
    if len(parts_of(noise)) > 1 or _has_levels(noise):
        usual = Deed("changes {} in any way", f"{entries} changed in any way")
    else:
        usual = Deed("adds or deletes {} in all", f"{entries} added or deleted in all")
    return subject.deeds.get(ANY, usual)


@dataclass(frozen=True, slots=True, eq=False)
class AnyChanges:
    """Radii that count changes of all kinds together.

    Attributes:
        words: what is counted.
        radii: one per input, as `any_radii` gives them.
        lines: shares over the number of changes, for the certified ratio and, if labels are known, the accuracy.
    """

    words: str
    radii: IntArray
    lines: tuple[ShareLine, ...]

    @classmethod
    def of(cls, section: Section) -> AnyChanges | None:
        """Those of a section, if they are known."""
        certificates, subject = section.certificates, section.subject
        radii = any_radii(certificates)
        if radii is None:
            return None
        everyone = np.arange(len(certificates))
        lines = [_line(CERTIFIED_RATIO, certificates, radii, ~certificates.abstained, everyone)]
        if subject.labels is not None and (subject.judged is None or subject.judged.size):
            right = np.equal(certificates.label, subject.labels)
            judged = everyone if subject.judged is None else subject.judged
            lines.append(_line(CERTIFIED_ACCURACY, certificates, radii, right, judged))
        return cls(any_deed(certificates.noise, subject).done, radii, tuple(lines))

    def content(self, inputs: bool) -> dict[str, Any]:
        """Like an axis, and with the radii of all inputs if they are wanted."""
        return {
            "words": self.words,
            "line_counts": self.lines[0].counts,
            "cap": known_cap(self.lines[0].cap),
            "mean": mean_radius(self.radii),
            "largest": int(endless(self.radii.max())),
            "radius": packed(endless(self.radii), "i4") if inputs else None,
        }


def _line(measure: str, certificates: Certificates, radii: IntArray, counted: BoolArray, rows: IntArray) -> ShareLine:
    """From 0 to one more than the last certificate that ends; the cap is not known."""
    last = max(1, int(radii[radii < SEARCH_LIMIT].max(initial=0)) + 1)
    counts = tuple(range(min(_FAR, last) + 1))
    shares = np.array([(counted & withstands_any(certificates, radii, count))[rows].mean() for count in counts])
    return ShareLine("any", counts, shares, measure, rows.size, UNBOUNDED)
