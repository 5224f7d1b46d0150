"""How a model of graphs is called: its arguments are found by their names, and its answer is read."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import FloatArray
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.scores import with_rows
from flipproof.models.adapters.tensors import adjacency_tensor
from flipproof.models.adapters.torch_modules import torch
from flipproof.noise.spaces.edge_features import NAMES as EDGE_NAMES

_ALIASES = {
    "x": ("x", "features", "feature", "feat", "node_features", "node_feat", "h", "input", "inputs"),
    "edge_index": ("edge_index", "edges", "edge_list"),
    "edge_attr": ("edge_attr", "edge_attrs", "edge_features", "edge_feat", "e"),
    "edge_weight": ("edge_weight", "edge_weights", "weights"),
    "edge_type": ("edge_type", "edge_types"),
    "adj_t": ("adj_t",),
    "batch": ("batch", "batch_index", "graph_of_node"),
    "num_nodes": ("num_nodes",),
    "num_graphs": ("num_graphs", "batch_size"),
}
_DENSE = {"adj", "adjacency", "adj_matrix", "adjacency_matrix", "A"}
_ROLE_OF = {alias: role for role, aliases in _ALIASES.items() for alias in aliases}
DATA = "data"
_MISSING = {
    "x": "give the graph attributes (numpy.eye(nodes) if there are none)",
    "batch": "for one label of the whole graph give a list with this graph, [data]; for labels of nodes say how the "
    "model is called: call=lambda model, data: model(data.x, data.edge_index, None)",
}
BY_HAND = "say how the model is called: call=lambda model, data: model(data.x, data.edge_index)"


def check_is_drawn(batch: Any) -> None:
    """Refuses the user's own graphs in the place of noisy copies, and says how to get the labels of these."""
    first = batch[0] if isinstance(batch, list | tuple) and batch else batch
    if hasattr(batch, "graph_of_node") or (
        first is not batch and hasattr(first, "nodes") and hasattr(first, "edge_index")
    ):
        return
    clean = ""
    if hasattr(first, "edge_index"):
        clean = "([Graph.from_pyg(data, noisy='structure').clean()])"
        if first is not batch or hasattr(batch, "to_data_list"):
            clean = "(Graphs.from_pyg(graphs, noisy='structure').clean())"
    elif hasattr(first, "clean"):
        clean = "([graph.clean()])" if hasattr(first, "edges") else "(graphs.clean())"
    if clean:
        raise InvalidInputError(
            f"expected graphs as vote draws them, got {type(first).__name__}; the labels of graphs as they are: "
            f"classifier{clean}"
        )


def check_ignores_nothing(module: Any, graph: Any) -> None:
    """Refuses to leave out what edges carry where the module could take it."""
    if graph.edge_features is None:
        return
    taken: list[str] = []
    with contextlib.suppress(TypeError, ValueError):  # no signature, as in a compiled module
        taken = [name for name in inspect.signature(module.forward).parameters if _ROLE_OF.get(name) in EDGE_NAMES]
    if taken:
        raise InvalidInputError(
            f"expected edges that carry nothing, as this adapter leaves out {taken[0]}, got edge features; give vote "
            "the module itself, which then gets them, or make the graph with edge_features=False"
        )


@dataclass(frozen=True, slots=True)
class GraphInputs:
    """A noisy graph, or a union of graphs, as models take it: tensors, or arrays where torch is not installed."""

    x: Any
    edge_index: Any
    num_nodes: int
    edge_features: Any = None
    name: str | None = None
    batch: Any = None
    num_graphs: int = 1

    def of(self, role: str) -> Any:
        """The argument of this role, or an error if the data have none."""
        found = {
            "x": self.x,
            "edge_index": self.edge_index,
            "batch": self.batch,
            "num_nodes": self.num_nodes,
            "num_graphs": self.num_graphs,
            DATA: self,
        }.get(role)
        if role in EDGE_NAMES:
            found = self.edge_features
        if role == "adj_t":
            return adjacency_tensor(self.edge_index, self.edge_features, self.num_nodes)
        if role == DATA:
            return self.data
        if found is None:
            hint = _MISSING.get(role, "give it some")
            raise InvalidInputError(f"expected a graph with {role}, which the model takes, got one without: {hint}")
        return found

    @property
    def data(self) -> Any:
        """A `Data` or `Batch` of PyTorch Geometric, or a plain object with the same attributes without it."""
        carried = {} if self.name is None else {self.name: self.edge_features}
        try:
            pyg = require("torch_geometric.data")
        except ImportError:
            names = {name: carried.get(name) for name in EDGE_NAMES}
            plain = {"x": self.x, "edge_index": self.edge_index, "batch": self.batch, "num_nodes": self.num_nodes}
            return SimpleNamespace(**plain, **names, num_graphs=self.num_graphs)
        if self.batch is None:
            return pyg.Data(x=self.x, edge_index=self.edge_index, num_nodes=self.num_nodes, **carried)
        return self._pyg_batch(pyg, carried)

    def _pyg_batch(self, pyg: Any, carried: Mapping[str, Any]) -> Any:
        nodes = torch.bincount(self.batch, minlength=self.num_graphs).tolist()
        edges = torch.bincount(self.batch[self.edge_index[0]], minlength=self.num_graphs).tolist()
        starts = np.cumsum([0, *nodes]).tolist()
        xs = [None] * self.num_graphs if self.x is None else torch.split(self.x, nodes)
        indices = torch.split(self.edge_index, edges, dim=1)
        rows = {name: torch.split(values, edges) for name, values in carried.items()}
        return pyg.Batch.from_data_list(
            [
                pyg.Data(
                    x=xs[i],
                    edge_index=indices[i] - starts[i],
                    num_nodes=nodes[i],
                    **{name: parts[i] for name, parts in rows.items()},
                )
                for i in range(self.num_graphs)
            ]
        )


@dataclass(frozen=True, slots=True)
class GraphCall:
    """A way to call a model of graphs.

    Attributes:
        positional: the roles of the arguments that it gets in their order, such as ("x", "edge_index").
        named: the roles of the arguments that it gets by name.
        function: a user's way to call it, `function(model, data)`, which comes before all else.

    Example:
        >>> def forward(x, edge_index, edge_weight=None): ...
        >>> GraphCall.of(forward, many=False, carried="edge_weight")
        GraphCall(positional=('x', 'edge_index'), named=(('edge_weight', 'edge_weight'),), function=None)
    """

    positional: tuple[str, ...] = ("x", "edge_index")
    named: tuple[tuple[str, str], ...] = ()
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def of(cls, forward: Callable[..., Any], many: bool, carried: str | None) -> GraphCall:
        """The way to call `forward`.

        Args:
            forward: the `forward` of a module.
            many: whether it gets many graphs at once.
            carried: the name of what the edges carry, or None.
        """
        usual = ("x", "edge_index", "batch") if many else ("x", "edge_index")
        parameters: list[inspect.Parameter] = []
        with contextlib.suppress(TypeError, ValueError):  # no signature, as in a compiled module
            parameters = [*inspect.signature(forward).parameters.values()]
        listed = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        how = cls._of_listed(listed, many, carried) if listed else cls(usual)
        if carried is not None and (not listed or len(listed) < len(parameters)):  # forward(x, edge_index, **more)
            how._check_takes(carried)
        return how

    @classmethod
    def _of_listed(cls, parameters: list[inspect.Parameter], many: bool, carried: str | None) -> GraphCall:
        """The way to call a function with these arguments."""
        required = [
            each.name for each in parameters if each.default is each.empty and each.kind is not each.KEYWORD_ONLY
        ]
        by_name = [each.name for each in parameters if each.default is each.empty and each.kind is each.KEYWORD_ONLY]
        ordered, required = len(required), required + by_name
        if any(name.endswith("_dict") for name in required):
            raise InvalidInputError(
                f"expected a model of graphs with one kind of nodes and edges, got forward({', '.join(required)}): for "
                "several kinds there is no certificate; train a model on data.to_homogeneous(add_edge_type=False)"
            )
        if len(required) == 1 and _ROLE_OF.get(required[0]) not in ("x", "edge_index", "adj_t"):
            return cls((DATA,))
        roles = _roles(required, many, carried)
        optional = [each.name for each in parameters if each.default is not each.empty]
        named = [*zip(by_name, roles[ordered:], strict=True), *_optional_roles(optional, roles, many, carried)]
        return cls(tuple(roles[:ordered]), tuple(named))

    def _check_takes(self, carried: str) -> None:
        """Refuses to leave out what edges carry where nobody knows whether the model takes it."""
        if not self.takes_edge_features:
            raise InvalidInputError(
                f"expected a model whose arguments say whether it takes {carried}, got one with any arguments; say how "
                f"it is called, call=lambda model, data: model(data.x, data.edge_index, data.{carried}), or leave it "
                "out: make the graph with edge_features=False"
            )

    @property
    def is_plain(self) -> bool:
        """Whether the model is called with x, edge_index and, for many graphs, batch, and with nothing else."""
        usual = (("x", "edge_index"), ("x", "edge_index", "batch"))
        return self.function is None and not self.named and self.positional in usual

    @property
    def takes_graphs_apart(self) -> bool:
        """Whether the model is not told which node belongs to which graph, and so gets one graph at a time."""
        roles = {*self.positional, *(role for _, role in self.named)}
        return self.function is None and not roles & {"batch", DATA}

    @property
    def takes_edge_features(self) -> bool:
        """Whether the model gets what edges carry."""
        roles = {*self.positional, *(role for _, role in self.named)}
        return self.function is not None or bool(roles & {*EDGE_NAMES, DATA, "adj_t"})

    def __str__(self) -> str:
        if self.function is not None:
            return "call(model, data)"
        return f"forward({', '.join((*self.positional, *(f'{name}={role}' for name, role in self.named)))})"

    def __call__(self, model: Any, inputs: GraphInputs) -> Any:
        """What the model says."""
        if self.function is not None:
            return self.function(model, inputs.data)
        named = {name: inputs.of(role) for name, role in self.named}
        return model(*(inputs.of(role) for role in self.positional), **named)


def _roles(required: list[str], many: bool, carried: str | None) -> list[str]:
    """The roles of required arguments. Two arguments with other names are x and edge_index, as everywhere in PyG."""
    for name in _DENSE.intersection(required):
        raise InvalidInputError(
            f"expected a model that takes edge_index or adj_t, got forward({', '.join(required)}) with {name}; for a "
            "dense matrix: call=lambda model, data: model(data.x, to_dense_adj(data.edge_index, "
            "max_num_nodes=data.num_nodes)[0]), with to_dense_adj of torch_geometric.utils"
        )
    roles = [_ROLE_OF.get(name) for name in required]
    if None in roles and len(required) == (3 if many else 2) and not set(roles) - {None, "x", "edge_index", "batch"}:
        left = [role for role in ("x", "edge_index", "batch")[: len(required)] if role not in roles]
        return [role or left.pop(0) for role in roles]
    unknown = [name for name, role in zip(required, roles, strict=True) if role is None]
    if unknown:
        raise InvalidInputError(
            f"expected a model whose arguments say what they are, such as x, edge_index, edge_attr and batch, got "
            f"forward({', '.join(required)}) with {', '.join(unknown)}; {BY_HAND}"
        )
    return [role for role in roles if role is not None]


def _optional_roles(names: list[str], taken: list[str], many: bool, carried: str | None) -> list[tuple[str, str]]:
    """The optional arguments that the data have something for."""
    found = [(name, _ROLE_OF[name]) for name in names if name in _ROLE_OF and _ROLE_OF[name] not in taken]
    wanted = [(name, role) for name, role in found if (role == "batch" and many) or role == carried]
    wanted += [(name, role) for name, role in found if role in ("x", "edge_index")]
    of_edges = [name for name, role in found if role in EDGE_NAMES]
    if carried is not None and of_edges and not {*taken, *(role for _, role in wanted)} & {*EDGE_NAMES}:
        raise InvalidInputError(
            f"expected edges that carry {' or '.join(of_edges)}, as the model takes it, got {carried}: say how the "
            f"model is called, call=lambda model, data: model(data.x, data.edge_index, data.{carried}), rename it "
            f"(data.{of_edges[0]} = data.{carried}; data.{carried} = None), or leave it out: make the graph with "
            "edge_features=False"
        )
    return wanted


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How the answer of a model becomes scores [rows, classes].

    Attributes:
        classes: the number of labels.
        threshold: label 1 is given from this score on, if there is one score for the second of two classes.
    """

    classes: int
    threshold: float | None = None

    def scores(self, answer: Any, rows: int) -> FloatArray | NDArray[Any]:
        """The scores [rows, classes] behind the labels: those of the model, or ones for the labels that it gave."""
        array: NDArray[Any] = with_rows(plain_answer(answer), rows)
        if array.dtype.kind in "biu":
            return self._of_labels(array, rows)
        if array.size == rows and array.shape in ((rows,), (rows, 1)) and self.classes == 2:
            return _two_columns(array.reshape(rows), self.threshold)
        if array.shape != (rows, self.classes):
            raise InvalidInputError(f"expected logits of shape {(rows, self.classes)}, got {array.shape}")
        undefined = int(np.isnan(array).any(axis=1).sum())
        if undefined:
            raise InvalidInputError(f"expected logits without NaN, got NaN for {undefined} of {rows} rows")
        return array

    def _of_labels(self, labels: NDArray[Any], rows: int) -> FloatArray:
        if labels.shape not in ((rows,), (rows, 1)):
            raise InvalidInputError(f"expected {rows} labels, got an array of shape {labels.shape}")
        flat = labels.reshape(rows).astype(np.int64)
        if rows and not 0 <= flat.min() <= flat.max() < self.classes:
            wrong = flat.min() if flat.min() < 0 else flat.max()
            raise InvalidInputError(f"expected labels in [0, {self.classes}), got {wrong}")
        return np.eye(self.classes)[flat]


def plain_answer(answer: Any) -> NDArray[Any]:
    """What a model returned, as an array of scores or labels."""
    logits = getattr(answer, "logits", None)
    if logits is not None and not hasattr(answer, "shape"):
        answer = logits
    if isinstance(answer, tuple | dict) or (
        isinstance(answer, list) and any(hasattr(each, "shape") for each in answer)
    ):
        first = repr(next(iter(answer), 0)) if isinstance(answer, dict) else 0
        raise InvalidInputError(
            f"expected logits or labels from the model, got a {type(answer).__name__} of {len(answer)}; say which of "
            f"them are the logits: call=lambda model, data: model(data.x, data.edge_index)[{first}]"
        )
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
        answer = answer.float() if str(answer.dtype) == "torch.bfloat16" else answer
    try:
        array = np.asarray(answer)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"expected logits or labels from the model, got {type(answer).__name__}")
    return array


def _two_columns(scores: NDArray[Any], threshold: float | None) -> NDArray[Any]:
    """Scores of both classes from one score of the second. Without a threshold, a score of 0 is label 0."""
    if np.isnan(scores).any():
        raise InvalidInputError(f"expected scores without NaN, got NaN for {int(np.isnan(scores).sum())} rows")
    limit = scores.dtype.type(0.0)
    if threshold is not None:  # the last number below it: label 1 is given from the threshold on
        limit = np.nextafter(scores.dtype.type(threshold), scores.dtype.type(-np.inf))
    return np.stack([limit - scores, scores - limit], axis=1)
