"""Models of graphs as they are: finds out how to call them and how many labels they know, by one pass without noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError, reason_of
from flipproof.models.adapters.graph_calls import BY_HAND, DATA, AnswerReading, GraphCall, plain_answer
from flipproof.models.adapters.graph_classifier import GraphClassifier
from flipproof.models.adapters.graph_model import GraphFunction, GraphModel, is_union
from flipproof.models.adapters.kept_edges import check_keeps_no_edges, clean_graphs
from flipproof.models.adapters.node_classifier import NodeClassifier, is_node_module
from flipproof.models.adapters.scores import with_rows
from flipproof.models.adapters.torch_modules import checked_uncached, is_module
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.smoothing.classifier import Classifier, ModelOptions
from flipproof.theory.base_law import Law

_NO_READING = AnswerReading(1)


def adapted_graph_model(model: Any, space: Graph | Graphs, noise: Law, options: ModelOptions) -> Classifier:
    """The classifier of a model of nodes or graphs, or an error that says what to do.

    Args:
        model: a torch module, which is called by the names of its arguments; a function of a noisy graph; or anything
            that `options.call` can call with a `Data` of PyTorch Geometric.
        space: one graph, whose nodes get labels, or many graphs, each of which gets one.
        noise: the law of the noise.
        options: what the user says about the model.
    """
    found = _found(model, space, clean_graphs(space, noise), options)
    check_keeps_no_edges(model, options.call, found, space, noise)
    return found


def _found(model: Any, space: Graph | Graphs, clean: Any, options: ModelOptions) -> Classifier:
    if is_module(model) or options.call is not None:
        return _of_model(model, space, clean, options)
    if not callable(model):
        raise InvalidInputError(
            f"expected a model of graphs, a torch module or a function of a noisy graph, got {type(model).__name__}; "
            "say how it is called with call=lambda model, data: ..."
        )
    trial = GraphFunction(model, _NO_READING)
    return GraphFunction(model, _reading(_answered(trial, clean, "function(graph)"), clean, options))


def _of_model(model: Any, space: Graph | Graphs, clean: Any, options: ModelOptions) -> Classifier:
    carried = None if space.edge_features is None else space.edge_features.name
    how = _way_to_call(model, isinstance(space, Graphs), carried, options)
    trial = GraphModel(model, how, _NO_READING, carried)
    if is_union(clean) and how.takes_graphs_apart:
        trial = replace(trial, graphs_at_once=1)
    trial, answers = _tried(trial, clean)
    if is_union(clean) and clean.graphs > 1 and how.positional == (DATA,) and len(_rows(answers)) == 1:
        trial, answers = _tried(replace(trial, graphs_at_once=1), clean)
    found = replace(trial, reading=_reading(answers, clean, options))
    first, rows = answers[0]
    plain = how.is_plain and not trial.whole_numbers and hasattr(first, "detach")
    plain = plain and with_rows(first, rows).shape[1:] == (found.classes,)
    if not plain or not first.is_floating_point() or found.graphs_at_once == 1:
        return found
    return GraphClassifier(model, found.classes) if is_union(clean) else NodeClassifier(model, found.classes)


def _way_to_call(model: Any, many: bool, carried: str | None, options: ModelOptions) -> GraphCall:
    if is_module(model):
        checked_uncached(model)
    if options.call is not None:
        return GraphCall(function=options.call)
    if is_node_module(model):
        return GraphCall()
    how = GraphCall.of(model.forward, many, carried)
    weights_alone = getattr(model, "supports_edge_weight", False) and not getattr(model, "supports_edge_attr", True)
    if carried == "edge_attr" and weights_alone:
        raise InvalidInputError(
            f"expected a model that uses edge_attr, got {type(model).__name__} of PyTorch Geometric, which ignores it; "
            "if it is a weight, data.edge_weight = data.edge_attr and data.edge_attr = None; else make the graph with "
            "edge_features=False"
        )
    return how


def _tried(trial: GraphModel, clean: Any) -> tuple[GraphModel, list[tuple[Any, int]]]:
    """The answers to graphs without noise; attributes are tried as real numbers first, and then as integers."""
    try:
        return trial, _answered(trial, clean, str(trial.how))
    except InvalidInputError:
        attributes = clean.attributes if is_union(clean) else clean[0].attributes
        if getattr(getattr(attributes, "dtype", None), "kind", "f") not in "iu":
            raise
        whole = replace(trial, whole_numbers=True)
        try:
            return whole, _answered(whole, clean, str(trial.how))
        except InvalidInputError:
            pass
        raise


def _answered(trial: GraphModel | GraphFunction, clean: Any, how: str) -> list[tuple[Any, int]]:
    try:
        return list(trial.answers(clean))
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:
        model = trial.model if isinstance(trial, GraphModel) else trial.function
        hint = BY_HAND
        if isinstance(error, AttributeError | KeyError) or "data" in how:
            hint = (
                "a noisy copy has x, edge_index, num_nodes, batch and what edges carry, and nothing else of the data; "
                "what noise leaves alone may be part of the model, or of the function in call="
            )
        raise InvalidInputError(
            f"expected {type(model).__name__} to answer to {how} without noise, got {reason_of(error)}; {hint}"
        ) from error


def _rows(answers: list[tuple[Any, int]]) -> NDArray[Any]:
    """All answers together: scores [rows, classes], or scores or labels [rows]."""
    arrays = [with_rows(plain_answer(answer), rows) for answer, rows in answers]
    if len({array.shape[1:] for array in arrays}) > 1:  # numbers of nodes where those of graphs are expected
        arrays = [array.reshape(-1) for array in arrays]
    return np.concatenate(arrays)


def _reading(answers: list[tuple[Any, int]], clean: Any, options: ModelOptions) -> AnswerReading:
    """How to read the answers, from those to graphs without noise."""
    array, rows = _rows(answers), sum(count for _, count in answers)
    if len(array) != rows or array.ndim > 2:
        raise InvalidInputError(_of_other_shape(array, rows, clean))
    columns = 1 if array.ndim == 1 else array.shape[1]
    if array.dtype.kind in "biu":
        return AnswerReading(_told(options, array))
    if columns > 1:
        if options.threshold is not None:
            raise InvalidInputError(f"expected a threshold only for a model with one score, got {columns} logits")
        if options.classes not in (None, columns):
            raise InvalidInputError(f"expected logits of {options.classes} classes, got {columns}; leave out classes=")
        return AnswerReading(columns)
    if options.classes not in (None, 2):
        raise InvalidInputError(f"expected logits of {options.classes} classes, got one score for each label")
    if options.threshold is None and rows and array.min() >= 0.0 and array.max() <= 1.0:
        raise InvalidInputError(
            "expected one logit for the second of two classes, got numbers in [0, 1] that may be probabilities; say "
            "from where on label 1 is given: threshold=0.5 for probabilities, threshold=0 for logits"
        )
    return AnswerReading(2, options.threshold)


def _told(options: ModelOptions, labels: NDArray[Any]) -> int:
    if options.classes is None and labels.dtype.kind == "b":
        return 2
    if options.classes is None:
        raise InvalidInputError("expected the number of labels of a model that returns labels, got none: give classes=")
    return options.classes


def _of_other_shape(array: NDArray[Any], rows: int, clean: Any) -> str:
    got = f"got an array of shape {array.shape}"
    if is_union(clean):
        pooled = "call=lambda model, data: global_mean_pool(model(data.x, data.edge_index), data.batch)"
        hint = f"; pool the nodes: {pooled}" if len(array) == clean.nodes else ""
        return f"expected one row of logits, or one label, for each of {rows} graphs, {got}{hint}"
    hint = "; for one label of the whole graph give a list with this graph, [data]" if len(array) == 1 else ""
    return f"expected one row of logits, or one label, for each of {rows} nodes, {got}{hint}"
