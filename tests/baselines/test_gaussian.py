"""Gaussian smoothing: radii against exact smoothed classifiers, noise against its law, votes from end to end."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

import flipproof as fp
from flipproof.baselines import gaussian
from flipproof.noise.gaussian import GaussianNoise, RealRows
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role


def test_a_linear_classifier_is_certified_up_to_its_boundary_and_no_further(rng):
    """Its smoothed version is the classifier itself: the radius is the distance to the plane."""
    for _ in range(200):
        sigma = rng.uniform(0.1, 2.0)
        distance = sigma * rng.uniform(0.0, 4.0)
        radius = gaussian.largest_radius(GaussianNoise(sigma), np.array([norm.cdf(distance / sigma)]))[0]
        assert radius <= distance * (1 + 1e-9)
        assert radius == pytest.approx(distance, rel=1e-6, abs=1e-6)


def smoothed(edges, labels, sigma, x):
    """Exact probabilities [x, classes] of a classifier of numbers that is constant between edges."""
    mass = np.diff(norm.cdf(edges, loc=np.atleast_1d(x)[:, None], scale=sigma), axis=1)
    return mass @ np.eye(3)[labels]


def test_no_number_in_a_certified_ball_has_another_label(rng):
    certified = 0
    for _ in range(200):
        inner = np.sort(rng.normal(0, 2, rng.integers(1, 5)))
        edges, sigma = np.concatenate([[-np.inf], inner, [np.inf]]), rng.uniform(0.2, 1.5)
        labels = rng.integers(0, 3, edges.size - 1)
        for x in rng.normal(0, 2, 5):
            p = smoothed(edges, labels, sigma, x)[0]
            second, first = np.clip(np.sort(p)[-2:], 1e-12, 1 - 1e-12)
            bounds = np.array([first]), np.array([min(second, 1 - first)])
            radius = gaussian.largest_radius(GaussianNoise(sigma), *bounds)[0]
            around = smoothed(edges, labels, sigma, np.linspace(x - radius, x + radius, 201)[1:-1])
            assert radius < 1e-6 or (around.argmax(axis=1) == p.argmax()).all()
            certified += radius > 0.1
    assert certified > 200


def test_the_noise_is_normal_and_the_same_however_it_is_drawn():
    rows = RealRows(np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 7.0]]))
    sampler = sampler_of(rows, GaussianNoise(0.3), seed=5)
    drawn = sampler.draw(Role.ESTIMATE, range(3000), np.arange(2)).reshape(3000, 2, 3)
    noise = (drawn - rows.values).astype(np.float64) / 0.3
    assert kstest(noise.ravel(), "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(noise.reshape(3000, -1).T) - np.eye(6)).max() < 0.08
    part = sampler.draw(Role.ESTIMATE, range(7, 9), np.array([1]))
    assert (part == drawn[7:9, 1]).all()
    assert (sampler.draw(Role.SELECT, range(1), np.arange(2)) != drawn[0]).any()


def by_sign(batch):
    return (batch.reshape(len(batch), -1).sum(axis=1) > 0).astype(int)


def test_from_a_classifier_to_radii(tmp_path):
    rows = RealRows(np.array([[[1.0, 1.0]], [[-0.5, -0.5]], [[0.0, 0.0]]]))
    votes = fp.vote(fp.FunctionClassifier(by_sign, 2), rows, GaussianNoise(0.5), 100, 5000)
    votes.save(tmp_path / "votes.npz")
    proofs = gaussian.certify(fp.Votes.load(tmp_path / "votes.npz"))
    assert proofs.label.tolist()[:2] == [1, 0]
    assert proofs.abstained.tolist() == [False, False, True]
    for radius, distance in zip(proofs.radius, (2**0.5, 0.5 * 2**0.5, 0.0), strict=True):
        assert 0.6 * distance <= radius <= distance


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GaussianNoise(0.0), "expected sigma to be a positive number of at most .*, got 0.0"),
        (lambda: GaussianNoise(float("nan")), "expected sigma to be a positive number of at most .*, got nan"),
        (lambda: RealRows([1.0, 2.0]), r"expected values of shape \[inputs, entries, ...\], got shape \(2,\)"),
        (lambda: GaussianNoise(10**400), "expected sigma to be a positive number of at most"),
        (lambda: RealRows([[np.inf]]), "expected values from -1e\\+30 to 1e\\+30, got others"),
        (lambda: sampler_of(fp.DenseRows([[0, 1]]), GaussianNoise(1.0), 0), "expected RealRows for Gaussian noise"),
        (lambda: sampler_of(RealRows([[0.0]]), fp.FlipNoise(0.1, 0.1), 0), "expected a GaussianNoise for real numbers"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        make()


def test_bounds_that_say_nothing(recwarn):
    bounds = np.array([0.0, 1.0, 0.3]), np.array([0.0, 1.0, 0.3])
    assert gaussian.largest_radius(GaussianNoise(1.0), *bounds).tolist() == [0, 0, 0]
    assert not recwarn.list


def test_numbers_become_real_rows():
    votes = fp.vote(fp.FunctionClassifier(by_sign, 2), np.array([[0.5, 0.75]]), GaussianNoise(0.1), 5, 50)
    assert votes.estimation.tolist() == [[0, 50]]


def test_votes_are_not_mixed_up():
    votes = fp.Votes.from_counts(selection=[[9, 1]], estimation=[[9, 1]], noise=GaussianNoise(1.0))
    with pytest.raises(fp.InvalidInputError, match="got GaussianNoise"):
        fp.certify(votes)
    flips = fp.Votes.from_counts(selection=[[9, 1]], estimation=[[9, 1]], noise=fp.FlipNoise(0.1, 0.1))
    with pytest.raises(fp.InvalidInputError, match="expected votes under a GaussianNoise"):
        gaussian.certify(flips)
