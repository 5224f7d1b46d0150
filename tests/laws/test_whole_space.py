"""Inputs small enough to try everything: no certified point changes its label anywhere in its ball."""

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory.radii import kinds_of

# (noise, entries, classes): a joint noise splits the entries into parts.
SPACES = {
    "binary": (fp.FlipNoise(0.1, 0.3), {None: 6}, 3),
    "deletion": (fp.FlipNoise(0.0, 0.4), {None: 6}, 2),
    "above one": (fp.FlipNoise(0.8, 0.7), {None: 6}, 3),
    "ternary": (fp.FlipNoise(0.15, 0.35, 3), {None: 4}, 3),
    "ternary symmetric": (fp.FlipNoise(0.2, 0.2, 3), {None: 4}, 4),
    "joint": (fp.JointNoise(a=fp.FlipNoise(0.05, 0.3), b=fp.FlipNoise(0.1, 0.4, 3)), {"a": 3, "b": 2}, 3),
}


def entries_of(noise, sizes):
    parts = dict(noise) if isinstance(noise, fp.JointNoise) else {None: noise}
    return [(name, parts[name]) for name, size in sizes.items() for _ in range(size)]


def entry_law(part, value, seen):
    flip = Fraction(part.p_minus if value else part.p_plus)
    return 1 - flip if seen == value else flip / (part.categories - 1)


def changes(entries, x, y):
    """How many additions, deletions and changes lead from x to y, by part."""
    counts = {name: dict.fromkeys(kinds_of(part), 0) for name, part in entries}
    for (name, _), a, b in zip(entries, x, y, strict=True):
        if a != b:
            counts[name]["add" if a == 0 else "delete" if b == 0 else "change"] += 1
    radii = {name: fp.Radii(**kinds) for name, kinds in counts.items()}
    return radii.get(None, radii)


def smoothed(entries, space, labels, x, classes):
    """The exact probability of every class."""
    p = [Fraction(0)] * classes
    for z, label in zip(space, labels, strict=True):
        p[label] += prod(entry_law(part, a, b) for (_, part), a, b in zip(entries, x, z, strict=True))
    return p


def down(fraction):
    value = float(fraction)
    return value if value <= fraction else float(np.nextafter(value, 0))


@pytest.mark.parametrize("name", SPACES)
def test_no_certificate_is_violated_anywhere(name, rng):
    noise, sizes, classes = SPACES[name]
    entries = entries_of(noise, sizes)
    space = list(itertools.product(*(range(part.categories) for _, part in entries)))
    certified = 0
    for _ in range(3):
        # A classifier with some structure, so that there is something to certify, and some noise of its own.
        weights = rng.normal(size=(classes, len(entries)))
        offset = rng.normal(size=classes) * 2
        scores = np.array(space) @ weights.T + offset + rng.normal(size=(len(space), classes)) / 2
        labels = scores.argmax(axis=1)
        law = {x: smoothed(entries, space, labels, x, classes) for x in space}
        best = {x: max(range(classes), key=p.__getitem__) for x, p in law.items()}
        for x in space[:: max(1, len(space) // 12)]:
            p, y = law[x], best[x]
            p_lower, p_upper = down(p[y]), 1 - down(1 - max(p[c] for c in range(classes) if c != y))
            for other in space:
                radii = changes(entries, x, other)
                for upper in (p_upper, None):
                    if fp.mu(noise, radii, p_lower, upper) > 0:
                        certified += x != other
                        q = law[other]
                        assert all(q[y] > q[c] for c in range(classes) if c != y), (x, other)
    assert certified > 50
