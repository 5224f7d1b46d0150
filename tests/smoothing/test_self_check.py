"""Votes are those of a function: a classifier with two answers to one noisy input is caught, and no honest one is."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.smoothing.fingerprint.identity import differences_between
from flipproof.smoothing.run import Run
from flipproof.smoothing.voting.answers import ROUNDING, Answer

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from torch_geometric.nn import GCNConv, global_add_pool  # noqa: E402

SEEDS = range(20)
FLIPS, DELETIONS = fp.FlipNoise(0.05, 0.3), fp.FlipNoise(0.0, 0.3)
NODES, WIDTH, CLASSES = 24, 6, 3


def graph(seed, noisy="structure", nodes=NODES):
    """A ring with chords; its attributes are bits."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    chords = np.stack([np.arange(nodes), (np.arange(nodes) * 5 + 7) % nodes])
    pairs = np.concatenate([ring, chords[:, chords[0] != chords[1]]], axis=1)
    pairs = np.unique(np.sort(pairs, axis=0), axis=1)
    bits = (rng.random((nodes, WIDTH)) < 0.4).astype(np.float32)
    attributes = bits if noisy == "structure" else sp.csr_array(bits)
    return fp.Graph.from_edge_index(np.concatenate([pairs, pairs[::-1]], axis=1), nodes, attributes, noisy=noisy)


def rows(seed, count=7):
    return np.random.default_rng(seed).integers(0, 2, (count, WIDTH))


class Nodes(torch.nn.Module):
    """Two layers along edges, with a fault between them."""

    def __init__(self, seed, fault=lambda h: h):
        super().__init__()
        torch.manual_seed(seed)
        self.first, self.second = GCNConv(WIDTH, 8), GCNConv(8, CLASSES)
        self.fault = fault

    def forward(self, x, edge_index):
        return self.second(self.fault(self.first(x, edge_index).relu()), edge_index)


class Dropping(Nodes):
    def forward(self, x, edge_index):
        hidden = torch.nn.functional.dropout(self.first(x, edge_index).relu(), 0.5)
        return self.second(hidden, edge_index)


class Writing(Nodes):
    def forward(self, x, edge_index):
        x.data.mul_(1.5)
        return super().forward(x, edge_index)


class WritingByNumpy(Nodes):
    def forward(self, x, edge_index):
        x.numpy()[...] *= 1.5
        return super().forward(x, edge_index)


class Wholes(torch.nn.Module):
    """Labels of graphs."""

    def __init__(self, seed, norm):
        super().__init__()
        torch.manual_seed(seed)
        self.first, self.norm, self.second = GCNConv(WIDTH, 8), norm, torch.nn.Linear(8, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.second(global_add_pool(self.norm(self.first(x, edge_index)).relu(), batch))


def perceptron(seed, *middle):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 8), *middle, torch.nn.Linear(8, CLASSES))


def voted(classifier, inputs, noise=FLIPS, seed=0, **options):
    return fp.vote(classifier, inputs, noise, 20, 60, seed=seed, progress=False, **options)


def refusal(*given, **options):
    """The one line that refuses a classifier."""
    with pytest.raises(fp.UnstableClassifierError) as caught:
        voted(*given, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert line.endswith("check=False (--no-check) votes without this check, and certificates then say so")
    return line


# What is caught: 20 of 20 times each


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noisy", ["structure", "attributes"])
def test_dropout_that_is_always_on(seed, noisy):
    line = refusal(fp.NodeClassifier(Dropping(seed), CLASSES), graph(seed, noisy), seed=seed)
    assert "were evaluated a second time" in line
    assert "dropout() in Dropping.forward is random whatever self.training says" in line


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_of_a_batch_of_rows(seed):
    norm = torch.nn.BatchNorm1d(8, track_running_stats=False)
    line = refusal(fp.TorchClassifier(perceptron(seed, norm), CLASSES), rows(seed), seed=seed)
    assert "BatchNorm1d '1' uses statistics of the batch: train it with track_running_stats=True" in line


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_of_a_batch_of_graphs(seed):
    norm = torch.nn.BatchNorm1d(8, track_running_stats=False)
    space = fp.Graphs([graph(seed + i, nodes=9) for i in range(4)])
    line = refusal(fp.GraphClassifier(Wholes(seed, norm), CLASSES), space, seed=seed)
    assert "evaluated alone instead of among others: BatchNorm1d 'norm' uses statistics of the batch" in line


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("module", [Writing, WritingByNumpy])
def test_changes_in_place_of_what_noisy_graphs_share(seed, module):
    line = refusal(fp.NodeClassifier(module(seed), CLASSES), graph(seed), seed=seed)
    assert "it changes tensors in place that noisy copies share" in line


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_in_place_of_arrays(seed):
    """These labels do not even change."""

    def function(graphs):
        labels = []
        for noisy in graphs:
            shared = noisy.attributes
            shared.flags.writeable = True
            shared *= 0.5
            labels.append([noisy.edge_index.shape[1] % CLASSES] * noisy.nodes)
        return np.array(labels)

    line = refusal(fp.FunctionClassifier(function, CLASSES, "writing"), graph(seed), seed=seed)
    assert "got one that changes in place the edges or the attributes that all noisy copies share" in line


@pytest.mark.parametrize("seed", SEEDS)
def test_random_labels(seed):
    rng = np.random.default_rng(seed)
    by_chance = fp.FunctionClassifier(lambda batch: rng.integers(0, CLASSES, len(batch)), CLASSES, "by chance")
    assert "it is random, or changes as it is used" in refusal(by_chance, rows(seed), seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_logits(seed):
    noisy = Nodes(seed, lambda hidden: hidden + 0.1 * torch.randn_like(hidden))
    assert "were evaluated a second time" in refusal(fp.NodeClassifier(noisy, CLASSES), graph(seed), seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("noisy", "noise"), [("structure", DELETIONS), ("attributes", FLIPS)])
def test_wrong_hops(seed, noisy, noise):
    space, right = graph(seed, noisy), fp.NodeClassifier(Nodes(seed), CLASSES, hops=2)
    voted(right, space, noise, seed, targets=[0, 5])
    wrong = fp.NodeClassifier(Nodes(seed), CLASSES, hops=0)
    line = refusal(wrong, space, noise, seed, targets=[0, 5])
    assert "on the whole graph instead of the neighbourhood of the targets: hops=0 is too few" in line


def test_wrong_hops_of_labels():
    """Here only labels can be compared."""

    def reach(graphs):
        """How many of the nodes have an even number of edges, seen by all."""
        degrees = [np.bincount(noisy.edge_index[0], minlength=noisy.nodes) for noisy in graphs]
        return np.array([np.full(degree.size, (degree % 2 == 0).sum() % CLASSES) for degree in degrees])

    line = refusal(fp.FunctionClassifier(reach, CLASSES, "reach", hops=1), graph(0, nodes=60), DELETIONS, targets=[3])
    assert "hops=1 is too few for what labels depend on: raise hops, or leave it out" in line


def test_statistics_of_all_nodes_with_hops():
    norm = torch.nn.BatchNorm1d(8, track_running_stats=False)
    module = Nodes(0, norm)
    space = graph(0, nodes=60)
    voted(fp.NodeClassifier(module, CLASSES), space, DELETIONS)  # a function of the whole noisy graph
    line = refusal(fp.NodeClassifier(module, CLASSES, hops=2), space, DELETIONS, targets=[0, 5])
    assert "BatchNorm1d 'fault' uses statistics of all nodes" in line


@pytest.mark.parametrize("seed", SEEDS)
def test_what_changes_slowly_is_noticed_at_the_end(seed):
    """A chunk is counted again, if it is one of many."""
    calls = []

    def tiring(batch):
        calls.append(len(batch))
        return batch[:, 0] ^ (len(calls) > 160)

    tired = fp.FunctionClassifier(tiring, 2, "tiring")
    with pytest.raises(fp.UnstableClassifierError, match="were evaluated again at the end: it is random, or changes"):
        fp.vote(tired, rows(seed), FLIPS, 10, 300, seed=seed, chunk_size=2, progress=False)


def test_a_classifier_that_fails_alone():
    def two(batch):
        return batch[:, 0] if len(batch) > 1 else 1 / 0

    line = refusal(fp.FunctionClassifier(two, 2, "two"), rows(0))
    assert "when it was evaluated alone" in line
    assert "ZeroDivisionError: division by zero" in line


def test_a_classifier_that_fails_the_second_time():
    calls = []

    def once(batch):
        calls.append(len(batch))
        return batch[:, 0] if len(calls) == 1 else 1 / 0

    assert "when it was evaluated again: ZeroDivisionError" in refusal(fp.FunctionClassifier(once, 2, "once"), rows(0))


def test_too_little_memory_is_no_fault_of_the_labels():
    def greedy(batch):
        return batch[:, 0] if len(batch) > 1 else np.ones(2**57)

    with pytest.raises(fp.ClassifierError, match=r"^expected enough memory for estimate samples") as caught:
        voted(fp.FunctionClassifier(greedy, 2, "greedy"), rows(0))
    assert not isinstance(caught.value, fp.UnstableClassifierError)


# What is not


@pytest.mark.parametrize("seed", range(5))
def test_honest_classifiers_pass(seed):
    space, labels = rows(seed, 40), np.arange(40) % CLASSES
    tracked = torch.nn.BatchNorm1d(8)
    for classifier in (
        fp.TorchClassifier(perceptron(seed, tracked, torch.nn.Dropout()), CLASSES),
        fp.TorchClassifier(perceptron(seed).double(), CLASSES, dtype="float64"),
        fp.TorchClassifier(perceptron(seed).bfloat16(), CLASSES, dtype="bfloat16"),
        *(
            fp.SklearnClassifier(each.fit(space, labels))
            for each in (LogisticRegression(), LinearSVC(), RandomForestClassifier(10, random_state=seed, n_jobs=2))
        ),
    ):
        assert voted(classifier, space, seed=seed).run.checked
    graphs = fp.Graphs([graph(i, nodes=9) for i in range(4)])
    assert voted(fp.GraphClassifier(Wholes(seed, torch.nn.BatchNorm1d(8)), CLASSES), graphs).run.checked


def test_ties_are_no_fault():
    """All logits are zero up to rounding: labels may be anything."""
    module = perceptron(0)
    for parameter in module.parameters():
        parameter.data.zero_()
    assert voted(fp.TorchClassifier(module, CLASSES), rows(0)).run.checked


@pytest.mark.parametrize("network", [fp.GCN, fp.APPNP, fp.GAT])
@pytest.mark.parametrize("noisy", ["structure", "attributes"])
@pytest.mark.parametrize("engine", [None, "torch"])
@pytest.mark.parametrize("targets", [None, [0, 5]])
def test_networks_of_ours_pass_by_both_engines(network, noisy, engine, targets):
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(network(WIDTH, CLASSES), CLASSES)
    noise = DELETIONS if noisy == "structure" else FLIPS
    assert voted(classifier, graph(0, noisy), noise, engine=engine, targets=targets).run.checked


def test_two_engines_that_disagree_are_caught(monkeypatch):
    from flipproof.models.fused.nodes import GCNHead

    honest = GCNHead.logits
    monkeypatch.setattr(GCNHead, "logits", lambda self, *parts: -honest(self, *parts))
    classifier = fp.NodeClassifier(fp.GCN(WIDTH, CLASSES), CLASSES)
    line = refusal(classifier, graph(0, "attributes"))
    assert "by the torch module instead of the fused engine" in line


def test_votes_are_the_same_with_and_without():
    classifier = fp.NodeClassifier(Nodes(0), CLASSES)
    checked, unchecked = voted(classifier, graph(0)), voted(classifier, graph(0), check=False)
    assert checked.estimation.tolist() == unchecked.estimation.tolist()
    assert (checked.run.checked, unchecked.run.checked) == (True, False)


# Rounding


def test_scores_may_differ_by_rounding_only():
    scores = np.array([[[4.0, 1.0, 0.0], [4.0, 3.9999, 0.0]]])
    one = Answer(np.array([[0, 0]]), scores)
    near, far = scores * (1 + ROUNDING / 2), scores * (1 + 2 * ROUNDING)
    assert not one.differs_from(Answer(np.array([[0, 1]]), near)).any()  # the second one is a tie
    assert one.differs_from(Answer(np.array([[1, 0]]), near)).tolist() == [[True, False]]
    assert one.differs_from(Answer(np.array([[0, 0]]), far)).all()
    assert one.undecided().tolist() == [[False, True]]


def test_labels_alone_must_be_equal():
    one = Answer(np.array([[0, 1]]))
    assert one.differs_from(Answer(np.array([[0, 2]]))).tolist() == [[False, True]]
    assert not one.undecided().any()


def test_sums_that_cancel_are_judged_by_the_size_of_the_others():
    one = Answer(np.array([[0, 0, 1]]), np.array([[[5.0, 0.0], [3.0, 1.0], [-1e-12, 1e-12]]]))
    other = Answer(np.array([[0, 0, 0]]), np.array([[[5.0, 0.0], [3.0, 1.0], [1e-12, -1e-12]]]))
    assert not one.differs_from(other).any()


def test_infinite_scores_are_equal_to_themselves():
    scores = np.array([[[0.0, -np.inf], [1.0, 2.0]]])
    assert not Answer(np.array([[0, 1]]), scores).differs_from(Answer(np.array([[0, 1]]), scores.copy())).any()


# Where and when


@pytest.mark.parametrize("options", [{"workers": 2}, {"timeout": 60.0}])
def test_workers_check_too(options):
    line = refusal(fp.NodeClassifier(Dropping(0), CLASSES), graph(0), **options)
    assert "dropout() in Dropping.forward" in line
    assert voted(fp.NodeClassifier(Nodes(0), CLASSES), graph(0), **options).run.checked


def test_a_run_that_fails_at_the_end_is_never_complete(tmp_path):
    """Who goes on with it is checked again."""
    calls = []

    def late(batch):
        calls.append(len(batch))
        return batch[:, 0] ^ (len(calls) > 40 and len(batch) < 14)

    changing, path = fp.FunctionClassifier(late, 2, "late"), tmp_path / "votes.ckpt"
    asked = {"chunk_size": 2, "checkpoint": path}
    for _ in range(2):
        with pytest.raises(fp.UnstableClassifierError) as caught:
            voted(changing, rows(0), **asked)
        assert 0 < caught.value.votes.n_select + caught.value.votes.n_estimate < 80
        assert not caught.value.votes.run.checked


def test_a_complete_checkpoint_needs_no_classifier(tmp_path):
    calls = []

    def first(batch):
        calls.append(len(batch))
        return batch[:, 0]

    classifier, path = fp.FunctionClassifier(first, 2, "first"), tmp_path / "votes.ckpt"
    voted(classifier, rows(0), checkpoint=path)
    done = len(calls)
    assert voted(classifier, rows(0), checkpoint=path).run.checked
    assert len(calls) == done


def test_checked_and_unchecked_votes_are_not_mixed(tmp_path):
    classifier, path = fp.FunctionClassifier(lambda batch: batch[:, 0], 2, "first"), tmp_path / "votes.ckpt"
    unchecked = voted(classifier, rows(0), checkpoint=path, check=False)
    words = (
        r"a classifier that nobody checked \(check=False, --no-check\) instead of a classifier that is checked as it"
    )
    with pytest.raises(fp.FlipproofError, match=words):
        voted(classifier, rows(0), checkpoint=path)
    more = fp.vote(classifier, rows(0), FLIPS, 0, range(60, 90), progress=False)
    with pytest.raises(fp.InvalidInputError, match=r"a classifier that is checked as it votes .* instead of"):
        unchecked.merged(more)


def test_votes_of_earlier_versions_were_not_checked():
    votes = voted(fp.FunctionClassifier(lambda batch: batch[:, 0], 2, "first"), rows(0), check=False)
    record = json.loads(json.dumps(votes.run.to_record()))
    del record["identity"]["checked"]
    old = Run.from_record(record)
    assert not old.checked
    assert differences_between(old.identity, votes.run.identity) == ""


@pytest.mark.parametrize("check", [None, 1, "yes"])
def test_the_flag_is_true_or_false(check):
    with pytest.raises(fp.InvalidInputError, match="expected check to be"):
        voted(fp.FunctionClassifier(lambda batch: batch[:, 0], 2, "first"), rows(0), check=check)


# In words


def test_claims_and_sentences_say_what_was_not_checked():
    classifier = fp.FunctionClassifier(lambda batch: (batch.sum(axis=1) > 2).astype(int), 2, "many")
    bits = np.ones((3, WIDTH), dtype=int)
    checked, unchecked = (fp.certify(voted(classifier, bits, check=check)) for check in (True, False))
    assert (checked.claim(0).checked, unchecked.claim(0).checked) == (True, False)
    plain = fp.in_words(checked, 0, unit="row")
    assert plain.startswith("No attacker who ")
    condition = "If the classifier always gives the same label to the same noisy input, which was not checked, "
    assert fp.in_words(unchecked, 0, unit="row") == f"{condition}n{plain[1:]}"


def test_votes_from_elsewhere_are_on_trust():
    votes = fp.Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=FLIPS, inputs=[[1, 1, 1]])
    assert fp.certify(votes).claim(0).checked is None
