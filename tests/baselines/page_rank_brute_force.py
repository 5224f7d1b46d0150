"""Small random graphs under random threats, and all that an attacker can do to them."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy.sparse as sp

from flipproof.baselines.walks.page_rank import PageRank
from flipproof.baselines.walks.walk import Threat


@dataclass(frozen=True)
class Case:
    model: PageRank
    threat: Threat

    def attacks(self, threat=None):
        """Every adjacency matrix that the threat allows."""
        threat, clean = threat or self.threat, self.model.adjacency.toarray()
        heads, tails = threat.fragile
        switched = np.array(list(product([False, True], repeat=heads.size))).reshape(-1, heads.size)
        of_node = switched.astype(int) @ (heads[:, None] == np.arange(len(clean)))
        kept = (of_node <= threat.local).all(axis=1)
        if threat.total is not None:
            kept &= switched.sum(axis=1) <= threat.total
        matrices = np.repeat(clean[None], kept.sum(), axis=0)
        matrices[:, heads, tails] = np.where(switched[kept], 1 - clean[heads, tails], clean[heads, tails])
        return matrices

    def logits(self, matrices):
        """[attacks, nodes, classes], by the definition."""
        steps = matrices / matrices.sum(axis=2, keepdims=True)
        system = np.eye(matrices.shape[1]) - self.model.damping * steps
        return self.model.teleport * np.linalg.solve(
            system, np.broadcast_to(self.model.features, (len(steps), *self.model.features.shape))
        )


def cases(rng, number, most_fragile=6):
    """Random directed graphs of 4 or 5 nodes; edges are added and deleted, and budgets differ from node to node."""
    for _ in range(number):
        nodes, classes = rng.integers(4, 6), rng.integers(2, 4)
        pairs = rng.permutation([(i, j) for i in range(nodes) for j in range(nodes)])
        there = rng.random((nodes, nodes)) < 0.45
        fixed = rng.integers(0, nodes, nodes)
        there[np.arange(nodes), fixed] = True
        fragile = np.array([(i, j) for i, j in pairs if fixed[i] != j][: rng.integers(1, most_fragile + 1)]).T
        features = rng.normal(size=(nodes, classes)) + 0.5 * (np.arange(classes) == 0)
        model = PageRank(sp.csr_array(there.astype(float)), features, float(rng.choice([0.2, 0.4, 0.6])))
        yield Case(model, Threat(fragile, rng.integers(0, 4, nodes), int(rng.integers(1, 4))))


def deleted(model, pairs):
    """The logits [attacks, nodes, classes] once the undirected edges of each attack are deleted."""
    matrices = np.repeat(model.adjacency.toarray()[None], len(pairs), axis=0)
    for matrix, removed in zip(matrices, pairs, strict=True):
        for i, j in removed:
            matrix[i, j] = matrix[j, i] = 0
    return Case(model, None).logits(matrices)


def undirected_cases(rng, number):
    """Random connected undirected graphs of 5 nodes."""
    for _ in range(number):
        upper = np.triu(rng.random((5, 5)) < 0.6, 1)
        upper[np.arange(4), np.arange(1, 5)] = True
        features = rng.normal(size=(5, 2)) + 0.6 * (np.arange(2) == 0)
        yield PageRank(sp.csr_array((upper | upper.T).astype(float)), features, float(rng.choice([0.2, 0.5])))
