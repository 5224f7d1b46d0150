"""A task together with its data, which the steps of a run work on, and training it into a run folder."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse as sp

from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.extras import MissingExtraError, require
from flipproof.files.whole import read_whole
from flipproof.noise.laws import Law, sampler_of
from flipproof.noise.spaces.space import Space
from flipproof.pipeline.models import own_model_errors
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import DRAWN, GIVEN, SPLIT_PARTS, UNKNOWN, Inputs, Split
from flipproof.run_folder.split_file import read_split
from flipproof.run_folder.task import Shares, SplitFile, Task
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting.vote_task import clean_labels, model_identity
from flipproof.theory.law import FlipNoise, JointNoise

if TYPE_CHECKING:
    from flipproof.pipeline.steps import Machine

ELSEWHERE = "elsewhere"
"""A fact about a model that was trained before it came here: nobody knows on what."""
_MOST_VALUES = 2 * 10**8
"""Of attributes: fitting a linear model must stay a matter of seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledInputs:
    """Some inputs with their true labels, and which of them are for training, validation and testing."""

    space: Space
    labels: IntArray
    split: Split

    @classmethod
    def some(cls, space: Space, labels: IntArray, split: Split, which: IntArray) -> LabelledInputs:
        """Some of the inputs, whose space is given, with the labels and the split of all."""
        return cls(space, labels[which], split.among(which))

    @classmethod
    def to_test(cls, space: Space, labels: IntArray) -> LabelledInputs:
        """Inputs that are all used for testing."""
        return cls(space, labels, Split([], [], np.arange(labels.size)))  # type: ignore[arg-type]  # they are checked


class Model(Protocol):
    """How the classifier of a task is made, and becomes bytes and a classifier again."""

    def check(self) -> None:
        """Refuses a model that cannot be made."""

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """A trained classifier, and facts about its training."""

    def weights(self, classifier: Any) -> bytes:
        """What training made of it."""

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """The classifier with these weights, from a file of this name. `code` is where a user's own model is now."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTask:
    """A task with its data.

    Attributes:
        task: what was asked.
        record: what the data are.
        noise: the law, with as many categories as the data have.
        learned: the inputs that the model is trained on.
        certified: the inputs that are certified; for nodes, the same ones.
        class_names: one per class.
        model: how the classifier is made.
        drawn: what a report can show of the inputs, beside the data themselves: fields of its
            `DescribedInputs`.
        split_given: whether the dataset or the user gives a split; if not, the task draws one.
        targets: of a graph with predictions for its nodes: those that are certified; None: all.
    """

    task: Task
    record: DataRecord
    noise: Law
    learned: LabelledInputs
    certified: LabelledInputs
    class_names: tuple[str, ...]
    model: Model
    drawn: Mapping[str, Any] = field(default_factory=dict)
    split_given: bool = False
    targets: IntArray | None = None

    def check(self) -> None:
        """Refuses a noise that does not fit the data, and a model that cannot be made."""
        sampler_of(self.certified.space, self.noise, self.task.seed)
        self.model.check()

    def task_record(self) -> dict[str, Any]:
        """The record of the task, with the noise as it fits the data."""
        return replace(self.task, noise=self.noise).to_record()

    def shown(self) -> dict[str, Any]:
        """What a report can show of the certified inputs: fields of its `DescribedInputs`."""
        return {"space": self.certified.space, **self.drawn}

    def clean_labels(self, classifier: Any) -> IntArray:
        """What the classifier says about the certified inputs themselves."""
        labels = clean_labels(classifier, self.certified.space, self.noise)
        return labels if self.targets is None else labels[self.targets]

    def inputs_fingerprint(self, split: Split) -> str:
        """Of what is certified, and of what accuracies are about: the inputs, their labels and the split."""
        parts = tuple(np.asarray(getattr(split, name), np.int64) for name in SPLIT_PARTS)
        return fingerprint((self.certified.space, self.certified.labels, parts))

    def blind_facts(self) -> dict[str, Any]:
        """The accuracy of logistic regression on the attributes alone on test nodes, if only edges get noise.

        Empty where it makes no sense or would take long; reports then compare with the most frequent class.
        """
        labels, split = self.certified.labels, self.certified.split
        attributes = getattr(self.certified.space, "fixed_rows", None)
        if attributes is None or labels.size != attributes.shape[0]:
            return {}
        stored = attributes.nnz if sp.issparse(attributes) else attributes.size
        if not split.test.size or np.unique(labels[split.train]).size < 2 or stored > _MOST_VALUES:
            return {}
        try:
            linear = require("sklearn.linear_model").LogisticRegression(max_iter=300)
        except MissingExtraError:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that has not quite converged is as good here
            found = linear.fit(attributes[split.train], labels[split.train]).predict(attributes[split.test])
        right = float(np.mean(found == labels[split.test]))
        return {"words": "logistic regression on the attributes alone", "accuracy": right}


def data_record(name: str, counts: dict[str, int], classes: int, contents: tuple[Any, ...]) -> DataRecord:
    """What a run folder says of a dataset; `contents` is all that a model could learn from, labels included."""
    return DataRecord(name, counts, classes, fingerprint(contents))


def fitted_noise(noise: Law, categories: Mapping[str, int]) -> Law:
    """The law that was asked for, with as many categories as the parts of the data have.

    A single law is used for every part; one that is not about flips stays as it is.

    Example:
        >>> fitted_noise(FlipNoise(0.1, 0.2), {"pixels": 256})
        FlipNoise(p_plus=0.1, p_minus=0.2, categories=256)
    """
    if not noise.flips:
        return noise
    laws = {name: law for name, law in noise.flips if name is not None} or dict.fromkeys(categories, noise.flips[0][1])
    if laws.keys() != categories.keys():
        raise InvalidInputError(f"expected noise on {', '.join(categories)}, got noise on {', '.join(laws)}")
    parts = {name: _with_categories(law, categories[name]) for name, law in laws.items()}
    return next(iter(parts.values())) if len(parts) == 1 else JointNoise(**parts)


def _with_categories(law: FlipNoise, categories: int) -> FlipNoise:
    if law.categories not in (2, categories):
        raise InvalidInputError(f"expected noise with {categories} categories, got {law.categories}")
    return FlipNoise(law.p_plus, law.p_minus, categories)


def split_of(task: Task, labels: IntArray, given: Split | None = None) -> Split:
    """The split of the user or of the data; else shares of every class for training, validation and testing."""
    if (kept := given_split(task, given, labels.size)) is not None:
        return kept
    shares = shares_of(task)
    split = Split.by_share(labels, shares.test, shares.validation, task.seed)
    check_parts(labels.size, validation=split.validation, test=split.test)
    return split


def given_split(task: Task, given: Split | None, inputs: int) -> Split | None:
    """The split of the user's file, or the one that comes with the data; None if there is none."""
    if isinstance(task.split, SplitFile) and given is None:
        return _with_test(task, read_split(task.split.file, inputs))
    return None if given is None else _kept_split(task, given)


def _kept_split(task: Task, given: Split) -> Split:
    """The split that comes with the data, if the task asks for no other and it has test inputs."""
    if isinstance(task.split, SplitFile) or task.split != type(task.split)():
        raise InvalidInputError(
            f"expected the split of {task.dataset} to be kept, got {task.split}; leave out the flags and settings of "
            "the split, or save the data without theirs"
        )
    return _with_test(task, given)


def _with_test(task: Task, given: Split) -> Split:
    if not given.test.size:
        raise InvalidInputError(f"expected {task.kind} for testing in the split of {task.dataset}, got none")
    return given


def split_parts(given: Split | None) -> tuple[IntArray, ...]:
    """What the fingerprint of data has of their split."""
    return () if given is None else (given.train, given.validation, given.test)


def check_parts(inputs: int, **parts: IntArray) -> None:
    """Refuses a split with an empty part."""
    for name, part in parts.items():
        if not part.size:
            raise InvalidInputError(
                f"expected some of {inputs} inputs for {name}, got none; raise the share (--{name}-share)"
            )


def shares_of(task: Task) -> Shares:
    """The shares that a task asks for."""
    if not isinstance(task.split, Shares):
        raise InvalidInputError(f"expected Shares for {task.kind}, got {task.split!r}")
    return task.split


def tested(task: Task, test: IntArray) -> IntArray:
    """The first test inputs, as many as are to be certified."""
    return test if task.inputs is None else test[: task.inputs]


def to_certify(task: Task, test: IntArray, inputs: int) -> IntArray:
    """The numbers of the inputs that are to be certified: the task's targets, or the first test inputs.

    Args:
        task: what was asked.
        test: the inputs for testing.
        inputs: how many inputs there are.
    """
    if task.targets is None:
        return tested(task, test)
    targets = np.array(task.targets, dtype=np.int64)
    if targets.max() >= inputs:
        raise InvalidInputError(f"expected targets from 0 to {inputs - 1:,}, got {targets.max():,}")
    return targets


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A task with its data and the classifier that was trained for it.

    Attributes:
        prepared: the task with its data.
        classifier: as its weights in the run folder say.
        training: how it was trained.
        inputs: true labels, split and base predictions.
    """

    prepared: PreparedTask
    classifier: Any
    training: TrainingRecord
    inputs: Inputs


@dataclass(frozen=True, slots=True)
class GivenWeights:
    """Weights that were trained elsewhere, to be used instead of training."""

    path: str
    content: bytes

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None) -> GivenWeights | None:
        """The weights in a file; None if there is no file."""
        if path is None:
            return None
        try:
            return cls(str(path), read_whole(Path(path)))
        except OSError as error:
            raise FileFormatError(f"expected a file of weights, got {path}: {error.strerror or error}") from error


def task_section(prepared: PreparedTask, given: GivenWeights | None) -> dict[str, Any]:
    """The section of `run.json` that says which task the run is for, and the hash of weights that were given."""
    weights = None if given is None else hashlib.sha256(given.content).hexdigest()
    return prepared.task_record() | {"weights": weights}


def train_into(folder: RunFolder, prepared: PreparedTask, machine: Machine, given: GivenWeights | None) -> Trained:
    """Trains the model of a task, or takes the weights that are given, and saves it in a folder that is locked."""
    if given is None:
        classifier, facts = prepared.model.trained(
            prepared.learned, prepared.noise, machine.memory_limit, machine.progress
        )
    else:
        classifier, facts = prepared.model.restored(given.content, given.path), {"epochs": 0, "seconds": 0.0}
    elsewhere = given is not None or facts.pop(ELSEWHERE, False)
    source = source_of_split(prepared, elsewhere)
    return _saved(folder, prepared, task_section(prepared, given), classifier, source, facts)


def source_of_split(prepared: PreparedTask, elsewhere: bool) -> str:
    """Where the split comes from: of a model that was trained here, or elsewhere."""
    return GIVEN if prepared.split_given else UNKNOWN if elsewhere else DRAWN


def _saved(
    folder: RunFolder, prepared: PreparedTask, task: Mapping[str, Any], classifier: Any, source: str,
    facts: Mapping[str, Any],
) -> Trained:  # fmt: skip
    """Writes weights, inputs and record of a trained model, and returns the classifier that these weights make."""
    with single_threaded(), own_model_errors(prepared.task):
        content, base_label = prepared.model.weights(classifier), prepared.clean_labels(classifier)
        restored = prepared.model.restored(content, str(folder.weights_file))
        same = np.array_equal(prepared.clean_labels(restored), base_label)
    if not same:
        raise InvalidInputError(
            f"a new {prepared.task.model.name} with the trained weights predicts something else: all that training "
            "changes must be in its state_dict"
        )
    certified, identity = prepared.certified, model_identity(restored)
    split = Split.nothing() if source == UNKNOWN else certified.split
    inputs = Inputs(certified.labels, split, base_label, prepared.class_names)
    training = folder.save_training(
        task,
        prepared.record,
        content,
        inputs,
        **facts,
        split=source,
        model=identity["model"],
        fingerprints=identity["fingerprints"],
        inputs=prepared.inputs_fingerprint(split),
        versions=versions(),
        blind={} if source == UNKNOWN else prepared.blind_facts(),
        files=identity["files"],
    )
    return Trained(prepared, restored, training, inputs)
