"""Features of edges, such as weights and kinds of bonds, in the cases in which a noisy copy may show them.

A model must see nothing but what the law of the noise describes. Stored features are shown if noise leaves the edges
alone, or deletes edges without adding any: a deleted edge takes its features along. If noise adds edges, an observed
edge could be told from a new one by what it carries, so features must then be a function of the two ends of an edge,
which is computed afresh for all edges of a noisy copy, observed ones too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.short_repr import shape_words, short_repr
from flipproof.base.values import IntArray, as_array, read_only
from flipproof.errors import InvalidInputError, reason_of
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.pieces import Pieces
from flipproof.theory.law import FlipNoise

EDGE_ATTR, EDGE_WEIGHT, EDGE_TYPE = NAMES = ("edge_attr", "edge_weight", "edge_type")
"""What PyTorch Geometric calls the features of edges."""
_NUMBERS_AT_ONCE = 2**24
"""How many attributes of ends are made dense at a time, for a function of the two ends."""
_FEW = 8


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFeatures:
    """What the edges of a graph carry: stored numbers, or a function of the two ends.

    Attributes:
        values: stored numbers [columns, ...], one row for each column of `Edges.index()`; None with a function.
        function: called as `function(x_source, x_target)` with the attributes of both ends of each edge, or as
            `function(x_source, x_target, source, target)`, which also gets the numbers of the nodes; the attributes
            are None in a graph without. Returns [edges] or [edges, features], each row from its own ends alone.
        name: the argument of models that gets the features: "edge_attr", "edge_weight" or "edge_type".

    Example:
        >>> same = EdgeFeatures(function=lambda x_source, x_target: (x_source == x_target).mean(axis=1))
        >>> same.of_ends(np.array([[0, 1], [1, 1], [0, 1]]), np.array([[0, 0], [1, 2]]))
        array([0.5, 1. ])
    """

    values: NDArray[Any] | None = None
    function: Callable[..., Any] | None = None
    name: str = EDGE_ATTR

    def __post_init__(self) -> None:
        if (self.values is None) == (self.function is None):
            raise InvalidInputError("expected features of edges as numbers or as a function, got both or neither")
        if self.function is not None and not callable(self.function):
            raise InvalidInputError(f"expected a function of both ends of an edge, got {self.function!r}")
        if self.name not in NAMES:
            raise InvalidInputError(f"expected features of edges named {', '.join(NAMES)}, got {self.name!r}")
        if self.values is not None:
            object.__setattr__(self, "values", read_only(_numbers(self.values)))

    def __repr__(self) -> str:
        return short_repr(self, self.name, "by a function" if self.values is None else shape_words(self.values))

    @classmethod
    def given(cls, features: Any, edge_index: Any, edges: Edges, name: str | None = None) -> EdgeFeatures | None:
        """The features as a user gives them: numbers in the order of `edge_index`, a function, or {name: either}."""
        if features is None or features is False or isinstance(features, EdgeFeatures):
            return features or None
        if isinstance(features, Mapping):
            if len(features) != 1:
                raise InvalidInputError(f"expected features of edges under one name, got {sorted(features)}")
            ((name, features),) = features.items()
        if callable(features):
            return cls(function=features, name=name or EDGE_ATTR)
        rows = _numbers(features)
        named = name or (EDGE_WEIGHT if rows.ndim == 1 and rows.dtype.kind == "f" else EDGE_ATTR)
        return cls(_in_order(rows, edge_index, edges), name=named)

    @property
    def width(self) -> int:
        """The number of features of an edge, or a guess of it."""
        return _FEW if self.values is None else max(1, int(np.prod(self.values.shape[1:], dtype=np.int64)))

    @property
    def are_stored(self) -> bool:
        """Whether the features are numbers that were observed, rather than computed."""
        return self.values is not None

    def check(self, edges: Edges, attributes: Any) -> None:
        """Refuses stored numbers that do not have one row for each column of the edge index, and some functions."""
        columns = edges.loops.size + edges.count * (1 if edges.directed else 2)
        if self.values is None:
            self._check_ends_alone(attributes, edges.index())
        elif len(self.values) != columns:
            raise InvalidInputError(f"expected features of {columns} columns of edges, got {len(self.values)}")

    def check_noise(self, noise: FlipNoise | None) -> None:
        """Refuses stored features if noise adds edges; None stands for edges without noise."""
        if noise is not None and noise.p_plus > 0.0 and self.are_stored:
            raise InvalidInputError(
                f"expected noise that adds no edges (p_plus = 0) to edges that carry {self.name}, got {noise!r}: an "
                "edge that is deleted and added again would carry something else than the observed one, which tells "
                "the model that the observed edge is real; if the model does without, make the graph with "
                "edge_features=False; if what an edge carries is a function of its two ends, give that: "
                "edge_features=lambda x_source, x_target: ..."
            )

    def of_ranks(self, edges: Edges, ranks: IntArray) -> NDArray[Any]:
        """The stored features of a noisy copy in which edges with these ranks (sorted) are left, loops last."""
        assert self.values is not None
        numbers = np.searchsorted(edges.ranks, ranks)
        return np.asarray(self.values[_columns(edges, numbers, np.arange(edges.loops.size))])

    def within(self, edges: Edges, numbers: IntArray, nodes: IntArray) -> EdgeFeatures:
        """The features of the edges among some nodes (sorted); `numbers` are those of the edges, as `Edges.within`."""
        if self.values is None:
            return self
        loops = np.flatnonzero(np.isin(edges.loops, nodes))
        return replace(self, values=self.values[_columns(edges, numbers, loops)])

    def of_ends(self, attributes: Any, edge_index: IntArray, nodes: IntArray | None = None) -> NDArray[Any]:
        """What the function says about edges; `nodes` has the number of each node, if it is not its place."""
        assert self.function is not None
        width = 1 if attributes is None else max(1, int(attributes.shape[1]))
        step = max(1, _NUMBERS_AT_ONCE // width)
        pieces = [edge_index[:, at : at + step] for at in range(0, max(1, edge_index.shape[1]), step)]
        return np.concatenate([self._of_piece(attributes, piece, nodes) for piece in pieces])

    def _of_piece(self, attributes: Any, ends: IntArray, nodes: IntArray | None) -> NDArray[Any]:
        assert self.function is not None
        given = [None if attributes is None else _dense(attributes[each]) for each in ends]
        if takes_numbers(self.function):
            given += [each if nodes is None else nodes[each] for each in ends]
        made = _numbers(self.function(*given))
        if made.ndim == 0 or len(made) != ends.shape[1]:
            raise InvalidInputError(
                f"expected a function that gives one row for each of {ends.shape[1]} edges, got shape {made.shape}"
            )
        return made

    def _check_ends_alone(self, attributes: Any, edge_index: IntArray) -> None:
        """Refuses a function that looks at other edges, or at anything else than the two ends of an edge."""
        few = edge_index[:, :_FEW]
        if few.shape[1] < 2:
            return
        try:
            together, alone = self.of_ends(attributes, few)[-1], self.of_ends(attributes, few[:, -1:])[0]
        except Exception as error:
            raise InvalidInputError(
                "expected edge_features to be a function of the attributes of sources and targets, "
                f"edge_features(x_source, x_target), got {reason_of(error)}"
            ) from error
        if not np.allclose(together, alone, rtol=1e-4, atol=1e-6, equal_nan=True):
            raise InvalidInputError(
                "expected a function that computes what an edge carries from its own two ends, got "
                f"{together} for the edge {tuple(few[:, -1].tolist())} among others and {alone} for the same edge "
                "alone; leave what depends on other edges, such as their sum, to the model"
            )

    def check_observed(self, carried: Mapping[str, Any], attributes: Any, edge_index: Any) -> None:
        """Refuses a function that says something else about observed edges than these carry under its name."""
        if self.name not in carried:
            return
        ends, observed = as_array(edge_index, "edge_index").reshape(2, -1), _numbers(carried[self.name])
        made = self.of_ends(attributes, ends)
        got = f"shape {made.shape} for shape {observed.shape}"
        if made.shape == observed.shape:
            close = np.isclose(made, observed, rtol=1e-4, atol=1e-6).reshape(len(made), -1).all(axis=1)
            if close.all():
                return
            wrong = int(close.argmin())
            got = f"{made[wrong]} for {observed[wrong]} at the edge {tuple(ends[:, wrong].tolist())}"
        raise InvalidInputError(
            f"expected a function that gives the {self.name} of observed edges, which the model knows, got {got}; if "
            f"the model was trained with what the function gives, set data.{self.name} = None"
        )


@dataclass(frozen=True, slots=True, eq=False)
class UnionFeatures:
    """The features of the edges of many graphs, for noisy copies that are drawn as one disjoint union.

    Attributes:
        features: a function of the two ends, or the stored features of all graphs: first the edges of all graphs, for
            undirected graphs then these the other way round, and the self-loops of all graphs last.
        codes: [edges], the place of each edge among all pairs of all graphs, in order.
        pair_starts: [graphs + 1], how many pairs the graphs before have.
        loop_starts: [graphs + 1], how many self-loops the graphs before have.
        directed: whether the graphs are.
    """

    features: EdgeFeatures
    codes: IntArray
    pair_starts: IntArray
    loop_starts: IntArray
    directed: bool

    @classmethod
    def of(cls, graphs: Sequence[Any]) -> UnionFeatures | None:
        """The features of a collection of graphs; None if their edges carry nothing."""
        first, edges = graphs[0].edge_features, [graph.edges for graph in graphs]
        if first is None:
            return None
        pair_starts = np.cumsum([0, *(each.pairs for each in edges)], dtype=np.int64)
        codes = np.concatenate([start + each.ranks for start, each in zip(pair_starts[:-1], edges, strict=True)])
        if first.are_stored:
            ways = 1 if edges[0].directed else 2
            cuts = [
                np.split(graph.edge_features.values, np.arange(1, ways + 1) * graph.edges.count) for graph in graphs
            ]
            first = replace(first, values=np.concatenate([part for way in zip(*cuts, strict=True) for part in way]))
        loop_starts = np.cumsum([0, *(each.loops.size for each in edges)], dtype=np.int64)
        return cls(first, codes, pair_starts, loop_starts, edges[0].directed)

    def of_copies(self, copies: IntArray, ranks: Pieces, edge_index: IntArray, attributes: Any, nodes: IntArray) -> Any:
        """What the edges of a union carry.

        Args:
            copies: the number of the graph that each copy is one of.
            ranks: the sorted ranks of the edges of each copy.
            edge_index: the edges of the union.
            attributes: the attributes of the nodes of the union.
            nodes: the number of each node in its own graph.
        """
        if self.features.values is None:
            return self.features.of_ends(attributes, edge_index, nodes)
        copy_of_edge = np.repeat(np.arange(copies.size), np.diff(ranks.starts))
        numbers = np.searchsorted(self.codes, self.pair_starts[copies[copy_of_edge]] + ranks.values)
        ways = 1 if self.directed else 2
        loops = Pieces(self.loop_starts, np.arange(self.loop_starts[-1])).taken(copies)
        copy_of_loop = np.repeat(np.arange(copies.size), np.diff(loops.starts))
        rows = [way * self.codes.size + numbers for way in range(ways)] + [ways * self.codes.size + loops.values]
        order = np.argsort(
            np.concatenate([3 * copy_of_edge + way for way in range(ways)] + [3 * copy_of_loop + 2]), kind="stable"
        )
        return self.features.values[np.concatenate(rows)[order]]


def takes_numbers(function: Callable[..., Any]) -> bool:
    """Whether a function of the two ends of an edge also takes the numbers of the nodes.

    Example:
        >>> takes_numbers(lambda x_source, x_target: 1), takes_numbers(lambda a, b, source, target: 1)
        (False, True)
    """
    try:
        inspect.signature(function).bind(0, 0, 0, 0)
    except (TypeError, ValueError):
        return False
    return True


def _columns(edges: Edges, numbers: IntArray, loops: IntArray) -> IntArray:
    """The columns of `Edges.index()` that belong to some edges and some self-loops."""
    forward = [numbers] if edges.directed else [numbers, edges.count + numbers]
    return np.concatenate([*forward, len(forward) * edges.count + loops])


def _in_order(rows: NDArray[Any], edge_index: Any, edges: Edges) -> NDArray[Any]:
    """Rows in the order of `edge_index`, put into the order of the columns of `Edges.index()`."""
    heads, tails = as_array(edge_index, "edge_index").reshape(2, -1).astype(np.int64)
    if rows.ndim == 0 or len(rows) != heads.size:
        raise InvalidInputError(f"expected features of {heads.size} edges, got an array of shape {rows.shape}")
    codes, places = np.unique(heads * edges.nodes + tails, return_index=True)
    if codes.size < heads.size:
        raise InvalidInputError(
            f"expected every edge once, as edges carry features, got {heads.size - codes.size} duplicates; merge them "
            "first (torch_geometric.utils.coalesce)"
        )
    wanted = edges.index()
    return np.asarray(rows[places[np.searchsorted(codes, wanted[0] * edges.nodes + wanted[1])]])


def _numbers(given: Any) -> NDArray[Any]:
    array = as_array(given, "features of edges")
    return array.astype(np.float32) if array.dtype.kind == "b" else array


def _dense(rows: Any) -> Any:
    """Attributes of nodes as an ordinary array, in which differences do not wrap around."""
    array = rows.toarray() if sp.issparse(rows) else rows
    return array.astype(np.int64) if array.dtype.kind == "u" else array
