"""Inputs small enough to try everything: no certified point changes its label anywhere in its ball.

Noises are sixteenths, so that every probability of a noisy copy is a multiple of 2^-53 or more: sums of them are
exact in float64, and certificates are asked for at the exact probabilities, with nothing to spare.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from math import log2

import numpy as np
import pytest
from worlds import World, ahead, almost_linear, by_ratio

import flipproof as fp
from flipproof.theory.radii import axes_of, parts_of, point_of

SHARE, LARGE_SHARE = 15_000, 800_000
"""How many pairs of a point and another must be certified for every kind of noise, and how many have other labels."""


def sixteenths(rng, low=0, high=16):
    return int(rng.integers(low, high + 1)) / 16


def any_noise(rng, categories=2):
    return fp.FlipNoise(sixteenths(rng), sixteenths(rng), categories)


def more_flips_than_not(rng):
    plus = sixteenths(rng, low=1)
    return fp.FlipNoise(plus, sixteenths(rng, low=int(17 - 16 * plus)))


def of_sum_one(rng):
    plus = sixteenths(rng)
    return fp.FlipNoise(plus, 1 - plus)


def symmetric(rng, categories):
    flip = sixteenths(rng)
    return fp.FlipNoise(flip, flip, categories)


def joint(rng, **categories):
    return fp.JointNoise(**{part: any_noise(rng, count) for part, count in categories.items()})


def joint_same(rng):
    noise = any_noise(rng)
    return fp.JointNoise(a=noise, b=noise)


@dataclass(frozen=True)
class Kind:
    """A kind of noise, how many entries it is tried on (of each part), and on how many when there is time."""

    noise: Callable
    few: dict
    many: dict

    def world(self, rng, entries):
        noise = self.noise(rng)
        counts = {name: part.categories for name, part in parts_of(noise)}
        return World(noise, tuple((part, counts[part]) for part, count in entries.items() for _ in range(count)))


KINDS = {
    "flips": Kind(any_noise, {None: 8}, {None: 10}),
    "few flips": Kind(lambda rng: fp.FlipNoise(sixteenths(rng, 1, 3), sixteenths(rng, 2, 9)), {None: 8}, {None: 10}),
    "deletions": Kind(lambda rng: fp.FlipNoise(0.0, sixteenths(rng)), {None: 8}, {None: 10}),
    "additions": Kind(lambda rng: fp.FlipNoise(sixteenths(rng), 0.0), {None: 8}, {None: 10}),
    "all zeros flip": Kind(lambda rng: fp.FlipNoise(1.0, sixteenths(rng)), {None: 8}, {None: 10}),
    "more flips than not": Kind(more_flips_than_not, {None: 8}, {None: 10}),
    "sum one": Kind(of_sum_one, {None: 8}, {None: 9}),
    "three values": Kind(lambda rng: any_noise(rng, 3), {None: 5}, {None: 6}),
    "three values, symmetric": Kind(lambda rng: symmetric(rng, 3), {None: 5}, {None: 6}),
    "three values, deletions": Kind(lambda rng: fp.FlipNoise(0.0, sixteenths(rng), 3), {None: 5}, {None: 6}),
    "five values": Kind(lambda rng: any_noise(rng, 5), {None: 4}, {None: 4}),
    "joint": Kind(lambda rng: joint(rng, a=2, b=2), {"a": 4, "b": 4}, {"a": 5, "b": 5}),
    "joint, same law": Kind(joint_same, {"a": 4, "b": 4}, {"a": 5, "b": 5}),
    "joint, mixed": Kind(lambda rng: joint(rng, a=2, b=3), {"a": 4, "b": 3}, {"a": 5, "b": 3}),
    "joint, three parts": Kind(
        lambda rng: joint(rng, a=2, b=3, c=5), {"a": 2, "b": 2, "c": 1}, {"a": 3, "b": 2, "c": 1}
    ),
}


# Classifiers


def just_certified(world, rng, rule):
    """The least probable label that is certified from one point to another, where it is as improbable as can be."""
    clean, other = rng.choice(len(world.points), 2, replace=False)
    radii = world.distances([clean]).radii_to(0, other)
    order, here = by_ratio(world, clean, other)
    labels = np.ones(len(order), dtype=int)
    p = here.cumsum()
    if rule == "two-class":
        certified = fp.mu(world.noise, radii, p) > 0
    else:
        rivals = np.flatnonzero(here[::-1].cumsum() <= rng.uniform(0, 0.5))
        q = here[::-1][rivals].sum()
        certified = (fp.mu(world.noise, radii, p, np.full(p.shape, q)) > 0) & (p <= 1 - q)
        labels[order] = 2 + np.arange(len(order)) % 4  # none of these is as probable as the rival
        labels[order[::-1][rivals]] = 1
    if certified.any():
        labels[order[: 1 + certified.argmax()]] = 0
    return labels


def classifiers(world, rng):
    """Labels [points] and the number of classes."""
    for bias in (0.5, 1.5):
        classes = int(rng.integers(2, 5))
        yield almost_linear(world, rng, classes, bias)[:, 0], classes
    yield just_certified(world, rng, "two-class"), 2
    yield just_certified(world, rng, "multi-class"), 6


# What is certified


@dataclass(frozen=True)
class Bounds:
    """The exact probabilities of the label of each point, and of the most probable other one."""

    lower: np.ndarray
    upper: np.ndarray


def ranges(world):
    """Every count along every axis, as tables take them."""
    entries = [part for part, _ in world.entries]
    wanted = {name: {} for name, _ in parts_of(world.noise)}
    for name, kind in axes_of(world.noise):
        wanted[name][kind] = range(entries.count(name) + 1)
    return (None, wanted[None]) if None in wanted else (wanted, {})


def zeros_of(world, point):
    """How many entries are zero and how many are not, of every part."""
    counts = {}
    for (part, _), value in zip(world.entries, point, strict=True):
        counts.setdefault(part, [0, 0])[int(value > 0)] += 1
    zeros, nonzeros = ({part: both[i] for part, both in counts.items()} for i in (0, 1))
    return zeros.get(None, zeros), nonzeros.get(None, nonzeros)


def claims(world, distances, bounds, rng):
    """Everything that says what is certified, [points, points]; by the name of who says so."""
    noise, (parts, kinds), most = world.noise, ranges(world), len(world.entries)
    for rule, upper in (("multi-class", bounds.upper), ("two-class", None)):
        yield f"mu, {rule}", distances.certified(lambda radii, q=upper: fp.mu(noise, radii, bounds.lower, q) > 0)
        table = fp.mu_table(noise, bounds.lower, upper, parts, **kinds)
        yield f"table of mu, {rule}", distances.certified(lambda radii, t=table: t[point_of(noise, radii)] > 0)
        l0 = fp.largest_l0_radius(noise, bounds.lower, upper, limit=most)
        yield f"l0, {rule}", at_radius_zero(bounds) & (distances.total <= l0[:, None])
    critical = fp.critical_table(noise, parts, **kinds)
    yield "table of critical", distances.certified(lambda radii: bounds.lower > critical[point_of(noise, radii)])
    yield "critical", distances.certified(lambda radii: bounds.lower > fp.critical_probability(noise, radii))
    yield "rho", distances.certified(lambda radii: fp.rho(noise, radii, bounds.lower) > 0.5)
    yield "some l0 and frontiers", of_some_inputs(world, distances, bounds, rng)


def at_radius_zero(bounds):
    return (bounds.lower > bounds.upper)[:, None]


def of_some_inputs(world, distances, bounds, rng):
    """Frontiers, and l0 radii that know how many zeros there are."""
    inside = np.zeros((len(world.points), len(world.points)), dtype=bool)
    for x in rng.choice(len(world.points), 4, replace=False).tolist():
        p, q = float(bounds.lower[x]), float(bounds.upper[x])
        zeros, nonzeros = zeros_of(world, world.points[x])
        l0 = fp.largest_l0_radius(world.noise, p, q, zeros=zeros, nonzeros=nonzeros)
        inside[x] = (p > q) & (distances.total[x] <= l0)
        for corner in fp.frontier(world.noise, p, q, limit=12 // len(axes_of(world.noise))):
            inside[x] |= (distances.counts[x] <= point_of(world.noise, corner)).all(axis=1)
    return inside


# The check


def check(world, distances, labels, classes, rng):
    """Returns how many pairs of two points were certified, and how many have other labels."""
    p = world.smoothed(labels, classes)
    best = p.argmax(axis=1)
    bounds = Bounds(p.max(axis=1), np.sort(p, axis=1)[:, -2])
    keeps = ahead(p)[:, best].T
    certified = np.zeros(keeps.shape, dtype=bool)
    for name, inside in claims(world, distances, bounds, rng):
        for x, other in np.argwhere(inside & ~keeps)[:1]:
            pytest.fail(f"{name}: {world.points[x]} to {world.points[other]} under {world.noise}")
        certified |= inside
    np.fill_diagonal(certified, False)
    return np.array([certified.sum(), (~keeps).sum()])


def check_all(kind, entries, noises, rng):
    found = np.zeros(2, dtype=np.int64)
    for _ in range(noises):
        world = kind.world(rng, entries)
        assert sum(4 + log2(values - 1) for values in world.sizes) <= 53  # or floats would not be exact
        distances = distances_of(world)
        for labels, classes in classifiers(world, rng):
            found += check(world, distances, labels, classes, rng)
    return found.tolist()


@functools.lru_cache(maxsize=1)
def distances_of(world):
    return world.distances(range(len(world.points)))


# The kinds without "sum one": under that noise no label differs, so nothing could be violated.
PROPER = [name for name in KINDS if name != "sum one"]


def test_the_shares_add_up():
    assert len(PROPER) * SHARE >= 10**5
    assert len(PROPER) * LARGE_SHARE >= 10**7


@pytest.mark.parametrize("name", PROPER)
def test_no_certificate_is_violated_anywhere(name, rng):
    certified, differing = check_all(KINDS[name], KINDS[name].few, 3, rng)
    assert certified >= SHARE
    assert differing >= SHARE


@pytest.mark.slow
@pytest.mark.parametrize("name", PROPER)
def test_no_certificate_is_violated_anywhere_in_larger_spaces(name, rng):
    certified, differing = check_all(KINDS[name], KINDS[name].many, 12, rng)
    assert certified >= LARGE_SHARE
    assert differing >= LARGE_SHARE


def test_where_noise_leaves_no_information_everything_is_certified(rng):
    kind = KINDS["sum one"]
    certified, differing = check_all(kind, kind.few, 3, rng)
    assert differing == 0
    assert certified == 12 * 256 * 255  # every pair, for every classifier
