"""The answer first: how many inputs withstand a single change, or that none does. Radius 0 is not robustness."""

from __future__ import annotations

from dataclasses import dataclass

from flipproof.base.arrays import BoolArray
from flipproof.noise.spaces.words import ANY, EXCHANGE
from flipproof.report.described_inputs import joined, singular
from flipproof.report.findings import Findings
from flipproof.report.words.any_changes import any_change_words, any_entries
from flipproof.smoothing.claims import Lead

_DONE = {"add": "added", "delete": "deleted", "change": "changed"}
NOTHING_PROVEN = "No robustness proven: even a single change might change any of these predictions."


@dataclass(frozen=True, slots=True, eq=False)
class Withstanding:
    """Which inputs withstand any one change of a kind.

    Attributes:
        change: the name of an axis, "any" or "exchange".
        words: what they withstand: "any one added word".
        inputs: true where it is certified.
    """

    change: str
    words: str
    inputs: BoolArray

    @property
    def count(self) -> int:
        """How many."""
        return int(self.inputs.sum())


def withstanding(found: Findings) -> tuple[Withstanding, ...]:
    """For every kind of change that the headline speaks of: all kinds together, exchanges, or one by one."""
    if found.lead is Lead.TOGETHER:
        together = Withstanding(ANY, f"any one {_any_one(found)}", found.withstands_one_of_any_kind)
        alone = () if together.count else _alone(found)  # one kind may be certified where not all are
        return (together, *(each for each in alone if each.count))
    if found.lead is not Lead.EXCHANGES:
        return _alone(found)
    words = _singular_done(found.described.changes[EXCHANGE].done, found.described.entries_of(None))
    return (Withstanding(EXCHANGE, f"any one {words}", found.withstands_exchange), *_alone(found))


def _alone(found: Findings) -> tuple[Withstanding, ...]:
    """Kind by kind."""
    return tuple(
        Withstanding(name, f"any one {one_change(name, found)}", inputs)
        for name, inputs in found.withstands_one.items()
    )


def proviso(found: Findings) -> str:
    """What must be left alone for a certificate to hold, as the end of a phrase; empty if everything gets noise."""
    if found.fixed is None:
        return ", with what gets no noise left alone"
    return f", with {joined(found.fixed)} left alone" if found.fixed else ""


def headline(found: Findings) -> str:
    """What a reader must know first.

    Example:
        >>> import flipproof as fp
        >>> from flipproof.report.described_inputs import DescribedInputs
        >>> counts, noise = [[9990, 10], [5010, 4990]], fp.FlipNoise(0.01, 0.6)
        >>> votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise, inputs=[[0, 1], [1, 1]])
        >>> headline(Findings(fp.certify(votes), DescribedInputs(unit="message", entries={"": "words"})))
        '1 of 2 messages (50 %) withstands any one added word and 1 (50 %) any one deleted word.'
    """
    first, *others = withstanding(found)
    if not any(each.count for each in (first, *others)):
        return NOTHING_PROVEN
    of, units = first.inputs.size, found.described.count(first.inputs.size)
    verb = "withstands" if first.count == 1 else "withstand"
    start = f"{first.count:,} of {units} ({percent(first.count, of)}) {verb} {first.words}"
    rest = (f"{each.count:,} ({percent(each.count, of)}) {each.words}" for each in others)
    return f"{joined([start, *rest])}{proviso(found)}."


def percent(count: int, of: int) -> str:
    """A share in per cent, rounded down: one that is not whole never looks whole.

    Example:
        >>> percent(999, 1000), percent(3, 1000), percent(0, 1000), percent(4, 4)
        ('99 %', 'under 1 %', '0 %', '100 %')
    """
    return "under 1 %" if 0 < 100 * count < of else f"{100 * count // max(1, of)} %"


def one_change(axis: str, found: Findings) -> str:
    """A single change along an axis: "deleted edge"."""
    part, kind = found.axes[axis]
    words, entries = found.described.changes.get(axis), found.described.entries_of(part)
    return f"{_DONE[kind]} {singular(entries)}" if words is None else _singular_done(words.done, entries)


def _any_one(found: Findings) -> str:
    entries, done = any_entries(found), any_change_words(found).done
    return f"changed {singular(entries)}" if "changed in any way" in done else _singular_done(done, entries)


def _singular_done(done: str, entries: str) -> str:
    one = done.replace(entries, singular(entries), 1).removesuffix(" in all")
    return one.replace("into empty places", "into an empty place")
