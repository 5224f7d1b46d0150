"""Trains a model on noisy copies of its inputs, so that it is confident on the noisy inputs of votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, as_array, checked_count, sorted_rows
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.models.adapters.graph_classifier import GraphClassifier
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.models.adapters.torch_modules import device_of, torch
from flipproof.models.training.fitting import (
    VALIDATION_FROM,
    History,
    LabelledNodes,
    NodeBatches,
    RowBatches,
    checked_targets,
    learn,
)
from flipproof.noise.laws import Law, as_given, is_joint, law_for, sampler_of, space_of
from flipproof.noise.sampling.samplers import Role, Stream
from flipproof.noise.spaces.graph import checked_graph
from flipproof.noise.spaces.space import Space
from flipproof.run_folder.split import Split, checked_labels, label_array
from flipproof.run_folder.task import TrainingSettings
from flipproof.smoothing.voting.evaluation import check_memory

TrainableClassifier = NodeClassifier | GraphClassifier | TorchClassifier
"""A classifier with a module to train."""


def train(
    classifier: TrainableClassifier,
    inputs: Any,
    labels: ArrayLike,
    split: Split,
    noise: Law | None = None,
    settings: TrainingSettings | None = None,
    seed: int = 0,
    memory_limit: str | int = "2GB",
    progress: bool = True,
) -> History:
    """Trains the module of a classifier in place and leaves it with the weights of the lowest validation loss.

    Training noise comes from the same exact sampler as votes, but from separate streams. The same seed gives the same
    weights on the same machine; torch's global generator stays unchanged.

    For the nodes of a graph, every step uses all training nodes, and validation uses the clean graph. Rows and small
    graphs are learned from in portions and validated with noise.

    Args:
        classifier: a `NodeClassifier`, `GraphClassifier` or `TorchClassifier` of any module.
        inputs: for a `NodeClassifier` the observed `Graph`, whose `noisy` names the parts that get noise; otherwise any
            inputs that `vote` takes: small graphs, images, tokens, sparse or dense rows, or a table.
        labels: class numbers, one per node or input; only those of training and validation are used.
        split: the inputs for training, validation and testing.
        noise: the law of the noise; use the law of the later votes. For the nodes of a graph it may be omitted if
            `settings.noisy_samples` is 0.
        settings: see `TrainingSettings`.
        seed: the seed of noise, dropout and the order of portions. It leaves the module's initial weights unchanged.
        memory_limit: the memory that the noisy samples of a step may take.
        progress: whether to show a line in a terminal.

    Example:
        >>> import numpy as np, torch
        >>> from flipproof import FlipNoise, GCN, Graph
        >>> edges, attributes = [[0, 1, 2, 3], [1, 0, 3, 2]], np.eye(4, dtype=int)
        >>> graph = Graph.from_edge_index(edges, attributes=attributes, noisy="attributes")
        >>> _ = torch.manual_seed(0)
        >>> classifier = NodeClassifier(GCN(features=4, classes=2), classes=2)
        >>> split = Split(train=[0, 2], validation=[1, 3], test=[])
        >>> history = train(classifier, graph, [0, 0, 1, 1], split, FlipNoise(0.01, 0.1))
        >>> classifier([graph.clean()])
        array([[0, 0, 1, 1]])
    """
    settings = checked_settings(settings, seed)
    batches, train_labels = batches_of(classifier, inputs, labels, split, noise, settings, seed, memory_limit)
    return learn(classifier, batches, train_labels, settings, seed, progress)


def checked_settings(settings: TrainingSettings | None, seed: int) -> TrainingSettings:
    """Returns the settings, or the defaults if there are none; refuses an invalid seed, too."""
    settings = TrainingSettings() if settings is None else settings
    if not isinstance(settings, TrainingSettings):
        raise InvalidInputError(f"expected TrainingSettings, got {type(settings).__name__}")
    Stream(seed)  # refuses an invalid seed
    return settings


def batches_of(
    classifier: TrainableClassifier, inputs: Any, labels: ArrayLike, split: Split, noise: Law | None,
    settings: TrainingSettings, seed: int, memory_limit: str | int,
) -> tuple[NodeBatches | RowBatches, IntArray]:  # fmt: skip
    """The batches that `train` learns from, and the labels of the training inputs."""
    if isinstance(classifier, NodeClassifier):
        return _node_batches(classifier, inputs, labels, split, noise, settings, seed, memory_limit)
    return _row_batches(classifier, inputs, labels, split, noise, settings, seed, memory_limit)


def _node_batches(
    classifier: NodeClassifier, inputs: Any, labels: ArrayLike, split: Split, noise: Law | None,
    settings: TrainingSettings, seed: int, memory_limit: str | int,
) -> tuple[NodeBatches, IntArray]:  # fmt: skip
    """The nodes of a graph as batches, and the labels that are learned."""
    graph = checked_graph(inputs, "; see Graph.from_pyg and others")
    _check_trainable(classifier.module)
    device = device_of(classifier.module)
    known = checked_targets(labels, graph.nodes, split, classifier.classes, "nodes")
    train, validated = (
        LabelledNodes(torch.tensor(part, device=device), torch.tensor(known[part], device=device))
        for part in (split.train, split.validation)
    )
    sampler: Any = None
    if settings.noisy_samples:
        sampler = sampler_of(graph, _checked_noise(noise, "noisy_samples=0 trains without"), seed)
    check_memory(memory_limit, settings.noisy_samples, sampler, classifier)
    batches = NodeBatches(
        classifier.forward(), classifier.classes, graph.clean(), train, validated, sampler, settings.noisy_samples
    )
    return batches, known[split.train]


def _row_batches(
    classifier: TrainableClassifier, inputs: Any, labels: ArrayLike, split: Split, noise: Law | None,
    settings: TrainingSettings, seed: int, memory_limit: str | int,
) -> tuple[RowBatches, IntArray]:  # fmt: skip
    """Rows or small graphs as batches, and the labels that are learned."""
    if not hasattr(classifier, "logits"):
        raise InvalidInputError(
            "expected a NodeClassifier, a GraphClassifier or a TorchClassifier to train, got "
            f"{type(classifier).__name__}"
        )
    space = space_of(inputs)
    if is_joint(space):
        raise InvalidInputError(
            f"expected rows or many graphs for a {type(classifier).__name__}, got one Graph: use a NodeClassifier, or "
            "Graphs([graph])"
        )
    _check_trainable(classifier.module)
    law = _checked_noise(noise, "noisy_samples=0 trains without, but needs to know the parts and categories")
    sampler = sampler_of(space, law if settings.noisy_samples else law.without_noise(), seed)
    known = checked_targets(labels, sampler.rows, split, classifier.classes, "inputs")
    copies = max(1, settings.noisy_samples)
    if settings.epochs * copies > VALIDATION_FROM:
        raise InvalidInputError(f"expected fewer than {VALIDATION_FROM} noisy copies, got {settings.epochs * copies}")
    batch_size = min(settings.batch_size, split.train.size)
    check_memory(memory_limit, copies * batch_size, sampler, classifier)
    batches = RowBatches(classifier, sampler, known, split.train, split.validation, copies, batch_size, seed)
    return batches, known[split.train]


def _checked_noise(noise: Law | None, without: str) -> Law:
    if noise is None:
        raise InvalidInputError(f"expected a noise to train with, got none; {without}")
    return noise


def _check_trainable(module: torch.nn.Module) -> None:
    if not any(parameter.requires_grad for parameter in module.parameters()):
        raise InvalidInputError("expected a module with weights to train, got none")


def fit_estimator(
    estimator: Any, inputs: Any, labels: ArrayLike, rows: ArrayLike | None = None, noise: Law | None = None,
    copies: int = 10, seed: int = 0, memory_limit: str | int = "2GB",
) -> Any:  # fmt: skip
    """Fits an estimator to noisy copies of some rows, drawn by the exact sampler of votes from a separate stream.

    Args:
        estimator: any scikit-learn classifier, or a pipeline that ends in one. It is fitted in place and returned.
        inputs: rows, as `vote` takes them. A data frame or the table of one gives the estimator noisy data frames.
        labels: class numbers or texts, one per input; only those of `rows` are used.
        rows: the numbers of the inputs to learn from; by default all.
        noise: the law of the noise; use the law of the later votes.
        copies: the number of noisy copies of every row; 0 means the rows without noise.
        seed: the seed of the noise.
        memory_limit: the memory that all copies together may take.

    Example:
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> from flipproof import FlipNoise
        >>> rows = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
        >>> model = fit_estimator(BernoulliNB(), rows, [0, 1], [0, 1], FlipNoise(0.1, 0.4), copies=20)
        >>> model.predict([[1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
        array([0, 1])
    """
    if not hasattr(estimator, "fit"):
        raise InvalidInputError(f"expected an estimator with fit, got {type(estimator).__name__}")
    if noise is None:
        raise InvalidInputError("expected noise=, the law of the later votes, got none")
    space, copies = space_of(inputs), checked_count(copies, "copies")
    noise = law_for(space, noise)
    sampler = sampler_of(space, noise if copies else noise.without_noise(), seed)
    chosen = np.arange(sampler.rows) if rows is None else _checked_rows(rows, sampler.rows)
    known = _known_labels(labels, sampler.rows, chosen)
    try:
        check_memory(memory_limit, max(1, copies) * chosen.size, sampler)
    except TooLargeError as error:
        raise TooLargeError(
            f"{str(error).partition(';')[0]}: {max(1, copies)} copies of {chosen.size:,} rows; lower copies "
            "(--noisy-samples), or raise memory_limit (--memory)"
        ) from error
    if np.unique(known).size < 2:
        raise InvalidInputError("expected labels of at least two classes among rows, got 1")
    drawn = sampler.draw(Role.TRAIN, range(max(1, copies)), chosen)
    has_form = getattr(sampler, "form", None) is not None  # such as texts, which go in as they are
    batch = as_given(sampler, drawn) if has_form else _flat(drawn, space)
    estimator.fit(batch, np.tile(known, max(1, copies)))
    return estimator


def _flat(drawn: Any, space: Space) -> Any:
    """Noisy rows in two dimensions."""
    if not hasattr(drawn, "shape"):
        raise InvalidInputError(f"expected rows, got {type(space).__name__}")
    return sorted_rows(drawn) if sp.issparse(drawn) else drawn.reshape(drawn.shape[0], -1)


def _known_labels(labels: Any, inputs: int, chosen: IntArray) -> NDArray[Any]:
    """The labels of the rows to learn from: numbers from 0, or texts."""
    given = np.asarray(labels, dtype=object)
    if given.shape == (inputs,) and all(isinstance(each, str) for each in given[:1]):
        known = given[chosen]
        if not all(isinstance(each, str) for each in known):
            raise InvalidInputError("expected labels that are all texts or all class numbers, got both")
        return known.astype(str)
    return checked_labels(label_array(labels, inputs)[chosen], chosen.size)


def _checked_rows(rows: ArrayLike, inputs: int) -> IntArray:
    chosen = as_array(rows, "rows")
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
        raise InvalidInputError(f"expected a list of row numbers, got {chosen.dtype} of shape {list(chosen.shape)}")
    if chosen.min() < 0 or chosen.max() >= inputs:
        raise InvalidInputError(f"expected rows from 0 to {inputs - 1}, got {chosen.min()} to {chosen.max()}")
    return chosen.astype(np.int64)
