"""From noisy samples to certificates, on inputs small enough to try everything: drawn by `vote`, proved by `certify`,
and checked against the exact smoothed classifier at every point of every certified ball.
"""

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.theory.radii import axes_of, point_of, radii_at

ALPHA = 0.001
CLASSES = 3


def entry_law(noise, values):
    """Probabilities [clean value, noisy value] of one entry; a value beyond the categories (padding) stays as it is."""
    law = np.eye(values)
    for value in range(noise.categories):
        flip = noise.p_minus if value else noise.p_plus
        law[value, : noise.categories] = flip / (noise.categories - 1)
        law[value, value] = 1.0 - flip
    return law


@dataclass(frozen=True)
class World:
    """All points of a space, in lexicographic order, and how `vote` sees them.

    `entries` has the part and the number of values of every entry, `space_of` makes the inputs of some points (rows of
    values), and `read` gives the points [batch, entries] that a classifier is asked about. With `nodes` a space is one
    graph with a label for each node, and there is one `vote` for each point. A point of nothing but `empty`
    values is no input.
    """

    noise: fp.FlipNoise | fp.JointNoise
    entries: tuple[tuple[str | None, int], ...]
    space_of: Callable
    read: Callable
    inputs: int = 128
    nodes: int | None = None
    empty: int | None = None

    @property
    def outputs(self):
        return self.nodes or 1

    @property
    def sizes(self):
        return [values for _, values in self.entries]

    @functools.cached_property
    def points(self):
        return np.array(list(itertools.product(*map(range, self.sizes))))

    @property
    def possible_inputs(self):
        """Numbers of points."""
        return np.flatnonzero([self.empty is None or set(point) != {self.empty} for point in self.points.tolist()])

    def noise_of(self, part):
        return self.noise if isinstance(self.noise, fp.FlipNoise) else self.noise.parts[part]

    @property
    def laws(self):
        return [entry_law(self.noise_of(part), values) for part, values in self.entries]

    def smoothed(self, labels):
        """The exact probabilities [point, output, class] for labels [point, output]."""
        votes = np.eye(CLASSES)[labels].reshape(*self.sizes, -1)
        for axis, law in enumerate(self.laws):
            votes = np.moveaxis(np.tensordot(law, votes, axes=(1, axis)), 0, axis)
        return votes.reshape(len(self.points), self.outputs, CLASSES)

    def law_at(self, point):
        """The exact law [points] of the noisy copies of one point."""
        return functools.reduce(np.kron, [law[value] for law, value in zip(self.laws, point, strict=True)])

    def changes(self, clean):
        """How many changes along each axis lead to every point, [points, axes]; -1 where none do."""
        counts = np.zeros((len(self.points), len(axes_of(self.noise))), dtype=int)
        impossible = np.zeros(len(self.points), dtype=bool)
        for (part, _), before, after in zip(self.entries, clean, self.points.T, strict=True):
            impossible |= (after != before) & (np.maximum(before, after) >= self.noise_of(part).categories)
            kinds = {"add": before == 0, "delete": after == 0, "change": (before > 0) & (after > 0)}
            for axis, (name, kind) in enumerate(axes_of(self.noise)):
                if name in (None, part):
                    counts[:, axis] += (after != before) & kinds[kind]
        return np.where(impossible[:, None], -1, counts)


class MaskedWorld(World):
    """Noise hides tokens: their place becomes empty. A replaced token is one deleted and one added."""

    @property
    def laws(self):
        law = np.eye(self.empty + 1) * (1.0 - self.noise.p_minus)
        law[:, self.empty] = self.noise.p_minus
        law[self.empty, self.empty] = 1.0
        return [law] * len(self.entries)

    def changes(self, clean):
        differs = self.points != clean
        added, deleted = differs & (self.points != self.empty), differs & (clean != self.empty)
        return np.stack([added.sum(axis=1), deleted.sum(axis=1)], axis=1)


# Spaces


def rows_world(noise, entries, space_of, values=2, empty=None, kind=World):
    def read(batch):
        return batch.toarray() if sp.issparse(batch) else batch.reshape(batch.shape[0], -1)

    return kind(noise, ((None, values),) * entries, space_of, read, empty=empty)


def images(points):
    return points.reshape(len(points), 2, -1)


def tokens(points):
    return fp.Tokens(points, padding=3)


def masked_tokens(points):
    return fp.Tokens(points, mask=2)


def table_world():
    categories = (2, 3, 2, 3, 2)
    noise = fp.Table(np.zeros((1, 5), int), categories).noise(0.1, 0.3)
    entries = tuple((f"k{count}", count) for count in categories)
    return World(noise, entries, lambda points: fp.Table(points, categories), lambda batch: batch)


@dataclass(frozen=True)
class Drawing:
    """How points are graphs: pairs of nodes first, then attributes, as far as noise touches them."""

    nodes: int
    words: int
    noisy: str
    directed: bool = False
    loops: tuple[int, ...] = ()

    @property
    def pairs(self):
        ordered = itertools.permutations(range(self.nodes), 2)
        return np.array([(u, v) for u, v in ordered if self.directed or u < v])

    @property
    def entries(self):
        structure = (("structure", 2),) * (len(self.pairs) * (self.noisy != "attributes"))
        return structure + (("attributes", 2),) * (self.nodes * self.words * (self.noisy != "structure"))

    def graph(self, point):
        pairs, words = self.pairs, self.nodes * self.words
        bits = np.arange(len(pairs)) % 2 if self.noisy == "attributes" else point[: len(pairs)]
        edges = [*pairs[bits == 1], *((node, node) for node in self.loops)]
        if not self.directed:
            edges += [pair[::-1] for pair in pairs[bits == 1]]
        index = np.array(edges, dtype=int).reshape(-1, 2).T
        attributes = sp.csr_array(point[-words:].reshape(self.nodes, self.words)) if words else None
        return fp.Graph.from_edge_index(index, self.nodes, attributes, noisy=self.noisy, directed=self.directed)

    def read(self, batch):
        """Of a union of graphs, or of a sequence of graphs; their self-loops must be there, and every edge once."""
        if hasattr(batch, "graphs"):
            count, index, attributes = batch.graphs, batch.edge_index, [batch.attributes]
        else:
            graphs = list(batch)
            count, attributes = len(graphs), [graph.attributes for graph in graphs]
            index = np.concatenate([graph.edge_index + i * self.nodes for i, graph in enumerate(graphs)], axis=1)
        heads, tails = index
        adjacency = np.bincount(heads * self.nodes + tails % self.nodes, minlength=count * self.nodes**2)
        adjacency = adjacency.reshape(count, self.nodes, self.nodes)
        assert (heads // self.nodes == tails // self.nodes).all()
        assert adjacency.max() <= 1
        assert (np.diagonal(adjacency, axis1=1, axis2=2) == np.isin(np.arange(self.nodes), self.loops)).all()
        u, v = self.pairs.T
        assert self.directed or (adjacency == adjacency.transpose(0, 2, 1)).all()
        bits = [adjacency[:, u, v]] if self.noisy != "attributes" else []
        if self.noisy != "structure":
            bits.append(np.concatenate([part.toarray() for part in attributes]).reshape(count, -1))
        return np.concatenate(bits, axis=1)


def graphs_world(noise, drawing, inputs=24):
    """Many graphs, one label for each."""
    space_of = lambda points: fp.Graphs([drawing.graph(point) for point in points])  # noqa: E731
    return World(noise, drawing.entries, space_of, drawing.read, inputs)


def nodes_world(noise, drawing, inputs=2):
    """One graph at a time, one label for each node."""
    return World(noise, drawing.entries, lambda points: drawing.graph(points[0]), drawing.read, inputs, drawing.nodes)


FLIP = fp.FlipNoise(0.1, 0.3)
JOINT = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.4), attributes=FLIP)
WORLDS = {
    "bits": rows_world(FLIP, 8, fp.DenseRows),
    "bits, deletions": rows_world(fp.FlipNoise(0.0, 0.5), 8, fp.DenseRows),
    "bits, more flips than not": rows_world(fp.FlipNoise(0.8, 0.7), 7, fp.DenseRows),
    "images": rows_world(fp.FlipNoise(0.15, 0.35, 3), 6, images, values=3),
    "images, symmetric": rows_world(fp.FlipNoise(0.3, 0.3, 3), 6, images, values=3),
    "sparse rows": rows_world(fp.FlipNoise(0.05, 0.4), 10, sp.csr_array),
    "sparse rows, many additions": rows_world(fp.FlipNoise(0.2, 0.3), 9, sp.csr_array),
    "sparse rows, deletions": rows_world(fp.FlipNoise(0.0, 0.5), 9, sp.csr_array),
    "tokens": rows_world(fp.FlipNoise(0.2, 0.3, 3), 5, tokens, values=4, empty=3),
    "masked tokens": rows_world(fp.FlipNoise(0.0, 0.6), 6, masked_tokens, values=3, empty=2, kind=MaskedWorld),
    "table": table_world(),
    "graphs": graphs_world(FLIP, Drawing(4, 0, "structure")),
    "graphs, both": graphs_world(JOINT, Drawing(3, 2, "both", loops=(1,))),
    "nodes, structure": nodes_world(fp.FlipNoise(0.1, 0.4), Drawing(5, 0, "structure", loops=(0, 3))),
    "nodes, directed": nodes_world(fp.FlipNoise(0.3, 0.4), Drawing(3, 0, "structure", directed=True), inputs=8),
    "nodes, attributes": nodes_world(fp.FlipNoise(0.15, 0.35), Drawing(5, 2, "attributes")),
    "nodes, both": nodes_world(JOINT, Drawing(4, 1, "both")),
}


# Classifiers: labels [points, outputs]


def almost_linear(world, rng, bias):
    """With some structure, so that there is something to certify; the larger the bias, the more."""
    size = len(world.entries)
    weights = rng.normal(size=(size, world.outputs, CLASSES)) / np.sqrt(size)
    offset = bias * rng.permuted([[0.0, 1.0, 2.0]] * world.outputs, axis=1)
    own = rng.normal(size=(len(world.points), world.outputs, CLASSES)) / 3
    return (np.tensordot(world.points, weights, axes=1) + offset + own).argmax(axis=-1)


def easily_turned(world, clean, other, share):
    """Label 0 on so much of the noise around a clean point, where the other point has as little of it as possible."""
    here, there = world.law_at(world.points[clean]), world.law_at(world.points[other])
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(here / there, nan=-1.0), kind="stable")
    labels = np.ones(len(world.points), dtype=int)
    labels[order[here[order].cumsum() <= share]] = 0
    labels[here == 0.0] = 1
    return np.repeat(labels[:, None], world.outputs, axis=1)


def lookup(world, labels):
    def classify(batch):
        found = labels[np.ravel_multi_index(world.read(batch).astype(int).T, world.sizes)]
        return found if world.nodes else found[:, 0]

    return fp.FunctionClassifier(classify, CLASSES)


# The check


@dataclass
class Pairs:
    """How many pairs of a clean point and another, in the same output, were certified, and how many differ in label."""

    certified: int = 0
    differing: int = 0

    def __add__(self, other):
        return Pairs(self.certified + other.certified, self.differing + other.differing)


def check(world, labels, chosen, seed):
    exact = world.smoothed(labels)
    pairs = Pairs()
    for group in chosen[:, None] if world.nodes else [chosen]:
        votes = fp.vote(lookup(world, labels), world.space_of(world.points[group]), world.noise, 200, 4000, seed=seed)
        for rule in ("multi-class", "two-class"):
            check_all(world, fp.certify(votes, ALPHA, rule, simultaneous=True), group, exact, pairs)
    return pairs


def check_all(world, certificates, group, exact, pairs):
    certified_at = functools.cache(lambda *counts: certificates.certified(radii_at(world.noise, counts)))
    for place, label in enumerate(certificates.label.tolist()):
        point, output = (group[0], place) if world.nodes else (group[place], 0)
        counts = world.changes(world.points[point])
        distinct, which = np.unique(counts, axis=0, return_inverse=True)
        certified = np.array([row[0] >= 0 and certified_at(*row)[place] for row in distinct.tolist()])[which.ravel()]
        p = exact[:, output]
        margin = p[:, label] - np.delete(p, label, axis=1).max(axis=1)
        assert (margin[certified] > 0).all(), (world.points[point], label, world.points[certified & (margin <= 0)])
        pairs.certified += int(certified.sum()) - int(certified[point])
        pairs.differing += int((margin[counts[:, 0] >= 0] <= 0).sum())


@pytest.mark.parametrize("name", WORLDS)
def test_no_certificate_of_the_pipeline_is_violated_anywhere(name, rng):
    world = WORLDS[name]
    total = Pairs()
    for seed, bias in enumerate((0.2, 1, 2)):
        chosen = rng.permutation(world.possible_inputs)[: world.inputs]
        total += check(world, almost_linear(world, rng, bias), chosen, seed)
    assert total.certified > 1000
    assert total.differing > 200


@pytest.mark.parametrize("name", ["bits", "images", "sparse rows", "tokens", "table", "graphs, both"])
def test_a_classifier_that_is_just_turned_at_a_point_is_not_certified_there(name, rng):
    """The certificate is sharp: this classifier is as likely as one can be and still be turned by these changes."""
    world, close = WORLDS[name], 0
    for seed in range(12):
        clean = rng.choice(world.possible_inputs)
        changes = world.changes(world.points[clean])
        other = rng.choice(np.flatnonzero((changes.sum(axis=1) > 0) & (changes.sum(axis=1) <= 3)))
        radii = radii_at(world.noise, tuple(changes[other].tolist()))
        critical = fp.critical_probability(world.noise, radii)
        labels = easily_turned(world, clean, other, critical)
        p = world.smoothed(labels)[:, 0]
        assert p[other, 0] <= 0.5 + 1e-12
        close += critical - 0.02 < p[clean, 0] <= critical
        votes = fp.vote(lookup(world, labels), world.space_of(world.points[[clean]]), world.noise, 200, 4000, seed)
        for rule in ("multi-class", "two-class"):
            certificates = fp.certify(votes, ALPHA, rule)
            check_all(world, certificates, [clean], world.smoothed(labels), Pairs())
            assert not certificates.certified(radii)[0]
    assert close > 6


@pytest.mark.parametrize("name", ["bits", "images", "table", "nodes, both"])
def test_the_frontier_bounds_exactly_what_is_certified(name, rng):
    world = WORLDS[name]
    labels = almost_linear(world, rng, 1.5)
    clean = world.smoothed(labels)[:, 0].max(axis=-1).argmax()
    votes = fp.vote(lookup(world, labels), world.space_of(world.points[[clean]]), world.noise, 200, 4000)
    certificates = fp.certify(votes, ALPHA)
    counts = world.changes(world.points[clean])
    corners = np.array([point_of(world.noise, radii) for radii in certificates.frontier(0)])
    below = (counts[:, None] <= corners).all(axis=2).any(axis=1)
    certified = [certificates.certified(radii_at(world.noise, tuple(row)))[0] for row in counts.tolist()]
    assert below.tolist() == certified
    assert below.sum() > 1
