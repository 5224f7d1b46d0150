"""Changes of any kinds in any mixture, the l0 ball: how many are certified, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.arrays import BoolArray, IntArray
from flipproof.noise.spaces.words import ANY, ChangeWords
from flipproof.report.findings import Findings
from flipproof.report.page.packing import endless, known_cap, packed
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO, ShareLine, counts_past, mean_radius
from flipproof.theory.radii import UNBOUNDED


def any_entries(found: Findings) -> str:
    """What is changed, whatever part it is of.

    The entry "" of `DescribedInputs.entries` says it for all parts; otherwise two parts are named and more are not.
    """
    names = dict.fromkeys(found.described.entries_of(name) for name in found.parts)
    return found.described.entries.get("", " or ".join(names) if len(names) <= 2 else "entries")


def any_change_words(found: Findings) -> ChangeWords:
    """Changes of all kinds together. Bits are added or deleted: who exchanges two of them changes both."""
    entries = any_entries(found)
    if found.adds_or_deletes:
        default = ChangeWords("adds or deletes {} in all", f"{entries} added or deleted in all")
    else:
        default = ChangeWords("changes {} in any way", f"{entries} changed in any way")
    return found.described.changes.get(ANY, default)


@dataclass(frozen=True, slots=True, eq=False)
class AnyChanges:
    """Radii that count changes of all kinds together.

    Attributes:
        words: what is counted.
        radii: one per input, as `Findings.any_radii` has them.
        lines: shares over the number of changes, for the certified ratio and, if labels are known, the accuracy.
    """

    words: str
    radii: IntArray
    lines: tuple[ShareLine, ...]

    @classmethod
    def of(cls, found: Findings) -> AnyChanges | None:
        """Those of all inputs, if they are known."""
        radii, labels = found.any_radii, found.described.labels
        if radii is None:
            return None
        lines = [_line(CERTIFIED_RATIO, found, radii, ~found.abstained, np.arange(found.inputs))]
        if labels is not None and found.is_judged:
            lines.append(_line(CERTIFIED_ACCURACY, found, radii, np.equal(found.label, labels), found.judged))
        return cls(any_change_words(found).done, radii, tuple(lines))

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


def _line(measure: str, found: Findings, radii: IntArray, counted: BoolArray, rows: IntArray) -> ShareLine:
    """From 0 to one more than the last certificate that ends; the cap is not known."""
    counts = counts_past(radii)
    shares = np.array([(counted & found.withstands_any(radii, count))[rows].mean() for count in counts])
    return ShareLine("any", counts, shares, measure, rows.size, UNBOUNDED)
