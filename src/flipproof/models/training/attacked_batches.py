"""Batches for `smooth_adversarial`, in which every step learns from noise around attacked inputs.

They are the batches of `flipproof.train`, but sample around the changed inputs. Attacks run in evaluation mode, like
votes, and use none of torch's randomness.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.models.adapters.node_classifier import NodeClassifier, NodeForward
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor, edge_tensor
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.models.adapters.torch_modules import device_of, torch
from flipproof.models.training.attacks import Attack, FlipAttack
from flipproof.models.training.fitting import Answers, NodeBatches, RowBatches, loss_of
from flipproof.noise.ablation import HIDDEN, AblationNoise
from flipproof.noise.gaussian import GaussianNoise, RealRows
from flipproof.noise.laws import sampler_of
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.noisy_graphs import NoisyGraph
from flipproof.noise.spaces.rows import DenseRows, SparseRows, ones_at
from flipproof.run_folder.task import Average
from flipproof.theory.law import FlipNoise

AttackedNoise = FlipNoise | AblationNoise | GaussianNoise
Rows = DenseRows | SparseRows | RealRows


def response(noise: AttackedNoise, noisy: NDArray[Any]) -> Any:
    """The average change of noisy entries per unit of change of the clean entries.

    A bit is one in a noisy copy with probability p_plus if it is zero and 1 - p_minus if it is one. If
    p_plus + p_minus > 1, the mean moves the other way. Entries that an ablation has marked as hidden do not move; if
    hidden entries look like zeros, each entry is shown with probability kept / entries.

    Example:
        >>> response(FlipNoise(0.75, 0.75), np.ones(2)), response(AblationNoise(entries=2, kept=1), np.array([1, -1]))
        (-0.5, array([1., 0.]))
        >>> response(AblationNoise(entries=10, kept=2), np.array([1, 0])), response(GaussianNoise(3.0), np.ones(2))
        (0.2, 1.0)
    """
    if isinstance(noise, FlipNoise):
        return 1.0 - noise.p_plus - noise.p_minus
    if isinstance(noise, GaussianNoise):
        return 1.0
    shown = noisy != HIDDEN
    return noise.kept / noise.entries if shown.all() else shown.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class AttackedRows:
    """Portions of rows; each row is attacked separately.

    Each portion is a separate space with separate samples, so that no noise is used twice.
    """

    batches: RowBatches
    space: Rows
    noise: AttackedNoise
    attack: Attack

    def steps(self, epoch: int) -> Iterator[Answers]:
        """One step for each portion."""
        attack, portions, copies = self.attack.in_epoch(epoch), self.batches.portions(epoch), self.batches.copies
        for number, rows in enumerate(portions, epoch * len(portions)):
            portion = _Portion(self, rows, range(number * copies, (number + 1) * copies))
            changed = attack.climb(values_of(self.space, rows), portion.gradient)
            yield portion.answers(changed, self.batches.classifier)

    def validation(self) -> Answers:
        """The validation of training without attacks: noise around clean inputs."""
        return self.batches.validation()


@dataclass(frozen=True, slots=True, eq=False)
class _Portion:
    """Some rows of a step and their noise."""

    attacked: AttackedRows
    rows: IntArray
    samples: range

    def answers(self, changed: NDArray[Any], classifier: TorchClassifier) -> Answers:
        """The classifier's answers on noisy copies of the changed rows."""
        batches, space = self.attacked.batches, with_values(self.attacked.space, changed)
        sampler = sampler_of(space, self.attacked.noise, batches.seed)
        changed_batches = replace(batches, classifier=classifier, sampler=sampler, labels=batches.labels[self.rows])
        return changed_batches.answers(self.samples, np.arange(self.rows.size))

    def gradient(self, changed: NDArray[Any]) -> NDArray[Any]:
        """The gradient of the loss of each row."""
        classifier: TorchClassifier = self.attacked.batches.classifier
        watch = _RecordingTransform(classifier.transform)
        with _evaluated(classifier.module):
            slopes = watch.slopes(self.answers(changed, replace(classifier, transform=watch)), self.attacked.noise)
        return np.asarray(slopes.reshape(-1, *changed.shape).sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class AttackedNodes:
    """All training nodes of a graph at once; the attributes are attacked as one input with the nodes' joint budget."""

    batches: NodeBatches
    classifier: NodeClassifier
    graph: Graph
    noise: AttackedNoise
    attack: FlipAttack
    seed: int

    def steps(self, epoch: int) -> Iterator[Answers]:
        """One step."""
        attack = self.attack.in_epoch(epoch).of_many(len(self.batches.train.labels))
        clean = values_of(self.graph.attributes, np.arange(self.graph.nodes))[np.newaxis]
        changed = attack.climb(clean, lambda bits: self._gradient(bits, epoch))
        yield from replace(self.batches, sampler=self._sampler(changed)).steps(epoch)

    def validation(self) -> Answers:
        """The validation of training without attacks: the clean graph."""
        return self.batches.validation()

    def _sampler(self, changed: NDArray[Any]) -> Any:
        """The sampler of noisy copies of the graph with changed attributes."""
        attributes = with_values(self.graph.attributes, changed[0])
        return sampler_of(replace(self.graph, attributes=attributes), self.noise, self.seed)

    def _gradient(self, changed: NDArray[Any], epoch: int) -> NDArray[Any]:
        """The gradient of the mean loss of all training nodes."""
        watch = _RecordingForward(self.classifier.module)
        watched = replace(self.batches, sampler=self._sampler(changed), forward=watch)
        with _evaluated(self.classifier.module):
            slopes = watch.slopes(next(watched.steps(epoch)), self.noise)
        return np.asarray(slopes.sum(axis=0, keepdims=True))


@contextlib.contextmanager
def _evaluated(module: torch.nn.Module) -> Iterator[None]:
    """Runs calls inside in evaluation mode, in the middle of training."""
    module.eval()
    try:
        yield
    finally:
        module.train()


class _RecordingTransform:
    """The transform of a classifier of rows; it keeps its input rows so that their gradients are available later."""

    def __init__(self, transform: Callable[[Any], Any] | None) -> None:
        self._transform = transform
        self._rows: torch.Tensor | None = None

    def __call__(self, rows: torch.Tensor) -> Any:
        self._rows = rows.requires_grad_()
        kept = rows.clone()  # unlike a leaf, a copy may be written into
        return kept if self._transform is None else self._transform(kept)

    def slopes(self, answers: Answers, noise: AttackedNoise) -> NDArray[Any]:
        """Gradients of the smoothed loss with respect to the clean rows, one for each noisy copy."""
        (slopes,) = _slopes(answers, [self._rows], noise)
        return slopes


class _RecordingForward(NodeForward):
    """Calls a module with dense attributes and keeps them, so that their gradients are available later."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__(module, AttributeForm.DENSE)
        self._called_with: list[Any] = []

    def __call__(self, graph: NoisyGraph) -> Any:
        """Logits [nodes, classes]."""
        device = device_of(self._module)
        self._called_with.append(attribute_tensor(graph, AttributeForm.DENSE, device).requires_grad_())
        return self._module(self._called_with[-1].clone(), edge_tensor(graph, device))

    def slopes(self, answers: Answers, noise: AttackedNoise) -> NDArray[Any]:
        """Gradients of the smoothed loss with respect to the clean attributes, [copies, nodes, columns]."""
        return np.stack(_slopes(answers, self._called_with, noise))


def _slopes(answers: Answers, inputs: list[Any], noise: AttackedNoise) -> list[NDArray[Any]]:
    """Gradients of -log of the mean probability of the label, taken at the noisy inputs behind the answers."""
    loss = loss_of(answers, Average.SOFTMAX)
    found = torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True)
    return [
        response(noise, noisy.detach().cpu().numpy()) * slopes.cpu().numpy()
        for noisy, slopes in zip(inputs, found, strict=True)
    ]


def values_of(space: Any, rows: IntArray) -> NDArray[Any]:
    """Some rows of a space, as an array that may be written to."""
    if isinstance(space, SparseRows):
        return np.asarray(space.matrix[rows].toarray().astype(np.uint8))
    return np.asarray(space.values[rows])


def with_values(space: Any, values: NDArray[Any]) -> Rows:
    """A space of the same kind with these rows."""
    if not isinstance(space, SparseRows):
        made: Rows = type(space)(values)
        return made
    # Several times faster than scipy's conversion of a dense array.
    rows, columns = np.divmod(np.flatnonzero(values.astype(bool)), values.shape[1])
    starts = np.searchsorted(rows, np.arange(len(values) + 1))
    return SparseRows(ones_at(starts, columns.astype(np.int32), values.shape[1]))
