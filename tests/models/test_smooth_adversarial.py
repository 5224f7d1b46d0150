"""Adversarial training of smoothed classifiers: what steps see, seeds, refusals, and what it is good for."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from noting_attack import Noting

import flipproof as fp
from flipproof.baselines import gaussian
from flipproof.models.training.attacked_batches import AttackedNodes, AttackedRows
from flipproof.models.training.attacks import BallAttack, FlipAttack
from flipproof.models.training.smooth_adversarial import train_against
from flipproof.models.training.train import batches_of
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role

ROWS, ENTRIES, NODES, CLASSES = 260, 24, 45, 3
FLIPS, WORDS, GAUSSIAN = fp.FlipNoise(0.2, 0.3), fp.FlipNoise(0.02, 0.5), fp.GaussianNoise(0.5)
SPLIT = fp.Split(np.arange(100), np.arange(100, 160), np.arange(160, ROWS))
NODE_LABELS = np.arange(NODES) % CLASSES
NODE_SPLIT = fp.Split.per_class(NODE_LABELS, train=4, validation=4, seed=0)
ATTACK = FlipAttack(add=1, delete=1, steps=2)


def rows(seed=0, weak=0.25):
    """Two entries tell the label almost always, the others now and then."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, ROWS)
    likely = np.where(np.arange(ENTRIES) < 2, 0.47, weak)
    side = np.where((np.arange(ENTRIES) % 2 == 0) == (labels[:, np.newaxis] == 0), 1, -1)
    return (rng.random((ROWS, ENTRIES)) < 0.5 + side * likely).astype(np.uint8), labels


def numbers(seed=0):
    """The first entry tells the label well, which is easy to learn; all others together tell half as much."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, ROWS)
    means = np.where(np.arange(ENTRIES) == 0, 1.0, 0.1)
    return (2 * labels[:, np.newaxis] - 1) * means + rng.normal(scale=0.2, size=(ROWS, ENTRIES)), labels


def graph(form=sp.csr_array):
    rng = np.random.default_rng(0)
    alike = NODE_LABELS[:, np.newaxis] == NODE_LABELS
    index = np.stack(np.triu(rng.random((NODES, NODES)) < np.where(alike, 0.2, 0.02), 1).nonzero())
    own = NODE_LABELS[:, np.newaxis] == np.arange(ENTRIES) % CLASSES
    words = (rng.random((NODES, ENTRIES)) < np.where(own, 0.35, 0.1)).astype(np.uint8)
    return fp.Graph.from_edge_index(
        np.concatenate([index, index[::-1]], axis=1), attributes=form(words), noisy="attributes"
    )


class Model(torch.nn.Module):
    """A small network that keeps what it learns from."""

    def __init__(self, dropout=0.0):
        super().__init__()
        parts = torch.nn.Linear(ENTRIES, 16), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(16, 2)
        self.layers, self.seen = torch.nn.Sequential(*parts), []

    def forward(self, x):
        if self.training:
            self.seen.append(x.detach().numpy().copy())
        return self.layers(x)


def row_classifier(seed=0, dropout=0.0, **options):
    torch.manual_seed(seed)
    return fp.TorchClassifier(Model(dropout), classes=2, **options)


def node_classifier(seed=0, module=fp.GCN, **options):
    torch.manual_seed(seed)
    return fp.NodeClassifier(module(ENTRIES, CLASSES, hidden=8), classes=CLASSES, **options)


def settings(**options):
    usual = {"noisy_samples": 2, "average": "softmax", "epochs": 3, "learning_rate": 0.02, "weight_decay": 0}
    return fp.TrainingSettings(**(usual | {"batch_size": 50} | options))


CASES = {
    "dense bits": lambda: (row_classifier(dropout=0.5), *rows(), SPLIT, FLIPS, ATTACK),
    "sparse bits": lambda: (row_classifier(), sp.csr_array(rows()[0]), rows()[1], SPLIT, FLIPS, ATTACK),
    "images of bits": lambda: (
        row_classifier(transform=lambda images: images.flatten(1)), rows()[0].reshape(ROWS, 4, 6), rows()[1], SPLIT,
        FLIPS, ATTACK,
    ),
    "hidden bits": lambda: (row_classifier(), *rows(), SPLIT, fp.AblationNoise(ENTRIES, 9), ATTACK),
    "hidden sparse bits": lambda: (
        row_classifier(), sp.csr_array(rows()[0]), rows()[1], SPLIT, fp.AblationNoise(ENTRIES, 9), ATTACK,
    ),
    "real numbers": lambda: (row_classifier(), *numbers(), SPLIT, GAUSSIAN, BallAttack(0.5, steps=2)),
    "nodes": lambda: (node_classifier(), graph(), NODE_LABELS, NODE_SPLIT, WORDS, ATTACK),
    "nodes, APPNP": lambda: (node_classifier(module=fp.APPNP), graph(), NODE_LABELS, NODE_SPLIT, WORDS, ATTACK),
    "nodes, dense bits": lambda: (node_classifier(), graph(fp.DenseRows), NODE_LABELS, NODE_SPLIT, WORDS, ATTACK),
    "hidden words": lambda: (
        node_classifier(), graph(), NODE_LABELS, NODE_SPLIT, fp.AblationNoise(NODES * ENTRIES, 400), ATTACK,
    ),
}  # fmt: skip


def weights(classifier):
    return torch.cat([part.flatten() for part in classifier.module.state_dict().values()]).numpy()


def trained(case, attack=None, seed=0, **options):
    classifier, *given, usual = CASES[case]()
    state, attack = torch.random.get_rng_state(), usual if attack is None else attack
    history = train_against(classifier, *given, attack, settings(**options), seed=seed, progress=False)
    assert torch.equal(torch.random.get_rng_state(), state)
    return weights(classifier), history


# Seeds


@pytest.mark.parametrize("case", CASES)
def test_the_seed_decides_about_weights_and_torch_is_left_as_it_was(case):
    (first, history), (again, same), (other, _) = (trained(case, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert history.loss == same.loss
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("case", CASES)
def test_an_empty_budget_gives_the_weights_of_training_without_attacks(case):
    classifier, inputs, labels, split, noise, attack = CASES[case]()
    empty = BallAttack(0.0) if isinstance(attack, BallAttack) else FlipAttack()
    space = fp.RealRows(inputs) if isinstance(attack, BallAttack) else inputs
    history = fp.train(classifier, space, labels, split, noise, settings(), seed=5, progress=False)
    found, same = trained(case, attack=empty, seed=5)
    assert np.array_equal(found, weights(classifier))
    assert (same.loss, same.validation_loss) == (history.loss, history.validation_loss)
    attacked, worse = trained(case, seed=5)
    assert not np.array_equal(attacked, found)
    assert worse.loss[0] > history.loss[0]


def test_a_graph_that_no_step_changes_is_learned_from_as_it_is():
    """The budget of the first epochs is rounded down to nothing, but everything else happens."""
    classifier, *given, _ = CASES["nodes"]()
    fp.train(classifier, *given, settings(), seed=5, progress=False)
    found, _ = trained("nodes", attack=FlipAttack(add=1, delete=1, warmup=100), seed=5)
    assert np.array_equal(found, weights(classifier))


# What steps see


@pytest.mark.parametrize("case", ["dense bits", "sparse bits", "hidden bits", "real numbers"])
def test_steps_see_the_exact_noise_around_changed_rows(case):
    classifier, inputs, labels, split, noise, attack = CASES[case]()
    kind = {"sparse bits": fp.SparseRows, "real numbers": fp.RealRows}.get(case, fp.DenseRows)
    space, noting = kind(inputs), Noting(attack)
    batches, _ = batches_of(classifier, space, labels, split, noise, settings(), 7, 10**9)
    attacked = AttackedRows(batches, space, noise, noting)
    order = []
    for epoch in range(2):
        classifier.module.train()
        order += batches.portions(epoch)
        steps = list(attacked.steps(epoch))
        assert [step.labels.tolist() for step in steps] == [labels[portion].tolist() for portion in order[-2:]]
    clean = inputs.toarray() if case == "sparse bits" else inputs
    found = zip(order, noting.found, classifier.module.seen, strict=True)
    for number, (portion, changed, seen) in enumerate(found):
        changed_space = kind(sp.csr_array(changed) if case == "sparse bits" else changed)
        drawn = sampler_of(changed_space, noise, 7).draw(Role.TRAIN, range(2 * number, 2 * number + 2), np.arange(50))
        drawn = drawn.toarray() if case == "sparse bits" else drawn
        assert np.array_equal(seen, drawn.astype(np.float32))
        assert not np.array_equal(changed, clean[portion])
        assert (np.abs(changed - clean[portion].astype(float)).sum(axis=1) > 0).mean() > 0.9


def test_steps_see_the_exact_noise_around_a_changed_graph():
    class Seeing(fp.GCN):
        def combine(self, features, structure):
            if self.training:
                seen.append(features.detach().clone())
            return super().combine(features, structure)

    seen, space, noting = [], graph(), Noting(ATTACK)
    classifier = node_classifier(module=Seeing)
    batches, _ = batches_of(classifier, space, NODE_LABELS, NODE_SPLIT, WORDS, settings(), 7, 10**9)
    for epoch in range(2):
        classifier.module.train()
        list(AttackedNodes(batches, classifier, space, WORDS, noting, 7).steps(epoch))
    for epoch in range(2):
        changed = fp.Graph(space.edges, sp.csr_array(noting.found[epoch][0]), "attributes")
        copies = changed.sampler(WORDS, 7).draw(Role.TRAIN, range(2 * epoch, 2 * epoch + 2), np.zeros(1, np.int64))
        for copy, features in zip(copies, seen[2 * epoch : 2 * epoch + 2], strict=True):
            x = torch.tensor(copy.attributes.toarray())
            assert torch.allclose(classifier.module.first(x), features, atol=1e-5)
            assert np.array_equal(copy.edge_index, space.clean().edge_index)


def test_the_module_is_left_ready_for_use_and_inputs_as_they_were():
    for case in ("dense bits", "nodes"):
        classifier, inputs, *given = CASES[case]()
        before = inputs.attributes.matrix.toarray() if case == "nodes" else inputs.copy()
        train_against(classifier, inputs, *given, settings(), progress=False)
        after = inputs.attributes.matrix.toarray() if case == "nodes" else inputs
        assert np.array_equal(before, after)
        assert not any(part.training for part in classifier.module.modules())


@pytest.mark.parametrize("case", ["dense bits", "real numbers", "nodes"])
def test_training_that_goes_astray_says_so(case):
    with pytest.raises(fp.TrainingError, match="expected a finite loss"):
        trained(case, learning_rate=1e30)


# What it is good for


def test_rows_of_bits_are_certified_further():
    """Means over three data sets, of what is right and certified, with the same votes."""
    how, radii, right = settings(noisy_samples=4, epochs=40, patience=40), {}, {}
    for attack, seed in itertools.product((None, FlipAttack(add=1, delete=1)), range(3)):
        (bits, labels), classifier = rows(seed), row_classifier(seed)
        if attack is None:
            fp.train(classifier, bits, labels, SPLIT, FLIPS, how, seed=seed, progress=False)
        else:
            train_against(classifier, bits, labels, SPLIT, FLIPS, attack, how, seed=seed, progress=False)
        votes = fp.vote(classifier, bits[SPLIT.test], FLIPS, n_select=200, n_estimate=2000, progress=False)
        certificates = fp.certify(votes)
        good = (certificates.label == labels[SPLIT.test]) & ~certificates.abstained
        right.setdefault(attack, []).append(good.mean())
        for axis in ("add", "delete"):
            radii.setdefault((attack, axis), []).append((certificates.max_radius(axis) * good).mean())
    plain, against = right
    for axis in ("add", "delete"):
        assert np.mean(radii[against, axis]) > np.mean(radii[plain, axis]) + 0.03
    assert np.mean(right[against]) > np.mean(right[plain]) - 0.02


def test_rows_of_real_numbers_are_certified_further():
    how, radii = settings(noisy_samples=4, epochs=25, patience=25), {}
    for attack, seed in itertools.product((None, BallAttack(0.5)), range(2)):
        (values, labels), classifier = numbers(seed), row_classifier(seed)
        space = fp.RealRows(values)
        if attack is None:
            fp.train(classifier, space, labels, SPLIT, GAUSSIAN, how, seed=seed, progress=False)
        else:
            train_against(classifier, space, labels, SPLIT, GAUSSIAN, attack, how, seed=seed, progress=False)
        votes = fp.vote(
            classifier, fp.RealRows(values[SPLIT.test]), GAUSSIAN, n_select=200, n_estimate=2000, progress=False
        )
        proofs = gaussian.certify(votes)
        radii.setdefault(attack, []).append((proofs.radius * (proofs.label == labels[SPLIT.test])).mean())
    plain, against = (np.mean(found) for found in radii.values())
    assert against > plain + 0.02


# Refusals


def tokens():
    return fp.Tokens(rows()[0].astype(int) + 1, mask=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": settings(noisy_samples=0)}, "^expected noisy_samples of at least 1, got 0; what is"),
        ({"attack": BallAttack(1.0)}, "^expected a FlipAttack for noise on bits, got BallAttack"),
        ({"noise": GAUSSIAN}, "^expected a BallAttack for Gaussian noise, got FlipAttack"),
        ({"noise": fp.FlipNoise(0.1, 0.1, 3)}, "^expected a FlipNoise with 2 categories, an AblationNoise or a Gauss"),
        ({"noise": fp.JointNoise(values=FLIPS)}, "^expected a FlipNoise with 2 categories, an AblationNoise or a"),
        ({"noise": None}, "^expected a FlipNoise with 2 categories, an AblationNoise or a Gauss.*got None"),
        ({"inputs": rows()[0] * 2}, "^expected values in .0, 2. as an attack on bits has 2 categories, got 2 at row"),
        ({"inputs": tokens()}, "^expected rows of bits or of real numbers to attack, got Tokens; flipproof.train"),
        ({"inputs": graph()}, "^expected rows of bits or of real numbers to attack, got Graph; flipproof.train"),
        ({"inputs": fp.Graphs([graph()])}, "^expected rows of bits or of real numbers to attack, got Graphs"),
        ({"classifier": row_classifier(dtype="int64")}, "floating-point numbers, to attack, got TorchClassifier .int"),
        (
            {"classifier": fp.FunctionClassifier(lambda batch: batch[:, 0], 2)},
            "^expected a NodeClassifier, or a TorchClassifier that takes floating-point numbers, to attack, got Func",
        ),
        ({"classifier": node_classifier()}, "^expected a Graph with noisy='attributes' for a NodeClassifier, got nd"),
        (
            {"classifier": node_classifier(), "inputs": fp.Graph(graph().edges, None, "structure")},
            "^expected a Graph with noisy='attributes' for a NodeClassifier, got noisy='structure': edges are not",
        ),
        (
            {"classifier": node_classifier(), "inputs": graph(lambda words: fp.DenseRows(words.astype(int) * 3))},
            "^expected attributes in .0, 2. as an attack on bits has 2 categories, got 3",
        ),
        ({"settings": settings(epochs=2**39, noisy_samples=1)}, "^expected fewer than 549755813888 .*; lower epochs"),
        (
            {"classifier": node_classifier(), "inputs": graph(), "labels": NODE_LABELS, "split": NODE_SPLIT,
             "memory_limit": 100_000},
            "^expected a memory limit of at least 120960 bytes for the gradients of 45 x 24 bits, got 100000",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_attacked_is_refused(change, words):
    bits, labels = rows()
    usual = {"classifier": row_classifier(), "inputs": bits, "labels": labels, "split": SPLIT, "noise": FLIPS}
    given = usual | {"attack": ATTACK, "settings": settings(), "progress": False} | change
    before = weights(given["classifier"]) if hasattr(given["classifier"], "module") else None
    with pytest.raises(fp.InvalidInputError, match=words):
        train_against(**given)
    if before is not None:
        assert np.array_equal(before, weights(given["classifier"]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FlipAttack(add=-1), "^expected add to be a non-negative integer, got -1$"),
        (lambda: FlipAttack(delete=0.5), "^expected delete to be a non-negative integer, got 0.5$"),
        (lambda: FlipAttack(1, steps=0), "^expected steps to be at least 1, got 0$"),
        (lambda: BallAttack(1.0, warmup=0), "^expected warmup to be at least 1, got 0$"),
        (lambda: BallAttack(-1.0), "^expected radius to be a number from 0, got -1.0$"),
        (lambda: BallAttack(float("nan")), "^expected radius to be a number from 0, got nan$"),
        (lambda: BallAttack(True), "^expected radius to be a number from 0, got True$"),
    ],
)
def test_attacks_that_make_no_sense_are_refused(make, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        make()
