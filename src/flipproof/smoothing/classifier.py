"""Classifiers: the one protocol for all models. A classifier gives labels to a batch of noisy inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from flipproof.base.values import FloatArray, IntArray, checked_count, one_of
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.noise.sampling.samplers import Role, Sampler


@runtime_checkable
class Classifier(Protocol):
    """Anything that can be called with a batch of noisy inputs and knows its number of classes.

    The batch is what the sampler of the space draws:

    - rows (vectors, images, tokens, tables): an array [samples * rows, ...] of the smallest unsigned integers that
      hold them, most often uint8, in which 0 - 1 is 255: convert them (`batch.astype("int64")`) before you subtract.
      The functions and estimators that `FunctionClassifier` and `SklearnClassifier` wrap get int64,
    - sparse rows: a CSR matrix [samples * rows, columns] of float32 ones, columns in order,
    - one graph: a sequence with one `NoisyGraph` per sample,
    - many graphs: one `GraphUnion` of samples * graphs graphs,

    The classifier returns integer labels in [0, classes): one per row or graph, samples first, or for one graph an
    array [samples, outputs], say with one output per node. It must give the same input the same label every time.

    A classifier may have an attribute `fingerprint` (a string that changes whenever its labels may change; by default,
    its contents determine it), an attribute `hops` (the number of message-passing steps of a model of nodes), and a
    method `label_scores`, which gives the numbers [..., classes] behind the labels of a batch; the label has the
    largest one. `vote` evaluates a few samples again to check that labels do not change; with scores it can tell
    rounding from a fault.
    """

    @property
    def classes(self) -> int:
        """The number of labels."""

    def __call__(self, batch: Any, /) -> Any:
        """Integer labels of a batch."""


class ClassifierError(FlipproofError):
    """The classifier failed on some samples. `votes` has what was counted before, or is None if there is nothing.

    Look at these votes or continue them; the point at which they ended may depend on what they show.
    """

    votes: Any = None


class UnstableClassifierError(ClassifierError):
    """The classifier does not give one label to one noisy input: it is random, or looks at more than this input."""


class WorkerError(FlipproofError):
    """Worker processes could not do their work: they died, or their replies could not be read.

    `votes` has what was counted before, or is None if there is nothing.
    """

    votes: Any = None


@dataclass(frozen=True, slots=True)
class FunctionClassifier:
    """A function from batches to labels, with its number of classes.

    The function gets the batches that `Classifier` describes, but rows of numbers as int64, so that no difference
    wraps around.

    Give a text as `fingerprint` if the contents of the function cannot be hashed (it holds a connection, say) or
    change as it is used (a counter, a cache). `hops` is for labels of nodes, as in `Classifier`.

    Example:
        >>> by_parity = FunctionClassifier(lambda rows: rows.sum(axis=1) % 2, classes=2)
        >>> import numpy as np
        >>> by_parity(np.array([[0, 1], [1, 1]]))
        array([1, 0])
    """

    function: Callable[[Any], Any]
    classes: int
    fingerprint: str | None = None
    hops: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInputError(f"expected a function, got {self.function!r}")
        object.__setattr__(self, "classes", checked_count(self.classes, "classes"))
        if self.classes < 1:
            raise InvalidInputError(f"expected at least one class, got {self.classes}")

    def __call__(self, batch: Any, /) -> Any:
        """What the function returns."""
        return self.function(signed(batch))


def signed(batch: Any) -> Any:
    """Converts rows of unsigned integers to int64, in which 0 - 1 is -1, and leaves anything else unchanged.

    Example:
        >>> signed(np.array([0, 255], dtype=np.uint8)) - 1
        array([ -1, 254])
    """
    return batch.astype(np.int64) if isinstance(batch, np.ndarray) and batch.dtype.kind == "u" else batch


def checked_classifier(given: Any) -> Classifier:
    """The classifier itself; an error names the wrapper that makes a classifier of anything else."""
    # A bare module is refused even if it has classes: it expects tensors, and its dropout may be on.
    is_module = any(base.__module__.split(".")[0] == "torch" for base in type(given).__mro__)
    if not is_module and isinstance(given, Classifier) and isinstance(given.classes, int | np.integer):
        if given.classes >= 1:
            return given
        raise InvalidInputError(f"expected a classifier with at least one class, got {given.classes}")
    name = type(given).__name__
    if is_module:
        wrap = "TorchClassifier(module, classes=...), NodeClassifier(...) or GraphClassifier(...)"
    elif hasattr(given, "predict"):
        wrap = "SklearnClassifier(estimator)"
    elif callable(given):
        wrap = "FunctionClassifier(function, classes=...)"
    else:
        raise InvalidInputError(f"expected a classifier, got {name}")
    raise InvalidInputError(f"expected a classifier, got {name}; wrap it: flipproof.{wrap}")


FUSED, TORCH = "fused", "torch"


class FusedLabels(Protocol):
    """Labels of noisy samples, computed without making the noisy inputs as a whole."""

    @property
    def version(self) -> int:
        """Changes when the same network begins to give another label to the same noisy input."""

    @property
    def bytes_per_sample(self) -> int:
        """About how much memory a sample of a chunk takes."""

    @property
    def working_bytes(self) -> int:
        """About how much further memory is needed, however many samples there are."""

    def __call__(self, role: Role, samples: range) -> IntArray:
        """Labels [samples, outputs] of the noisy inputs that the sampler draws."""

    def scores(self, role: Role, samples: range) -> FloatArray:
        """The numbers [samples, outputs, classes] behind the labels."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that evaluates a chunk.

    Attributes:
        name: "fused", "torch", or None for a classifier that is no torch module.
        fused: gives the labels, if the engine is fused.
    """

    name: str | None = None
    fused: FusedLabels | None = None

    @property
    def version(self) -> int | None:
        """The version of fused evaluation; None for a classifier that is called, as its fingerprint identifies it."""
        return None if self.fused is None else self.fused.version


def check_engine(name: str | None) -> None:
    """Refuses the name of an unknown engine."""
    if name is not None:
        one_of((FUSED, TORCH), name, "engine")


def engine_for(classifier: Any, sampler: Sampler, requested: str | None) -> Engine:
    """The requested engine, or the fastest one if none is requested.

    A classifier that is a torch module says so by an attribute `engine`, and may have a method `fused` that gives the
    `FusedLabels` of a sampler, or the reason why there are none.
    """
    check_engine(requested)
    is_torch, name = getattr(classifier, "engine", None) == TORCH, type(classifier).__name__
    if requested == TORCH and not is_torch:
        raise InvalidInputError(f"expected a classifier that is a torch module for engine='torch', got {name}")
    offer: Any = f"it is for GCN, APPNP and GAT of flipproof, not for {name}"
    if is_torch and requested != TORCH and hasattr(classifier, "fused"):
        offer = classifier.fused(sampler)
    if not isinstance(offer, str):
        return Engine(FUSED, offer)
    if requested == FUSED:
        raise InvalidInputError(f"expected a network that the fused engine can evaluate, got another: {offer}")
    return Engine(TORCH if is_torch else None)
