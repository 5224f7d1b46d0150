"""Results class by class, and what a share by itself would hide: one answer for all, drowned inputs, easy labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.section import Blind
from flipproof.report.words.numbers import known_share, percent
from flipproof.report.words.promises import unchecked_words
from flipproof.report.words.verdict import Withstanding, withstanding

_NEARLY_ALL = 0.98
"""The share of predictions from which on one class is said to be the only answer."""

_DROWNED = 3.0
"""How many times the observed ones noise adds before a reader should know."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What was predicted and proved about the inputs of one true class.

    Attributes:
        name: of the class.
        inputs: how many have it as their true label.
        predicted: to how many inputs, of whatever class, the smoothed classifier gives it.
        accuracy: the share of its inputs that get it; None if there are none, as are the shares below.
        withstand: for each kind of change the share of its inputs that withstand any one;
        right: the share that withstand it and are right.
    """

    name: str
    inputs: int
    predicted: int
    accuracy: float | None
    withstand: dict[str, float | None]
    right: dict[str, float | None]


def class_results(certified: CertifiedInputs) -> list[ClassResult]:
    """One for every class that is a true label of a judged input, or predicted for one; none without labels."""
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


def majority(certified: CertifiedInputs) -> Blind | None:
    """Always the most frequent class, as it is known from the training inputs if there are any; None without labels."""
    described = certified.described
    if not certified.is_judged:
        return None
    labels, split = np.asarray(described.labels), described.split
    known = labels if split is None or not split.train.size else labels[split.train]
    most = int(np.bincount(known).argmax())
    return Blind(f"always answering {described.class_name(most)}", _share(labels[certified.judged] == most))


def cautions(certified: CertifiedInputs, blind: Blind | None = None) -> list[str]:
    """What a reader of the shares must know: sentences, most often none."""
    return [
        *unchecked_words(certified),
        *_one_answer(certified),
        *_drowned(certified),
        *_easily_beaten(certified, majority(certified) if blind is None else blind),
        *_unchecked_labels(certified.described),
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
    """Only bits are there or not: of categories, none means nothing."""
    scope = certified.votes.scope
    if scope is None:
        return
    for number, (name, part) in enumerate(certified.flips.items()):
        ones, zeros = int(scope.nonzeros[:, number].sum()), float(scope.zeros[:, number].sum())
        if part.categories == 2 and part.p_plus * zeros > _DROWNED * max(ones, 1):
            entries = certified.described.entries_of(name)
            yield (
                f"Noise drowns the input: for every observed one of the {entries}, p_plus = {part.p_plus:g} adds about "
                f"{part.p_plus * zeros / max(ones, 1):,.1f} others. Predictions may say little about the input."
            )


def _easily_beaten(certified: CertifiedInputs, blind: Blind | None) -> Iterator[str]:
    """Whoever ignores what is noisy is right as often, and robust without end."""
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
            "Accuracies rest on unchecked labels: the data are not at hand, so nobody has compared the labels in this "
            "run with them. Certificates do not depend on labels."
        )


def class_rows(results: Sequence[ClassResult], kinds: Sequence[Withstanding]) -> Iterator[list[str]]:
    """A table for people: class, inputs, predicted, accuracy, and for each kind of change both shares."""
    for each in results:
        shares = [known_share(side[kind.change]) for kind in kinds for side in (each.withstand, each.right)]
        yield [each.name, f"{each.inputs:,}", f"{each.predicted:,}", known_share(each.accuracy), *shares]
