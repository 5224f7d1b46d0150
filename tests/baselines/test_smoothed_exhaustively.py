"""Certificates of smoothed classifiers against all inputs of small spaces: no label changes in a certified ball."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.baselines import ablation, f_divergence, lee
from flipproof.noise.ablation import HIDDEN, AblationNoise

BITS, INSTANCES = 5, 200
POINTS = np.array(list(itertools.product((0, 1), repeat=BITS)))
CHANGED = (POINTS[:, None] != POINTS[None]).sum(axis=2)
ADDED = ((POINTS[:, None] == 0) & (POINTS[None] == 1)).sum(axis=2)
DELETED = CHANGED - ADDED


def bounds_of(probabilities):
    """Labels with bounds that leave a little room for rounding, as statistics would."""
    label = probabilities.argmax(axis=1)
    others = probabilities.copy()
    others[np.arange(len(label)), label] = -1.0
    return label, np.clip(probabilities.max(axis=1) - 1e-9, 0, 1), np.clip(others.max(axis=1) + 1e-9, 0, 1)


def violations(probabilities, label, inside):
    """How many pairs (input, input in its ball) have another label, or none that is ahead."""
    ahead = probabilities[:, :, None] > probabilities[:, None, :]
    wins = ahead.sum(axis=2) == probabilities.shape[1] - 1
    return int((inside & ~wins[:, label].T).sum())


def linear_labels(rng, features, classes):
    """A random linear classifier that looks at some features more than at others."""
    weights = rng.normal(size=(features.shape[1], classes)) * rng.exponential(size=(features.shape[1], 1))
    return (features @ weights + 0.3 * rng.normal(size=classes)).argmax(axis=1)


def flipped(rng, noise, classes):
    """Exact probabilities [inputs, classes] of a classifier that is smoothed by independent flips."""
    stay = np.array([[1 - noise.p_plus, noise.p_plus], [noise.p_minus, 1 - noise.p_minus]])
    law = stay[POINTS[:, None, :], POINTS[None, :, :]].prod(axis=2)
    return law @ np.eye(classes)[linear_labels(rng, POINTS, classes)]


@pytest.mark.parametrize("divergence", ["kl", "renyi", "hockey-stick"])
def test_divergences(divergence, rng):
    certified = 0
    for _ in range(INSTANCES):
        noise = fp.FlipNoise(*(float(p) for p in rng.uniform([0.0, 0.05], [0.3, 0.7])))
        probabilities = flipped(rng, noise, classes=int(rng.integers(2, 4)))
        label, lower, upper = bounds_of(probabilities)
        for add, delete in ((1, 0), (0, 1), (1, 1), (0, 2)):
            proved = f_divergence.certified(noise, fp.Radii(add=add, delete=delete), lower, upper, divergence)
            inside = proved[:, None] & (add >= ADDED) & (delete >= DELETED)
            assert violations(probabilities, label, inside) == 0
            certified += int(proved.sum())
    assert certified > INSTANCES


def votes_of(probabilities, noise, samples=1_000_000):
    """Votes in the proportions of these probabilities, whose bounds hold for sure."""
    counts = np.floor(probabilities * samples).astype(np.int64)
    counts[np.arange(len(counts)), counts.argmax(axis=1)] += samples - counts.sum(axis=1)
    return fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise)


@pytest.mark.parametrize(("categories", "entries"), [(2, 5), (3, 3)])
def test_lee(categories, entries, rng):
    points = np.array(list(itertools.product(range(categories), repeat=entries)))
    changed = (points[:, None] != points[None]).sum(axis=2)
    certified = 0
    for _ in range(INSTANCES):
        flip, classes = float(rng.uniform(0.02, 0.6)), int(rng.integers(2, 4))
        law = np.where(points[:, None] == points[None], 1 - flip, flip / (categories - 1)).prod(axis=2)
        one_hot = np.eye(categories)[points].reshape(len(points), -1)
        probabilities = law @ np.eye(classes)[linear_labels(rng, one_hot, classes)]
        proofs = lee.certify(votes_of(probabilities, fp.FlipNoise(flip, flip, categories)))
        inside = ~proofs.abstained[:, None] & (proofs.radius[:, None] >= changed)
        assert violations(probabilities, proofs.label, inside) == 0
        certified += int((proofs.radius > 0).sum())
    assert certified > INSTANCES


def ablated(rng, kept, classes):
    """Exact probabilities of a classifier that sees `kept` of the bits, as (x, 1 - x), and zeros for hidden ones."""
    weights = rng.normal(size=(2 * BITS, classes)) * rng.exponential(size=(2 * BITS, 1))
    subsets = [np.isin(np.arange(BITS), subset) for subset in itertools.combinations(range(BITS), kept)]
    votes = np.zeros((len(POINTS), classes))
    for seen in subsets:
        features = np.concatenate([POINTS * seen, (1 - POINTS) * seen], axis=1)
        votes += np.eye(classes)[(features @ weights).argmax(axis=1)]
    return votes / len(subsets)


def test_ablation(rng):
    certified = 0
    for _ in range(INSTANCES):
        noise = AblationNoise(entries=BITS, kept=int(rng.integers(1, BITS + 1)))
        probabilities = ablated(rng, noise.kept, classes=int(rng.integers(2, 4)))
        label, lower, upper = bounds_of(probabilities)
        radius = ablation.largest_radius(noise, lower, np.minimum(upper, 1 - lower))
        assert violations(probabilities, label, (lower > upper)[:, None] & (radius[:, None] >= CHANGED)) == 0
        certified += int((radius > 0).sum())
    assert certified > INSTANCES


EMPTY = 2
"""What a classifier sees in the place of a hidden bit; of sparse rows it sees a zero."""
ABLATED = {
    "dense rows": (fp.DenseRows, lambda batch: np.where(batch == HIDDEN, EMPTY, batch), EMPTY),
    "sparse rows": (sp.csr_array, lambda batch: batch.toarray().astype(int), 0),
    "masked tokens": (lambda points: fp.Tokens(points, mask=EMPTY), lambda batch: batch, EMPTY),
}


@pytest.mark.parametrize("kind", ABLATED)
@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
def test_ablation_from_votes(rule, kind, rng):
    """Drawn by `vote`. Each certificate is wrong with probability 1e-9 at most, and there are fewer than 10^4."""
    space_of, read, hidden = ABLATED[kind]
    places, certified = 3 ** np.arange(BITS), 0
    for seed in range(40):
        noise = AblationNoise(entries=BITS, kept=int(rng.integers(1, BITS + 1)))
        biased = rng.normal(size=(3**BITS, 3)) + rng.normal(size=3) * 1.5
        labels = biased.argmax(axis=1)
        classifier = fp.FunctionClassifier(lambda batch, of=labels: of[read(batch) @ places], classes=3)
        votes = fp.vote(classifier, space_of(POINTS), noise, 100, 4000, seed=seed)
        subsets = [np.isin(np.arange(BITS), subset) for subset in itertools.combinations(range(BITS), noise.kept)]
        probabilities = np.mean([np.eye(3)[labels[np.where(s, POINTS, hidden) @ places]] for s in subsets], axis=0)
        proofs = ablation.certify(votes, alpha=1e-9, rule=rule)
        inside = ~proofs.abstained[:, None] & (proofs.radius[:, None] >= CHANGED)
        assert violations(probabilities, proofs.label, inside) == 0
        certified += int(inside.sum() - np.trace(inside))
    assert certified > 1_000
