"""Communities that no attacker can split or merge (Jia et al., WWW 2020), for any method that detects communities.

The victims are nodes that belong together. Whether a method puts them all into one community is a label of the graph,
and this label is smoothed: noise on pairs of nodes, votes, and a certificate as for any other classifier with two
labels. If label 1 is certified at radius r, changing r pairs (adding or deleting edges) does not split the victims. If
label 0 is, such changes do not bring all victims into one community. The proof is about the smoothed method. The paper
flips every pair with the same probability, which makes any graph dense; `flipproof.vote` also accepts noise for sparse
graphs, such as `FlipNoise(1e-3, 0.4)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.baselines.proofs import Proofs, checked_votes
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.noise.spaces.noisy_graphs import NoisyGraph
from flipproof.smoothing.certify import certify as certify_votes
from flipproof.smoothing.votes import Votes
from flipproof.theory.certificate import Promise, Subject
from flipproof.theory.law import as_flip_noise
from flipproof.theory.search import SEARCH_LIMIT

Detector = Callable[[Any], Iterable[Collection[int]]]
"""Maps a networkx graph with nodes 0, 1, ... to communities (sets of nodes), always the same ones for a given graph."""


_THREATS = {None: "r edges are added or deleted", "add": "r edges are added", "delete": "r edges are deleted"}


def louvain(graph: Any) -> list[set[int]]:
    """Louvain communities from networkx, with the nodes in a fixed random order."""
    found: list[set[int]] = require("networkx").community.louvain_communities(_checked_graph(graph), seed=0)
    return found


def label_propagation(graph: Any) -> list[set[int]]:
    """Communities from networkx's label propagation, without randomness."""
    return list(require("networkx").community.label_propagation_communities(_checked_graph(graph)))


def _checked_graph(graph: Any) -> Any:
    if not isinstance(graph, require("networkx").Graph):
        raise InvalidInputError(f"expected a networkx graph, got {type(graph).__name__}")
    return graph


@dataclass(frozen=True, slots=True)
class Together:
    """A graph classifier for `flipproof.vote`: label 1 if a detector puts a set of victims into one community, else 0.

    It gives one label for each set of victims.

    Attributes:
        detector: `louvain`, `label_propagation`, or your own function.
        victims: sets of at least two node numbers each.

    Example:
        >>> import flipproof as fp
        >>> path = fp.Graph.from_edge_index([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]], nodes=5)
        >>> Together(label_propagation, [(0, 1), (1, 2)])([path.clean()])
        array([[1, 0]])
    """

    detector: Detector
    victims: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        if not callable(self.detector):
            raise InvalidInputError(f"expected detector to be a function of a graph, got {self.detector!r}")
        try:
            sets = tuple(tuple(sorted({operator.index(node) for node in nodes})) for nodes in self.victims)
        except TypeError:
            sets = ()
        if not sets or any(len(nodes) < 2 or nodes[0] < 0 for nodes in sets):
            raise InvalidInputError(f"expected sets of two node numbers or more, got {self.victims!r}")
        object.__setattr__(self, "victims", sets)

    @property
    def classes(self) -> int:
        """Two classes: apart and together."""
        return 2

    def __call__(self, graphs: Sequence[NoisyGraph], /) -> IntArray:
        """Returns labels [graphs, sets of victims]."""
        if not isinstance(graphs, Sequence):
            raise InvalidInputError(f"expected copies of one graph, got {type(graphs).__name__}")
        labels = [self._labels(graph) for graph in graphs]
        return np.array(labels, dtype=np.int64).reshape(len(graphs), len(self.victims))

    def _labels(self, noisy: NoisyGraph) -> list[bool]:
        if not isinstance(noisy, NoisyGraph):
            raise InvalidInputError(f"expected copies of one graph, got a {type(noisy).__name__}")
        most = max(nodes[-1] for nodes in self.victims)
        if most >= noisy.nodes:
            raise InvalidInputError(f"expected victims from 0 to {noisy.nodes - 1}, got {most}")
        graph = require("networkx").empty_graph(noisy.nodes)
        graph.add_edges_from(noisy.edge_index.T.tolist())
        community = _community_of(self.detector(graph))
        if community is None or set(community) != set(range(noisy.nodes)):
            raise InvalidInputError("expected a detector that puts every node into one community, got another one")
        return [len({community[node] for node in nodes}) == 1 for nodes in self.victims]


def _community_of(found: Any) -> dict[int, int] | None:
    """The community of every node, or None if the input is not a list of communities or a node is in two of them."""
    try:
        listed = [list(members) for members in found]
        community = {node: number for number, members in enumerate(listed) for node in members}
    except TypeError:
        return None
    return community if sum(map(len, listed)) == len(community) else None


def certify(votes: Votes, along: str | None = None, alpha: float = 0.01, limit: int = SEARCH_LIMIT) -> Proofs:
    """The largest number of changed pairs that neither split nor merge the victims, for each set of victims.

    Each set's certificate is correct with probability at least 1 - alpha over the samples.

    Args:
        votes: votes of a `Together` classifier.
        along: "add" or "delete" for edges that are only added or only deleted; by default any changes.
        alpha: failure probability.
        limit: the largest number that is tried.
    """
    if checked_votes(votes).classes != 2:
        raise InvalidInputError(f"expected votes with two labels, apart and together, got {votes.classes}")
    law = as_flip_noise(votes.noise)
    if law is None or law.categories != 2:
        raise InvalidInputError(f"expected votes under a FlipNoise on edges, got votes under {votes.noise}")
    if not isinstance(along, str | None) or along not in _THREATS:
        raise InvalidInputError(f"expected along to be 'add', 'delete' or None, got {along!r}")
    certificates = certify_votes(votes, alpha)
    radius = certificates.max_l0_radius(limit=limit) if along is None else certificates.max_radius(along, limit=limit)
    promise = Promise("Jia et al. 2020", Subject.SMOOTHED, _THREATS[along], "two-class", alpha)
    return Proofs(promise, certificates.label, radius, certificates.abstained, ids=votes.ids, checked=votes.checked)
