"""Results by class, and cautions: a constant answer, drowned inputs and easy labels would hide in overall shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flipproof.base.values import BoolArray, IntArray
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.section import BlindClassifier
from flipproof.report.words.numbers import known_share, percent
from flipproof.report.words.promises import unchecked_words
from flipproof.report.words.verdict import Withstanding, withstanding

_NEARLY_ALL = 0.98
"""From this share of the predictions on, a caution says that one class is the only answer."""

_DROWNED = 3.0
"""A caution is given if noise adds more than this many ones for each observed one."""


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
    """Only for bits: no value of a category stands for absence."""
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
