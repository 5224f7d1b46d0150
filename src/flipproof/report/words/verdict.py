"""The answer first: how many inputs withstand a single change, or that none does. Radius 0 is not robustness."""

from __future__ import annotations

from dataclasses import dataclass

from flipproof.base.arrays import BoolArray
from flipproof.noise.spaces.words import EXCHANGE
from flipproof.report.described_inputs import DescribedInputs, joined, singular
from flipproof.report.words.any_changes import any_change_words, any_entries, withstands_any
from flipproof.report.words.sentences import lead_of
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.claims import Lead
from flipproof.theory.certificate import ANY
from flipproof.theory.law import Noise
from flipproof.theory.radii import Axis, Radii, axes_of, radii_at, unit_of

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


def withstanding(certificates: Certificates, described: DescribedInputs) -> tuple[Withstanding, ...]:
    """For every kind of change that the headline speaks of: all kinds together, exchanges, or one by one."""
    noise = certificates.noise
    lead = lead_of(noise, described)
    if lead is Lead.TOGETHER:
        found = withstands_any(certificates, certificates.max_l0_radius(limit=1), 1)
        together = Withstanding(ANY, f"any one {_any_one(noise, described)}", found)
        alone = () if found.any() else _alone(certificates, described)  # one kind may be certified where not all are
        return (together, *(each for each in alone if each.count))
    if lead is not Lead.EXCHANGES:
        return _alone(certificates, described)
    pair = certificates.certified(Radii(add=1, delete=1))
    words = _singular_done(described.changes[EXCHANGE].done, described.entries_of(None))
    return (Withstanding(EXCHANGE, f"any one {words}", pair), *_alone(certificates, described))


def _alone(certificates: Certificates, described: DescribedInputs) -> tuple[Withstanding, ...]:
    """Kind by kind."""
    noise = certificates.noise
    return tuple(
        Withstanding(str(axis), f"any one {one_change(axis, described)}", certificates.certified(_single(noise, i)))
        for i, axis in enumerate(axes_of(noise))
    )


def proviso(certificates: Certificates) -> str:
    """What must be left alone for a certificate to hold, as the end of a phrase; empty if everything gets noise."""
    scope = certificates.votes.scope
    if scope is None:
        return ", with what gets no noise left alone"
    return f", with {joined(scope.fixed)} left alone" if scope.fixed else ""


def headline(certificates: Certificates, described: DescribedInputs) -> str:
    """What a reader must know first.

    Example:
        >>> import flipproof as fp
        >>> counts, noise = [[9990, 10], [5010, 4990]], fp.FlipNoise(0.01, 0.6)
        >>> votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise, inputs=[[0, 1], [1, 1]])
        >>> headline(fp.certify(votes), DescribedInputs(unit="message", entries={"": "words"}))
        '1 of 2 messages (50 %) withstands any one added word and 1 (50 %) any one deleted word.'
    """
    found = withstanding(certificates, described)
    if not any(each.count for each in found):
        return NOTHING_PROVEN
    first, *others = found
    of = first.inputs.size
    start = f"{first.count:,} of {described.count(of)} ({percent(first.count, of)}) {_verb(first.count)} {first.words}"
    rest = (f"{each.count:,} ({percent(each.count, of)}) {each.words}" for each in others)
    return f"{joined([start, *rest])}{proviso(certificates)}."


def _verb(count: int) -> str:
    return "withstands" if count == 1 else "withstand"


def percent(count: int, of: int) -> str:
    """A share in per cent, rounded down: one that is not whole never looks whole.

    Example:
        >>> percent(999, 1000), percent(3, 1000), percent(0, 1000), percent(4, 4)
        ('99 %', 'under 1 %', '0 %', '100 %')
    """
    return "under 1 %" if 0 < 100 * count < of else f"{100 * count // max(1, of)} %"


def one_change(axis: Axis, described: DescribedInputs) -> str:
    """A single change along an axis.

    Example:
        >>> one_change(Axis("structure", "delete"), DescribedInputs(entries={"structure": "edges"}))
        'deleted edge'
    """
    words, entries = described.changes.get(str(axis)), described.entries_of(axis.part)
    if words is None:
        return f"{_DONE[axis.kind]} {singular(entries)}"
    return _singular_done(words.done, entries)


def _any_one(noise: Noise, described: DescribedInputs) -> str:
    entries, done = any_entries(noise, described), any_change_words(noise, described).done
    return f"changed {singular(entries)}" if "changed in any way" in done else _singular_done(done, entries)


def _singular_done(done: str, entries: str) -> str:
    one = done.replace(entries, singular(entries), 1).removesuffix(" in all")
    return one.replace("into empty places", "into an empty place")


def _single(noise: Noise, axis: int) -> Radii | dict[str, Radii]:
    return radii_at(noise, unit_of(noise, axis, 1))  # type: ignore[return-value]  # a mapping of a joint noise
