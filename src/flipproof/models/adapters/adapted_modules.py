"""Finds the adapter of a torch module of rows: one clean pass shows which numbers it takes and what it returns."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flipproof.errors import FlipproofError, InvalidInputError, reason_of
from flipproof.models.adapters.adapted_functions import adapted_function, classes_of_labels
from flipproof.models.adapters.clean_pass import clean_batch, rows_in
from flipproof.models.adapters.given_rows import is_frame, library_of
from flipproof.models.adapters.row_module import ModuleCall, PlainCall, RowModule, TokenCall
from flipproof.models.adapters.score_function import as_numbers
from flipproof.models.adapters.scores import LOGIT, PROBABILITY, Cut, checked_columns, checked_threshold
from flipproof.models.adapters.torch_modules import checked_module, torch
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.tokens import Tokens
from flipproof.smoothing.classifier import Classifier, ModelOptions
from flipproof.theory.base_law import Law

_OWN_CALL = "call it in its own way: call=lambda model, rows: model(...)"


def adapted_module(model: Any, space: Space, noise: Law, options: ModelOptions) -> Classifier:
    """The adapter of a module of rows, or an error that says what to do."""
    module = checked_module(model)
    batch = clean_batch(space, noise)
    if not hasattr(batch, "shape") or is_frame(batch):
        return _of_anything(module, space, noise, options, "a data frame" if is_frame(batch) else "texts")
    if options.call is None:
        _check_purpose(module)
    call: Callable[[Any, Any], Any] = options.call or _call_of(module, space)
    tried, outputs = _tried(module, batch, call, _types_of(module, space))
    return _found(tried, outputs, rows_in(batch), options)


def _found(tried: RowModule, outputs: Any, rows: int, options: ModelOptions) -> Classifier:
    """The classifier of a module that has answered once."""
    module, name = tried.module, type(tried.module).__name__
    if not outputs.ndim or len(outputs) != rows or outputs.ndim > 2:
        raise InvalidInputError(
            f"expected logits [rows, classes] of {rows} rows from {name}, got shape {tuple(outputs.shape)}; {_OWN_CALL}"
        )
    if not outputs.is_floating_point():
        return replace(tried, classes=_labels_of(outputs, options, name), gives_labels=True)
    columns = outputs.shape[1] if outputs.ndim == 2 else 1
    classes = checked_columns(max(2, columns), options.classes, name)
    if columns > 1 and options.threshold is None:
        _refuse_sigmoids(module, options)
        return replace(tried, classes=classes)
    if columns > 1:
        raise InvalidInputError(
            f"expected threshold only with one score per row, got {columns} from {name}; leave threshold out, or pick "
            "one: call=lambda model, rows: model(rows).softmax(dim=1)[:, 1]"
        )
    return replace(tried, classes=2, cut=_cut_of(module, outputs, options))


def _labels_of(outputs: Any, options: ModelOptions, name: str) -> int:
    if outputs.ndim == 2 and outputs.shape[1] > 1:
        raise InvalidInputError(
            f"expected logits or one label per row from {name}, got integers {tuple(outputs.shape)}"
        )
    return classes_of_labels(as_numbers(outputs), options, name)


def _cut_of(module: Any, outputs: Any, options: ModelOptions) -> Cut:
    """Where the one output of a module begins to mean the second class: 0 for a logit, 0.5 for a probability."""
    if options.threshold is not None:
        return checked_threshold(options.threshold, of_probability=False)
    if options.call is None and _ends_in(module, torch.nn.Sigmoid):
        return PROBABILITY
    if options.call is None and _ends_in(module, torch.nn.LogSigmoid):
        return Cut(math.log(PROBABILITY.at))
    if bool(((outputs < 0) | (outputs > 1)).any()):
        return LOGIT
    raise InvalidInputError(
        f"expected to know whether the one output of {type(module).__name__} is a logit or a probability, got outputs "
        "in [0, 1] only, which may be either; say from where on it means label 1: threshold=0 for a logit, "
        "threshold=0.5 for a probability"
    )


def _ends_in(module: Any, kind: type) -> bool:
    while isinstance(module, torch.nn.Sequential) and len(module):
        module = module[-1]
    return isinstance(module, kind)


def _refuse_sigmoids(module: Any, options: ModelOptions) -> None:
    """Refuses several probabilities that do not exclude each other, unless the user calls the module."""
    if options.call is None and _ends_in(module, torch.nn.Sigmoid):
        raise InvalidInputError(
            f"expected one label per row, got {type(module).__name__} with several sigmoids (multi-label); certify one "
            "label at a time: call=lambda model, rows: model(rows)[:, 0], threshold=0.5; or, if the largest one is the "
            "label: call=lambda model, rows: model(rows)"
        )


def _check_purpose(module: Any) -> None:
    """Refuses a model of Hugging Face whose configuration says that it gives no label per input."""
    config = getattr(module, "config", None)
    if library_of(module) != "transformers" or config is None:
        return
    name = type(module).__name__
    kind = getattr(config, "problem_type", None)
    if kind == "multi_label_classification":
        raise InvalidInputError(
            f"expected one label per input, got {name} for several (multi-label); certify one label at a time: "
            "call=lambda model, rows: model(rows).logits[:, 0], threshold=0"
        )
    is_single = "SequenceClassification" in name and getattr(config, "num_labels", None) == 1
    if kind == "regression" or is_single:
        raise InvalidInputError(
            f"expected a classifier, got {name}, a regression: its outputs are numbers; if a decision follows from "
            "the number, say from where on: call=lambda model, rows: model(rows).logits[:, 0], threshold=..."
        )


def _call_of(module: Any, space: Space) -> PlainCall | TokenCall:
    """How a module is called if the user says nothing."""
    if not _takes_tokens(module):
        return PlainCall()
    if not isinstance(space, Tokens):
        return TokenCall()
    empty = space.padding if space.mask is None else space.mask  # a mask also stands for padding
    words = getattr(module.config, "vocab_size", None)
    if empty is None or words is None or 0 <= empty < words:
        return TokenCall(empty)
    # Padding need not be in the model's vocabulary: an attacker must not be able to write it.
    return TokenCall(empty, getattr(module.config, "pad_token_id", None) or 0)


def _takes_tokens(module: Any) -> bool:
    return library_of(module) == "transformers" and getattr(module, "main_input_name", None) == "input_ids"


def _types_of(module: Any, space: Space) -> list[str]:
    """The types of numbers that a module may expect, the likeliest first."""
    weights = (str(each.dtype).removeprefix("torch.") for each in module.parameters() if each.is_floating_point())
    floating = next(weights, "float32")
    with_weights = (part for part in module.modules() if next(part.parameters(recurse=False), None) is not None)
    first = next(with_weights, None)
    if _takes_tokens(module) or isinstance(first, torch.nn.Embedding | torch.nn.EmbeddingBag):
        return ["int64"]
    return ["int64", floating] if isinstance(space, Tokens) else [floating, "int64"]


def _tried(module: Any, batch: Any, call: Callable[[Any, Any], Any], types: list[str]) -> tuple[RowModule, Any]:
    """The module with the first type of numbers that it takes, and what it returns for them."""
    errors: list[Exception] = []
    for dtype in types:
        tried = RowModule(module, 2, dtype, call)
        try:
            return tried, tried.outputs(batch)
        except FlipproofError:
            raise
        except Exception as error:  # a module may raise anything
            errors.append(error)
    reason = " ".join(reason_of(errors[0]).split())
    raise InvalidInputError(
        f"expected {type(module).__name__} to take rows of shape {list(batch.shape[1:])}, got {reason}; "
        f"{_advice(module, batch)}"
    ) from errors[0]


def _advice(module: Any, batch: Any) -> str:
    """What may help if a module does not take its rows."""
    first = next(iter(part for part in module.modules() if hasattr(part, "weight")), None)
    if isinstance(first, torch.nn.Conv2d) and len(batch.shape) == 3:
        return "images need an axis for their channels, [inputs, channels, height, width]: images[:, None]"
    if isinstance(first, torch.nn.Conv2d) and batch.shape[-1] == first.in_channels:
        return "images need their channels first, [inputs, channels, height, width]: images.transpose(0, 3, 1, 2)"
    if isinstance(first, torch.nn.Linear) and len(batch.shape) > 2:
        return "make one row of each input: call=lambda model, rows: model(rows.flatten(1))"
    if library_of(first) == "torch_geometric" or "edge_index" in _arguments(module):
        return "a model of graphs needs a graph: fp.vote(model, data, noise) with a PyTorch Geometric Data"
    return _OWN_CALL


def _arguments(module: Any) -> tuple[str, ...]:
    """The names of the arguments of a module's forward."""
    try:
        return tuple(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):  # no signature, as in a compiled module
        return ()


def _of_anything(module: Any, space: Space, noise: Law, options: ModelOptions, what: str) -> Classifier:
    """The adapter of a module whose inputs are no numbers: only the user knows how to encode them."""
    name = type(module).__name__
    if options.call is None:
        raise InvalidInputError(
            f"expected numbers for the module {name}, got {what}; say how to encode and call: "
            "call=lambda model, batch: model(encoded(batch))"
        )
    return adapted_function(ModuleCall(module, options.call), space, noise, options, name)
