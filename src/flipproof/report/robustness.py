"""One call: votes and certificates of a model on data with the usual settings, and their summary."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, checked_count, checked_flag
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law
from flipproof.noise.spaces.space import Space
from flipproof.noise.usual import UsualNoise, usual_noise, usual_space
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs, inputs_of
from flipproof.report.report_files import write_page
from flipproof.report.robustness_text import noise_argument, robustness_text
from flipproof.report.section import section_of
from flipproof.report.words.known_inputs import shown_inputs
from flipproof.report.writing import change_words
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import PromiseSettings
from flipproof.smoothing.classifier import ModelOptions
from flipproof.smoothing.names import names_of_classes
from flipproof.smoothing.vote import vote
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.vote_task import VoteTask, clean_labels
from flipproof.theory.law import Noise, checked_noise
from flipproof.theory.radii import AnyRadii, point_of

_MOST_SELECT, _SELECT_SHARE = 1_000, 10
"""A tenth as many samples choose labels as bound their probabilities, and at most this many."""
_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Robustness:
    """What one call has found out; its repr is the summary. `robustness` makes it.

    Attributes:
        certificates: what is proved about every input.
        space: the data that were voted on.
        labels: true labels as numbers of classes, one for each certificate; None if nobody gave them.
        threat: the radii that the summary leads with, or None.
        usual: the noise that was chosen, with the reason; None if the user named it.
        base_accuracy: the accuracy of the model without smoothing; None without labels.
    """

    certificates: Certificates
    space: Space
    labels: IntArray | None = None
    threat: AnyRadii | None = None
    usual: UsualNoise | None = None
    base_accuracy: float | None = None

    @property
    def votes(self) -> Votes:
        """The votes behind the certificates."""
        return self.certificates.votes

    def summary(self) -> str:
        """What is certified, under which noise and how surely, as a table for a terminal."""
        return robustness_text(self._certified, self.threat, self.usual, self.base_accuracy)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"

    def to_pandas(self) -> Any:
        """What is certified of every input as a pandas `DataFrame`."""
        return self.certificates.to_pandas()

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes a page with every input, which opens anywhere; needs the extra "report".

        Args:
            path: of the HTML file.
            force: whether a file that is no report is replaced.
        """
        write_page(
            path, [section_of(self.certificates, "robustness", self._certified.described)], checked_flag(force, "force")
        )

    @cached_property
    def _certified(self) -> CertifiedInputs:
        votes, space = self.votes, self.space
        shown = shown_inputs(space, votes.ids)
        changes = change_words(self.certificates, space, None, shown.get("image_shape"))
        limits = "" if self.usual is None else self.usual.limits
        described = DescribedInputs(
            **shown,
            **{**changes, "caution": f"{changes.get('caution', '')} {limits}".strip()},
            class_names=votes.class_names or (),
            labels=self.labels,
            names=votes.input_names,
            space=space,
            column_names=getattr(space, "column_names", None),
            value_names=getattr(space, "value_names", None),
        )
        return CertifiedInputs(self.certificates, described)


def robustness(
    model: Any,
    data: Any,
    noise: Law | None = None,
    threat: AnyRadii | None = None,
    samples: int = 10_000,
    alpha: float = 0.01,
    *,
    labels: ArrayLike | None = None,
    n_select: int | None = None,
    seed: int = 0,
    targets: ArrayLike | None = None,
    workers: int | Literal["ray"] = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
    classes: int | None = None,
    call: Callable[[Any, Any], Any] | None = None,
    threshold: float | None = None,
    tokenizer: Callable[[str], Sequence[str]] | None = None,
) -> Robustness:
    """Votes and certifies with the usual settings: how robust is this model on these data?

    The same as `certify(vote(model, data, noise, n_select, samples, seed), alpha)`, with a noise that suits the data
    and a summary. Arguments from `seed` on are those of `vote`.

    Args:
        model: a trained model as it is.
        data: an array, a data frame, texts, graphs, or whatever else `vote` takes.
        noise: the law of the noise; by default one that is usual for such data, which the summary names. A model that
            was trained with the same noise is more robust.
        threat: the changes that matter to you, as `Radii`, or for a `JointNoise` as a mapping from part to `Radii`. The
            summary begins with the share of inputs that withstand them. They do not change the noise.
        samples: how many samples bound the probability of a label.
        alpha: the probability that a certificate is wrong, for each input by itself.
        labels: true labels of all inputs of the data, for accuracies: numbers of classes, or the model's own classes.
        n_select: how many samples choose the label; by default a tenth of the others, and at most 1,000.
        seed: the seed of all randomness.
        targets: only these inputs, as numbers or as a mask.
        workers: the number of processes, or "ray".
        checkpoint: a file that keeps the votes as they come; after an interruption, the same call continues.
        progress: whether to show a line.
        classes: the number of labels, if the model cannot tell.
        call: how to call the model, as `call(model, batch)`.
        threshold: of a model with one score for the second of two classes: label 1 from this score on.
        tokenizer: of a list of texts: cuts a text into tokens.

    Example:
        >>> from flipproof import Radii
        >>> rows = np.repeat(np.eye(2, dtype=int), 10, axis=1)
        >>> def more_in_front(batch):
        ...     return (batch[:, :10].sum(axis=1) > batch[:, 10:].sum(axis=1)).astype(int)
        >>> result = robustness(more_in_front, rows, threat=Radii(delete=1), classes=2, progress=False)
        >>> print(result.summary().splitlines()[0])
        threat    2 of 2 rows (100 %) withstand any attacker who deletes up to 1 entry.
    """
    usual: UsualNoise | None = None
    if noise is None:
        data = usual_space(data, tokenizer)
        usual, tokenizer = usual_noise(data), None
        noise = usual.law
    promise, samples = PromiseSettings(alpha), checked_count(samples, "samples")
    task = VoteTask.of(model, data, noise, seed, targets, ModelOptions(classes, call, threshold), tokenizer)
    _check_threat(checked_noise(task.noise), threat, usual)
    names = names_of_classes(task.classifier)
    truth = None if labels is None else _checked_truth(labels, task, names)
    votes = vote(
        task.classifier, task.space, task.noise, _selecting(samples) if n_select is None else n_select, samples,
        seed=seed, workers=workers, targets=targets, checkpoint=checkpoint, progress=progress,
    )  # fmt: skip
    result = Robustness(promise.of(votes), task.space, threat=threat, usual=usual)
    if truth is None:
        return result
    base = clean_labels(task.classifier, task.space, task.noise)
    return replace(result, labels=truth[votes.ids], base_accuracy=float((base == truth)[votes.ids].mean()))


def _selecting(samples: int) -> int:
    """How many samples choose labels, beside those that bound probabilities."""
    return min(_MOST_SELECT, max(1, samples // _SELECT_SHARE))


def _check_threat(noise: Noise, threat: AnyRadii | None, usual: UsualNoise | None) -> None:
    """Refuses radii along axes that the noise does not have, before anything is drawn."""
    if threat is None:
        return
    try:
        point_of(noise, threat)
    except InvalidInputError as error:
        if usual is None:
            raise
        raise InvalidInputError(f"{error}; the noise is {noise_argument(usual.law)}: name another one") from error


def _checked_truth(given: Any, task: VoteTask, names: tuple[str, ...] | None) -> IntArray:
    """A true label for every input of the data, as a number of a class."""
    inputs = inputs_of(task.space, task.sampler.rows)
    try:
        values = np.asarray(given)
    except ValueError:
        raise InvalidInputError(f"expected one label for each of {inputs} inputs, got rows of unequal length") from None
    if values.shape != (inputs,):
        raise InvalidInputError(
            f"expected {inputs} labels, one for each input of the data, got {values.dtype} of shape {values.shape}"
        )
    return numbers_of_classes(values, names, task.classifier.classes)


def numbers_of_classes(labels: NDArray[Any], names: Sequence[str] | None, classes: int) -> IntArray:
    """Labels that are classes of a model, as numbers of these classes. Integers may be numbers already.

    Example:
        >>> numbers_of_classes(np.array(["spam", "ham"]), ["ham", "spam"], classes=2)
        array([1, 0])
        >>> numbers_of_classes(np.array([1, 2, 1]), ["1", "2"], classes=2)
        array([0, 1, 0])
        >>> numbers_of_classes(np.array([1.0, 0.0]), None, classes=2)
        array([1, 0])
    """
    places = {name: place for place, name in enumerate(map(str, range(classes)))}
    known = places if names is None else {name: place for place, name in enumerate(names)}
    whole = names is None and labels.dtype.kind in "bf" and np.array_equal(labels, np.rint(labels))
    values = (labels.astype(np.int64) if whole else labels).tolist()
    if not any(name.lstrip("-").isdigit() for name in known) and not known.keys() & set(map(str, values)):
        known = places
    wrong = next((value for value in values if str(value) not in known), None)
    if wrong is not None:
        shown = f"{', '.join([*known][:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}"
        raise InvalidInputError(f"expected labels among the classes {shown}, got {wrong!r}")
    return np.array([known[str(value)] for value in values], dtype=np.int64)
