"""A task together with its data: what the steps of a run work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from flipproof.base.arrays import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.space import Space
from flipproof.pipeline.task import Task
from flipproof.run_folder.records import DataRecord
from flipproof.run_folder.split import Split
from flipproof.theory.law import FlipNoise, JointNoise

_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Lot:
    """Some inputs with their true labels, and which of them are for what."""

    space: Space
    labels: IntArray
    split: Split

    @classmethod
    def to_test(cls, space: Space, labels: IntArray) -> Lot:
        """Inputs that are all for testing."""
        return cls(space, labels, Split([], [], np.arange(labels.size)))  # type: ignore[arg-type]  # they are checked


class Model(Protocol):
    """How the classifier of a job is made, and becomes bytes and a classifier again."""

    def check(self) -> None:
        """Refuses a model that cannot be made."""

    def trained(self, learned: Lot, noise: Law, memory_limit: str | int, progress: bool) -> tuple[Any, dict[str, Any]]:
        """A trained classifier, and facts about its training."""

    def weights(self, classifier: Any) -> bytes:
        """What training made of it."""

    def restored(self, content: bytes, name: str, own: str | None = None) -> Any:
        """The classifier with these weights from a file of this name. `own` is where a user's own code is now."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A task with its data.

    Attributes:
        task: what was asked.
        record: what the data are.
        noise: the law, with as many categories as the data have.
        learned: what the model learns from.
        certified: what certificates are about; for nodes the same.
        class_names: one per class.
        model: how the classifier is made.
        drawn: what a report can show of the inputs: fields of its `Subject`.
        split_given: whether the data say which inputs are for what; if not, the split is the task's own.
    """

    task: Task
    record: DataRecord
    noise: Law
    learned: Lot
    certified: Lot
    class_names: tuple[str, ...]
    model: Model
    drawn: Mapping[str, Any] = field(default_factory=dict)
    split_given: bool = False

    def check(self) -> None:
        """Refuses a noise that does not fit the data, and a model that cannot be made."""
        sampler_of(self.certified.space, self.noise, self.task.seed)
        self.model.check()

    def asked(self) -> dict[str, Any]:
        """The record of the task, with the noise as it fits the data."""
        return self.task.to_record() | {"noise": self.noise.record()}

    def clean_labels(self, classifier: Any) -> IntArray:
        """What the classifier says about the certified inputs themselves."""
        sampler = sampler_of(self.certified.space, self.noise.without_noise(), 0)
        first, every = range(1), np.arange(sampler.rows)
        pieces = [every[start : start + _ROWS_AT_ONCE] for start in range(0, every.size, _ROWS_AT_ONCE)]
        labels = [np.asarray(classifier(sampler.draw(Role.ESTIMATE, first, rows))).ravel() for rows in pieces]
        return np.concatenate(labels).astype(np.int64)


def fitted_noise(asked: Law, categories: Mapping[str, int]) -> Law:
    """The law that was asked for, with as many categories as the parts of the data have.

    A single law is used for every part; one that is not about flips stays as it is.

    Example:
        >>> fitted_noise(FlipNoise(0.1, 0.2), {"pixels": 256})
        FlipNoise(p_plus=0.1, p_minus=0.2, categories=256)
    """
    if not asked.flips:
        return asked
    laws = {name: law for name, law in asked.flips if name is not None} or dict.fromkeys(categories, asked.flips[0][1])
    if laws.keys() != categories.keys():
        raise InvalidInputError(f"expected noise on {', '.join(categories)}, got noise on {', '.join(laws)}")
    parts = {name: _with_categories(law, categories[name]) for name, law in laws.items()}
    return next(iter(parts.values())) if len(parts) == 1 else JointNoise(**parts)


def _with_categories(law: FlipNoise, categories: int) -> FlipNoise:
    if law.categories not in (2, categories):
        raise InvalidInputError(f"expected noise with {categories} categories, got {law.categories}")
    return FlipNoise(law.p_plus, law.p_minus, categories)
