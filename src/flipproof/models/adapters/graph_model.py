"""Models of graphs that are called in a way of their own, and functions of a noisy graph, as classifiers."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import model_words, short_repr
from flipproof.base.values import IntArray
from flipproof.models.adapters.graph_calls import AnswerReading, GraphCall, GraphInputs, check_is_drawn, plain_answer
from flipproof.models.adapters.tensors import (
    AttributeForm,
    TensorCache,
    attribute_tensor,
    check_unchanged,
    dense_tensor,
    edge_tensor,
    plain_tensor,
)
from flipproof.models.adapters.torch_modules import device_of, evaluating, is_module, of_other_type, torch
from flipproof.noise.spaces.graph import plain_attributes

if TYPE_CHECKING:
    from flipproof.noise.spaces.graphs import GraphUnion
    from flipproof.noise.spaces.noisy_graphs import NoisyGraph


@dataclass(frozen=True, eq=False)
class GraphModel:
    """Labels nodes or graphs by a model that is called in a way of its own.

    Attributes:
        model: a torch module, or anything that `how` can call.
        how: how it is called.
        reading: how its answers become scores.
        carried: the name of what the edges carry, or None.
        whole_numbers: whether the model gets attributes as integers, as embeddings need them.
        graphs_at_once: the number of graphs in a call of the model. The last bits of the logits may depend on it.
    """

    model: Any
    how: GraphCall
    reading: AnswerReading
    carried: str | None = None
    whole_numbers: bool = False
    graphs_at_once: int = 512

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.model))

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.reading.classes

    @property
    def module(self) -> Any:
        """The model, if it is a torch module."""
        return self.model if is_module(self.model) else None

    @property
    def engine(self) -> str | None:
        """The name of the engine that evaluates a torch module."""
        return None if self.module is None else "torch"

    @property
    def bytes_per_edge(self) -> int:
        """Memory that the model needs for every edge; most models make a message of some hundred bytes per edge."""
        return int(getattr(self.model, "bytes_per_edge", 512))

    def __call__(self, batch: Sequence[NoisyGraph] | GraphUnion) -> IntArray:
        """Labels [graphs, nodes] of noisy copies of one graph, or [graphs] of a union."""
        return np.asarray(self.label_scores(batch).argmax(axis=-1))

    def label_scores(self, batch: Sequence[NoisyGraph] | GraphUnion) -> NDArray[Any]:
        """The scores [..., classes] behind the labels."""
        check_is_drawn(batch)
        scores = [self.reading.scores(answer, rows) for answer, rows in self.answers(batch)]
        return np.concatenate(scores) if is_union(batch) else np.stack(scores)

    def answers(self, batch: Any) -> Iterator[tuple[Any, int]]:
        """What the model says, call by call, and how many labels each call should give."""
        module, tensors = self.module, _Tensors(self)
        with contextlib.nullcontext() if module is None else evaluating(module):
            if is_union(batch):
                for part in batch.cut(self.graphs_at_once):
                    yield self._answer(tensors.of_union(part)), part.graphs
            else:
                for graph in batch:
                    yield self._answer(tensors.of_graph(graph)), graph.nodes

    def _answer(self, inputs: GraphInputs) -> Any:
        try:
            answer = self.how(self.model, inputs)
        except RuntimeError as error:
            explained = None if self.module is None else of_other_type(self.module, inputs.x, error)
            if explained is None:
                raise
            raise explained from error
        given = (inputs.x, inputs.edge_index, inputs.edge_features)
        check_unchanged(*(each for each in given if hasattr(each, "_version")))
        return answer


class _Tensors:
    """Makes the inputs of a model from noisy graphs; tensors of arrays that all copies share are made once."""

    def __init__(self, owner: GraphModel) -> None:
        self._owner = owner
        self._device = "cpu" if owner.module is None else device_of(owner.module)
        self._caches = TensorCache(), TensorCache(), TensorCache()

    def of_graph(self, graph: NoisyGraph) -> GraphInputs:
        x, edge_index, edge_features = self._parts(graph)
        return GraphInputs(x, edge_index, graph.nodes, edge_features, self._owner.carried)

    def of_union(self, union: GraphUnion) -> GraphInputs:
        x, edge_index, edge_features = self._parts(union)
        batch: Any = union.graph_of_node
        if _has_torch():
            batch = dense_tensor(batch, torch.int64, self._device)
        return GraphInputs(x, edge_index, union.nodes, edge_features, self._owner.carried, batch, union.graphs)

    def _parts(self, graph: NoisyGraph | GraphUnion) -> tuple[Any, Any, Any]:
        attributes, features = graph.attributes, graph.edge_features
        if not _has_torch():
            return plain_attributes(attributes), graph.edge_index, features
        of_nodes, of_edges, carried = self._caches
        return (
            None if attributes is None else of_nodes.of(attributes, self._device, lambda: self._x(graph)),
            of_edges.of(graph.edge_index, self._device, lambda: edge_tensor(graph, self._device)),
            None
            if features is None
            else carried.of(features, self._device, lambda: plain_tensor(features, self._device)),
        )

    def _x(self, graph: NoisyGraph | GraphUnion) -> Any:
        if self._owner.whole_numbers:
            return dense_tensor(graph.attributes, torch.int64, self._device)
        return attribute_tensor(graph, AttributeForm.DENSE, self._device)


@dataclass(frozen=True, eq=False)
class GraphFunction:
    """Labels nodes or graphs by a function of one noisy graph at a time.

    Attributes:
        function: gets one noisy graph, with `nodes`, `edge_index`, `attributes` and `edge_features` as arrays. Returns
            labels or logits, one for each node, or for one of many graphs its label or its logits.
        reading: how its answers become scores.
    """

    function: Callable[[Any], Any]
    reading: AnswerReading

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.function))

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.reading.classes

    def __call__(self, batch: Sequence[NoisyGraph] | GraphUnion) -> IntArray:
        """Labels [graphs, nodes] of noisy copies of one graph, or [graphs] of a union."""
        return np.asarray(self.label_scores(batch).argmax(axis=-1))

    def label_scores(self, batch: Sequence[NoisyGraph] | GraphUnion) -> NDArray[Any]:
        """The scores [..., classes] behind the labels."""
        check_is_drawn(batch)
        scores = [self.reading.scores(answer, rows) for answer, rows in self.answers(batch)]
        return np.concatenate(scores) if is_union(batch) else np.stack(scores)

    def answers(self, batch: Any) -> Iterator[tuple[Any, int]]:
        """What the function says about each graph, and how many labels that should be."""
        if not is_union(batch):
            yield from ((self.function(graph), graph.nodes) for graph in batch)
            return
        for graph in batch.cut(1):
            answer = plain_answer(self.function(graph))
            yield (answer if answer.ndim == 2 else answer.reshape(1, -1) if answer.size > 1 else answer.reshape(1)), 1


def is_union(batch: Any) -> bool:
    """Whether a batch is many graphs in one, rather than noisy copies of one graph."""
    return hasattr(batch, "graph_of_node")


def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None
