"""Training a graph neural network on noisy copies of its graph, so that it is sure of what it sees in votes."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.node_classifier import NodeClassifier
from flipproof.models.node_forward import NodeForward
from flipproof.models.torch_modules import checked_logits, device_of
from flipproof.models.training_progress import training_progress
from flipproof.models.training_settings import Average, History, TrainingError, TrainingSettings
from flipproof.noise.graph import Graph, GraphSampler, NoisyGraph
from flipproof.noise.sampling import Role, Stream
from flipproof.smoothing.plan import check_fits, checked_memory
from flipproof.smoothing.split import Split, checked_labels, label_array
from flipproof.smoothing.threads import single_threaded
from flipproof.theory.arrays import IntArray
from flipproof.theory.law import Noise


def train(
    classifier: NodeClassifier,
    graph: Graph,
    labels: Any,
    split: Split,
    noise: Noise | None = None,
    settings: TrainingSettings | None = None,
    seed: int = 0,
    memory_limit: str | int = "2GB",
    progress: bool = True,
) -> History:
    """Trains the module of a classifier in place and leaves it with the weights of the lowest validation loss.

    The validation loss is that of the clean graph. Noise is drawn by the same exact sampler as votes, from streams
    of its own. The same seed gives the same weights on the same machine; torch's global generator is left as it was.

    Args:
        classifier: a `NodeClassifier` of any module.
        graph: the observed graph; its `noisy` says which parts get noise.
        labels: class numbers, one per node; only those of training and validation nodes are used.
        split: which nodes are for what.
        noise: the law of the noise, that of the votes to come; not needed if `settings.noisy_samples` is 0.
        settings: see `TrainingSettings`.
        seed: of noise and dropout. The initial weights are those the module has.
        memory_limit: what a noisy sample may take.
        progress: whether to show a line in a terminal.

    Example:
        >>> import torch
        >>> from flipproof import FlipNoise, GCN
        >>> edges, attributes = [[0, 1, 2, 3], [1, 0, 3, 2]], np.eye(4, dtype=int)
        >>> graph = Graph.from_edge_index(edges, attributes=attributes, noisy="attributes")
        >>> _ = torch.manual_seed(0)
        >>> classifier = NodeClassifier(GCN(features=4, classes=2), classes=2)
        >>> split = Split(train=[0, 2], validation=[1, 3], test=[])
        >>> history = train(classifier, graph, [0, 0, 1, 1], split, FlipNoise(0.01, 0.1))
        >>> classifier([graph.clean()])
        array([[0, 0, 1, 1]])
    """
    settings = TrainingSettings() if settings is None else settings
    if not isinstance(settings, TrainingSettings):
        raise InvalidInputError(f"expected TrainingSettings, got {type(settings).__name__}")
    Stream(seed)  # refuses what is no seed
    trainer = _Trainer.of(classifier, graph, labels, split, settings)
    sampler, copies = _sampler_of(graph, noise, settings, seed), settings.noisy_samples
    if sampler is not None:
        check_fits(sampler, classifier, checked_memory(memory_limit), copies)
    draw = _noisy_copies(sampler, copies)
    start = time.perf_counter()
    with single_threaded(), _seeded(seed), training_progress(settings, progress) as show:
        history = trainer.run(draw, show)
    history.seconds = time.perf_counter() - start
    return history


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Some nodes and their labels, as tensors."""

    numbers: Any
    labels: Any


@dataclass(frozen=True, slots=True, eq=False)
class _Trainer:
    """A module, what it is trained on, and how."""

    module: Any
    classes: int
    forward: NodeForward
    clean: NoisyGraph
    train: _Nodes
    validation: _Nodes
    settings: TrainingSettings

    @classmethod
    def of(
        cls, classifier: NodeClassifier, graph: Graph, labels: Any, split: Split, settings: TrainingSettings
    ) -> _Trainer:
        if not isinstance(classifier, NodeClassifier):
            raise InvalidInputError(f"expected a NodeClassifier, got {type(classifier).__name__}")
        if not isinstance(graph, Graph):
            raise InvalidInputError(f"expected a Graph, got {type(graph).__name__}; see Graph.from_pyg and others")
        if not any(parameter.requires_grad for parameter in classifier.module.parameters()):
            raise InvalidInputError("expected a module with weights to train, got none")
        torch, device = require("torch"), device_of(classifier.module)
        known = _checked_targets(labels, graph.nodes, split, classifier.classes)
        train, validation = (
            _Nodes(torch.tensor(part, device=device), torch.tensor(known[part], device=device))
            for part in (split.train, split.validation)
        )
        return cls(
            classifier.module, classifier.classes, classifier.forward(), graph.clean(), train, validation, settings
        )

    def run(self, draw: Callable[[int], list[NoisyGraph]], show: Callable[[History], None]) -> History:
        torch, module, settings = require("torch"), self.module, self.settings
        optimizer = torch.optim.Adam(
            [weights for weights in module.parameters() if weights.requires_grad],
            lr=settings.learning_rate, weight_decay=settings.weight_decay,
        )  # fmt: skip
        history, best = History(), None
        for epoch in range(settings.epochs):
            module.train()
            optimizer.zero_grad()
            loss = self._loss(draw(epoch) or [self.clean])
            loss.backward()
            optimizer.step()
            self._note(history, float(loss.detach()))
            if history.best_epoch == epoch:
                best = copy.deepcopy(module.state_dict())
            show(history)
            if epoch - history.best_epoch >= settings.patience:
                break
        module.load_state_dict(best)
        module.eval()
        return history

    def _loss(self, graphs: list[NoisyGraph]) -> Any:
        torch = require("torch")
        logs = torch.stack([self._logits(graph, self.train).log_softmax(dim=1) for graph in graphs])
        if self.settings.average == Average.SOFTMAX:
            average = logs.logsumexp(dim=0) - math.log(len(graphs))
        else:
            average = logs.mean(dim=0)
        return torch.nn.functional.nll_loss(average, self.train.labels)

    def _logits(self, graph: NoisyGraph, nodes: _Nodes) -> Any:
        return checked_logits(self.forward(graph), graph.nodes, self.classes)[nodes.numbers]

    def _note(self, history: History, loss: float) -> None:
        torch = require("torch")
        self.module.eval()
        self.forward.forget()
        with torch.no_grad():
            logits = self._logits(self.clean, self.validation)
            validation = float(torch.nn.functional.cross_entropy(logits, self.validation.labels))
            accuracy = float((logits.argmax(dim=1) == self.validation.labels).float().mean())
        if not (math.isfinite(loss) and math.isfinite(validation)):
            raise TrainingError(
                f"expected a finite loss, got {loss} (validation {validation}) in epoch {history.epochs}; "
                "lower learning_rate"
            )
        history.loss.append(loss)
        history.validation_loss.append(validation)
        history.validation_accuracy.append(accuracy)


def _sampler_of(graph: Graph, noise: Noise | None, settings: TrainingSettings, seed: int) -> GraphSampler | None:
    if not settings.noisy_samples:
        return None
    if noise is None:
        raise InvalidInputError("expected a noise to train with, got none; noisy_samples=0 trains without")
    return graph.sampler(noise, seed)


def _noisy_copies(sampler: GraphSampler | None, count: int) -> Callable[[int], list[NoisyGraph]]:
    """The noisy graphs of a step."""
    if sampler is None:
        return lambda epoch: []
    row = np.zeros(1, dtype=np.int64)
    return lambda epoch: list(sampler.draw(Role.TRAIN, range(epoch * count, (epoch + 1) * count), row))


def _checked_targets(labels: Any, nodes: int, split: Split, classes: int) -> IntArray:
    """Labels of training and validation nodes, 0 elsewhere."""
    if not isinstance(split, Split):
        raise InvalidInputError(f"expected a Split, got {type(split).__name__}")
    for name in ("train", "validation"):
        part = getattr(split, name)
        if not part.size or part.max() >= nodes:
            raise InvalidInputError(f"expected {name} nodes from 0 to {nodes - 1}, got {part.tolist()[:5]}")
    used = np.concatenate([split.train, split.validation])
    known = np.zeros(nodes, dtype=np.int64)
    known[used] = checked_labels(label_array(labels, nodes)[used], used.size)
    if known.max() >= classes:
        raise InvalidInputError(f"expected labels below {classes}, the number of classes, got {known.max()}")
    if np.unique(known[split.train]).size < 2:
        raise InvalidInputError("expected nodes of at least two classes to train on, got one")
    return known


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Torch's generator starts from the seed inside, and is as before afterwards."""
    torch = require("torch")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
