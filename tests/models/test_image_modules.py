"""The network for images: its logits are those of the formula, and it trains, travels and votes like any module."""

import cloudpickle
import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

import flipproof as fp
from flipproof.models.networks.image_modules import CNN

SHAPES = [(4, 4), (5, 7), (8, 8), (19, 20), (20, 20), (28, 28), (21, 26), (4, 9, 3), (32, 32, 3)]


def made(shape, **options):
    torch.manual_seed(0)
    return CNN(shape, 5, **options).eval()


def levels(rng, shape, count=6, most=2):
    return torch.tensor(rng.integers(0, most, (count, *shape)).astype(np.float32))


def windows(images, kernel, margin):
    """All windows [n, rows, columns, channels * kernel * kernel] of images [n, channels, height, width]."""
    padded = np.pad(images, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
    return found.transpose(0, 2, 3, 1, 4, 5).reshape(*found.shape[:1], *found.shape[2:4], -1)


def convolved(images, weight, bias, margin):
    """The largest positive value of every two by two places, [n, channels, rows / 2, columns / 2]."""
    values = windows(images, weight.shape[-1], margin) @ weight.reshape(len(weight), -1).T + bias
    rows, columns = values.shape[1] // 2, values.shape[2] // 2
    values = values[:, : 2 * rows, : 2 * columns].reshape(len(values), rows, 2, columns, 2, -1)
    return np.maximum(values.max(axis=(2, 4)), 0).transpose(0, 3, 1, 2)


def formula(module, images, most):
    """Conv, pool, conv, pool, linear, linear in float64."""
    weights = {name: tensor.double().numpy() for name, tensor in module.state_dict().items()}
    hidden = images.double().numpy().reshape(*images.shape[:3], -1).transpose(0, 3, 1, 2) / (most - 1)
    margin = 1 if weights["first.weight"].shape[-1] == 3 else 0
    for name in ("first", "second"):
        hidden = convolved(hidden, weights[f"{name}.weight"], weights[f"{name}.bias"], margin)
    hidden = hidden.transpose(0, 2, 3, 1).reshape(len(hidden), -1)
    hidden = np.maximum(hidden @ weights["third.weight"].T + weights["third.bias"], 0)
    return hidden @ weights["last.weight"].T + weights["last.bias"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("most", [2, 256])
def test_logits_are_those_of_the_formula(shape, most, rng):
    module, images = made(shape, levels=most), levels(rng, shape, most=most)
    with torch.no_grad():
        logits = module(images).numpy()
    # Sums of at most a few thousand numbers below one, with weights below one half: far from 1e-4.
    assert np.allclose(logits, formula(module, images, most), rtol=0, atol=1e-4)
    assert np.abs(logits - logits[0]).max() > 1e-3


def test_sizes_are_those_of_lee_et_al():
    shapes = [tuple(weights.shape) for weights in CNN((28, 28), 10).parameters()]
    assert shapes == [(20, 1, 5, 5), (20,), (50, 20, 5, 5), (50,), (500, 800), (500,), (10, 500), (10,)]


def test_every_weight_gets_its_gradient(rng):
    module, images = made((8, 8, 3), levels=4).double().train(), levels(rng, (8, 8, 3), most=4).double()
    loss = F.cross_entropy(module(images), torch.arange(6) % 5)
    loss.backward()
    step = 1e-6
    for name, weights in module.named_parameters():
        flat, gradient = weights.data.flatten(), weights.grad.flatten()
        place = int(gradient.abs().argmax())
        kept = float(flat[place])
        index = np.unravel_index(place, weights.shape)
        around = []
        for other in (kept + step, kept - step):
            weights.data[index] = other
            around.append(float(F.cross_entropy(module(images), torch.arange(6) % 5).detach()))
        weights.data[index] = kept
        assert (around[0] - around[1]) / (2 * step) == pytest.approx(float(gradient[place]), rel=1e-4), name
        assert gradient[place] != 0


def test_dropout_is_for_training_alone(rng):
    module, images = made((8, 8), dropout=0.5), levels(rng, (8, 8))
    assert torch.equal(module(images), module(images))
    module.train()
    assert not torch.equal(module(images), module(images))


def test_it_travels_and_keeps_its_fingerprint(rng):
    images = levels(rng, (8, 8)).numpy().astype(np.uint8)
    classifier = fp.TorchClassifier(made((8, 8)), 5)
    copy = cloudpickle.loads(cloudpickle.dumps(classifier))
    loaded = fp.TorchClassifier(CNN((8, 8), 5), 5)
    loaded.module.load_state_dict(classifier.module.state_dict())
    assert copy.fingerprint == loaded.fingerprint == classifier.fingerprint
    assert (copy(images) == classifier(images)).all()
    assert fp.TorchClassifier(made((8, 8), levels=17), 5).fingerprint != classifier.fingerprint


def test_votes_do_not_depend_on_the_number_of_samples(rng):
    """A call with more samples adds to those of a call with fewer, slice by slice."""
    images, noise = rng.integers(0, 2, (90, 8, 8)), fp.FlipNoise(0.1, 0.2)
    classifier = fp.TorchClassifier(made((8, 8)), 5, rows_at_once=64)
    few, more, all_ = (
        fp.vote(classifier, images, noise, n_select=1, n_estimate=wanted, chunk_size=4, progress=False).estimation
        for wanted in (range(9), range(9, 20), range(20))
    )
    assert (few + more == all_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": (3, 8)}, r"expected images of at least 4 x 4 pixels, got \(3, 8\)"),
        ({"shape": (8,)}, r"expected a shape \(height, width\) or \(height, width, 3\), got \(8,\)"),
        ({"shape": (8, 8, 1)}, r"or \(height, width, 3\), got \(8, 8, 1\)"),
        ({"shape": (8.0, 8)}, "expected a side of an image to be a non-negative integer, got 8.0"),
        ({"classes": 0}, "expected classes from 1 to 16777216, got 0"),
        ({"levels": 1}, "expected levels from 2 to 256, got 1"),
        ({"levels": 257}, "expected levels from 2 to 256, got 257"),
        ({"hidden": 0}, "expected hidden from 1 to 1048576, got 0"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        CNN(**({"shape": (8, 8), "classes": 5} | options))


@pytest.mark.parametrize("shape", [(8, 9), (8, 8, 3), (64,)])
def test_images_of_another_shape_are_refused(shape):
    with pytest.raises(fp.InvalidInputError, match=rf"expected images of shape \[8, 8\], got \[{shape[0]}"):
        made((8, 8))(torch.zeros(2, *shape))


def test_it_learns_digits_with_grey_levels_under_noise():
    """A few epochs on a part of the digits; chance is 0.1."""
    data, noise = fp.datasets.load("digits-grey"), fp.FlipNoise(0.1, 0.8, categories=17)
    torch.manual_seed(0)
    classifier = fp.TorchClassifier(CNN((8, 8), 10, levels=17, hidden=100), 10)
    split = fp.Split(train=np.arange(600), validation=np.arange(600, 800), test=[])
    settings = fp.TrainingSettings(epochs=12, batch_size=32, weight_decay=0.0)
    fp.train(classifier, data.train_images, data.train_labels, split, noise, settings, progress=False)
    votes = fp.vote(classifier, data.test_images[:50], noise, n_select=20, n_estimate=200, progress=False)
    certificates = fp.certify(votes, alpha=0.01)
    assert certificates.certified_accuracy(data.test_labels[:50]) > 0.6
    assert certificates.max_radius("change").max() >= 3
    assert (certificates.max_l0_radius() <= certificates.max_radius("add")).all()
