"""The data of training steps: noisy copies of one graph, or of portions of rows or small graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.models.adapters.node_classifier import NodeForward
from flipproof.models.adapters.torch_modules import checked_logits, device_of, torch
from flipproof.models.training.fitting import Answers
from flipproof.noise.sampling.samplers import Role, Sampler
from flipproof.noise.spaces.noisy_graphs import GraphSampler, NoisyGraph

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
