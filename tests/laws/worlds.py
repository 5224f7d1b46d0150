"""Spaces so small that everything in them can be tried: all points, the exact law of the noise, exact smoothing."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

import flipproof as fp
from flipproof.theory.radii import axes_of, radii_at


def entry_law(noise, values):
    """Probabilities [clean value, noisy value] of one entry; a value beyond the categories (padding) stays as it is."""
    law = np.eye(values)
    for value in range(noise.categories):
        flip = noise.p_minus if value else noise.p_plus
        law[value, : noise.categories] = flip / (noise.categories - 1)
        law[value, value] = 1.0 - flip
    return law


@dataclass(frozen=True)
class World:
    """All points of a space, in lexicographic order. `entries` has the part and the number of values of every entry."""

    noise: fp.FlipNoise | fp.JointNoise
    entries: tuple[tuple[str | None, int], ...]

    @property
    def sizes(self):
        return [values for _, values in self.entries]

    @functools.cached_property
    def points(self):
        return np.array(list(itertools.product(*map(range, self.sizes))))

    def noise_of(self, part):
        return self.noise if isinstance(self.noise, fp.FlipNoise) else self.noise.parts[part]

    @property
    def laws(self):
        return [entry_law(self.noise_of(part), values) for part, values in self.entries]

    def smoothed(self, labels, classes):
        """The probabilities [point, ..., class] for labels [point, ...]."""
        votes = np.eye(classes)[labels].reshape(*self.sizes, -1)
        for axis, law in enumerate(self.laws):
            votes = np.moveaxis(np.tensordot(law, votes, axes=(1, axis)), 0, axis)
        return votes.reshape(*labels.shape, classes)

    def law_at(self, point):
        """The law [points] of the noisy copies of one point."""
        return functools.reduce(np.kron, [law[value] for law, value in zip(self.laws, point, strict=True)])

    def changes(self, clean):
        """How many changes along each axis lead to every point, [points, axes]; -1 where none do."""
        counts = np.zeros((len(self.points), len(axes_of(self.noise))), dtype=int)
        impossible = np.zeros(len(self.points), dtype=bool)
        for (part, _), before, after in zip(self.entries, clean, self.points.T, strict=True):
            impossible |= (after != before) & (np.maximum(before, after) >= self.noise_of(part).categories)
            kinds = {"add": before == 0, "delete": after == 0, "change": (before > 0) & (after > 0)}
            for axis, (name, kind) in enumerate(axes_of(self.noise)):
                if name in (None, part):
                    counts[:, axis] += (after != before) & kinds[kind]
        return np.where(impossible[:, None], -1, counts)

    def distances(self, chosen):
        """How far every point is from each of the chosen ones."""
        return Distances(self, np.stack([self.changes(self.points[i]) for i in chosen]))


class Distances:
    """Changes [inputs, points, axes] as numbers of distinct radii, so that each is asked about once.

    One input stands for all if they are at the same point.
    """

    def __init__(self, world, counts):
        self.noise, self.counts = world.noise, counts
        self.possible = counts[..., 0] >= 0
        codes = counts @ (counts.max() + 1) ** np.arange(counts.shape[2])
        _, first, which = np.unique(codes[self.possible], return_index=True, return_inverse=True)
        self.radii = [radii_at(self.noise, tuple(row)) for row in counts[self.possible][first].tolist()]
        self.which = np.zeros(codes.shape, dtype=int)
        self.which[self.possible] = which

    @property
    def total(self):
        """How many changes lead to a point, [inputs, points]; more than there are entries where none do."""
        return np.where(self.possible, self.counts.sum(axis=2), 2**62)

    def radii_to(self, x, point):
        """The radii that lead from an input to a point."""
        return self.radii[self.which[x, point]]

    def certified(self, at):
        """What is certified, [inputs, points], if `at` says for some radii which inputs are."""
        table = np.array([at(radii) for radii in self.radii])
        return table.T[np.arange(table.shape[1])[:, None], self.which] & self.possible


def ahead(probabilities):
    """Where a label is more probable than all others."""
    order = np.sort(probabilities, axis=-1)
    return (probabilities == order[..., -1:]) & (order[..., -1:] > order[..., -2:-1])


# Classifiers: labels [points, outputs]


def almost_linear(world, rng, classes, bias, outputs=1):
    """With some structure, so that there is something to certify; the larger the bias, the more."""
    size = len(world.entries)
    weights = rng.normal(size=(size, outputs, classes)) / np.sqrt(size)
    offset = bias * rng.permuted([np.arange(classes, dtype=float)] * outputs, axis=1)
    own = rng.normal(size=(len(world.points), outputs, classes)) / 3
    return (np.tensordot(world.points, weights, axes=1) + offset + own).argmax(axis=-1)


def by_ratio(world, clean, other):
    """Points by the ratio of their probabilities around two points, from the largest; and the former probabilities."""
    here, there = world.law_at(world.points[clean]), world.law_at(world.points[other])
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(here / there, nan=-1.0), kind="stable")
    return order, here[order]
