"""Many graphs as a space, each an input of its own: molecules, proteins, circuits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.errors import InvalidInputError
from flipproof.noise.graph import (
    ATTRIBUTES,
    STRUCTURE,
    Graph,
    attribute_sampler,
    plain_attributes,
    structure_sampler,
)
from flipproof.noise.rows import DenseRows, DenseSampler, SparseRows, SparseSampler
from flipproof.noise.sampling import BitSampler, Role
from flipproof.noise.space import noise_of_parts
from flipproof.theory.arrays import IntArray
from flipproof.theory.law import Noise


@dataclass(frozen=True, slots=True, eq=False)
class GraphUnion:
    """Noisy copies of many graphs as one graph without edges between them, as models take a batch."""

    nodes: int
    edge_index: IntArray
    attributes: Any
    graph_of_node: IntArray
    graphs: int


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """A collection of graphs of the same kind: all with noise on the same parts, all directed or none.

    Example:
        >>> triangle = Graph.from_edge_index([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]], nodes=3)
        >>> Graphs([triangle, triangle]).nodes
        6
    """

    graphs: tuple[Graph, ...]
    attributes: Any = field(init=False, repr=False)
    offsets: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        graphs = tuple(self.graphs)
        wrong = next((graph for graph in graphs if not isinstance(graph, Graph)), None)
        if not graphs or wrong is not None:
            raise InvalidInputError(f"expected one or more Graph, got {'none' if wrong is None else repr(wrong)}")
        for what, kinds in (
            ("noise on the same parts", {graph.noisy for graph in graphs}),
            ("directed edges in all or in none", {graph.edges.directed for graph in graphs}),
        ):
            if len(kinds) > 1:
                raise InvalidInputError(f"expected graphs with {what}, got {sorted(map(str, kinds))}")
        object.__setattr__(self, "graphs", graphs)
        object.__setattr__(self, "attributes", _stacked([graph.attributes for graph in graphs]))
        object.__setattr__(self, "offsets", np.cumsum([0, *(graph.nodes for graph in graphs)], dtype=np.int64))

    @classmethod
    def from_pyg(cls, dataset: Iterable[Any], **options: Any) -> Graphs:
        """A collection from a PyTorch Geometric dataset, or any iterable of `Data`; options as in `Graph.from_pyg`."""
        return cls(tuple(Graph.from_pyg(data, **options) for data in dataset))

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def nodes(self) -> int:
        """How many nodes all graphs have together."""
        return int(self.offsets[-1])

    @property
    def parts(self) -> tuple[str, ...]:
        """Which parts noise may touch."""
        return self.graphs[0].parts

    def sampler(self, noise: Noise, seed: int) -> GraphsSampler:
        """Draws noisy copies of the graphs."""
        noises = noise_of_parts(noise, self.parts)
        edges = [graph.edges for graph in self.graphs]
        return GraphsSampler(
            self,
            structure=structure_sampler(edges, noises, seed) if STRUCTURE in noises else None,
            attributes=attribute_sampler(self.attributes, noises, seed) if ATTRIBUTES in noises else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class GraphsSampler:
    """Noisy copies of many graphs as one union."""

    space: Graphs
    structure: BitSampler | None
    attributes: SparseSampler | DenseSampler | None

    @property
    def rows(self) -> int:
        """Each graph can be drawn by itself."""
        return len(self.space)

    @property
    def distance(self) -> Fraction:
        """Total variation distance of one sample of all graphs."""
        return sum((part.distance for part in (self.structure, self.attributes) if part is not None), Fraction(0))

    @property
    def bytes_per_row(self) -> int:
        """Edges and attributes of a graph of average size."""
        everything = np.arange(self.rows)
        ones = (
            self.structure.expected_ones(everything)
            if self.structure
            else sum(graph.edges.count for graph in self.space.graphs)
        )
        plain = plain_attributes(self.space.attributes)
        width = 0 if plain is None else 8 * int(plain.shape[1])
        return int((48 * ones + (16 + width) * self.space.nodes) / self.rows) + 256

    def draw(self, role: Role, samples: range, rows: IntArray) -> GraphUnion:
        """Every (sample, graph), samples first."""
        sizes = np.tile(np.diff(self.space.offsets)[rows], len(samples))
        offsets = np.cumsum([0, *sizes], dtype=np.int64)
        pieces = (np.arange(self.space.offsets[row], self.space.offsets[row + 1]) for row in rows)
        node_rows = np.concatenate([np.zeros(0, np.int64), *pieces])
        return GraphUnion(
            nodes=int(offsets[-1]),
            edge_index=self._draw_structure(role, samples, rows, offsets),
            attributes=self._draw_attributes(role, samples, node_rows),
            graph_of_node=np.repeat(np.arange(sizes.size), sizes),
            graphs=int(sizes.size),
        )

    def _draw_structure(self, role: Role, samples: range, rows: IntArray, offsets: IntArray) -> IntArray:
        edges = [self.space.graphs[row].edges for row in rows] * len(samples)
        if self.structure is None:
            pieces = [graph.index() for graph in edges]
        else:
            starts, ranks = self.structure.draw(role, samples, rows)
            pieces = [graph.index(ranks[starts[i] : starts[i + 1]]) for i, graph in enumerate(edges)]
        counts = [piece.shape[1] for piece in pieces]
        return np.concatenate([np.zeros((2, 0), np.int64), *pieces], axis=1) + np.repeat(offsets[:-1], counts)

    def _draw_attributes(self, role: Role, samples: range, nodes: IntArray) -> Any:
        if self.attributes is not None:
            return self.attributes.draw(role, samples, nodes)
        plain = plain_attributes(self.space.attributes)
        return None if plain is None else plain[np.tile(nodes, len(samples))]


def _stacked(attributes: list[Any]) -> Any:
    """The attributes of all graphs, one below the other; all must be of one kind and width."""
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
