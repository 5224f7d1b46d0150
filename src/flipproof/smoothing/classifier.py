"""Classifiers: the one protocol for all models. A classifier gives labels to a batch of noisy inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import checked_count, one_of
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.extras import provided
from flipproof.noise.spaces.space import Space
from flipproof.theory.base_law import Law


@runtime_checkable
class Classifier(Protocol):
    """Anything that can be called with a batch of noisy inputs and knows its number of classes.

    The batch is what the sampler of the space draws:

    - rows (vectors, images, tokens, tables): an array [samples * rows, ...] of the smallest unsigned integers that
      hold them, most often uint8, in which 0 - 1 is 255: convert them (`batch.astype("int64")`) before you subtract.
      The functions and estimators that `FunctionClassifier` and `SklearnClassifier` wrap get int64,
    - sparse rows: a CSR matrix [samples * rows, columns] of float32 ones, columns in order,
    - texts: a list of samples * rows strings,
    - one graph: a sequence with one `NoisyGraph` per sample,
    - many graphs: one `GraphUnion` of samples * graphs graphs,

    The classifier returns integer labels in [0, classes): one per row or graph, samples first, or for one graph an
    array [samples, outputs], say with one output per node. It must give the same input the same label every time.

    A classifier may have an attribute `fingerprint` (a string that changes whenever its labels may change; by default,
    its contents determine it), an attribute `class_names` (one text for each class, to be shown), an attribute `hops`
    (the number of message-passing steps of a model of nodes), and a method `label_scores`, which gives the numbers
    [..., classes] behind the labels of a batch; the label has the largest one. `vote` evaluates a few samples again to
    check that labels do not change; with scores it can tell rounding from a fault. Before anything is drawn, it calls
    a method `check_on(space, noise)`, if there is one, which may refuse the data or the noise.
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

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.function), amount(self.classes, "class"))

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


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a user may say about a model that is given as it is.

    Attributes:
        classes: the number of labels; by default the model tells.
        call: calls the model with a batch, `call(model, batch)`; by default the adapter of its kind knows how.
        threshold: label 1 is given from this score on, if the model has one score for the second of two classes.
    """

    classes: int | None = None
    call: Callable[[Any, Any], Any] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.classes is not None and checked_count(self.classes, "classes") < 1:
            raise InvalidInputError(f"expected classes to be at least 1, got {self.classes}")
        if self.call is not None and not callable(self.call):
            raise InvalidInputError(f"expected call to be a function of the model and a batch, got {self.call!r}")
        if self.threshold is not None and (
            isinstance(self.threshold, bool)
            or not isinstance(self.threshold, int | float | np.number)
            or math.isnan(self.threshold)
        ):
            raise InvalidInputError(f"expected threshold to be a number, got {self.threshold!r}")


def classifier_of(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier itself, or the adapter of a model for data of this space under this noise."""
    # A bare module is no classifier even if it has classes: it expects tensors, and its dropout may be on.
    is_module = any(base.__module__.split(".")[0] == "torch" for base in type(model).__mro__)
    if (
        is_module
        or isinstance(model, type)
        or not isinstance(model, Classifier)
        or not isinstance(model.classes, int | np.integer)
    ):
        adapted: Classifier = provided("adapters").adapted(model, space, noise, options)
        return adapted
    if model.classes < 1:
        raise InvalidInputError(f"expected a classifier with at least one class, got {model.classes}")
    if options.classes not in (None, model.classes) or options.call is not None or options.threshold is not None:
        raise InvalidInputError(
            f"expected classes, call and threshold only with a model that is given as it is, got {options} with "
            f"{type(model).__name__} of {model.classes} classes"
        )
    if hasattr(model, "check_on"):
        model.check_on(space, noise)
    return model


FUSED, TORCH = "fused", "torch"


def check_engine(name: str | None) -> None:
    """Refuses the name of an unknown engine."""
    if name is not None:
        one_of((FUSED, TORCH), name, "engine")
