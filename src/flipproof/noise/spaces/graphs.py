"""Many graphs as a space, in which each graph is one input: molecules, proteins, circuits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import DESCRIPTIVE, IntArray, checked_items, checked_names
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import BitSampler, Role
from flipproof.noise.spaces.edge_features import EdgeFeatures, UnionFeatures
from flipproof.noise.spaces.graph import (
    ATTRIBUTES,
    STRUCTURE,
    Graph,
    attribute_sampler,
    graph_counts,
    graph_scope,
    plain_attributes,
    structure_sampler,
)
from flipproof.noise.spaces.pieces import Pieces
from flipproof.noise.spaces.rows import DenseRows, DenseSampler, SparseRows, SparseSampler
from flipproof.noise.spaces.space import PartCounts, noise_of_parts
from flipproof.noise.spaces.words import graph_words, small_graph_words
from flipproof.theory.law import Noise
from flipproof.theory.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class GraphUnion:
    """Noisy copies of many graphs as one disconnected graph, as models take a batch.

    Nodes and edges are in the order of their graphs.
    """

    nodes: int
    edge_index: IntArray
    attributes: Any
    graph_of_node: IntArray
    graphs: int
    edge_features: Any = None

    def __repr__(self) -> str:
        return short_repr(
            self, amount(self.graphs, "graph"), amount(self.nodes, "node"), f"edge_index {shape_words(self.edge_index)}"
        )

    def cut(self, size: int) -> Iterator[GraphUnion]:
        """Splits these graphs into unions of `size` graphs; the last union may have fewer."""
        if self.graphs <= size:
            yield self
            return
        bounds = np.arange(0, self.graphs + size, size).clip(max=self.graphs)
        nodes = np.searchsorted(self.graph_of_node, bounds)
        edges = np.searchsorted(self.graph_of_node[self.edge_index[0]], bounds)
        for i in range(bounds.size - 1):
            which = slice(nodes[i], nodes[i + 1])
            part = GraphUnion(
                nodes=int(which.stop - which.start),
                edge_index=self.edge_index[:, edges[i] : edges[i + 1]] - which.start,
                attributes=None if self.attributes is None else self.attributes[which],
                graph_of_node=self.graph_of_node[which] - bounds[i],
                graphs=int(bounds[i + 1] - bounds[i]),
                edge_features=None if self.edge_features is None else self.edge_features[edges[i] : edges[i + 1]],
            )
            for numbers, count in ((part.edge_index, part.nodes), (part.graph_of_node, part.graphs)):
                if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
                    raise InvalidInputError("expected nodes and edges in the order of their graphs, got another order")
            yield part


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """A collection of graphs of the same kind: all get noise on the same parts, and all or none are directed.

    Example:
        >>> triangle = Graph.from_edge_index([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]], nodes=3)
        >>> Graphs([triangle, triangle]).nodes
        6
    """

    graphs: tuple[Graph, ...]
    attributes: Any = field(init=False, repr=False)
    offsets: IntArray = field(init=False, repr=False)
    input_names: tuple[str, ...] | None = field(default=None, repr=False, metadata={DESCRIPTIVE: True})

    def __post_init__(self) -> None:
        graphs = checked_items(self.graphs, "graphs", "Graph")
        wrong = [graph for graph in graphs if not isinstance(graph, Graph)]
        if not graphs or wrong:
            raise InvalidInputError(f"expected one or more Graph, got {repr(wrong[0]) if wrong else 'none'}")
        empty = next((i for i, graph in enumerate(graphs) if not graph.nodes), None)
        if empty is not None:
            raise InvalidInputError(f"expected graphs with nodes, got graph {empty} with none")
        for what, kinds in (
            ("noise on the same parts", {graph.noisy for graph in graphs}),
            ("directed edges in all or in none", {graph.edges.directed for graph in graphs}),
            ("edges that carry the same in all graphs", {_kind_of(graph.edge_features) for graph in graphs}),
        ):
            if len(kinds) > 1:
                raise InvalidInputError(f"expected graphs with {what}, got {sorted(map(str, kinds))}")
        object.__setattr__(self, "graphs", graphs)
        object.__setattr__(self, "input_names", checked_names(self.input_names, len(graphs), "input_names"))
        object.__setattr__(self, "attributes", _stacked([graph.attributes for graph in graphs]))
        object.__setattr__(self, "offsets", np.cumsum([0, *(graph.nodes for graph in graphs)], dtype=np.int64))

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(len(self), "graph"),
            amount(self.nodes, "node"),
            amount(sum(graph.edges.count for graph in self.graphs), "edge"),
            f"noisy={self.graphs[0].noisy!r}",
        )

    @classmethod
    def from_pyg(cls, dataset: Iterable[Any], **options: Any) -> Graphs:
        """A collection from a PyTorch Geometric dataset, or any iterable of `Data`; options as in `Graph.from_pyg`."""
        graphs = []
        for number, data in enumerate(checked_items(dataset, "dataset", "graphs")):
            with naming_graph(number):
                graphs.append(Graph.from_pyg(data, **options))
        return cls(tuple(graphs))

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self.offsets[-1])

    @property
    def edge_features(self) -> EdgeFeatures | None:
        """What the edges of the first graph carry; those of all other graphs carry the same under the same name."""
        return self.graphs[0].edge_features

    @property
    def parts(self) -> tuple[str, ...]:
        """Which parts noise may touch."""
        return self.graphs[0].parts

    def clean(self) -> GraphUnion:
        """The graphs as models take them, without noise."""
        sampler = GraphsSampler(self, None, None)
        return sampler.draw(Role.SELECT, range(1), np.arange(len(self)))

    def sampler(self, noise: Noise, seed: int) -> GraphsSampler:
        """Draws noisy copies of the graphs."""
        noises = noise_of_parts(noise, self.parts)
        if self.edge_features is not None:
            self.edge_features.check_noise(noises.get(STRUCTURE))
        edges = [graph.edges for graph in self.graphs]
        return GraphsSampler(
            self,
            structure=structure_sampler(edges, noises, seed) if STRUCTURE in noises else None,
            attributes=attribute_sampler(self.attributes, noises, seed) if ATTRIBUTES in noises else None,
        )

    def scope(self, noise: Noise) -> Scope:
        """What noise can change, in one row for each graph."""
        edges, noises = [graph.edges for graph in self.graphs], noise_of_parts(noise, self.parts)
        return graph_scope(edges, self.attributes, self.offsets, noises, self.edge_features)

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any] | None:
        """The words for changes, as fields of a report's subject; the user's word `entries` takes precedence."""
        if entries is not None:
            return None
        noisy = self.graphs[0].noisy
        are_kinds = isinstance(self.attributes, DenseRows) and self.attributes.entries == 1
        return small_graph_words(noisy, one_hot=False) if are_kinds else graph_words(noisy)

    def counts(self) -> PartCounts:
        """The numbers of node pairs and of attributes of all graphs, each with the number of nonzero ones."""
        return graph_counts([graph.edges for graph in self.graphs], self.attributes)


@dataclass(frozen=True, slots=True, eq=False)
class GraphsSampler:
    """Noisy copies of many graphs as one union."""

    space: Graphs
    structure: BitSampler | None
    attributes: SparseSampler | DenseSampler | None
    _ranks: Pieces = field(init=False, repr=False)
    _loops: Pieces = field(init=False, repr=False)
    _features: UnionFeatures | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        edges = [graph.edges for graph in self.space.graphs]
        object.__setattr__(self, "_features", UnionFeatures.of(self.space.graphs))
        object.__setattr__(self, "_ranks", Pieces.joined([graph.ranks for graph in edges]))
        object.__setattr__(self, "_loops", Pieces.joined([graph.loops for graph in edges]))

    @property
    def rows(self) -> int:
        """The number of graphs; each can be drawn separately."""
        return len(self.space)

    @property
    def distance(self) -> Fraction:
        """Total variation distance of one sample of all graphs."""
        return sum((part.distance for part in (self.structure, self.attributes) if part is not None), Fraction(0))

    @property
    def bytes_per_row(self) -> int:
        """Approximate memory for the edges and attributes of a graph of average size."""
        everything = np.arange(self.rows)
        ones = (
            self.structure.expected_ones(everything)
            if self.structure
            else sum(graph.edges.count for graph in self.space.graphs)
        )
        plain = plain_attributes(self.space.attributes)
        width = 0 if plain is None else 8 * int(plain.shape[1])
        carried = 0 if self.space.edge_features is None else 32 * self.space.edge_features.width
        return int(((48 + carried) * ones + (16 + width) * self.space.nodes) / self.rows) + 256

    def draw(self, role: Role, samples: range, rows: IntArray) -> GraphUnion:
        """One noisy graph per (sample, graph), ordered by sample."""
        from flipproof.noise.sampling.edge_kernels import union_index  # loads numba

        copies = np.tile(rows, len(samples))
        nodes = Pieces(self.space.offsets, np.arange(self.space.nodes)).taken(rows).values
        sizes = np.diff(self.space.offsets)[copies]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        if self.structure is None:
            ranks = self._ranks.taken(copies)
        else:
            ranks = Pieces(*self.structure.draw(role, samples, rows))
        directed = self.space.graphs[0].edges.directed
        drawn = GraphUnion(
            nodes=int(offsets[-1]),
            edge_index=union_index(ranks, self._loops.taken(copies), offsets, directed),
            attributes=self._draw_attributes(role, samples, nodes),
            graph_of_node=np.repeat(np.arange(sizes.size), sizes),
            graphs=int(sizes.size),
        )
        if self._features is None:
            return drawn
        local = np.arange(drawn.nodes) - np.repeat(offsets[:-1], sizes)
        carried = self._features.of_copies(copies, ranks, drawn.edge_index, drawn.attributes, local)
        return replace(drawn, edge_features=carried)

    def _draw_attributes(self, role: Role, samples: range, nodes: IntArray) -> Any:
        if self.attributes is not None:
            return self.attributes.draw(role, samples, nodes)
        plain = plain_attributes(self.space.attributes)
        return None if plain is None else plain[np.tile(nodes, len(samples))]


@contextlib.contextmanager
def naming_graph(number: int) -> Iterator[None]:
    """Adds the number of the graph to errors raised inside."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"graph {number}: {error}") from error


def _kind_of(features: EdgeFeatures | None) -> str:
    """What edges carry, for the comparison of graphs."""
    if features is None:
        return "nothing"
    if features.values is None:
        return f"{features.name} by the function {id(features.function)}"
    return f"{features.name} of shape {features.values.shape[1:]}"


def _stacked(attributes: list[Any]) -> Any:
    """The attributes of all graphs, stacked; all must have the same kind and width."""
    kinds = {type(part) for part in attributes}
    if kinds == {type(None)}:
        return None
    if type(None) in kinds:
        raise InvalidInputError("expected attributes for all graphs or for none, got some without")
    plain = [plain_attributes(part) for part in attributes]
    widths = {part.shape[1] for part in plain}
    if len(widths) > 1:
        raise InvalidInputError(f"expected equally many attributes in all graphs, got {sorted(widths)}")
    if kinds == {SparseRows}:
        return SparseRows(sp.vstack(plain))
    if all(map(sp.issparse, plain)):
        return sp.vstack(plain, format="csr")
    dense = np.concatenate([part.toarray() if sp.issparse(part) else part for part in plain])
    return DenseRows(dense) if kinds <= {SparseRows, DenseRows} else dense
