"""Fused evaluation against the torch modules on the noisy graphs that the sampler draws, and what it refuses."""

import copy
import os
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn.utils import parametrize

import flipproof as fp
from flipproof.models.fused.nodes import FusedNodes, NoisyAdjacency, NoisyProducts
from flipproof.models.networks.node_modules import RowsLinear
from flipproof.noise.sampling.samplers import Role

SAMPLES = range(3, 7)
SIZES = [(5, 2), (16, 7), (64, 9), (100, 17)]
HEADS = {5: 1, 16: 2, 64: 8, 100: 4}
WIDE = 9000
"""Columns in three blocks of 4096, the last one not full; in two where p_plus is 0.01."""

TOLERANCE = 2e-5
"""What float32 may lose, as a share of the largest logit: some hundred operations of 2**-24 each."""
TIE = 1e-4


def network(model, words, classes, hidden=16, seed=0):
    """A network with random weights, biases too, in training mode as a user may leave it."""
    torch.manual_seed(seed)
    options = {"hidden": hidden // HEADS[hidden], "heads": HEADS[hidden]} if model is fp.GAT else {"hidden": hidden}
    module = model(words, classes, **options, **({"steps": 3} if model is fp.APPNP else {}))
    with torch.no_grad():
        for weights in module.parameters():
            weights.copy_(torch.randn_like(weights) / max(1, weights.shape[0]) ** 0.5)
    return module


def graph(noisy, directed=False, nodes=17, words=40, edges=0.2, density=0.2, seed=0):
    """Some loops, two nodes without edges, one of them without words."""
    rng = np.random.default_rng(seed)
    adjacency = rng.random((nodes, nodes)) < edges
    adjacency = adjacency if directed else np.triu(adjacency) | np.triu(adjacency).T
    bits = rng.random((nodes, words)) < density
    if nodes > 2:
        adjacency[:2] = adjacency[:, :2] = False
        bits[0] = False
    return fp.Graph.from_scipy(sp.csr_array(adjacency.astype(int)), sp.csr_array(bits), noisy=noisy, directed=directed)


def joint(structure, attributes):
    return fp.JointNoise(structure=fp.FlipNoise(*structure), attributes=fp.FlipNoise(*attributes))


def drawn(sampler, samples=SAMPLES):
    return sampler.draw(Role.ESTIMATE, samples, np.zeros(1, np.int64))


def logits_of(fused, classes, samples=SAMPLES):
    """Logits [samples, nodes, classes] of fused evaluation."""
    parts = zip(
        fused.features.drawn(Role.ESTIMATE, samples), fused.structure.drawn(Role.ESTIMATE, samples), strict=True
    )
    with torch.inference_mode():
        ordered = np.stack([np.asarray(fused.head.logits(*part))[:, :classes] for part in parts])
    logits = np.empty_like(ordered)
    logits[:, fused.order] = ordered
    return logits


def exact_logits(module, graphs):
    """The same by the module in double precision on the noisy graphs."""
    double = copy.deepcopy(module).double().eval()
    with torch.inference_mode():
        return np.stack([
            double(torch.tensor(g.attributes.toarray(), dtype=torch.float64), torch.tensor(g.edge_index)).numpy()
            for g in graphs
        ])  # fmt: skip


def ties(exact):
    """Where the two largest logits are as good as equal."""
    top = np.sort(exact, axis=-1)[..., -2:]
    return top[..., 1] - top[..., 0] <= TIE * np.abs(exact).max(axis=-1)


def check(module, sampler, classes, samples=SAMPLES):
    """Labels and logits agree with the torch module's on the same noisy graphs."""
    classifier = fp.NodeClassifier(module, classes=classes)
    fused = classifier.fused(sampler)
    assert isinstance(fused, FusedNodes)
    graphs = drawn(sampler, samples)
    labels, expected, exact = fused(Role.ESTIMATE, samples), classifier(graphs), exact_logits(module, graphs)
    assert labels.dtype == np.int64
    assert labels.shape == expected.shape == (len(samples), sampler.nodes.size)
    same = (labels == expected) | ties(exact)
    assert same.all()
    assert ties(exact).mean() < 0.1, "too few labels were compared"
    scale = max(1e-30, np.abs(exact).max())
    module.eval()  # attention drops out while it is trained; labels were asked for in training mode
    assert np.abs(logits_of(fused, classes, samples) - exact).max() <= TOLERANCE * scale
    module.train()
    return fused


ATTRIBUTE_NOISES = [
    ((0.0, 0.6), 40), ((0.0, 0.0), 40), ((0.0, 1.0), 40), ((0.01, 0.6), 40), ((0.01, 0.6), WIDE), ((0.1, 0.0), WIDE),
    ((0.1, 0.6), WIDE), ((0.1, 1.0), 5000), ((0.3, 0.6), 40), ((0.3, 1.0), WIDE), ((1.0, 0.5), 40), ((1e-6, 0.6), WIDE),
]  # fmt: skip


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP, fp.GAT])
@pytest.mark.parametrize(("noise", "words"), ATTRIBUTE_NOISES)
def test_noisy_attributes(model, noise, words):
    for case, (hidden, classes) in enumerate(SIZES[:2] if words > 1000 else SIZES):
        clean = graph("attributes", directed=case % 2 == 1, words=words, density=min(0.2, 300 / words), seed=case)
        sampler = clean.sampler(fp.FlipNoise(*noise), seed=case)
        if noise == (0.0, 1.0):  # nothing is left but biases
            fused = fp.NodeClassifier(network(model, words, classes, hidden), classes).fused(sampler)
            assert not any(part.any() for part in fused.features.drawn(Role.ESTIMATE, SAMPLES))
        else:
            check(network(model, words, classes, hidden, seed=case), sampler, classes)


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP])
@pytest.mark.parametrize("noise", [(0.05, 0.4), (0.0, 0.4), (0.3, 0.5), (0.0, 0.0), (1.0, 1.0)])
def test_noisy_structure(model, noise):
    for case, (hidden, classes) in enumerate(SIZES):
        clean = graph("structure", directed=case % 2 == 1, seed=case)
        module = network(model, 40, classes, hidden, seed=case)
        fused = check(module, clean.sampler(fp.FlipNoise(*noise), seed=case), classes)
        assert isinstance(fused.structure, NoisyAdjacency)
        assert not isinstance(fused.features, NoisyProducts)


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP])
@pytest.mark.parametrize(
    ("noise", "words"),
    [(((0.05, 0.4), (0.01, 0.6)), 40), (((0.0, 0.4), (0.0, 0.6)), 40), (((0.3, 0.5), (0.1, 0.6)), WIDE)],
)
def test_both_noisy(model, noise, words):
    for case, (hidden, classes) in enumerate(SIZES):
        clean = graph("both", directed=case % 2 == 1, words=words, density=0.05, seed=case)
        check(network(model, words, classes, hidden), clean.sampler(joint(*noise), seed=case), classes)


def test_structure_noise_with_attributes_of_any_numbers(rng):
    index = graph("structure").edges.index()
    for attributes in (
        rng.normal(size=(17, 40)),
        sp.csr_array(rng.normal(size=(17, 40)) * (rng.random((17, 40)) < 0.3)),
    ):
        clean = fp.Graph.from_edge_index(index, attributes=attributes, noisy="structure")
        sampler, module = clean.sampler(fp.FlipNoise(0.05, 0.4), seed=1), network(fp.GCN, 40, 7)
        for form in ("dense", "sparse"):
            classifier = fp.NodeClassifier(module, classes=7, attributes=form)
            assert (classifier.fused(sampler)(Role.ESTIMATE, SAMPLES) == classifier(drawn(sampler))).all()


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP, fp.GAT])
@pytest.mark.parametrize(
    ("noisy", "noise"),
    [
        ("attributes", fp.FlipNoise(0.01, 0.6)),
        ("structure", fp.FlipNoise(0.0, 0.4)),
        ("both", joint((0.0, 0.4), (0.1, 0.6))),
    ],
)
def test_neighbourhoods_of_targets(model, noisy, noise):
    """As the torch module says of them, and bit for bit as for the whole graph where torch takes no part."""
    if model is fp.GAT and noisy != "attributes":
        return
    for directed in (False, True):
        module = network(model, 40, 7)
        sampler = graph(noisy, directed, nodes=60, edges=0.02).sampler(noise, seed=2)
        targets = np.array([30, 2, 59])
        part = sampler.restricted(targets, module.hops)
        assert part.nodes.size < 60
        fused, whole = check(module, part, 7), fp.NodeClassifier(module, 7).fused(sampler)
        if model is not fp.GAT:
            assert (logits_of(fused, 7)[:, part.places] == logits_of(whole, 7)[:, targets]).all()


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP, fp.GAT])
@pytest.mark.parametrize("noisy", ["attributes", "structure", "both"])
def test_graphs_with_hardly_anything(model, noisy):
    noise = joint((0.3, 0.5), (0.1, 0.5)) if noisy == "both" else fp.FlipNoise(0.1, 0.5)
    if model is fp.GAT and noisy != "attributes":
        return
    module = network(model, 40, 3)
    for options in ({"edges": 0.0}, {"density": 0.0}, {"edges": 0.0, "density": 0.0}, {"nodes": 1}, {"nodes": 2}):
        for directed in (False, True):
            check(module, graph(noisy, directed, **options).sampler(noise, seed=0), 3, range(8))


def test_no_samples_no_nodes_no_columns():
    sampler = graph("attributes").sampler(fp.FlipNoise(0.1, 0.5), seed=0)
    assert fp.NodeClassifier(network(fp.GCN, 40, 3), 3).fused(sampler)(Role.SELECT, range(5, 5)).shape == (0, 17)
    check(network(fp.GCN, 1, 3), graph("attributes", words=1).sampler(fp.FlipNoise(0.1, 0.5), seed=0), 3)
    nobody = fp.Graph.from_edge_index(np.zeros((2, 0), int), attributes=sp.csr_array((0, 40)), noisy="attributes")
    classifier, noise = fp.NodeClassifier(network(fp.GCN, 40, 3), 3), fp.FlipNoise(0.1, 0.5)
    assert fp.vote(classifier, nobody, noise, 2, 3, engine="torch").estimation.shape == (0, 3)
    assert fp.vote(classifier, nobody, noise, 2, 3).estimation.shape == (0, 3)


@pytest.mark.parametrize(("noise", "words"), ATTRIBUTE_NOISES)
def test_features_are_exact_sums_of_the_noisy_rows(noise, words):
    """So they depend on nothing but the noisy rows: not on the order, the clean rows or the other samples."""
    sampler = graph("attributes", words=words, density=min(0.2, 300 / words)).sampler(fp.FlipNoise(*noise), seed=4)
    products = fp.NodeClassifier(network(fp.GCN, words, 3, hidden=5), 3).fused(sampler).features
    samples = range(5, 25)  # more than are computed together
    found = np.stack([part.copy() for part in products.drawn(Role.SELECT, samples)])
    assert sorted(products.nodes) == list(range(17))
    noisy = sampler.attributes.draw(Role.SELECT, samples, products.nodes)
    sums = sp.csr_array(noisy.astype(np.int64)) @ products.table.astype(np.int64)
    assert np.abs(sums).max() < 2**31
    assert found.tobytes() == (sums.astype(np.float32) * products.steps).reshape(found.shape).tobytes()
    alone = [next(iter(products.drawn(Role.SELECT, range(i, i + 1)))).copy() for i in samples]
    assert np.stack(alone).tobytes() == found.tobytes()


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP, fp.GAT])
@pytest.mark.parametrize("noisy", ["attributes", "structure", "both"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_noisy_copy_that_is_another_clean_graph_gets_the_same_logits(model, noisy, directed):
    """Bit for bit: labels are a function of the noisy input, or no certificate would hold."""
    if model is fp.GAT and noisy != "attributes":
        return
    part, nothing, everything = (fp.FlipNoise(*p) for p in ((0.08, 0.4), (0.0, 0.0), (1.0, 1.0)))
    module, clean = network(model, 5000, 7).eval(), graph(noisy, directed, words=5000, density=0.02)

    def logits(space, noise, samples):
        law = fp.JointNoise(structure=noise, attributes=noise) if noisy == "both" else noise
        return logits_of(fp.NodeClassifier(module, 7).fused(space.sampler(law, seed=3)), 7, samples)

    law = fp.JointNoise(structure=part, attributes=part) if noisy == "both" else part
    given = logits(clean, part, SAMPLES)
    for i, copied in enumerate(drawn(clean.sampler(law, seed=3))):
        again = fp.Graph.from_edge_index(copied.edge_index, 17, copied.attributes, noisy=noisy, directed=directed)
        assert logits(again, nothing, range(1)).tobytes() == given[i].tobytes()
        adjacency, words = np.zeros((17, 17), int), copied.attributes.toarray().astype(int)
        adjacency[tuple(copied.edge_index)] = 1
        if noisy != "attributes":
            adjacency = np.where(np.eye(17), adjacency, 1 - adjacency)
        if noisy != "structure":
            words = 1 - words
        opposite = fp.Graph.from_scipy(sp.csr_array(adjacency), sp.csr_array(words), noisy=noisy, directed=directed)
        assert logits(opposite, everything, range(1)).tobytes() == given[i].tobytes()


def test_it_travels():
    """What a worker gets has the same labels."""
    for model in (fp.GCN, fp.APPNP, fp.GAT):
        sampler = graph("attributes").sampler(fp.FlipNoise(0.1, 0.5), seed=0)
        fused = fp.NodeClassifier(network(model, 40, 3), 3).fused(sampler)
        sent = cloudpickle.loads(cloudpickle.dumps(fused))
        assert (sent(Role.SELECT, range(9)) == fused(Role.SELECT, range(9))).all()


def test_weights_are_those_of_the_time_it_was_made():
    module, sampler = network(fp.GCN, 40, 3), graph("structure").sampler(fp.FlipNoise(0.1, 0.5), seed=0)
    fused = fp.NodeClassifier(module, 3).fused(sampler)
    before = fused(Role.SELECT, range(9))
    with torch.no_grad():
        for weights in module.parameters():
            weights.zero_()
    assert (fused(Role.SELECT, range(9)) == before).all()


class Mine(fp.GCN):
    """A subclass, which may do anything."""


class Same(torch.nn.Module):
    """Leaves weights as they are."""

    def forward(self, weights):
        return weights


def changed(change, model=fp.GCN, classes=3, hidden=16):
    module = network(model, 40, classes, hidden)
    change(module)
    return module


def buffer_instead(module):
    bias = module.first_bias.detach().double()
    del module.first_bias
    module.register_buffer("first_bias", bias)


AS_SHIPPED = "is not one of flipproof's own networks as they are shipped"
NOT_OURS = {
    "subclass": lambda: lambda m: setattr(m, "__class__", Mine),
    "hook": lambda: lambda m: m.first.register_forward_hook(lambda *_: None),
    "hook before": lambda: lambda m: m.second.register_forward_pre_hook(lambda *_: None),
    "hook on all": lambda: lambda m: m.register_forward_hook(lambda *_: None),
    "first layer replaced": lambda: lambda m: setattr(m, "first", torch.nn.Linear(40, 16)),
    "parametrised": lambda: lambda m: parametrize.register_parametrization(m.second, "weight", Same()),
    "weight norm": lambda: lambda m: torch.nn.utils.parametrizations.weight_norm(m.first),
    "own forward": lambda: lambda m: setattr(m, "forward", lambda x, edges: x),
    "own forward of a part": lambda: lambda m: setattr(m.second, "forward", lambda x: x),
    "own combine": lambda: lambda m: setattr(m, "combine", lambda x, structure: x),
}


@pytest.mark.parametrize("name", NOT_OURS)
@pytest.mark.parametrize("noisy", ["attributes", "structure"])
def test_networks_that_were_changed_are_refused(name, noisy):
    module = changed(NOT_OURS[name]())
    reason = fp.NodeClassifier(module, 3).fused(graph(noisy).sampler(fp.FlipNoise(0.1, 0.5), seed=0))
    assert reason == f"{type(module).__name__} {AS_SHIPPED}"


MISFITS = {
    "a second layer with a bias of its own": (fp.GCN, lambda m: setattr(m, "second", torch.nn.Linear(16, 17))),
    "a second layer for fewer units": (fp.GCN, lambda m: setattr(m, "second", RowsLinear(8, 17))),
    "a second layer for more units": (fp.GCN, lambda m: setattr(m, "second", RowsLinear(32, 17))),
    "one bias for all units": (fp.GCN, lambda m: setattr(m, "first_bias", torch.nn.Parameter(torch.ones(1)))),
    "one bias for all classes": (fp.GCN, lambda m: setattr(m, "second_bias", torch.nn.Parameter(torch.ones(1)))),
    "biases for more classes": (fp.GCN, lambda m: setattr(m, "second_bias", torch.nn.Parameter(torch.ones(40)))),
    "a bias per node": (fp.GCN, lambda m: setattr(m, "first_bias", torch.nn.Parameter(torch.ones(17, 16)))),
    "a bias of another kind of number": (fp.GCN, buffer_instead),
    "no second bias": (fp.APPNP, lambda m: setattr(m, "second", torch.nn.Linear(16, 17, bias=False))),
    "the second layer of another network": (fp.APPNP, lambda m: setattr(m, "second", RowsLinear(16, 17))),
    "one bias for all units of APPNP": (
        fp.APPNP,
        lambda m: setattr(m, "first_bias", torch.nn.Parameter(torch.ones(1))),
    ),
    "fewer units in APPNP": (fp.APPNP, lambda m: setattr(m, "second", torch.nn.Linear(8, 17))),
}


@pytest.mark.parametrize("name", MISFITS)
def test_parts_that_are_not_those_of_the_class_are_refused(name):
    """Compiled loops would read and write past their ends, or leave something out; torch may well compute them."""
    model, change = MISFITS[name]
    classifier = fp.NodeClassifier(changed(change, model, classes=17), 17)
    for noisy in ("attributes", "structure"):
        offer = classifier.fused(graph(noisy).sampler(fp.FlipNoise(0.1, 0.5), seed=0))
        assert type(offer) is str


@pytest.mark.parametrize(
    ("make", "noisy", "words"),
    [
        (lambda: torch.nn.Bilinear(40, 40, 3), "attributes", f"Bilinear {AS_SHIPPED}"),
        (lambda: network(fp.GCN, 40, 3).double(), "attributes", "weights are not float32 numbers on the CPU"),
        (lambda: changed(lambda m: m.second.double()), "attributes", "weights are not float32 numbers on the CPU"),
        (lambda: network(fp.GAT, 40, 3), "structure", "attention on noisy edges is no faster"),
        (lambda: network(fp.GAT, 40, 3), "both", "attention on noisy edges is no faster"),
        (lambda: network(fp.GCN, 40, 4), "attributes", "the network does not fit the graph"),
        (lambda: network(fp.GCN, 41, 3), "attributes", "the network does not fit the graph"),
        (lambda: network(fp.GCN, 41, 3), "structure", "the network does not fit the graph"),
        (lambda: network(fp.APPNP, 39, 3), "both", "the network does not fit the graph"),
        (
            lambda: changed(lambda m: m.first.weight.data[3, 3].fill_(torch.nan)), "attributes",
            "some of its weights are not finite",
        ),
    ],
)  # fmt: skip
def test_reasons(make, noisy, words):
    noise = joint((0.1, 0.5), (0.1, 0.5)) if noisy == "both" else fp.FlipNoise(0.1, 0.5)
    classifier, clean = fp.NodeClassifier(make(), 3), graph(noisy)
    assert words in classifier.fused(clean.sampler(noise, seed=0))
    with pytest.raises(
        fp.InvalidInputError, match="expected a network that the fused engine can evaluate, got another: "
    ) as one:
        fp.vote(classifier, clean, noise, 2, 2, engine="fused")
    assert words in str(one.value)
    assert "\n" not in str(one.value)


@pytest.mark.parametrize("noisy", ["attributes", "both"])
def test_categories_are_refused(noisy):
    """Attributes with more than two values are not sums of rows of weights."""
    values = np.random.default_rng(0).integers(0, 3, (17, 40))
    clean = fp.Graph.from_edge_index(graph("structure").edges.index(), 17, fp.DenseRows(values), noisy=noisy)
    part = fp.FlipNoise(0.1, 0.3, 3)
    noise = fp.JointNoise(structure=fp.FlipNoise(0.0, 0.4), attributes=part) if noisy == "both" else part
    classifier = fp.NodeClassifier(network(fp.GCN, 40, 3), 3)
    assert classifier.fused(clean.sampler(noise, seed=0)) == "its attributes are not bits that flip"
    one, other = (fp.vote(classifier, clean, noise, 4, 4, engine=engine) for engine in (None, "torch"))
    assert one.run.engine == "torch"
    assert (one.estimation == other.estimation).all()


def test_no_attributes_at_all():
    clean = fp.Graph.from_edge_index(graph("structure").edges.index(), 17)
    classifier = fp.NodeClassifier(network(fp.GCN, 40, 3), 3)
    assert isinstance(classifier.fused(clean.sampler(fp.FlipNoise(0.1, 0.5), seed=0)), str)
    with pytest.raises(fp.ClassifierError, match="expected a graph with attributes, got None"):
        fp.vote(classifier, clean, fp.FlipNoise(0.1, 0.5), 2, 2)


def test_other_samplers_are_refused():
    classifier = fp.NodeClassifier(network(fp.GCN, 40, 3), 3)
    rows = fp.SparseRows(sp.csr_array(np.eye(4, 40))).sampler(fp.FlipNoise(0.1, 0.5), seed=0)
    assert classifier.fused(rows) == "these are no copies of one graph"


@pytest.mark.parametrize("noisy", ["attributes", "structure"])
def test_what_does_not_fit_fails_as_it_does_in_torch(noisy):
    clean, noise = graph(noisy), fp.FlipNoise(0.1, 0.5)
    for module, words in (
        (network(fp.GCN, 41, 3), "expected attributes with 41 columns, got 40"),
        (network(fp.GCN, 40, 4), r"expected logits of shape \(17, 3\), got \(17, 4\)"),
        (changed(lambda m: setattr(m, "second", RowsLinear(8, 3))), "expected attributes with 8 columns, got 16"),
    ):
        with pytest.raises(fp.ClassifierError, match=words):
            fp.vote(fp.NodeClassifier(module, 3), clean, noise, 2, 2)


@pytest.mark.parametrize("model", [fp.GCN, fp.APPNP])
@pytest.mark.parametrize("name", ["first.weight", "first_bias", "second.weight"])
def test_weights_that_are_no_numbers(model, name):
    """The same error as of torch."""
    module = changed(lambda m: m.get_parameter(name).data.view(-1)[0].fill_(torch.nan), model)
    for noisy in ("attributes", "structure"):
        answers = []
        for engine in (None, "torch"):
            with pytest.raises(fp.ClassifierError) as error:
                fp.vote(fp.NodeClassifier(module, 3), graph(noisy), fp.FlipNoise(0.1, 0.5), 0, 8, engine=engine)
            answers.append(str(error.value))
        assert answers[0] == answers[1]
        assert "expected logits without NaN, got NaN for" in answers[0]


@pytest.mark.parametrize(("model", "noisy"), [(fp.GCN, "attributes"), (fp.GCN, "structure"), (fp.APPNP, "attributes")])
def test_logits_that_overflow(model, noisy):
    """Of weights that are finite; rectifying must not hide it.

    Whether torch's dense product in APPNP gives NaN or infinity depends on the processor: one that fuses multiplying
    and adding never makes the second infinite number that NaN takes.
    """
    module = changed(lambda m: m.second.weight.data.mul_(1e38), model)
    module.first_bias.data.fill_(1e3)
    for engine in ("fused", "torch") if model is fp.GCN else ("fused",):
        with pytest.raises(fp.ClassifierError, match=r"expected logits without NaN, got NaN for [0-9]+ of 17 rows"):
            fp.vote(fp.NodeClassifier(module, 3), graph(noisy), fp.FlipNoise(0.1, 0.5), 0, 8, engine=engine)


WITH_FREED_MEMORY_OVERWRITTEN = """
import numpy as np, scipy.sparse as sp
import flipproof as fp
from flipproof.models.fused.row_sums import fixed_point
from flipproof.models.fused.nodes import APPNPHead, GCNHead, TwoLayers
from flipproof.models.fused.nodes import NoisyProducts, adjacency_of
from flipproof.noise.spaces.edges import Edges
from flipproof.noise.sampling.samplers import Role

rng = np.random.default_rng(0)
edges = Edges.from_index([[0, 1, 1, 2, 5, 0], [1, 0, 2, 1, 0, 5]], 9, directed=False, merge_duplicates=False)
rows = fp.SparseRows(sp.csr_array(rng.random((9, 5000)) < 0.01))
graph = fp.Graph(edges, rows, noisy="attributes")
for width in (8, 32, 72):
    weights, second = rng.normal(size=(5000, width)).astype(np.float32), rng.normal(size=(width, 8)).astype(np.float32)
    layers = TwoLayers(np.ones(width, np.float32), second, np.ones(8, np.float32))
    adjacency, dense = adjacency_of(edges, edges.ranks), np.eye(9)
    dense[tuple(edges.index())] = 1
    scale = dense.sum(axis=0) ** -0.5
    dense = dense * scale * scale[:, None]
    for p_plus in (0.0, 0.1, 0.3):
        sampler = graph.sampler(fp.FlipNoise(p_plus, 0.4), 0)
        drawn = sampler.attributes.draw(Role.SELECT, range(3), np.arange(9))
        noisy = drawn.toarray().reshape(3, 9, 5000).astype(np.float64)
        products = NoisyProducts(sampler, np.arange(9), *fixed_point(weights)).drawn(Role.SELECT, range(3))
        for x, found in zip(noisy, products):
            assert np.allclose(found, x @ weights, rtol=1e-4, atol=1e-3)
            hidden = np.maximum(dense @ x @ weights + 1, 0)
            for noisy_features in (False, True):
                logits = GCNHead(layers, 8, noisy_features).logits(found, adjacency)
                assert np.allclose(logits, dense @ hidden @ second + 1, rtol=1e-4, atol=1e-2), "GCN"
            state = alone = np.maximum(x @ weights + 1, 0) @ second + 1
            for _ in range(2):
                state = 0.75 * dense @ state + 0.25 * alone
            logits = APPNPHead(layers, 2, 0.25, 8).logits(found, adjacency)
            assert np.allclose(logits, state, rtol=1e-4, atol=1e-2), "APPNP"
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the allocator of glibc")
def test_no_memory_is_used_after_it_was_freed():
    """The loops work with addresses, which do not keep arrays alive. Here freed memory is overwritten at once."""
    tunables = {"GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"}
    done = subprocess.run(
        [sys.executable, "-c", WITH_FREED_MEMORY_OVERWRITTEN],
        env=os.environ | tunables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("noisy", "noise"), [("attributes", fp.FlipNoise(0.01, 0.6)), ("structure", fp.FlipNoise(0.001, 0.4))]
)
def test_labels_on_cora_ml(cora_ml, noisy, noise):
    """At most one label in ten thousand is another than by torch, and each of these is a tie."""
    clean = fp.Graph.from_scipy(cora_ml.adjacency, cora_ml.attributes, noisy=noisy)
    module, sampler, samples = network(fp.GCN, 2879, 7, 64), clean.sampler(noise, seed=0), range(32)
    classifier = fp.NodeClassifier(module, 7)
    graphs = drawn(sampler, samples)
    labels, expected = classifier.fused(sampler)(Role.ESTIMATE, samples), classifier(graphs)
    other = labels != expected
    assert other.mean() <= 1e-4
    assert len(np.unique(labels)) > 1
    for sample in np.flatnonzero(other.any(axis=1)):
        assert ties(exact_logits(module, [graphs[sample]])[0])[other[sample]].all()
