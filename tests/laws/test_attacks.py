"""Attacks on certified nodes: real ones, inside the certified ball, never turn the smoothed prediction of a GCN.

The certificates are made as a user makes them, with `train`, `vote` and `certify`. What an attack did is judged by
votes on the attacked graph, with another seed, or by the exact smoothed classifier where a graph is tiny.
"""

import copy
import functools
import itertools
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from attacks import Bits, NoisyGCN, attack_structure, greedy_flips, random_flips, weighted_logits
from scipy.stats import binom

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.noisy_graphs import NoisyGraph

CLASSES, WORDS = 3, 18

NOISES = {
    "structure": fp.FlipNoise(0.02, 0.5),
    "attributes": fp.FlipNoise(0.03, 0.5),
    "both": fp.JointNoise(structure=fp.FlipNoise(0.01, 0.3), attributes=fp.FlipNoise(0.02, 0.4)),
}

ALPHA = 1e-6
"""That any certificate of a graph is wrong."""

ERROR = 1e-10
"""That one comparison of votes on an attacked graph finds fault with a certificate that is right. A node needs three:
two with other labels, one with the floor. There are fewer than 10^4 of them in a test, so that it fails by chance
with a probability of at most ALPHA + 10^4 ERROR = 2e-6."""


@dataclass(frozen=True)
class Sizes:
    """How much is done: a small graph with few samples, or a larger one with more."""

    nodes_per_class: int
    n_estimate: int
    n_judge: int
    attacked: int


SMALL = Sizes(nodes_per_class=12, n_estimate=4_000, n_judge=250, attacked=6)
LARGE = Sizes(nodes_per_class=20, n_estimate=20_000, n_judge=1_000, attacked=12)


# A graph, a model trained on its noisy copies, and certificates


def blocks(nodes_per_class, seed=0):
    """Edges and words that nodes of one class share more often than others."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(CLASSES), nodes_per_class)
    density = np.where(labels[:, None] == labels, 4.2 / nodes_per_class, 0.36 / nodes_per_class)
    upper = np.triu(rng.random(density.shape) < density, 1)
    words = rng.random((labels.size, WORDS)) < np.where(labels[:, None] == np.arange(WORDS) % CLASSES, 0.4, 0.15)
    return Bits((upper | upper.T).astype(np.int64), words.astype(np.int64)), labels


@dataclass(frozen=True)
class Case:
    """A graph with certificates of its nodes."""

    part: str
    noise: fp.FlipNoise | fp.JointNoise
    bits: Bits
    classifier: fp.NodeClassifier
    certificates: fp.Certificates
    sizes: Sizes

    @property
    def noises(self):
        return self.noise.parts if self.part == "both" else {self.part: self.noise}

    def by_part(self, radii):
        return radii if self.part == "both" else {self.part: radii}

    def distance(self, bits):
        """The radii that lead from the graph to this one; nothing changes where there is no noise."""
        changed = self.bits.changes(bits)
        assert all(changed[part] == fp.Radii() for part in changed if part not in self.noises)
        return changed if self.part == "both" else changed[self.part]

    def base_labels(self, bits):
        return self.classifier([graph_of(bits, self.part).clean()])[0]


def graph_of(bits, part):
    return fp.Graph.from_scipy(sp.csr_array(bits.structure), sp.csr_array(bits.attributes), noisy=part)


@functools.cache
def case_of(part, sizes=SMALL):
    bits, labels = blocks(sizes.nodes_per_class)
    graph, noise = graph_of(bits, part), NOISES[part]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        classifier = fp.NodeClassifier(fp.GCN(WORDS, CLASSES, hidden=16), CLASSES)
    settings = fp.TrainingSettings(noisy_samples=4, learning_rate=0.02, epochs=200)
    fp.train(classifier, graph, labels, fp.Split.per_class(labels, 4, 3), noise, settings, progress=False)
    votes = fp.vote(classifier, graph, noise, 200, sizes.n_estimate, seed=1, progress=False)
    return Case(part, noise, bits, classifier, fp.certify(votes, ALPHA, simultaneous=True), sizes)


def corners(case, certificates, node, most=3):
    """Some of the maximal certified radii of a node, without the point where nothing changes."""
    changing = [
        radii
        for radii in certificates.frontier(node)
        if any(part.add + part.delete for part in case.by_part(radii).values())
    ]
    chosen = np.unique(np.linspace(0, len(changing) - 1, most).astype(int)) if changing else []
    return [changing[i] for i in chosen]


def chosen_nodes(case, certificates):
    """Certified nodes, from the least to the most certain."""
    nodes = [node for node in np.argsort(certificates.p_lower) if corners(case, certificates, node)]
    return [int(nodes[i]) for i in np.unique(np.linspace(0, len(nodes) - 1, case.sizes.attacked).astype(int))]


# Attacks


def attack(name, case, node, radii, through_noise=True):
    """The attack of this name, on one node and within the radii."""
    bits, radii, label = case.bits, case.by_part(radii), int(case.certificates.label[node])
    model = NoisyGCN(case.classifier.module.eval(), *bits.attributes.shape, case.noises if through_noise else {})
    if "structure" in radii:
        method, labels = name.split(" + ")[0], case.certificates.label
        bits = attack_structure(method, model, bits, labels, node, radii["structure"], seed=node)
    if "attributes" in radii and name.endswith("greedy"):
        bits = greedy_flips(model, bits, label, node, radii["attributes"])
    elif "attributes" in radii:
        bits = random_flips(bits, node, radii["attributes"], np.random.default_rng(node))
    return bits


ATTACKS = [("structure", "PRBCD"), ("structure", "GRBCD"), ("attributes", "greedy"), ("attributes", "random")]


# The judge


@dataclass
class Findings:
    """What votes on attacked graphs said."""

    graphs: int = 0
    compared: int = 0
    base_turned: int = 0
    turned: list = field(default_factory=list)
    below: list = field(default_factory=list)
    shares: list = field(default_factory=list)

    @property
    def refuted(self):
        return self.turned + self.below


def is_turned(counts, label):
    """Whether another label is more probable: of the votes for these two, too few are for the label."""
    others = np.delete(counts, label)
    return bool((binom.cdf(counts[label], counts[label] + others, 0.5) < ERROR).any())


def is_below(counts, label, floor):
    """Whether the label is less probable than the floor: its Clopper-Pearson upper bound is below."""
    return bool(binom.cdf(counts[label], counts.sum(), floor) < ERROR)


def judge(case, certificates, bits, node, findings, covered=None):
    """Votes on an attacked graph, against every certificate whose ball it is in (or these, whatever they say)."""
    radii, label = case.distance(bits), certificates.label
    votes = fp.vote(case.classifier, graph_of(bits, case.part), case.noise, 0, case.sizes.n_judge, 2, progress=False)
    floors = fp.rho(certificates.noise, radii, certificates.p_lower)
    for other in np.flatnonzero(certificates.certified(radii)) if covered is None else covered:
        counts = votes.estimation[other]
        if is_turned(counts, label[other]):
            findings.turned.append((int(other), radii, counts.tolist()))
        if is_below(counts, label[other], floors[other]):
            findings.below.append((int(other), radii, counts.tolist()))
        findings.compared += 1
    findings.graphs += 1
    findings.base_turned += int(case.base_labels(bits)[node] != case.base_labels(case.bits)[node])
    findings.shares.append(votes.estimation[node, label[node]] / case.sizes.n_judge)


def attacked(name, case, certificates, nodes, through_noise=True):
    """Attacks nodes at the corners of what is certified, and judges."""
    findings = Findings()
    for node in nodes:
        for radii in corners(case, certificates, node):
            bits = attack(name, case, node, radii, through_noise)
            assert case.part != "attributes" or case.distance(bits) == radii
            assert certificates.certified(case.distance(bits))[node]
            judge(case, certificates, bits, node, findings)
    return findings


def stated_as(case, noise):
    """The certificates, had the votes been drawn with another noise."""
    votes = case.certificates.votes
    false = fp.Votes.from_counts(selection=votes.selection, estimation=votes.estimation, noise=noise)
    return fp.certify(false, ALPHA, simultaneous=True)


@pytest.mark.parametrize(("part", "name"), ATTACKS)
def test_no_attack_inside_the_certified_ball_turns_a_smoothed_prediction(part, name):
    case = case_of(part)
    findings = attacked(name, case, case.certificates, chosen_nodes(case, case.certificates))
    assert findings.refuted == []
    assert findings.graphs >= 8
    assert 80 <= findings.compared <= 3_000


@pytest.mark.parametrize(("part", "name"), ATTACKS)
def test_the_same_attack_outside_the_ball_turns_smoothed_predictions(part, name):
    """Otherwise nothing would be shown by the attacks inside it."""
    case, findings = case_of(part), Findings()
    for node in chosen_nodes(case, case.certificates)[:3]:
        inside = corners(case, case.certificates, node)[-1]
        wider = fp.Radii(80, 40) if name == "random" else fp.Radii(2 * inside.add + 4, 2 * inside.delete + 4)
        bits = attack(name, case, node, wider)
        assert not case.certificates.certified(case.distance(bits))[node]
        judge(case, case.certificates, bits, node, findings, [node])
    assert findings.turned


@pytest.mark.parametrize(("part", "name"), [("structure", "GRBCD"), ("attributes", "greedy")])
def test_attacks_refute_certificates_for_a_noise_that_was_not_drawn(part, name):
    case = case_of(part)
    false = stated_as(case, fp.FlipNoise(case.noise.p_plus, 0.9))
    findings = attacked(name, case, false, chosen_nodes(case, false)[2:4])
    assert findings.turned
    assert findings.below


@pytest.mark.slow
@pytest.mark.parametrize("through_noise", [True, False])
@pytest.mark.parametrize(("part", "name"), [*ATTACKS, ("both", "PRBCD + greedy"), ("both", "GRBCD + greedy")])
def test_no_attack_turns_a_certified_node_of_a_larger_graph(part, name, through_noise):
    case = case_of(part, LARGE)
    findings = attacked(name, case, case.certificates, chosen_nodes(case, case.certificates), through_noise)
    assert findings.refuted == []
    assert findings.graphs >= 12
    assert 200 <= findings.compared <= 3_000


# The model that is attacked


def test_the_attacked_model_is_the_model_that_votes(rng):
    """Its logits on clean and noisy graphs, with all weights one, up to what float32 may lose."""
    case = case_of("structure")
    gcn, graph = case.classifier.module.eval(), graph_of(case.bits, "structure")
    x = torch.from_numpy(case.bits.attributes.astype(np.float32))
    model = NoisyGCN(gcn, *x.shape, noises={})
    draws = graph.sampler(case.noise, 3).draw(Role.ESTIMATE, range(5), np.zeros(1, dtype=np.int64))
    clean = torch.from_numpy(np.array(graph.clean().edge_index))
    for noisy in (graph.clean(), *draws):
        index = torch.from_numpy(np.array(noisy.edge_index))
        with torch.no_grad():
            here = model(x, index, torch.ones(index.shape[1]))
            there = gcn(x, index).log_softmax(-1)
        assert (here - there).abs().max() < float32_loss(gcn, x, index)
        assert index.shape == clean.shape or (here - model(x, clean, torch.ones(clean.shape[1]))).abs().max() > 0.1


def float32_loss(gcn, x, index):
    """How far two ways to compute log-probabilities may differ.

    A logit is a sum of products that add up to `size` in absolute value. On the way of one product lie sums of 18
    words, 16 hidden units and twice up to 36 neighbours and a bias, and a dozen products and roots: fewer than 128
    roundings of 2^-24 each. Two logits enter a log-probability, two computations are compared, and the logarithm of
    a float32 probability loses as much again as a logit of size 1.
    """
    positive = copy.deepcopy(gcn)
    with torch.no_grad():
        for weights in positive.parameters():
            weights.abs_()
        adjacency = torch.zeros(len(x), len(x)).index_put(tuple(index), torch.tensor(1.0))
        size = weighted_logits(positive, x, adjacency).max().item()
    return 2 * (2 * size + 1) * 128 * 2.0**-24


# Exactly: five nodes, all their graphs

TINY = 5
TINY_NOISE = fp.FlipNoise(0.1, 0.4)
PAIRS = np.array(list(itertools.combinations(range(TINY), 2)))
POINTS = np.array(list(itertools.product((0, 1), repeat=len(PAIRS))))


def adjacency_of(point):
    adjacency = np.zeros((TINY, TINY), dtype=np.int64)
    adjacency[tuple(PAIRS[point == 1].T)] = 1
    return adjacency + adjacency.T


@functools.cache
def exact_probabilities(center):
    """Of the smoothed classifier, [points, nodes, classes]: all noisy graphs around all graphs."""
    classifier, attributes = tiny_case(center).classifier, sp.csr_array(tiny_case(center).bits.attributes)
    graphs = [NoisyGraph(TINY, np.stack(adjacency_of(point).nonzero()), attributes) for point in POINTS]
    p = np.eye(CLASSES)[classifier(graphs)].reshape(*(2,) * len(PAIRS), -1)
    plus, minus = TINY_NOISE.p_plus, TINY_NOISE.p_minus
    for axis in range(len(PAIRS)):
        p = np.moveaxis(np.tensordot([[1 - plus, plus], [minus, 1 - minus]], p, axes=(1, axis)), 0, axis)
    return p.reshape(len(POINTS), TINY, CLASSES)


@functools.cache
def tiny_case(center):
    """A node of the larger graph and its first neighbours, with the model that was trained there."""
    whole = case_of("structure")
    nodes = np.array([center, *np.flatnonzero(whole.bits.structure[center])])[:TINY]
    bits = Bits(whole.bits.structure[np.ix_(nodes, nodes)], whole.bits.attributes[nodes])
    votes = fp.vote(whole.classifier, graph_of(bits, "structure"), TINY_NOISE, 200, 2_000, seed=1, progress=False)
    certificates = fp.certify(votes, ALPHA, simultaneous=True)
    return replace(whole, noise=TINY_NOISE, bits=bits, certificates=certificates)


def certified_points(case, node):
    """Which points are in the certified ball of a node, by the counts of what they add and delete."""
    clean = case.bits.structure[tuple(PAIRS.T)]
    added, deleted = (clean < POINTS).sum(axis=1), (clean > POINTS).sum(axis=1)
    table = np.zeros((len(PAIRS) + 1, len(PAIRS) + 1), dtype=bool)
    for add, delete in set(zip(added.tolist(), deleted.tolist(), strict=True)):
        table[add, delete] = case.certificates.certified(fp.Radii(add, delete))[node]
    return table[added, deleted]


def number_of(bits):
    return int(np.flatnonzero((bits.structure[tuple(PAIRS.T)] == POINTS).all(axis=1))[0])


def check_exactly(center):
    """Returns how many points were certified, how many turned, and how many attacks lowered the exact margin."""
    case = tiny_case(center)
    exact, clean = exact_probabilities(center), number_of(case.bits)
    found = np.zeros(4, dtype=int)
    for node, label in enumerate(case.certificates.label.tolist()):
        margin = exact[:, node, label] - np.delete(exact[:, node], label, axis=1).max(axis=1)
        inside = certified_points(case, node)
        assert (margin[inside] > 0).all(), (center, node, POINTS[inside & (margin <= 0)])
        found += [inside.sum() - inside[clean], (margin <= 0).sum(), 0, 0]
        for name, radii in itertools.product(("PRBCD", "GRBCD"), corners(case, case.certificates, node)):
            attacked = number_of(attack(name, case, node, radii))
            assert inside[attacked]
            found += [0, 0, 1, margin[attacked] < margin[clean]]
    return found


def test_no_graph_in_a_certified_ball_turns_the_exact_smoothed_prediction_and_neither_do_attacks():
    certified, turned, attacks, effective = check_exactly(20) + check_exactly(27)
    assert certified > 300
    assert turned > 500
    assert attacks >= 16
    assert effective > attacks / 2


@pytest.mark.slow
def test_no_graph_in_a_certified_ball_of_many_tiny_graphs_turns_the_exact_smoothed_prediction():
    degrees = case_of("structure").bits.structure.sum(axis=1)
    certified, turned, _, effective = sum(check_exactly(int(center)) for center in np.flatnonzero(degrees >= TINY - 1))
    assert certified > 20_000
    assert turned > 5_000
    assert effective > 30


@pytest.mark.parametrize("center", [20, 27])
def test_no_exact_probability_falls_below_the_worst_case(center):
    """What `rho` promises for the exact clean probabilities, at all graphs and for all labels.

    A probability is made in ten steps of two products and a sum, and so off by at most 30 roundings of 2^-53.
    """
    case, loss = tiny_case(center), 1e-14
    exact, clean = exact_probabilities(center), number_of(case.bits)
    assert loss > 30 * 2.0**-53
    distances = [case.distance(Bits(adjacency_of(point), case.bits.attributes)) for point in POINTS]
    close = 0
    for radii in set(distances):
        here = exact[[distance == radii for distance in distances]]
        floor = fp.rho(TINY_NOISE, radii, np.maximum(exact[clean] - loss, 0.0))
        assert (here >= floor - loss).all()
        close += int((here < floor + 0.05).any(axis=(0, 2)).sum())
    assert close > len(set(distances))
