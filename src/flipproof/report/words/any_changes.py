"""Changes of any kinds in any mixture, the l0 ball: how many are certified, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.arrays import BoolArray, IntArray
from flipproof.noise.spaces.words import ANY, ChangeWords
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.forecast import mean_radius
from flipproof.report.page.packing import endless, known_cap, packed
from flipproof.report.section import Section
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO, ShareLine
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

_FAR = 100
"""The largest count of a line."""


def any_radii(certificates: Certificates) -> IntArray | None:
    """The largest certified number of changes in any mixture of kinds, one per input.

    None for a noise of one part with two categories that treats them differently, where additions and deletions by
    themselves say more.
    """
    noise = certificates.noise
    if not len(certificates) or not (noise.is_even or len(noise.part_names) > 1 or noise.has_levels):
        return None
    return certificates.max_l0_radius()


def withstands_any(certificates: Certificates, radii: IntArray, count: int) -> BoolArray:
    """Whether any `count` changes are certified; `radii` are those of `any_radii`.

    Where all that can change may change, more changes than that are certified too.
    """
    scope = certificates.votes.scope
    return (radii >= (count if scope is None else np.minimum(count, scope.totals))) & ~certificates.abstained


def any_entries(noise: Noise, described: DescribedInputs) -> str:
    """What is changed, whatever part it is of.

    The entry "" of `DescribedInputs.entries` says it for all parts; otherwise two parts are named and more are not.
    """
    names = dict.fromkeys(described.entries_of(name) for name in noise.part_names)
    return described.entries.get("", " or ".join(names) if len(names) <= 2 else "entries")


def any_change_words(noise: Noise, described: DescribedInputs) -> ChangeWords:
    """Changes of all kinds together. Bits are added or deleted: who exchanges two of them changes both."""
    entries = any_entries(noise, described)
    if len(noise.part_names) > 1 or noise.has_levels:
        default = ChangeWords("changes {} in any way", f"{entries} changed in any way")
    else:
        default = ChangeWords("adds or deletes {} in all", f"{entries} added or deleted in all")
    return described.changes.get(ANY, default)


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
        certificates, described = section.certificates, section.described
        radii = any_radii(certificates)
        if radii is None:
            return None
        everyone = np.arange(len(certificates))
        lines = [_line(CERTIFIED_RATIO, certificates, radii, ~certificates.abstained, everyone)]
        if described.labels is not None and (described.judged is None or described.judged.size):
            right = np.equal(certificates.label, described.labels)
            judged = everyone if described.judged is None else described.judged
            lines.append(_line(CERTIFIED_ACCURACY, certificates, radii, right, judged))
        return cls(any_change_words(certificates.noise, described).done, radii, tuple(lines))

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
