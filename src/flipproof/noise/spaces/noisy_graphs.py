"""Noisy copies of one graph, and the sampler that draws the whole graph or only what reaches some targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import IntArray, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import BitSampler, LoopArguments, Role, Sampler
from flipproof.noise.spaces.edge_features import EdgeFeatures
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.spaces.rows import rows_between

if TYPE_CHECKING:
    from flipproof.noise.spaces.graph import Graph


@dataclass(frozen=True, slots=True, eq=False)
class NoisyGraph:
    """One noisy copy of a graph, as models take it. All copies share the objects that noise does not change.

    Attributes:
        nodes: the number of nodes.
        edge_index: [2, edges], as in PyTorch Geometric.
        attributes: one row per node, an array or a CSR matrix, or None.
        edge_features: what the edges carry, one row for each column of `edge_index`, or None.
    """

    nodes: int
    edge_index: IntArray
    attributes: Any
    edge_features: Any = None

    def __repr__(self) -> str:
        return short_repr(self, amount(self.nodes, "node"), f"edge_index {shape_words(self.edge_index)}")


@dataclass(frozen=True, slots=True, eq=False)
class NoisyGraphs(Sequence[NoisyGraph]):
    """Noisy copies of one graph. Each copy is assembled on access, so that few need to be in memory at once."""

    copies: int
    nodes: int
    edge_index_of: Callable[[int], IntArray]
    attributes_of: Callable[[int], Any]
    features_of: Callable[[int, IntArray, Any], Any] = lambda i, edge_index, attributes: None

    def __len__(self) -> int:
        return self.copies

    def __getitem__(self, i: Any) -> Any:
        """The i-th copy, or a list of copies for a slice."""
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(self.copies))]
        i = range(self.copies)[i]
        edge_index, attributes = self.edge_index_of(i), self.attributes_of(i)
        return NoisyGraph(self.nodes, edge_index, attributes, self.features_of(i, edge_index, attributes))


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The nodes of a graph that matter to some targets, the remaining edges, and the places of the targets."""

    nodes: IntArray
    edges: Edges
    numbers: IntArray
    targets: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class GraphSampler:
    """Draws noisy copies of one graph, or of a neighbourhood in it, as a sequence of `NoisyGraph`."""

    graph: Graph
    structure: BitSampler | None
    attributes: Sampler | None
    around: Neighbourhood | None = None
    _index: Any = field(init=False, repr=False)
    _plain: Any = field(init=False, repr=False)
    _features: EdgeFeatures | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        features = self.graph.edge_features
        if features is not None:
            features.check_noise(None if self.structure is None else self.structure.noise)
            if self.around is not None:
                features = features.within(self.graph.edges, self.around.numbers, self.around.nodes)
        object.__setattr__(self, "_features", features)
        object.__setattr__(self, "_index", read_only(self.edges.index()) if self.structure is None else None)
        plain = self.graph.plain_attributes if self.attributes is None else None
        if plain is not None and self.around is not None:
            plain = plain[self.around.nodes]
        object.__setattr__(self, "_plain", plain)

    @property
    def rows(self) -> int:
        """One: the graph is drawn as a whole."""
        return 1

    @property
    def outputs(self) -> int:
        """The number of predictions: one for every drawn node."""
        return self.graph.nodes if self.around is None else int(self.around.nodes.size)

    @property
    def nodes(self) -> IntArray:
        """The nodes that are drawn."""
        return np.arange(self.graph.nodes) if self.around is None else self.around.nodes

    @property
    def distance(self) -> Fraction:
        """Total variation distance of one sample of the whole graph."""
        return sum((part.distance for part in (self.structure, self.attributes) if part is not None), Fraction(0))

    @property
    def expected_edges(self) -> float:
        """The average number of edges of a noisy copy."""
        return self.structure.expected_ones(np.zeros(1, np.int64)) if self.structure else float(self.graph.edges.count)

    @property
    def bytes_per_row(self) -> int:
        """Memory for one copy's noisy edges (ranks, an index of both directions, a copy of it) and attributes."""
        edges = self.expected_edges if self.structure else 0.0
        attributes = self.attributes.bytes_per_row * self.nodes.size if self.attributes else 0
        carried = 0.0 if self._features is None else 4 * self._features.width * self.expected_edges
        return int(72 * edges + 8 * carried) + attributes + 4096

    @property
    def places(self) -> IntArray | None:
        """The targets' places in the drawn graphs if only their neighbourhood is drawn, else None."""
        return None if self.around is None else self.around.targets

    def restricted(self, targets: IntArray, hops: int) -> GraphSampler | None:
        """A sampler of what reaches the targets in `hops` steps, or None if noise may add edges from anywhere.

        It keeps one more step, so that all nodes within `hops` have all their neighbours: models divide by degrees.
        """
        if self.structure is not None and self.structure.noise.p_plus > 0.0:
            return None
        nodes = self.graph.edges.ball(targets, hops + 1)
        edges, numbers = self.graph.edges.within(nodes)
        return replace(self, around=Neighbourhood(nodes, edges, numbers, np.searchsorted(nodes, targets)))

    def unrestricted(self) -> tuple[GraphSampler, IntArray] | None:
        """The sampler of the whole graph, and the targets' node numbers; None if this sampler already draws it all."""
        return None if self.around is None else (replace(self, around=None), self.around.nodes[self.around.targets])

    @property
    def attribute_columns(self) -> int | None:
        """The number of attributes of a node; None if the graph has no attributes."""
        plain = self.graph.plain_attributes
        return None if plain is None else int(plain.shape[1])

    @property
    def flips_attribute_bits(self) -> bool:
        """Whether the attributes are bits that flip independently, so that `attribute_arguments` is available."""
        return self._attribute_bits is not None

    def attribute_arguments(self, role: Role, samples: range, nodes: IntArray) -> LoopArguments:
        """The arguments of a compiled loop that draws the attributes of some nodes."""
        if self._attribute_bits is None:
            raise InvalidInputError("expected attributes that are bits and flip one by one, got others")
        return self._attribute_bits.loop_arguments(role, samples, nodes)

    @property
    def _attribute_bits(self) -> BitSampler | None:
        return getattr(self.attributes, "bits", None)

    def draw(self, role: Role, samples: range, rows: IntArray) -> NoisyGraphs:
        """One noisy graph per sample."""
        ranks = None if self.structure is None else self.draw_ranks(role, samples)
        index_of = (lambda i: self._index) if ranks is None else (lambda i: self.edges.index(ranks[i]))
        return NoisyGraphs(
            len(samples), self.outputs, index_of, self._draw_attributes(role, samples), self._features_of(ranks)
        )

    @property
    def edges(self) -> Edges:
        """The clean edges among the drawn nodes."""
        return self.graph.edges if self.around is None else self.around.edges

    @property
    def clean_attributes(self) -> Any:
        """The attributes of the drawn nodes, as models take them, if noise leaves attributes alone."""
        return self._plain

    @property
    def shared(self) -> tuple[Any, ...]:
        """The edges and the attributes that all noisy copies share, None for a part that gets noise, and features."""
        carried = None if self._features is None or self.structure is not None else self._features.values
        return (self._index, self._plain) if carried is None else (self._index, self._plain, carried)

    def draw_ranks(self, role: Role, samples: range) -> list[IntArray]:
        """The sorted ranks of the edges of every sample, if the structure gets noise."""
        if self.structure is None:
            raise InvalidInputError("expected noise on structure, got a graph whose edges get none")
        if self.around is None:
            starts, ranks = self.structure.draw(role, samples, np.zeros(1, dtype=np.int64))
        else:
            starts, kept = self.structure.draw_kept(role, samples, self.around.numbers)
            ranks = self.edges.ranks[kept]
        return [ranks[starts[i] : starts[i + 1]] for i in range(len(samples))]

    def _features_of(self, ranks: list[IntArray] | None) -> Callable[[int, IntArray, Any], Any]:
        """What gives the features of the edges of a noisy copy; the ranks of its edges are known if they get noise."""
        features, edges, nodes = self._features, self.edges, None if self.around is None else self.around.nodes
        if features is None:
            return lambda i, edge_index, attributes: None
        if not features.are_stored:
            return lambda i, edge_index, attributes: features.of_ends(attributes, edge_index, nodes)
        if ranks is None:
            return lambda i, edge_index, attributes: features.values
        return lambda i, edge_index, attributes: features.of_ranks(edges, ranks[i])

    def _draw_attributes(self, role: Role, samples: range) -> Callable[[int], Any]:
        if self.attributes is None:
            return lambda i: self._plain
        drawn, nodes = self.attributes.draw(role, samples, self.nodes), self.nodes.size
        return lambda i: rows_between(drawn, i * nodes, (i + 1) * nodes)
