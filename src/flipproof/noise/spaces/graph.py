"""Graphs as spaces: one entry per pair of nodes, optional attributes, and noise on either or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import (
    ADDED_LATER,
    DESCRIPTIVE,
    IntArray,
    checked_count,
    checked_kind,
    checked_names,
    one_of,
)
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import BitSampler, Stream
from flipproof.noise.spaces.attributes import STRUCTURE as STRUCTURE
from flipproof.noise.spaces.attributes import checked_attributes, rows_of_attributes
from flipproof.noise.spaces.attributes import plain_attributes as plain_attributes
from flipproof.noise.spaces.edge_features import EdgeFeatures
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.networkx_graphs import features_of_networkx, names_of_networkx
from flipproof.noise.spaces.networkx_graphs import index_of_networkx as index_of_networkx
from flipproof.noise.spaces.noisy_graphs import GraphSampler, NoisyGraph
from flipproof.noise.spaces.pyg import carried_in_pyg, edges_of_pyg, features_of_pyg
from flipproof.noise.spaces.rows import DenseSampler, SparseSampler, binary_csr
from flipproof.noise.spaces.space import PartCounts, noise_of_parts
from flipproof.noise.spaces.words import noisy_graph_words
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import parts_of
from flipproof.theory.scope import Scope

ATTRIBUTES = "attributes"
PARTS = {"structure": (STRUCTURE,), "attributes": (ATTRIBUTES,), "both": (STRUCTURE, ATTRIBUTES)}
"""The parts that get noise, by the value of `noisy`."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A graph with binary structure and optional node attributes.

    Make one with `from_edge_index`, `from_scipy`, `from_networkx` or `from_pyg`. Every pair of different nodes is
    one entry (unordered unless `directed`). Noise never adds or removes self-loops.

    Attributes:
        edges: the structure.
        attributes: a `SparseRows` (zeros and ones), a `DenseRows` (categories), any array if noise leaves the
            attributes alone, or None.
        noisy: the parts that get noise: "structure", "attributes" or "both". "both" takes a
            `JointNoise(structure=..., attributes=...)`, the other two take a `FlipNoise`.
        edge_features: what the edges carry, or None.
        input_names: names of the nodes to be shown, or None; no model sees them.

    Example:
        >>> graph = Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]], nodes=3)
        >>> graph.nodes, graph.edges.count, graph.parts
        (3, 2, ('structure',))
    """

    edges: Edges
    attributes: Any = None
    noisy: str = STRUCTURE
    edge_features: EdgeFeatures | None = field(default=None, metadata={ADDED_LATER: True})
    input_names: tuple[str, ...] | None = field(default=None, repr=False, metadata={DESCRIPTIVE: True})
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(PARTS, self.noisy, "noisy")
        checked_kind(self.edges, Edges, "edges")
        object.__setattr__(self, "input_names", checked_names(self.input_names, self.nodes, "input_names"))
        object.__setattr__(self, "attributes", checked_attributes(self.attributes, self.nodes, self.noisy))
        if self.edge_features is not None:
            checked_kind(self.edge_features, EdgeFeatures, "edge_features").check(self.edges, self.plain_attributes)

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(self.nodes, "node"),
            amount(self.edges.count, "edge"),
            "directed" if self.edges.directed else "",
            "" if self.attributes is None else f"attributes {shape_words(self.plain_attributes)}",
            "" if self.edge_features is None else f"edges carry {self.edge_features.name}",
            f"noisy={self.noisy!r}",
        )

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        nodes: int | None = None,
        attributes: Any = None,
        *,
        noisy: str | None = None,
        directed: bool = False,
        duplicates: str = "refuse",
        edge_features: Any = None,
    ) -> Graph:
        """A graph from two rows of node numbers, as in PyTorch Geometric: undirected edges in both directions.

        Args:
            edge_index: integers [2, edges].
            nodes: the number of nodes; by default the number of rows of attributes.
            attributes: one row per node, sparse or dense.
            noisy: the parts that get noise; by default both if there are attributes.
            directed: whether (u, v) and (v, u) are different entries.
            duplicates: "refuse" or "merge" edges that appear more than once.
            edge_features: what the edges carry: numbers, one row for each column of `edge_index`, if noise adds no
                edges; or a function `f(x_source, x_target)` of the attributes of both ends (see `EdgeFeatures`). A
                mapping such as {"edge_weight": numbers} says which argument of models they are.
        """
        merge = merges_duplicates(duplicates)
        if nodes is None and attributes is None:
            raise InvalidInputError("expected the number of nodes or attributes, got neither; give nodes=")
        nodes = checked_count(rows_of_attributes(attributes) if nodes is None else nodes, "nodes")
        edges = Edges.from_index(edge_index, nodes, directed=directed, merge_duplicates=merge)
        noisy = ("both" if attributes is not None else STRUCTURE) if noisy is None else noisy
        return cls(edges, attributes, noisy, EdgeFeatures.given(edge_features, edge_index, edges))

    @classmethod
    def from_scipy(
        cls, adjacency: Any, attributes: Any = None, *, noisy: str | None = None, directed: bool = False
    ) -> Graph:
        """A graph from a square sparse matrix of zeros and ones."""
        starts, columns = adjacency_csr(adjacency)
        heads = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        index = np.stack([heads, columns.astype(np.int64)])
        return cls.from_edge_index(index, starts.size - 1, attributes, noisy=noisy, directed=directed)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        attributes: Any = None,
        *,
        noisy: str | None = None,
        duplicates: str = "refuse",
        edge_features: Any = None,
    ) -> Graph:
        """A graph from a networkx graph, directed if that is; nodes are numbered in the order of `graph.nodes`.

        Edge data, such as weights, is left out with a warning. `edge_features="weight"` keeps the weights, a function
        computes features from both ends of an edge (see `from_edge_index`), and False leaves edge data out silently.
        """
        index, directed = index_of_networkx(graph)
        features = features_of_networkx(graph, edge_features)
        made = cls.from_edge_index(
            index, len(graph), attributes, noisy=noisy, directed=directed, duplicates=duplicates, edge_features=features
        )
        return replace(made, input_names=names_of_networkx(graph))

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        *,
        noisy: str | None = None,
        directed: bool = False,
        duplicates: str = "refuse",
        edge_features: Any = None,
    ) -> Graph:
        """A graph from a PyTorch Geometric `Data`: its `edge_index`, its `x`, and what its edges carry.

        Edges may carry `edge_attr`, `edge_weight` or `edge_type` if noise adds no edges: an edge that is added again
        would carry something else than the observed one. `edge_features=False` leaves out what edges carry; a
        function of both ends of an edge (see `from_edge_index`) replaces it, for observed edges too.
        """
        index, nodes = edges_of_pyg(data)
        x, features = getattr(data, "x", None), features_of_pyg(data, edge_features)
        graph = cls.from_edge_index(
            index, nodes, x, noisy=noisy, directed=directed, duplicates=duplicates, edge_features=features
        )
        if graph.edge_features is not None and not graph.edge_features.are_stored:
            graph.edge_features.check_observed(carried_in_pyg(data), graph.plain_attributes, index)
        return graph

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.edges.nodes

    @property
    def parts(self) -> tuple[str, ...]:
        """Which parts noise may touch."""
        return PARTS[self.noisy]

    @property
    def plain_attributes(self) -> Any:
        """The attributes as models take them: a CSR matrix, an array, or None."""
        return plain_attributes(self.attributes)

    @property
    def fixed_rows(self) -> Any:
        """The attributes of every node if only edges get noise, else None."""
        return self.plain_attributes if self.noisy == STRUCTURE else None

    def clean(self) -> NoisyGraph:
        """The graph as models take it, without noise."""
        index, features = self.edges.index(), self.edge_features
        if features is not None:
            carried = features.values if features.are_stored else features.of_ends(self.plain_attributes, index)
            return NoisyGraph(self.nodes, index, self.plain_attributes, carried)
        return NoisyGraph(self.nodes, index, self.plain_attributes)

    def sampler(self, noise: Noise, seed: int) -> GraphSampler:
        """Draws noisy copies of the graph."""
        noises = noise_of_parts(noise, self.parts)
        return GraphSampler(
            self,
            structure=structure_sampler([self.edges], noises, seed) if STRUCTURE in noises else None,
            attributes=attribute_sampler(self.attributes, noises, seed) if ATTRIBUTES in noises else None,
        )

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: one row for the whole graph, since an attacker may change it anywhere."""
        nodes = np.array([0, self.nodes])
        noises = noise_of_parts(noise, self.parts)
        return graph_scope([self.edges], self.attributes, nodes, noises, self.edge_features)

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any] | None:
        """The words for changes, as fields of a report's subject; the user's word `entries` takes precedence."""
        return noisy_graph_words(self.noisy, parts_of(noise)) if entries is None else None

    def counts(self) -> PartCounts:
        """The numbers of node pairs and of attributes, each with the number of nonzero ones."""
        return graph_counts([self.edges], self.attributes)


def checked_graph(given: Any, hint: str = "", expected: str = "a Graph") -> Graph:
    """Returns `given` if it is a graph; otherwise raises an error that names `expected` and ends with `hint`.

    Example:
        >>> checked_graph([[0, 1]], "; see Graph.from_pyg")
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected a Graph, got list; see Graph.from_pyg
    """
    if not isinstance(given, Graph):
        raise InvalidInputError(f"expected {expected}, got {type(given).__name__}{hint}")
    return given


def graph_counts(edges: list[Edges], attributes: Any) -> PartCounts:
    """The counts of several graphs together. Attributes that get no noise are not counted."""
    structure = sum(each.pairs for each in edges), sum(each.count for each in edges)
    count_values = getattr(attributes, "counts", None)
    return {STRUCTURE: structure, ATTRIBUTES: (0, 0) if count_values is None else next(iter(count_values().values()))}


def graph_scope(
    edges: list[Edges],
    attributes: Any,
    offsets: IntArray,
    noises: Mapping[str, FlipNoise],
    edge_features: EdgeFeatures | None = None,
) -> Scope:
    """The scope of several graphs, one row for each; the nodes of graph i start at offsets[i]."""
    entries, nonzeros = [], []
    for part in noises:
        if part == STRUCTURE:
            entries.append(np.array([graph.pairs for graph in edges], dtype=np.int64))
            nonzeros.append(np.array([graph.count for graph in edges], dtype=np.int64))
        else:
            width = int(np.prod(plain_attributes(attributes).shape[1:], dtype=np.int64))
            entries.append(np.diff(offsets) * width)
            nonzeros.append(np.diff(np.concatenate([[0], np.cumsum(attributes.nonzeros())])[offsets]))
    zeros = np.stack(entries, axis=1) - np.stack(nonzeros, axis=1)
    return Scope(zeros, np.stack(nonzeros, axis=1), _left_alone(attributes, noises, edge_features))


def _left_alone(
    attributes: Any, noises: Mapping[str, FlipNoise], edge_features: EdgeFeatures | None
) -> tuple[str, ...]:
    """The names of what gets no noise; self-loops and observed features of edges never get any."""
    noisy = STRUCTURE in noises
    structure: tuple[str, ...] = ("self-loops",) if noisy else ("the edges",)
    if edge_features is not None and edge_features.are_stored:
        structure += ("the features of observed edges",) if noisy else ("their features",)
    return structure if attributes is None or ATTRIBUTES in noises else ("the attributes", *structure)


def adjacency_csr(adjacency: Any) -> tuple[IntArray, NDArray[np.int32]]:
    """Row starts and sorted columns of a square sparse matrix of zeros and ones."""
    starts, columns = binary_csr(adjacency, "the adjacency matrix")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise InvalidInputError(f"expected a square adjacency matrix, got shape {adjacency.shape}")
    return starts, columns


def merges_duplicates(given: Any) -> bool:
    """Whether edges that appear more than once count as one; otherwise they are refused."""
    if not isinstance(given, str) or given not in ("refuse", "merge"):
        raise InvalidInputError(f"expected duplicates to be 'refuse' or 'merge', got {given!r}")
    return given == "merge"


def structure_sampler(edges: list[Edges], noises: Mapping[str, FlipNoise], seed: int) -> BitSampler:
    """Flips the pairs of several graphs, one row for each."""
    noise = noises[STRUCTURE]
    if noise.categories != 2:
        raise InvalidInputError(f"expected noise with 2 categories for structure, got {noise.categories}")
    starts = np.cumsum([0, *(graph.count for graph in edges)], dtype=np.int64)
    ranks = np.concatenate([np.zeros(0, dtype=np.int64), *(graph.ranks for graph in edges)])
    return BitSampler(starts, ranks, np.array([graph.pairs for graph in edges], dtype=np.int64), noise, Stream(seed))


def attribute_sampler(attributes: Any, noises: Mapping[str, FlipNoise], seed: int) -> SparseSampler | DenseSampler:
    """Flips attributes, one row per node."""
    sampler: SparseSampler | DenseSampler = attributes.sampler_of_part(noises[ATTRIBUTES], Stream(seed, part=1))
    return sampler
