"""Finds the adapter of a function of a batch: one clean pass shows whether it returns scores or labels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.clean_pass import asking, clean_batch, rows_in
from flipproof.models.adapters.score_function import ScoreFunction, as_numbers
from flipproof.models.adapters.scores import checked_columns, checked_threshold
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, FunctionClassifier, ModelOptions, signed
from flipproof.theory.base_law import Law


def called_model(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model that the user calls in a way of their own, `call(model, batch)`."""
    assert options.call is not None
    return adapted_function(functools.partial(options.call, model), space, noise, options, "call")


def adapted_function(
    function: Callable[[Any], Any], space: Space, noise: Law, options: ModelOptions, name: str | None = None
) -> Classifier:
    """The classifier of a function that returns scores [rows, classes], or labels if `classes` says how many."""
    name = name or str(getattr(function, "__name__", type(function).__name__))
    batch = clean_batch(space, noise)
    with asking(name, "it is called with a batch of inputs"):
        answer = as_numbers(function(signed(batch)))
    return classifier_of_answer(function, answer, rows_in(batch), options, name)


def classifier_of_answer(
    function: Callable[[Any], Any], answer: NDArray[Any], rows: int, options: ModelOptions, name: str
) -> Classifier:
    """The classifier of a function, as its answer to a few rows shows what it returns."""
    if returns_labels(answer, rows, name):
        return FunctionClassifier(function, classes_of_labels(answer, options, name))
    if answer.ndim == 2 and answer.shape[1] > 1 and options.threshold is None:
        return ScoreFunction(function, checked_columns(answer.shape[1], options.classes, name))
    if answer.ndim == 2 and answer.shape[1] > 2:
        raise InvalidInputError(
            f"expected threshold only with two classes, got {name} with {answer.shape[1]}; leave threshold out"
        )
    if options.threshold is None:
        raise InvalidInputError(
            f"expected scores [rows, classes] or integer labels [rows] from {name}, got one {answer.dtype} per row; if "
            "it is the score of the second of two classes, say from where on: threshold=0.5 for a probability, "
            "threshold=0 for a logit; if it is a label, return integers: .astype(int)"
        )
    return ScoreFunction(
        function, checked_columns(2, options.classes, name), checked_threshold(options.threshold, False)
    )


def returns_labels(answer: NDArray[Any], rows: int, name: str) -> bool:
    """Whether an answer holds labels; refuses an answer that holds neither labels nor scores."""
    if answer.dtype.kind not in "biuf":
        _refuse_names(answer, name)
    if not answer.ndim or len(answer) != rows or answer.ndim > 2:
        raise InvalidInputError(
            f"expected scores [rows, classes] or labels [rows] from {name} for a batch of {rows} rows, got shape "
            f"{answer.shape}; a function of one row becomes one of a batch by "
            "lambda rows: np.array([function(row) for row in rows])"
        )
    if answer.dtype.kind == "f":
        return False
    if answer.ndim == 2:
        raise InvalidInputError(
            f"expected one label per row from {name}, got {answer.dtype} of shape {answer.shape}; if these are scores, "
            "return floats: .astype(float); if there are several labels per row (multi-label), certify one of them at "
            "a time: return labels[:, 0]"
        )
    return True


def classes_of_labels(answer: NDArray[Any], options: ModelOptions, name: str) -> int:
    """The number of labels, which only the user knows unless labels are truth values."""
    if options.threshold is not None:
        raise InvalidInputError(f"expected threshold only with scores, got labels from {name}; leave threshold out")
    classes = options.classes if options.classes is not None or answer.dtype.kind != "b" else 2
    if classes is None:
        raise InvalidInputError(
            f"expected to know how many labels {name} can return, got labels {answer.ravel()[:3].tolist()} ...; say "
            "how many there are: classes=..."
        )
    return classes


def _refuse_names(answer: NDArray[Any], name: str) -> None:
    """The error for names of classes, or whatever else is no number."""
    first = next(iter(answer.ravel()[:1].tolist()), "nothing")
    if isinstance(first, int | float):
        raise InvalidInputError(f"expected numbers from {name}, got Python objects; return integers: .astype(int)")
    each = "name"
    if isinstance(first, dict) and "label" in first:  # a pipeline of Hugging Face
        each = "name['label']"
    call = "model.predict(batch)" if name == "predict" else "model(batch)"
    raise InvalidInputError(
        f"expected numbers from {name}, got {first!r}; map names of classes to 0, 1, ...: "
        f"call=lambda model, batch: np.array([names.index({each}) for name in {call}]), classes=len(names)"
    )
