"""Training with the robust hinge loss: its gradient, that it is repeatable, and what it is good for."""

import copy

import numpy as np
import pytest
import torch

import flipproof as fp
from flipproof.baselines.gcn.attribute_bounds import BitThreat, Weights
from flipproof.baselines.gcn.attribute_margins import margin_bounds
from flipproof.baselines.gcn.attributes import certify, scene_of
from flipproof.baselines.gcn.robust_training import RobustSettings, robust_loss, train_robustly

SETTINGS = RobustSettings(total=12, local=2, batch_size=30, steps=60, learning_rate=0.02)


@pytest.fixture(scope="module")
def data(planted):
    return fp.datasets.NodeDataset.load(planted)


@pytest.fixture(scope="module")
def split(data):
    return fp.Split.per_class(data.labels, train=5, validation=5, seed=0)


@pytest.fixture(scope="module")
def plain(data, split):
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes, hidden=8), classes=data.classes)
    settings = fp.TrainingSettings(noisy_samples=0, learning_rate=0.05, epochs=100)
    fp.train(classifier, data.graph("attributes"), data.labels, split, settings=settings, progress=False)
    return classifier


def accuracy(proofs, data, split):
    return (proofs.label == data.labels)[split.test].mean()


def test_more_labels_are_certified_than_after_plain_training(data, split, plain):
    robust = copy.deepcopy(plain)
    losses = train_robustly(robust, data, data.labels, split, SETTINGS)
    before, after = (certify(model, data, local=2, budgets=[12]) for model in (plain, robust))
    assert len(losses) == SETTINGS.steps
    assert losses[-1] < losses[0]
    assert after.certified_ratio([12]) > before.certified_ratio([12]) + 0.2
    assert accuracy(after, data, split) > accuracy(before, data, split) - 0.05


def test_the_same_seed_gives_the_same_weights(data, split, plain):
    settings = RobustSettings(total=4, local=2, batch_size=30, steps=3)
    state, weights = torch.get_rng_state(), []
    for seed in (5, 5, 6):
        module = copy.deepcopy(plain.module)
        train_robustly(module, data, data.labels, split, settings, seed=seed)
        weights.append(module.first.weight.detach().numpy())
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
    assert torch.equal(state, torch.get_rng_state())


def test_gradients_of_bounds_are_their_slopes(data, plain):
    """Against differences of the bound itself, in float64, in a random direction of all weights."""
    scene, threat = scene_of(plain.module, data.graph("attributes")), BitThreat(2, (4,))
    targets, labels = np.array([0, 31, 62]), torch.tensor([0, 1, 2])
    torch.manual_seed(3)
    start = Weights(*(weight.detach() for weight in Weights.of(plain.module)))
    direction = [torch.randn_like(weight) for weight in start]

    def total(step):
        moved = Weights(*(weight + step * change for weight, change in zip(start, direction, strict=True)))
        return robust_loss(margin_bounds(moved, scene, threat, targets, labels), torch.full((3,), 50.0).double())

    step = torch.zeros((), dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(total(step), step)
    difference = (total(1e-6) - total(-1e-6)) / 2e-6
    assert float(slope) == pytest.approx(float(difference), rel=1e-5)
    assert abs(float(slope)) > 1e-3


def test_settings_that_make_no_sense_are_refused(data, split, plain):
    for options, message in (
        ({"total": 0}, "expected total to be at least 1, got 0"),
        ({"steps": -1}, "expected steps to be a non-negative integer, got -1"),
        ({"local": 0}, "expected local to be at least 1, got 0"),
        ({"other_margin": -1.0}, r"expected other_margin to be a number from 0 to 1e\+30, got -1.0"),
        ({"learning_rate": np.nan}, r"expected learning_rate to be a number from 0 to 1e\+30, got nan"),
        ({"weight_decay": "a"}, r"expected weight_decay to be a number from 0 to 1e\+30, got 'a'"),
    ):
        with pytest.raises(fp.InvalidInputError, match=message):
            RobustSettings(**options)
    with pytest.raises(fp.InvalidInputError, match="expected RobustSettings, got TrainingSettings"):
        train_robustly(plain, data, data.labels, split, fp.TrainingSettings())
    settings = RobustSettings(total=2, steps=40, learning_rate=1e30)
    with pytest.raises(fp.TrainingError, match="expected a finite loss"):
        train_robustly(copy.deepcopy(plain), data, data.labels, split, settings)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_found_wherever_training_is_called_from(data, split, plain, mode):
    settings = RobustSettings(total=4, local=2, batch_size=10, steps=2)
    inside, outside = (copy.deepcopy(plain) for _ in range(2))
    with mode():
        losses = train_robustly(inside, data, data.labels, split, settings)
    assert losses == train_robustly(outside, data, data.labels, split, settings)
    assert torch.equal(inside.module.first.weight, outside.module.first.weight)


def test_frozen_weights(data, split, plain):
    settings = RobustSettings(total=4, local=2, batch_size=10, steps=2, learning_rate=0.02)
    robust = copy.deepcopy(plain)
    robust.module.first.weight.requires_grad_(False)
    train_robustly(robust, data, data.labels, split, settings)
    assert torch.equal(robust.module.first.weight, plain.module.first.weight)
    assert not torch.equal(robust.module.second.weight, plain.module.second.weight)
    robust.module.requires_grad_(False)
    with pytest.raises(fp.InvalidInputError, match="expected a GCN with weights that require gradients"):
        train_robustly(robust, data, data.labels, split, settings)
