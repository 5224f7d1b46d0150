"""The loop that all training shares, and the batches of noisy copies that it learns from.

The loop takes steps of Adam, watches the validation loss and keeps the best weights.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.progress import progress_line
from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.models.adapters.node_classifier import NodeForward
from flipproof.models.adapters.torch_modules import checked_logits, device_of, torch
from flipproof.noise.sampling.samplers import Role, Sampler
from flipproof.noise.spaces.noisy_graphs import GraphSampler, NoisyGraph
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


def learn(
    classifier: Any, batches: Batches, train_labels: IntArray, settings: TrainingSettings, seed: int, progress: bool
) -> History:
    """Trains with any batches, on one thread, and leaves the module with the weights of the lowest validation loss.

    Args:
        classifier: the classifier, whose `module` is trained in place.
        batches: the data to learn from.
        train_labels: the labels of all training inputs, for balancing the classes.
        settings: the settings of training.
        seed: the seed of dropout.
        progress: whether to show a line in a terminal.
    """
    weights = None
    if settings.balanced:
        weights = class_weights(train_labels, classifier.classes, device_of(classifier.module))
    start = time.perf_counter()
    line_shown = progress_line("training", ("note", "elapsed"), of=settings.epochs, show=progress)
    with single_threaded(), torch.random.fork_rng(devices=[]), line_shown as line:
        torch.manual_seed(seed)

        def show(history: History) -> None:
            line.update(more=1, note=_progress_words(history, settings))

        history = _fit(classifier.module, batches, settings, weights, show)
    history.seconds = time.perf_counter() - start
    return history


def _progress_words(history: History, settings: TrainingSettings) -> str:
    waited = history.epochs - 1 - history.best_epoch
    return (
        f"epoch {history.epochs}, loss {history.loss[-1]:.3f}, validation {history.validation_loss[-1]:.3f}, "
        f"accuracy {history.validation_accuracy[-1]:.3f}, waited {waited}/{settings.patience}"
    )


def _fit(
    module: torch.nn.Module, batches: Batches, settings: TrainingSettings, weights: torch.Tensor | None,
    show: Callable[[History], None],
) -> History:  # fmt: skip
    """The loop; `weights` are those of the classes, and `show` receives the history after every epoch."""
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


VALIDATION_FROM = 2**39
"""Samples from this number on are for validation; training steps use the samples before it."""
_VALIDATION_COPIES, _VALIDATION_ROWS = 16, 512
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNodes:
    """Some nodes and their labels, as tensors."""

    numbers: torch.Tensor
    labels: torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class NodeBatches:
    """All training nodes of a graph at once. The validation loss is that of the clean graph.

    Attributes:
        sampler: draws noisy graphs; None means that steps learn from the clean graph.
        copies: the number of noisy graphs in a step.
    """

    forward: NodeForward
    classes: int
    clean: NoisyGraph
    train: LabelledNodes
    validated: LabelledNodes
    sampler: GraphSampler | None
    copies: int

    def steps(self, epoch: int) -> Iterator[Answers]:
        """One step."""
        yield self._answers(self._drawn(epoch), self.train)

    def validation(self) -> Answers:
        """The answers on the clean graph."""
        self.forward.forget()
        return self._answers([self.clean], self.validated)

    def _drawn(self, epoch: int) -> list[NoisyGraph]:
        if self.sampler is None:
            return [self.clean]
        samples = range(epoch * self.copies, (epoch + 1) * self.copies)
        return list(self.sampler.draw(Role.TRAIN, samples, np.zeros(1, dtype=np.int64)))

    def _answers(self, graphs: list[NoisyGraph], nodes: LabelledNodes) -> Answers:
        logits = (checked_logits(self.forward(graph), graph.nodes, self.classes) for graph in graphs)
        return Answers(torch.stack([each[nodes.numbers] for each in logits]), nodes.labels)


@dataclass(frozen=True, slots=True, eq=False)
class RowBatches:
    """Portions of rows or small graphs, in a new order in every epoch. The validation inputs are noisy, too.

    A model trained with much noise may be poor on clean inputs, so clean inputs would not show how well it does its
    task. Every epoch uses the same noisy copies of the validation inputs.

    Attributes:
        classifier: has `module`, `classes` and `logits`.
        sampler: draws noisy copies; for training on clean inputs it flips nothing.
        labels: the labels of all inputs.
        train: the numbers of the inputs to learn from.
        validated: the numbers of the inputs that decide when to stop.
        copies: the number of noisy copies of each input in a step.
        batch_size: the number of inputs in a step.
        seed: the seed of the order.
    """

    classifier: Any
    sampler: Sampler
    labels: IntArray
    train: IntArray
    validated: IntArray
    copies: int
    batch_size: int
    seed: int

    def steps(self, epoch: int) -> Iterator[Answers]:
        """One step for each portion."""
        samples = range(epoch * self.copies, (epoch + 1) * self.copies)
        for rows in self.portions(epoch):
            yield self.answers(samples, rows)

    def portions(self, epoch: int) -> list[IntArray]:
        """The numbers of the training inputs, in portions of nearly equal size."""
        key = np.array([self.seed, epoch], dtype=np.uint64)
        order = np.random.Generator(np.random.Philox(key=key)).permutation(self.train)
        return np.array_split(order, -(-order.size // self.batch_size))

    def validation(self) -> Answers:
        """The answers on noisy validation inputs: a few copies of few inputs, or one copy of many."""
        count = self.validated.size
        copies = max(1, min(_VALIDATION_COPIES, _VALIDATION_ROWS // count))
        samples = range(VALIDATION_FROM, VALIDATION_FROM + copies)
        pieces = np.array_split(self.validated, -(-count * copies // _ROWS_AT_ONCE))
        answers = [self.answers(samples, rows) for rows in pieces if rows.size]
        return Answers(
            torch.cat([each.logits for each in answers], dim=1), torch.cat([each.labels for each in answers])
        )

    def answers(self, samples: range, rows: IntArray) -> Answers:
        """The classifier's answers on these noisy copies of some inputs."""
        classes = self.classifier.classes
        drawn = self.sampler.draw(Role.TRAIN, samples, rows)
        logits = checked_logits(self.classifier.logits(drawn), len(samples) * rows.size, classes)
        labels = torch.tensor(self.labels[rows], device=device_of(self.classifier.module))
        return Answers(logits.view(len(samples), rows.size, classes), labels)
