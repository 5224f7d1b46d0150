"""A torch module as the model of a job: trained by `train`, kept as safetensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flipproof.errors import FlipproofError, InvalidInputError, reason_of
from flipproof.models.adapters.torch_modules import checked_device
from flipproof.models.training.train import train
from flipproof.models.weights import load_weights, weights_bytes
from flipproof.noise.laws import Law
from flipproof.pipeline.job import Lot
from flipproof.pipeline.task import Task


@dataclass(frozen=True, slots=True, eq=False)
class TorchModel:
    """A module and what makes a classifier of it.

    Attributes:
        task: what was asked.
        sizes: what the module is made with, by keyword: how many features and classes, and the like.
        wrap: makes a classifier of a module.
    """

    task: Task
    sizes: Mapping[str, Any]
    wrap: Callable[[Any], Any]

    def new(self, own: str | None = None) -> Any:
        """A classifier that is not trained."""
        spec = self.task.model if own is None else replace(self.task.model, name=own)
        return self.wrap(spec.build(self.sizes, self.task.seed))

    def check(self) -> None:
        """Makes one."""
        self.new()

    def trained(self, learned: Lot, noise: Law, memory_limit: str | int, progress: bool) -> tuple[Any, dict[str, Any]]:
        """A trained classifier and what happened in training."""
        classifier, task = self.new(), self.task
        with somebody_elses(task):
            history = train(
                classifier, learned.space, learned.labels, learned.split, noise, task.training, task.seed,
                memory_limit=memory_limit, progress=progress,
            )  # fmt: skip
        return classifier, {
            "epochs": history.epochs,
            "seconds": history.seconds,
            "loss": history.loss,
            "validation_loss": history.validation_loss,
            "validation_accuracy": history.validation_accuracy,
        }

    def weights(self, classifier: Any) -> bytes:
        """The state of the module."""
        return weights_bytes(classifier.module)

    def restored(self, content: bytes, name: str, own: str | None = None) -> Any:
        """A new module with this state."""
        classifier = self.new(own)
        load_weights(classifier.module, content, name)
        classifier.module.eval()
        return classifier


def on_device(classifier: Any, device: str) -> Any:
    """The classifier, with its module moved to a device."""
    module = getattr(classifier, "module", None)
    if module is None:
        raise InvalidInputError(f"expected a torch module for device {device!r}, got {type(classifier).__name__}")
    module.to(checked_device(device))
    return classifier


@contextlib.contextmanager
def somebody_elses(task: Task) -> Iterator[None]:
    """What a user's own model raises is said in one line; what ours raises is a bug, and stays what it is."""
    try:
        yield
    except Exception as error:
        if isinstance(error, FlipproofError) or not task.model.own:
            raise
        raise InvalidInputError(f"expected {task.model.name} to label {task.kind}, got {reason_of(error)}") from error
