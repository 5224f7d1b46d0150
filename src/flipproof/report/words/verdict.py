"""The verdict on some inputs: the headline, cautions, and results by class.

The headline says how many inputs withstand any one change: a radius of 0 is no robustness. A constant answer, drowned
inputs and easy labels would hide in overall shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.noise.spaces.words import ANY, EXCHANGE, ChangeWords
from flipproof.noise.usual import drowned_parts
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs, joined, singular
from flipproof.report.section import BlindClassifier
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO, ShareLine, counts_past, known_share, percent
from flipproof.theory.claims import Lead
from flipproof.theory.radii import UNBOUNDED

FUNCTION = "the classifier always gives the same label to the same noisy input"
PAST_VERBS = {"add": "added", "delete": "deleted", "change": "changed"}
NOTHING_PROVEN = "No robustness proven: even a single change might change any of these predictions."


_MANY, _FEW = 8, 4
"""Of more kinds of change than this, the headline names so many: those that most inputs withstand."""


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
        if len(alone) > _MANY:
            alone = tuple(sorted(alone, key=lambda each: -each.count)[:_FEW])
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


_NEARLY_ALL = 0.98
"""From this share of the predictions on, a caution says that one class is the only answer."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What was predicted and proved for the inputs of one true class.

    Attributes:
        name: of the class.
        inputs: the number of inputs with this true label.
        predicted: the number of inputs, of any true label, that the smoothed classifier predicts it for.
        accuracy: the share of the class that is predicted right; None if the class has no inputs.
        withstand: for each kind of change, the share that withstands any one change; None likewise.
        right: for each kind of change, the share that withstands it and is right; None likewise.
    """

    name: str
    inputs: int
    predicted: int
    accuracy: float | None
    withstand: dict[str, float | None]
    right: dict[str, float | None]


def class_results(certified: CertifiedInputs) -> list[ClassResult]:
    """One result for each class that a judged input has or is given; none if labels are unknown."""
    rows, described = certified.judged, certified.described
    if described.labels is None:
        return []
    truth, given = np.asarray(described.labels)[rows], np.where(certified.abstained, -1, certified.label)[rows]
    kinds = [(each.change, each.inputs[rows]) for each in withstanding(certified)]
    return [
        _result(described.class_name(label), label, truth, given, kinds)
        for label in range(certified.classes)
        if (truth == label).any() or (given == label).any()
    ]


def _result(
    name: str, label: int, truth: IntArray, given: IntArray, kinds: Sequence[tuple[str, BoolArray]]
) -> ClassResult:
    in_class = truth == label
    return ClassResult(
        name=name,
        inputs=int(in_class.sum()),
        predicted=int((given == label).sum()),
        accuracy=_share(given[in_class] == label) if in_class.any() else None,
        withstand={change: _share(inputs[in_class]) if in_class.any() else None for change, inputs in kinds},
        right={
            change: _share(inputs[in_class] & (given[in_class] == label)) if in_class.any() else None
            for change, inputs in kinds
        },
    )


def _share(flags: BoolArray) -> float:
    return float(flags.mean()) if flags.size else 0.0


def majority(certified: CertifiedInputs) -> BlindClassifier | None:
    """The accuracy of always answering the most frequent class, as training inputs show it; None without labels."""
    described = certified.described
    if not certified.is_judged:
        return None
    labels, split = np.asarray(described.labels), described.split
    known = labels if split is None or not split.train.size else labels[split.train]
    most = int(np.bincount(known).argmax())
    return BlindClassifier(f"always answering {described.class_name(most)}", _share(labels[certified.judged] == most))


def cautions(certified: CertifiedInputs, blind: BlindClassifier | None = None) -> list[str]:
    """Sentences that a reader of the shares must know; usually there are none."""
    return [
        *unchecked_words(certified),
        *_one_answer(certified),
        *_drowned(certified),
        *_easily_beaten(certified, majority(certified) if blind is None else blind),
        *_unchecked_labels(certified.described),
    ]


def unchecked_words(certified: CertifiedInputs) -> list[str]:
    """A warning if nobody checked that the classifier is a function; none for votes that were counted elsewhere."""
    if certified.checked is not False:
        return []
    return [
        f"The certificates hold only if {FUNCTION}. That was not checked: the votes were drawn with --no-check "
        "(check=False), or by an earlier version."
    ]


def _one_answer(certified: CertifiedInputs) -> Iterator[str]:
    described = certified.described
    answers = np.bincount(certified.label[~certified.abstained], minlength=1)
    total, most = int(answers.sum()), int(answers.argmax())
    if total > 1 and certified.classes > 1 and answers[most] >= _NEARLY_ALL * total:
        every = "every" if answers[most] == total else f"{percent(int(answers[most]), total)} of the"
        units = described.unit if answers[most] == total else described.units
        yield (
            f"The smoothed classifier answers {described.class_name(most)} for {every} {units} it gives a label. A "
            "constant answer is always robust: look at the results by class."
        )


def _drowned(certified: CertifiedInputs) -> Iterator[str]:
    for name, part, added in drowned_parts(certified.noise, certified.votes.scope):
        entries = certified.described.entries_of(name)
        yield (
            f"Noise drowns the input: for every observed one of the {entries}, p_plus = {part.p_plus:g} adds about "
            f"{added:,.1f} others. Predictions may say little about the input."
        )


def _easily_beaten(certified: CertifiedInputs, blind: BlindClassifier | None) -> Iterator[str]:
    """A classifier that ignores the noisy part may be as accurate, and no change of that part affects it."""
    described = certified.described
    if blind is None or described.labels is None:
        return
    right = _share((~certified.abstained & (certified.label == described.labels))[certified.judged])
    if right <= blind.accuracy:
        yield (
            f"The smoothed classifier is right for {right:.3f} of the judged {described.units}; {blind.words}, which "
            f"no such change can affect, would be right for {blind.accuracy:.3f}."
        )


def _unchecked_labels(described: DescribedInputs) -> Iterator[str]:
    if described.labels is not None and not described.labels_compared:
        yield (
            "Accuracies rest on unchecked labels: the data are not available, so the labels in this run were not "
            "compared with them. Certificates do not depend on labels."
        )


def class_rows(results: Sequence[ClassResult], kinds: Sequence[Withstanding]) -> Iterator[list[str]]:
    """Rows of a table: class, inputs, predicted, accuracy, and both shares for each kind of change."""
    for each in results:
        shares = [known_share(side[kind.change]) for kind in kinds for side in (each.withstand, each.right)]
        yield [each.name, f"{each.inputs:,}", f"{each.predicted:,}", known_share(each.accuracy), *shares]
