"""The network of words: what it looks at, what it refuses, and that it learns through noise."""

import numpy as np
import pytest
import torch

import flipproof as fp
from flipproof.models.networks.text_modules import WordMean


@pytest.fixture
def module():
    torch.manual_seed(0)
    return WordMean(vocabulary=6, classes=3).eval()


def test_only_the_visible_words_count_and_not_their_places(module):
    rows = torch.tensor([[4, 1, 6, 6, 6], [6, 6, 1, 6, 4], [4, 6, 6, 6, 6], [4, 4, 1, 6, 6], [6, 6, 6, 6, 6]])
    logits = module(rows)
    torch.testing.assert_close(logits[0], logits[1])
    assert not torch.allclose(logits[0], logits[2])
    assert not torch.allclose(logits[0], logits[3])
    assert torch.isfinite(logits).all()
    assert logits.dtype == torch.float32
    alone = torch.cat([module(row[None, row != 6]) for row in rows[:4]])
    torch.testing.assert_close(alone, logits[:4])


def test_it_is_the_mean_and_the_number_of_words(module):
    row = torch.tensor([[2, 5, 5, 6]])
    mean = (module.vectors.weight[2] + 2 * module.vectors.weight[5]) / 3
    seen = torch.cat([mean, torch.tensor([4.0]).log()])
    expected = module.second(torch.relu(module.first(seen)))
    torch.testing.assert_close(module(row)[0], expected)


def test_empty_batches_and_words_that_there_are_not(module):
    assert module(torch.zeros((0, 4), dtype=torch.int64)).shape == (0, 3)
    for wrong in (-1, 7):
        with pytest.raises(fp.InvalidInputError, match=r"expected words from 0 to 6, got "):
            module(torch.tensor([[0, wrong]]))
    with pytest.raises(fp.InvalidInputError, match=r'expected words as integers, got torch.float32; .* dtype="int64"'):
        fp.TorchClassifier(module, classes=3)(np.array([[0, 1]]))


@pytest.mark.parametrize("mask", [None, 6])
def test_it_learns_through_noise(mask):
    """Words 0 to 2 are of one class, 3 to 5 of the other; most of them are hidden or replaced."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 120)
    values = rng.integers(0, 3, (120, 12)) + 3 * labels[:, None]
    values[:, 8:] = 6
    noise = fp.FlipNoise(0.5, 0.5, categories=6) if mask is None else fp.FlipNoise(0.0, 0.6)
    split = fp.Split(np.arange(60), np.arange(60, 80), np.arange(80, 120))
    torch.manual_seed(0)
    classifier = fp.TorchClassifier(WordMean(6, 2, hidden=8), 2, dtype="int64")
    settings = fp.TrainingSettings(learning_rate=0.03, weight_decay=0, epochs=20, patience=20)
    fp.train(classifier, fp.Tokens(values, padding=6, mask=mask), labels, split, noise, settings, progress=False)
    votes = fp.vote(classifier, fp.Tokens(values[80:], padding=6, mask=mask), noise, n_select=50, n_estimate=200)
    assert fp.certify(votes, alpha=0.05).certified_accuracy(labels[80:]) > 0.9
