"""Training on rows and small graphs: in portions, with exact noise, repeatable, validated with noise."""

import numpy as np
import pytest
import torch

import flipproof as fp
from flipproof.models.training.fitting import VALIDATION_FROM, RowBatches, class_weights
from flipproof.noise.sampling.samplers import Role

ROWS, ENTRIES = 120, 12
NOISE = fp.FlipNoise(0.1, 0.2)


def data(seed=0, share=0.5):
    """Rows whose first or second half is mostly ones."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(ROWS) < share).astype(int)
    halves = np.arange(ENTRIES) < ENTRIES // 2
    likely = np.where(halves[None, :] == (labels[:, None] == 0), 0.8, 0.2)
    return (rng.random((ROWS, ENTRIES)) < likely).astype(np.uint8), labels


SPLIT = fp.Split(np.arange(60), np.arange(60, 90), np.arange(90, ROWS))


def classifier(seed=0):
    torch.manual_seed(seed)
    hidden = torch.nn.Linear(ENTRIES, 16)
    return fp.TorchClassifier(torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(16, 2)), classes=2)


def settings(**options):
    return fp.TrainingSettings(**({"epochs": 15, "learning_rate": 0.02, "batch_size": 16, "weight_decay": 0} | options))


def weights(trained):
    return torch.cat([part.flatten() for part in trained.module.state_dict().values()]).numpy()


def test_rows_are_learned():
    rows, labels = data()
    model = classifier()
    history = fp.train(model, rows, labels, SPLIT, NOISE, settings(), progress=False)
    assert (model(rows)[SPLIT.test] == labels[SPLIT.test]).mean() > 0.9
    assert history.validation_loss[history.best_epoch] == min(history.validation_loss)
    assert history.loss[-1] < history.loss[0]


def test_the_same_seed_gives_the_same_weights_and_leaves_torch_as_it_was():
    rows, labels = data()
    found = []
    for seed in (3, 3, 4):
        model = classifier()
        state = torch.random.get_rng_state()
        fp.train(model, rows, labels, SPLIT, NOISE, settings(epochs=3), seed=seed, progress=False)
        assert torch.equal(torch.random.get_rng_state(), state)
        found.append(weights(model))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def batches(copies=2, batch_size=16, noise=NOISE):
    rows, labels = data()
    sampler = fp.DenseRows(rows).sampler(noise, 5)
    return RowBatches(classifier(), sampler, labels, SPLIT.train, SPLIT.validation, copies, batch_size, seed=5)


class Recording:
    """A classifier that keeps what it is asked."""

    def __init__(self):
        self.module, self.classes, self.seen = torch.nn.Linear(ENTRIES, 2), 2, []

    def logits(self, batch):
        self.seen.append(np.array(batch))
        return self.module(torch.tensor(batch, dtype=torch.float32))


def recorded(**options):
    made = batches(**options)
    return RowBatches(
        Recording(), made.sampler, made.labels, made.train, made.validated, made.copies, made.batch_size, made.seed
    )


def test_an_epoch_sees_every_training_row_once_with_noise_of_its_own():
    taught = recorded(copies=2, batch_size=25)
    for epoch in (0, 7):
        taught.classifier.seen.clear()
        sizes = [len(step.labels) for step in taught.steps(epoch)]
        assert sizes == [20, 20, 20]
        expected = taught.sampler.draw(Role.TRAIN, range(2 * epoch, 2 * epoch + 2), SPLIT.train).reshape(2, 60, -1)
        seen = np.concatenate([step.reshape(2, 20, -1) for step in taught.classifier.seen], axis=1)
        for copy in range(2):
            assert sorted(map(bytes, seen[copy])) == sorted(map(bytes, expected[copy]))


def test_answers_belong_to_their_labels():
    """Logits of copies come samples first, and each stands beside the label of its row."""
    taught = batches(copies=1, noise=NOISE.without_noise())
    rows, labels = data()
    for step in taught.steps(0):
        for logits, label in zip(step.logits[0], step.labels, strict=True):
            same = np.isclose(taught.classifier.logits(rows).detach().numpy(), logits.detach().numpy(), atol=1e-6)
            assert label in labels[same.all(axis=1)]


def test_the_order_changes_from_epoch_to_epoch():
    taught = batches()
    first, second = (np.concatenate([step.labels for step in taught.steps(epoch)]) for epoch in (0, 1))
    assert first.tolist() != second.tolist()
    assert sorted(first) == sorted(second)


def test_validation_copies_are_always_the_same_and_never_those_of_training():
    taught = recorded()
    taught.validation()
    first = list(taught.classifier.seen)
    taught.classifier.seen.clear()
    taught.validation()
    assert all(np.array_equal(one, other) for one, other in zip(first, taught.classifier.seen, strict=True))
    copies = taught.sampler.draw(Role.TRAIN, range(VALIDATION_FROM, VALIDATION_FROM + 16), SPLIT.validation)
    assert sorted(map(bytes, np.concatenate(first))) == sorted(map(bytes, copies))


def test_no_noisy_samples_means_clean_rows():
    rows, labels = data()
    models = [classifier(), classifier()]
    fp.train(models[0], rows, labels, SPLIT, NOISE, settings(noisy_samples=0), progress=False)
    fp.train(models[1], rows, labels, SPLIT, NOISE.without_noise(), settings(noisy_samples=1), progress=False)
    assert np.array_equal(*map(weights, models))


def test_noise_in_training_makes_votes_better():
    """Who has only seen full rows takes them for half empty ones when ones are deleted."""
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=ROWS)
    rows = (rng.random((ROWS, ENTRIES)) < np.where(labels, 0.9, 0.4)[:, None]).astype(np.uint8)
    noise, bounds = fp.FlipNoise(0.0, 0.5), {}
    for samples in (0, 4):
        model = classifier()
        fp.train(model, rows, labels, SPLIT, noise, settings(noisy_samples=samples, epochs=40), progress=False)
        votes = fp.vote(model, rows[SPLIT.test], noise, n_select=50, n_estimate=300, progress=False)
        right = fp.certify(votes).label == labels[SPLIT.test]
        bounds[samples] = np.where(right, fp.certify(votes).p_lower, 0).mean()
    assert bounds[4] > bounds[0] + 0.2


def test_balanced_classes_count_the_same():
    assert class_weights(np.array([0, 0, 0, 1]), 2, "cpu").tolist() == pytest.approx([4 / 6, 2.0])
    assert class_weights(np.array([0, 2]), 3, "cpu").tolist() == pytest.approx([1.0, 0.0, 1.0])
    rows, labels = data(seed=1, share=0.1)
    rows[:, :] = np.random.default_rng(0).random(rows.shape) < 0.5  # nothing to learn but how often labels are
    shares = []
    for balanced in (False, True):
        model = classifier()
        how = settings(balanced=balanced, epochs=30, learning_rate=0.005)
        fp.train(model, rows, labels, SPLIT, NOISE, how, progress=False)
        shares.append(model(rows).mean())
    assert shares[0] < 0.05 < shares[1]


def test_small_graphs_are_learned():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    graphs = []
    for label in labels:  # rings, or stars
        nodes = np.arange(6)
        pairs = np.stack([nodes, np.roll(nodes, 1)]) if label else np.stack([np.zeros(5, int), nodes[1:]])
        order = rng.permutation(6)
        edges = order[np.concatenate([pairs, pairs[::-1]], axis=1)]
        graphs.append(fp.Graph.from_edge_index(edges, 6, np.ones((6, 1)), noisy="structure"))

    class Degrees(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.map = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))

        def forward(self, x, edge_index, batch):
            degrees = torch.zeros(len(x)).index_add(0, edge_index[0], torch.ones(edge_index.shape[1]))
            ends, squares = (torch.zeros(int(batch.max()) + 1).index_add(0, batch, degrees**power) for power in (1, 2))
            return self.map((squares / (ends + 1)).unsqueeze(1) - 2)

    torch.manual_seed(0)
    model = fp.GraphClassifier(Degrees(), classes=2)
    split = fp.Split(np.arange(24), np.arange(24, 32), np.arange(32, 40))
    noise = fp.FlipNoise(0.02, 0.1)
    fp.train(model, fp.Graphs(graphs), labels, split, noise, settings(epochs=80), progress=False)
    votes = fp.vote(model, fp.Graphs(graphs[32:]), noise, n_select=50, n_estimate=200, progress=False)
    assert (fp.certify(votes).label == labels[32:]).mean() > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": None}, "^expected a noise to train with, got none; noisy_samples=0 trains without, but needs"),
        ({"noise": fp.FlipNoise(0.1, 0.1, 3), "inputs": "sparse"}, "expected noise with 2 categories"),
        ({"labels": np.zeros(ROWS, int)}, "^expected inputs of at least two classes to train on, got one$"),
        ({"split": fp.Split([0], [ROWS], [])}, f"^expected validation inputs from 0 to {ROWS - 1}, got .{ROWS}.$"),
        (
            {"inputs": "graph"},
            "^expected rows or many graphs for a TorchClassifier, got one Graph: use a NodeClassifier",
        ),
        ({"settings": settings(epochs=2**39)}, "^expected fewer than 549755813888 noisy copies, got 1099511627776$"),
        ({"settings": settings(batch_size=10**6), "memory_limit": 5000}, "^expected a memory limit of at least"),
    ],
)
def test_bad_input_is_refused(change, words):
    import scipy.sparse as sp

    rows, labels = data()
    others = {"sparse": sp.csr_array(rows), "graph": fp.Graph.from_edge_index([[0, 1], [1, 0]], 2, noisy="structure")}
    how = settings(noisy_samples=2) if "settings" not in change else change["settings"]
    if how.epochs == 2**39:
        how = settings(epochs=2**39, noisy_samples=2)
    given = {"labels": labels, "split": SPLIT, "noise": NOISE, "settings": how, "progress": False} | {
        name: value for name, value in change.items() if name not in ("inputs", "settings")
    }
    with pytest.raises(fp.FlipproofError, match=words):
        fp.train(classifier(), others.get(change.get("inputs"), rows), **given)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"balanced": 1}])
def test_bad_settings_are_refused(options):
    with pytest.raises(fp.InvalidInputError, match=f"^expected {next(iter(options))} to be "):
        fp.TrainingSettings(**options)
