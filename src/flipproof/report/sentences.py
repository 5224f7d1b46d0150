"""One sentence per input that anybody understands, about one combination of changes that is certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.report.any_changes import any_deed, any_entries, is_even
from flipproof.report.deeds import EXCHANGE, Deed
from flipproof.report.packing import packed
from flipproof.report.shares import GridCounts, grid_counts
from flipproof.report.subject import Subject
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.arrays import IntArray
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED, Axis, axes_of

_MARGINS = 100_000_000
"""How many margins the staircases of all inputs may take to compute."""
_MOST_CELLS = 20_000
_MOST_AXES = 4
"""Combinations of more kinds of change than this are no plain words."""
_VERBS = {"add": "adds", "delete": "deletes", "change": "changes"}
_ABSTAINED, _BOX, _ANY, _ALONE, _EXCHANGE = range(5)

Stairs = tuple[IntArray, IntArray]
"""Heights and the number of every input's staircase, as `Certificates.staircases` gives them."""


def page_counts(certificates: Certificates) -> GridCounts:
    """Counts along every axis, not more than can be computed for so many inputs."""
    return grid_counts(certificates, min(_MOST_CELLS, max(4, _MARGINS // len(certificates))))


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """The sentences of all inputs. Those that end without a full stop go on with "from ... to ..." and class names.

    Attributes:
        heads: all different ones.
        index: which one each input has.
    """

    heads: tuple[str, ...]
    index: IntArray

    @classmethod
    def of(
        cls, certificates: Certificates, subject: Subject, radii: IntArray | None, stairs: Stairs | None
    ) -> Sentences:
        """Chooses one combination for every input; `radii` are those of `any_radii`."""
        choices = _choices(certificates, radii, stairs)
        if EXCHANGE in subject.deeds and stairs is not None:
            _exchanged(choices, stairs)
        chosen, index = np.unique(choices, axis=0, return_inverse=True)
        together = any_deed(certificates, subject), any_entries(certificates, subject)
        heads = (_head(row, axes_of(certificates.noise), subject, *together) for row in chosen.tolist())
        return cls(tuple(heads), index.ravel())

    def content(self) -> dict[str, Any]:
        """As a page has them."""
        return {"heads": list(self.heads), "index": packed(self.index, "u4")}


def has_boxes(noise: Noise) -> bool:
    """Whether combinations of all its kinds of change can be said."""
    return len(axes_of(noise)) <= _MOST_AXES


def _choices(certificates: Certificates, radii: IntArray | None, stairs: Stairs | None) -> IntArray:
    """For every input [what is said, count of any changes, counts along the axes]."""
    noise, inputs = certificates.noise, len(certificates)
    alone = np.stack([certificates.max_radius(str(axis)) for axis in axes_of(noise)], axis=1)
    if stairs is not None and has_boxes(noise):
        said, counts = _BOX, np.where(alone == UNBOUNDED, UNBOUNDED, _largest_boxes(stairs))
    else:
        said, counts = _ALONE, np.where(np.arange(alone.shape[1]) == alone.argmax(axis=1)[:, None], alone, 0)
    choices = np.column_stack([np.full(inputs, said), np.zeros(inputs, dtype=np.int64), counts])
    if radii is not None and (is_even(noise) or not has_boxes(noise)):
        spoken = radii > 0
        choices[spoken] = 0
        choices[spoken, 0], choices[spoken, 1] = _ANY, radii[spoken]
    choices[certificates.abstained] = 0
    return choices


def _largest_boxes(stairs: Stairs) -> IntArray:
    """The certified combination with most combinations below it, for every input; counts go 0, 1, 2, ...

    Of several, the one with most changes along the first axes, which are additions.
    """
    heights, index = stairs
    leading = np.indices(heights.shape[1:]).reshape(heights.ndim - 1, -1)
    flat = heights.reshape(len(heights), -1)
    sizes = flat * np.prod(leading + 1, axis=0)
    best = sizes.shape[1] - 1 - sizes[:, ::-1].argmax(axis=1)
    tops = np.maximum(flat[np.arange(len(flat)), best] - 1, 0)
    return np.column_stack([leading[:, best].T, tops])[index]


def _exchanged(choices: IntArray, stairs: Stairs) -> None:
    """Speaks of exchanges, each a deletion and an addition, wherever one of them is certified."""
    heights, index = stairs
    adds = np.arange(heights.shape[1])
    pairs = np.where(heights > adds, adds, 0).max(axis=1)[index]
    spoken = (pairs > 0) & (choices[:, 0] == _BOX)
    choices[spoken] = 0
    choices[spoken, 0], choices[spoken, 1] = _EXCHANGE, pairs[spoken]


def _head(row: Sequence[int], axes: Sequence[Axis], subject: Subject, together: Deed, everything: str) -> str:
    said, changes, counts = row[0], row[1], row[2:]
    if said == _ABSTAINED:
        return f"The smoothed classifier abstains from this {subject.unit}: nothing is certified."
    if said == _ANY:
        attack = together.does.format(_up_to(changes, everything))
    elif said == _EXCHANGE:
        attack = subject.deeds[EXCHANGE].does.format(_up_to(changes, everything))
    elif not any(counts):
        return f"The prediction is certified for this {subject.unit} as it is, but against no change of it."
    elif said == _ALONE:
        axis, count = next((axis, count) for axis, count in zip(axes, counts, strict=True) if count)
        attack = f"{_does(axis, _up_to(count, subject.entries_of(axis.part)), subject)} and changes nothing else"
    else:
        parts = dict.fromkeys(axis.part for axis in axes)
        attack = ", and ".join(_deeds(axes, counts, part, subject) for part in parts)
        attack += "," if len(parts) > 1 else ""
    return f"No attacker who {attack} can turn the prediction for this {subject.unit}"


def _deeds(axes: Sequence[Axis], counts: Sequence[int], part: str | None, subject: Subject) -> str:
    """What is done to one part, what is done first; the entries are named once if the verbs are plain."""
    pairs = [(axis, count) for axis, count in zip(axes, counts, strict=True) if axis.part == part]
    pairs.sort(key=lambda pair: pair[1] == 0)
    entries = subject.entries_of(part)
    if any(str(axis) in subject.deeds for axis, _ in pairs):
        *middle, last = (
            _does(axis, _up_to(count, entries) if count else f"no {entries}", subject) for axis, count in pairs
        )
        return f"{', '.join(middle)} and {last}"
    (verb, count), *others = [(_VERBS[axis.kind], count) for axis, count in pairs]
    first = f"{verb} {_up_to(count, entries) if count else f'no {entries}'}"
    *middle, last = (f"{verb} {_number(count)}" for verb, count in others)
    return f"{', '.join([first, *middle])} and {last}"


def _does(axis: Axis, what: str, subject: Subject) -> str:
    deed = subject.deeds.get(str(axis))
    return f"{_VERBS[axis.kind]} {what}" if deed is None else deed.does.format(what)


def _number(count: int) -> str:
    return {0: "none", UNBOUNDED: "any number"}.get(count, f"up to {count:,}")


def _up_to(count: int, entries: str) -> str:
    if count == UNBOUNDED:
        return f"any number of {entries}"
    return f"up to {count:,} {_singular(entries) if count == 1 else entries}"


def _singular(entries: str) -> str:
    """One of them: the noun is the last word, or the one before "of" and "with".

    Example:
        >>> _singular("colour values"), _singular("kinds of nodes"), _singular("entries")
        ('colour value', 'kind of nodes', 'entry')
    """
    noun, rest = entries, ""
    for link in (" of ", " with ", " or "):
        head, found, tail = noun.partition(link)
        noun, rest = head, f"{found}{tail}{rest}"
    if noun.endswith("ies"):
        return f"{noun[:-3]}y{rest}"
    return f"{noun[:-1] if noun.endswith('s') else noun}{rest}"
