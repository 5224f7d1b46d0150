"""The loop that all training shares: it takes steps of Adam, watches the validation loss and keeps the best weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import IntArray
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.models.adapters.torch_modules import torch
from flipproof.run_folder.split import Split, checked_labels, label_array
from flipproof.run_folder.task import Average, TrainingSettings


class TrainingError(FlipproofError):
    """Training failed."""


@dataclass(slots=True, eq=False)
class History:
    """The record of training, with one entry per epoch."""

    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return len(self.loss)

    @property
    def best_epoch(self) -> int:
        """The epoch, counted from 0, with the lowest validation loss; its weights are kept."""
        return int(np.argmin(self.validation_loss))


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Logits [copies, inputs, classes] of noisy copies of some inputs, and the true labels [inputs]."""

    logits: torch.Tensor
    labels: torch.Tensor


class Batches(Protocol):
    """The data that a module learns from."""

    def steps(self, epoch: int) -> Iterator[Answers]:
        """Yields one portion after another; each is computed with the weights after the previous step."""

    def validation(self) -> Answers:
        """The answers that decide when to stop."""


def fit(
    module: torch.nn.Module,
    batches: Batches,
    settings: TrainingSettings,
    weights: torch.Tensor | None,
    show: Callable[[History], None],
) -> History:
    """Trains a module in place and leaves it with the weights of the lowest validation loss.

    Args:
        module: the module whose weights are trained.
        batches: the data to learn from.
        settings: the settings of training.
        weights: a tensor of class weights, or None if all classes count the same.
        show: receives the history after every epoch.
    """
    optimizer = torch.optim.Adam(
        [parameter for parameter in module.parameters() if parameter.requires_grad],
        lr=settings.learning_rate, weight_decay=settings.weight_decay,
    )  # fmt: skip
    history, best = History(), dict[str, torch.Tensor]()
    for epoch in range(settings.epochs):
        module.train()
        losses, sizes = [], []
        for answers in batches.steps(epoch):
            loss = loss_of(answers, settings.average, weights)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # missing in torch's annotations
            optimizer.step()
            losses.append(float(loss.detach()))
            sizes.append(len(answers.labels))
        _note(module, batches, history, float(np.average(losses, weights=sizes)), weights)
        if history.best_epoch == epoch:
            best = copy.deepcopy(module.state_dict())
        show(history)
        if epoch - history.best_epoch >= settings.patience:
            break
    module.load_state_dict(best)
    module.eval()
    return history


def loss_of(answers: Answers, average: str, weights: torch.Tensor | None = None) -> torch.Tensor:
    """The cross-entropy over all inputs together, averaged over noisy copies in the way that `Average` names."""
    logs = answers.logits.log_softmax(dim=2)
    mean = logs.logsumexp(dim=0) - math.log(len(logs)) if average == Average.SOFTMAX else logs.mean(dim=0)
    return torch.nn.functional.nll_loss(mean, answers.labels, weight=weights)


def _note(
    module: torch.nn.Module, batches: Batches, history: History, loss: float, weights: torch.Tensor | None
) -> None:
    module.eval()
    with torch.no_grad():
        answers = batches.validation()
        logits, labels = answers.logits.flatten(0, 1), answers.labels.repeat(len(answers.logits))
        validation = float(torch.nn.functional.cross_entropy(logits, labels, weight=weights))
        accuracy = float((logits.argmax(dim=1) == labels).float().mean())
    if not (math.isfinite(loss) and math.isfinite(validation)):
        raise TrainingError(
            f"expected a finite loss, got {loss} (validation {validation}) in epoch {history.epochs}; "
            "lower learning_rate"
        )
    history.loss.append(loss)
    history.validation_loss.append(validation)
    history.validation_accuracy.append(accuracy)


def class_weights(labels: IntArray, classes: int, device: torch.device) -> torch.Tensor:
    """Weights that make every class count the same, however many inputs it has."""
    counts = np.bincount(labels, minlength=classes)
    present = np.count_nonzero(counts)
    weights = np.divide(labels.size, present * counts, out=np.zeros(classes), where=counts > 0)
    return torch.tensor(weights, dtype=torch.float32, device=device)


def checked_targets(labels: ArrayLike, inputs: int, split: Split, classes: int, unit: str) -> IntArray:
    """Returns the labels of training and validation inputs, and 0 for all other inputs."""
    if not isinstance(split, Split):
        raise InvalidInputError(f"expected a Split, got {type(split).__name__}")
    for name in ("train", "validation"):
        part = getattr(split, name)
        if not part.size or part.max() >= inputs:
            raise InvalidInputError(f"expected {name} {unit} from 0 to {inputs - 1}, got {part.tolist()[:5]}")
    used = np.concatenate([split.train, split.validation])
    known = np.zeros(inputs, dtype=np.int64)
    known[used] = checked_labels(label_array(labels, inputs)[used], used.size)
    if known.max() >= classes:
        raise InvalidInputError(f"expected labels below {classes}, the number of classes, got {known.max()}")
    if np.unique(known[split.train]).size < 2:
        raise InvalidInputError(f"expected {unit} of at least two classes to train on, got one")
    return known
