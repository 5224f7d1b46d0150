"""Real models through `vote`: the votes are the counts of what the model says about each noisy copy by itself."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch_geometric.nn as pyg
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from torch_geometric.data import Data

import flipproof as fp
from flipproof.base.threads import single_threaded
from flipproof.noise.sampling.samplers import Role

NOISE = fp.FlipNoise(0.05, 0.3)
DELETING = fp.FlipNoise(0.0, 0.4)
WORDS, CLASSES = 20, 3
OPTIONS = {"n_select": 10, "n_estimate": 30, "seed": 2, "chunk_size": 8}


def vote(classifier, inputs, noise=NOISE, **options):
    return fp.vote(classifier, inputs, noise, **(OPTIONS | options))


def counts(votes, chosen=slice(None)):
    return votes.selection[chosen].tolist(), votes.estimation[chosen].tolist()


def counted(labels, outputs, classes):
    """Counts [outputs, classes] of labels [samples, outputs]."""
    labels = np.asarray(labels).reshape(-1, outputs)
    return np.stack([(labels == label).sum(axis=0) for label in range(classes)], axis=1).tolist()


def noisy_copies(space, noise, role=Role.ESTIMATE):
    sampler = space.sampler(noise, OPTIONS["seed"])
    samples = range(OPTIONS["n_select"] if role is Role.SELECT else OPTIONS["n_estimate"])
    return sampler.draw(role, samples, np.arange(sampler.rows))


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows.copy()


# scikit-learn

BITS = (np.random.default_rng(0).random((40, WORDS)) < 0.3).astype(np.uint8)
ANSWERS = np.array(["yes", "no", "maybe"])[BITS[:, :4].sum(axis=1) % 3]


@pytest.mark.parametrize(
    "estimator", [BernoulliNB(), LogisticRegression(), make_pipeline(MaxAbsScaler(), LogisticRegression())]
)
def test_an_estimator_votes_on_dense_and_on_sparse_rows(estimator):
    classifier = fp.SklearnClassifier(estimator.fit(BITS, ANSWERS))
    numbers = {answer: number for number, answer in enumerate(estimator.classes_)}
    for space, inputs in ((fp.DenseRows(BITS[:9]), BITS[:9]), (fp.SparseRows(sp.csr_array(BITS[:9])),) * 2):
        votes = vote(classifier, inputs)
        for role, found in ((Role.SELECT, votes.selection), (Role.ESTIMATE, votes.estimation)):
            said = [numbers[answer] for answer in estimator.predict(dense(noisy_copies(space, NOISE, role)))]
            assert found.tolist() == counted(said, 9, 3)


def test_a_text_classifier_from_words_to_certificates():
    texts = ["good great fine", "bad awful poor", "great fine", "awful poor", "good good fine", "bad bad"] * 5
    words = CountVectorizer(binary=True).fit(texts)
    bags = words.transform(texts)
    estimator = BernoulliNB().fit(bags, [text.split()[0] in ("good", "great") for text in texts])
    votes = fp.vote(fp.SklearnClassifier(estimator), bags[:6], fp.FlipNoise(0.05, 0.2), 100, 2000)
    certificates = fp.certify(votes)
    assert certificates.label.tolist() == [1, 0, 1, 0, 1, 0]
    assert certificates.max_radius("delete").max() > 0
    assert "scikit-learn" in votes.run.versions


# torch


def mlp():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(WORDS, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)
    )


class Bag(torch.nn.Module):
    """Token sequences; the last token is padding."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.EmbeddingBag(6, CLASSES, mode="sum", padding_idx=5)

    def forward(self, tokens):
        return self.embedding(tokens)


def test_a_module_votes_on_images_bits_and_tokens():
    module, rng = mlp(), np.random.default_rng(1)
    images = rng.integers(0, 2, (5, 4, 5))
    with torch.no_grad():
        for space, inputs in ((fp.DenseRows(images), torch.tensor(images)), (fp.SparseRows(sp.csr_array(BITS)),) * 2):
            votes = vote(fp.TorchClassifier(module, classes=3), inputs)
            assert module.training
            copies = torch.tensor(dense(noisy_copies(space, NOISE)), dtype=torch.float32)
            said = [int(module.eval()(copy[None]).argmax()) for copy in copies]
            module.train()
            assert votes.estimation.tolist() == counted(said, len(votes), 3)
        tokens = fp.Tokens(
            np.where(np.arange(7) < rng.integers(1, 8, (4, 1)), rng.integers(0, 5, (4, 7)), 5), padding=5
        )
        noise = fp.FlipNoise(0.2, 0.2, categories=5)
        votes = vote(fp.TorchClassifier(Bag(), classes=CLASSES, dtype="int64"), tokens, noise)
        said = Bag()(torch.tensor(noisy_copies(tokens, noise))).argmax(dim=1)
        assert votes.estimation.tolist() == counted(said, 4, CLASSES)


class Undefined(torch.nn.Module):
    """Divides zero by zero where all bits are zero."""

    def forward(self, rows):
        return rows[:, :2] / rows.sum(dim=1, keepdim=True)


def test_undefined_logits_name_the_samples():
    with pytest.raises(fp.ClassifierError, match=r"select samples 0 to 7 .*: expected logits without NaN, got NaN for"):
        vote(fp.TorchClassifier(Undefined(), classes=2), [[1, 0, 0], [0, 1, 0]])


def test_logits_for_another_number_of_classes_name_the_samples():
    with pytest.raises(fp.ClassifierError, match=r"select samples 0 to 7 .*: expected logits of shape \(8, 2\), got"):
        vote(fp.TorchClassifier(mlp(), classes=2), BITS[:1])


@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB().fit([[0, 1, 0], [1, 0, 1]], [0, 1]),
        torch.nn.Linear(3, 2),
        # A bare module is no classifier even if it has classes.
        type("Named", (torch.nn.Linear,), {"classes": 2})(3, 2),
    ],
)
def test_a_model_by_itself_is_adapted(model):
    assert vote(model, [[1, 0, 0]]).estimation.shape == (1, 2)


def test_a_model_that_does_not_fit_is_told_what_to_do():
    with pytest.raises(fp.InvalidInputError, match=r"expected a fitted model, got BernoulliNB .* call fit first"):
        vote(BernoulliNB(), [[1, 0, 0]])
    with pytest.raises(fp.InvalidInputError, match=r"expected GCN to take rows .*; a model of graphs needs a graph"):
        vote(pyg.GCN(3, 4, 2), [[1, 0, 0]])


def test_other_weights_are_another_run(tmp_path):
    module = mlp()
    vote(fp.TorchClassifier(module, classes=3), BITS, checkpoint=tmp_path / "run.ckpt")
    with torch.no_grad():
        module[-1].bias[0] += 1e-6
    with pytest.raises(fp.InvalidInputError, match=r"of another: model [0-9a-f]{12} instead of [0-9a-f]{12}$"):
        vote(fp.TorchClassifier(module, classes=3), BITS, checkpoint=tmp_path / "run.ckpt")


# Nodes

NODES = 40


def data():
    """A sparse random graph, some nodes far from others, with bags of words."""
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((NODES, NODES)) < 0.05, 1)
    index = np.stack((upper | upper.T).nonzero())
    words = (rng.random((NODES, WORDS)) < 0.3).astype(np.float32)
    return Data(torch.tensor(words), torch.tensor(index))


class Propagated(torch.nn.Module):
    """Three steps of personalised PageRank behind a linear map."""

    def __init__(self):
        super().__init__()
        self.map, self.spread = torch.nn.Linear(WORDS, CLASSES), pyg.APPNP(K=3, alpha=0.1)

    def forward(self, x, edge_index):
        return self.spread(self.map(x), edge_index)


class Centred(torch.nn.Module):
    """Every node looks at the mean of all."""

    def __init__(self):
        super().__init__()
        self.map = pyg.GCNConv(WORDS, CLASSES)

    def forward(self, x, edge_index):
        hidden = self.map(x, edge_index)
        return hidden - hidden.mean(dim=0)


MODELS = {
    "GCN": (lambda: pyg.GCN(WORDS, 8, 2, CLASSES, dropout=0.5), 2),
    "GAT": (lambda: pyg.GAT(WORDS, 8, 2, CLASSES, heads=2, dropout=0.5), 2),
    "SAGE": (lambda: pyg.GraphSAGE(WORDS, 8, 2, CLASSES), 2),
    "APPNP": (Propagated, 3),
}


def node_model(name, **options):
    torch.manual_seed(0)
    make, hops = MODELS[name]
    return fp.NodeClassifier(make(), classes=CLASSES, **({"hops": hops} | options))


def alone(module, graphs):
    """The labels of each graph, without the adapter."""
    module.eval()
    with torch.no_grad(), single_threaded():
        said = [
            module(torch.tensor(dense(graph.attributes)), torch.tensor(graph.edge_index)).argmax(dim=1)
            for graph in graphs
        ]
    return np.stack(said)


SPACES = {
    "attributes": (fp.Graph.from_pyg(data(), noisy="attributes"), NOISE),
    "deleted edges": (fp.Graph.from_pyg(data(), noisy="structure"), DELETING),
    "both": (fp.Graph.from_pyg(data()), fp.JointNoise(structure=DELETING, attributes=NOISE)),
    "added edges": (fp.Graph.from_pyg(data(), noisy="structure"), fp.FlipNoise(0.01, 0.4)),
}
TARGETS = [11, 3, 27]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("space", SPACES)
def test_nodes_have_the_votes_of_each_noisy_graph_whole_or_only_around_them(name, space):
    """Only where edges may be added from anywhere is the whole graph needed."""
    graph, noise = SPACES[space]
    classifier = node_model(name)
    whole, some = vote(classifier, graph, noise), vote(classifier, graph, noise, targets=TARGETS)
    said = alone(classifier.module, noisy_copies(graph, noise))
    assert whole.estimation.tolist() == counted(said, NODES, CLASSES)
    assert counts(some) == counts(whole, TARGETS)
    around = graph.sampler(noise, 2).restricted(np.array(TARGETS), classifier.hops)
    assert (around is None) == (space == "added edges")
    assert around is None or around.nodes.size < NODES


def test_too_few_hops_would_have_been_noticed():
    graph, noise = SPACES["attributes"]
    whole = vote(node_model("GCN"), graph, noise)
    short = node_model("GCN", hops=0)
    assert counts(vote(short, graph, noise, targets=TARGETS, check=False)) != counts(whole, TARGETS)
    with pytest.raises(fp.UnstableClassifierError, match="hops=0 is too few"):
        vote(short, graph, noise, targets=TARGETS)


def test_a_model_that_looks_at_all_nodes_is_given_all_of_them():
    torch.manual_seed(0)
    centred, (graph, noise) = Centred(), SPACES["attributes"]
    whole = vote(fp.NodeClassifier(centred, classes=CLASSES), graph, noise)
    some = vote(fp.NodeClassifier(centred, classes=CLASSES), graph, noise, targets=TARGETS)
    cut = vote(fp.NodeClassifier(centred, classes=CLASSES, hops=1), graph, noise, targets=TARGETS, check=False)
    assert counts(some) == counts(whole, TARGETS)
    assert counts(cut) != counts(whole, TARGETS)  # which is why hops must not be guessed


@pytest.mark.parametrize("space", SPACES)
def test_attributes_as_a_sparse_tensor_give_the_same_votes(space):
    graph, noise = SPACES[space]
    assert counts(vote(node_model("GCN", attributes="sparse"), graph, noise)) == counts(
        vote(node_model("GCN"), graph, noise)
    )


def test_data_of_torch_geometric_is_an_input(tmp_path):
    joint = SPACES["both"][1]
    votes = vote(node_model("GCN"), data(), joint)
    assert counts(votes) == counts(vote(node_model("GCN"), *SPACES["both"]))
    assert {"torch", "torch_geometric"} <= set(votes.run.versions)
    votes.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").run == votes.run


def test_workers_give_the_same_votes_with_torch():
    graph, noise = SPACES["both"]
    votes = vote(node_model("GCN"), graph, noise, targets=TARGETS, workers=2)
    assert counts(votes) == counts(vote(node_model("GCN"), graph, noise, targets=TARGETS))


def test_a_module_that_fails_on_a_graph_names_the_samples():
    with pytest.raises(fp.ClassifierError, match=r"select samples 0 to 7 .chunk range.0, 8..: RuntimeError: mat1 and"):
        vote(fp.NodeClassifier(pyg.GCNConv(WORDS + 1, CLASSES), classes=CLASSES), *SPACES["attributes"])


# Graphs


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.gnn, self.last = pyg.GIN(4, 8, 2), torch.nn.Linear(8, 2)

    def forward(self, x, edge_index, batch):
        return self.last(pyg.global_add_pool(self.gnn(x, edge_index), batch))


def molecules():
    rng = np.random.default_rng(1)
    for nodes in (3, 5, 1, 7, 4):
        upper = np.triu(rng.random((nodes, nodes)) < 0.5, 1)
        kinds = np.eye(4, dtype=np.float32)[rng.integers(0, 4, nodes)]
        yield Data(torch.tensor(kinds), torch.tensor(np.stack((upper | upper.T).nonzero())))


def test_graphs_have_the_votes_of_each_by_itself():
    noise = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.3), attributes=NOISE)
    graphs = fp.Graphs.from_pyg(molecules())
    classifier = fp.GraphClassifier(Pooled(), classes=2)
    votes = vote(classifier, list(molecules()), noise)
    union = noisy_copies(graphs, noise)
    x, module = torch.tensor(union.attributes.toarray()), Pooled().eval()
    heads, tails = union.edge_index
    said = []
    with torch.no_grad():
        for graph in range(union.graphs):
            nodes = np.flatnonzero(union.graph_of_node == graph)
            own = union.graph_of_node[heads] == graph
            edges = torch.tensor(np.stack([heads[own], tails[own]]) - nodes[0])
            said.append(int(module(x[nodes], edges, torch.zeros(nodes.size, dtype=torch.int64)).argmax()))
    assert votes.estimation.tolist() == counted(said, 5, 2)
    assert set(said) == {0, 1}
    assert counts(vote(classifier, graphs, noise, targets=[4, 1])) == counts(votes, [4, 1])
