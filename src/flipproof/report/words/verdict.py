"""The headline: how many inputs withstand any one change. A radius of 0 is no robustness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.noise.spaces.words import ANY, EXCHANGE, ChangeWords
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import joined, singular
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO, ShareLine, counts_past
from flipproof.report.words.numbers import percent
from flipproof.theory.claims import Lead
from flipproof.theory.radii import UNBOUNDED

PAST_VERBS = {"add": "added", "delete": "deleted", "change": "changed"}
NOTHING_PROVEN = "No robustness proven: even a single change might change any of these predictions."


@dataclass(frozen=True, slots=True, eq=False)
class Withstanding:
    """The inputs that withstand any one change of a kind.

    Attributes:
        change: the name of an axis, "any" or "exchange".
        words: what they withstand: "any one added word".
        inputs: a mask of these inputs.
    """

    change: str
    words: str
    inputs: BoolArray

    @property
    def count(self) -> int:
        """The number of these inputs."""
        return int(self.inputs.sum())


def withstanding(certified: CertifiedInputs) -> tuple[Withstanding, ...]:
    """For each kind of change in the headline: all kinds together, exchanges, or single kinds."""
    if certified.lead is Lead.TOGETHER:
        together = Withstanding(ANY, f"any one {_any_one_words(certified)}", certified.withstands_one_of_any_kind)
        alone = () if together.count else _by_axis(certified)  # one kind may be certified where not all are
        return (together, *(each for each in alone if each.count))
    if certified.lead is not Lead.EXCHANGES:
        return _by_axis(certified)
    words = _singular_done(certified.described.changes[EXCHANGE].done, certified.described.entries_of(None))
    return (Withstanding(EXCHANGE, f"any one {words}", certified.withstands_exchange), *_by_axis(certified))


def _by_axis(certified: CertifiedInputs) -> tuple[Withstanding, ...]:
    """For each kind of change by itself."""
    return tuple(
        Withstanding(name, f"any one {one_change(name, certified)}", inputs)
        for name, inputs in certified.withstands_one.items()
    )


def proviso(certified: CertifiedInputs) -> str:
    """The end of a phrase: what must be left alone for certificates to hold; empty if everything gets noise."""
    if certified.fixed is None:
        return ", with what gets no noise left alone"
    return f", with {joined(certified.fixed)} left alone" if certified.fixed else ""


def headline(certified: CertifiedInputs) -> str:
    """What a reader must know first, as a sentence.

    Example:
        >>> import flipproof as fp
        >>> from flipproof.report.described_inputs import DescribedInputs
        >>> counts, noise = [[9990, 10], [5010, 4990]], fp.FlipNoise(0.01, 0.6)
        >>> votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise, inputs=[[0, 1], [1, 1]])
        >>> headline(CertifiedInputs(fp.certify(votes), DescribedInputs(unit="message", entries={"": "words"})))
        '1 of 2 messages (50 %) withstands any one added word and 1 (50 %) any one deleted word.'
    """
    first, *others = withstanding(certified)
    if not any(each.count for each in (first, *others)):
        return NOTHING_PROVEN
    of, units = first.inputs.size, certified.described.count(first.inputs.size)
    verb = "withstands" if first.count == 1 else "withstand"
    start = f"{first.count:,} of {units} ({percent(first.count, of)}) {verb} {first.words}"
    rest = (f"{each.count:,} ({percent(each.count, of)}) {each.words}" for each in others)
    return f"{joined([start, *rest])}{proviso(certified)}."


def one_change(axis: str, certified: CertifiedInputs) -> str:
    """A single change along an axis: "deleted edge"."""
    part, kind = certified.axes[axis]
    words, entries = certified.described.changes.get(axis), certified.described.entries_of(part)
    return f"{PAST_VERBS[kind]} {singular(entries)}" if words is None else _singular_done(words.done, entries)


def _any_one_words(certified: CertifiedInputs) -> str:
    entries, done = any_entries(certified), any_change_words(certified).done
    return f"changed {singular(entries)}" if "changed in any way" in done else _singular_done(done, entries)


def _singular_done(done: str, entries: str) -> str:
    one = done.replace(entries, singular(entries), 1).removesuffix(" in all")
    return one.replace("into empty places", "into an empty place")


def any_entries(certified: CertifiedInputs) -> str:
    """What the entries of all parts are called.

    The entry "" of `DescribedInputs.entries` names them; otherwise the names of one or two parts do.
    """
    names = dict.fromkeys(certified.described.entries_of(name) for name in certified.parts)
    return certified.described.entries.get("", " or ".join(names) if len(names) <= 2 else "entries")


def any_change_words(certified: CertifiedInputs) -> ChangeWords:
    """The words for changes of all kinds together. Bits are added or deleted; an exchange of two counts as two."""
    entries = any_entries(certified)
    if certified.adds_or_deletes:
        default = ChangeWords("adds or deletes {} in all", f"{entries} added or deleted in all")
    else:
        default = ChangeWords("changes {} in any way", f"{entries} changed in any way")
    return certified.described.changes.get(ANY, default)


@dataclass(frozen=True, slots=True, eq=False)
class AnyChanges:
    """Radii that count changes of all kinds together.

    Attributes:
        words: what the radii count.
        radii: one per input, from `CertifiedInputs.any_radii`.
        lines: the certified ratio over the number of changes and, if labels are known, the certified accuracy.
    """

    words: str
    radii: IntArray
    lines: tuple[ShareLine, ...]

    @classmethod
    def of(cls, certified: CertifiedInputs) -> AnyChanges | None:
        """The radii and shares of some inputs; None if `any_radii` is."""
        radii, labels = certified.any_radii, certified.described.labels
        if radii is None:
            return None
        lines = [_line(CERTIFIED_RATIO, certified, radii, ~certified.abstained, np.arange(certified.inputs))]
        if labels is not None and certified.is_judged:
            lines.append(
                _line(CERTIFIED_ACCURACY, certified, radii, np.equal(certified.label, labels), certified.judged)
            )
        return cls(any_change_words(certified).done, radii, tuple(lines))


def _line(measure: str, certified: CertifiedInputs, radii: IntArray, counted: BoolArray, rows: IntArray) -> ShareLine:
    """A share over the number of changes of any kind; its cap is not known."""
    counts = counts_past(radii)
    shares = np.array([(counted & certified.withstands_any(radii, count))[rows].mean() for count in counts])
    return ShareLine("any", counts, shares, measure, rows.size, UNBOUNDED)
