"""Sequences whose gaps close (docs/theory.md, statement 27), with every sequence over a small alphabet tried.

Probabilities of deletion are sixteenths, so that all probabilities of noisy copies are exact in float64; certificates
are asked for at the exact probabilities of the smoothed classifier, with nothing to spare.
"""

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from worlds import ahead

import flipproof as fp
from flipproof.theory import exact
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.edit_distance import max_edit_distance
from flipproof.theory.scope import Scope

CLASSES = 3


def copies(sequence, p):
    """The noisy copies of a sequence and their exact probabilities."""
    law = {}
    for kept in itertools.product((False, True), repeat=len(sequence)):
        left = tuple(itertools.compress(sequence, kept))
        law[left] = law.get(left, 0) + (1 - p) ** sum(kept) * p ** (len(kept) - sum(kept))
    return law


@functools.cache
def common(one, other):
    """The length of the longest common subsequence."""
    if not one or not other:
        return 0
    if one[-1] == other[-1]:
        return common(one[:-1], other[:-1]) + 1
    return max(common(one[:-1], other), common(one, other[:-1]))


@functools.cache
def edits(one, other):
    """The edit distance, by replacements as well as insertions and deletions."""
    if not one or not other:
        return len(one) + len(other)
    replaced = edits(one[:-1], other[:-1]) + (one[-1] != other[-1])
    return min(replaced, edits(one[:-1], other) + 1, edits(one, other[:-1]) + 1)


@dataclass(frozen=True)
class Sequences:
    """All sequences over an alphabet up to a length, the empty one included."""

    alphabet: int
    longest: int

    @functools.cached_property
    def points(self):
        lengths = range(self.longest + 1)
        return [seq for length in lengths for seq in itertools.product(range(self.alphabet), repeat=length)]

    @functools.cached_property
    def insertions(self):
        """[inputs, points]: how many tokens of a point are not in the longest common subsequence."""
        return np.array([[len(other) - common(one, other) for other in self.points] for one in self.points])

    @functools.cached_property
    def deletions(self):
        """[inputs, points]: how many tokens of the input are not in the longest common subsequence."""
        return np.array([[len(one) - common(one, other) for other in self.points] for one in self.points])

    @functools.cached_property
    def distances(self):
        """[inputs, points]: the edit distances."""
        return np.array([[edits(one, other) for other in self.points] for one in self.points])

    def law(self, p):
        """[points, noisy copies]: exact in float64 for sixteenths."""
        number = {point: i for i, point in enumerate(self.points)}
        law = np.zeros((len(number), len(number)))
        for i, point in enumerate(self.points):
            for copy, probability in copies(point, Fraction(p)).items():
                law[i, number[copy]] = float(probability)
        return law


WORLDS = [Sequences(1, 5), Sequences(2, 5), Sequences(3, 4)]


def labellings(world, law, rng):
    """Labels with structure, at random, and such that they are as near as can be to a certificate that fails."""
    lengths = np.array([len(point) for point in world.points])
    counts = np.array([[point.count(token) for token in range(world.alphabet)] for point in world.points])
    for bias in (0.3, 1.0, 3.0):
        weights = rng.normal(size=(world.alphabet, CLASSES))
        yield (counts @ weights + bias * rng.permutation(CLASSES) + rng.normal(size=(len(lengths), CLASSES))).argmax(1)
    yield rng.integers(0, CLASSES, len(lengths))
    yield np.where(lengths < rng.integers(1, world.longest + 1), 0, rng.integers(1, CLASSES, len(lengths)))
    clean, other = rng.choice(len(lengths), 2, replace=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(law[clean] / law[other], nan=-1.0), kind="stable")
    for least in (0.5, 0.75, 0.9):  # what the other input makes least of
        yield np.where(
            np.isin(np.arange(len(order)), order[: 1 + np.searchsorted(law[clean][order].cumsum(), least)]), 0, 1
        )


def bounded(world, probabilities, p):
    """Certificates at the exact probabilities."""
    ordered = np.sort(probabilities, axis=1)
    lengths = np.array([[len(point)] for point in world.points])
    scope = Scope(np.zeros_like(lengths), lengths, closes_gaps=True)
    return BoundedInputs(fp.FlipNoise(0.0, p), ordered[:, -1], ordered[:, -2], scope, np.zeros(len(lengths), bool))


def checked(world, rng):
    """How many pairs are certified by separate budgets, and how many by the edit distance; none may be wrong."""
    p = int(rng.integers(1, 17)) / 16
    law = world.law(p)
    pairs = np.zeros(2, dtype=int)
    for labels in labellings(world, law, rng):
        probabilities = law @ np.eye(CLASSES)[labels]
        first, inputs = ahead(probabilities), bounded(world, probabilities, p)
        same = first[:, probabilities.argmax(axis=1)].T  # [inputs, points]
        for add, delete in itertools.product(range(world.longest + 1), repeat=2):
            within = (world.insertions <= add) & (world.deletions <= delete)
            covered = within & inputs.certified(fp.Radii(add=add, delete=delete))[:, None]
            assert same[covered].all(), f"{world} p={p} add={add} delete={delete} labels={labels.tolist()}"
            pairs[0] += covered.sum()
        covered = (world.distances <= max_edit_distance(inputs)[:, None]) & ~inputs.abstained[:, None]
        assert same[covered].all(), f"{world} p={p} labels={labels.tolist()}"
        pairs[1] += covered.sum()
    return pairs


def test_edits_are_counted_by_the_common_subsequence():
    """Replacements are what insertions and deletions share, at most."""
    for world in WORLDS:
        both = np.maximum(world.insertions, world.deletions)
        assert (both <= world.distances).all()
        assert (world.distances <= world.insertions + world.deletions).all()


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_no_certified_sequence_changes_its_label_within_its_edits(world, rng):
    total = np.zeros(2, dtype=int)
    while total.min() < 20_000:
        total += checked(world, rng)


def pairs_of_distinct_tokens():
    """A sequence and another one, of which all tokens differ, with every number of common ones."""
    for length, delete, add in itertools.product(range(5), range(4), range(4)):
        if delete <= length:
            clean = tuple(range(length))
            yield clean, (*(10 + i for i in range(add)), *clean[delete:]), add, delete


@pytest.mark.parametrize("p", [0.25, 0.5, 0.8125])
def test_it_is_tight_where_all_tokens_differ(p):
    """The worst classifier takes noisy copies by their ratio, and gets exactly what the regions say."""
    for clean, other, add, delete in pairs_of_distinct_tokens():
        here, there = copies(clean, Fraction(p)), copies(other, Fraction(p))
        order = sorted(here, key=lambda copy: there.get(copy, 0) / here[copy])
        mass, least = Fraction(0), Fraction(0)
        for copy in order:
            mass, least = mass + here[copy], least + there.get(copy, 0)
            assert exact.rho(fp.FlipNoise(0.0, p), fp.Radii(add=add, delete=delete), mass) == least


def test_equal_tokens_can_only_help():
    p = Fraction(1, 2)
    here, there = copies((0, 0), p), copies((0,), p)
    least = sum(there[copy] for copy in [(0, 0), (0,)] if copy in there)
    mass = here[0, 0] + here[(0,)]
    assert least >= exact.rho(fp.FlipNoise(0.0, 0.5), fp.Radii(delete=1), mass)


@pytest.mark.parametrize("p", [0.3, 0.6, 0.85, 0.9])
def test_closed_forms(p):
    """Insertions alone: p_lower p^r > 1/2. Deletions alone: 1 - p_lower < p^r / 2. Edits: p_lower - 1 + p^r > 1/2."""
    p_lower = np.linspace(0.51, 0.9999, 300)
    lengths = np.full((300, 1), 1000)
    scope = Scope(np.zeros_like(lengths), lengths, closes_gaps=True)
    inputs = BoundedInputs(fp.FlipNoise(0.0, p), p_lower, 1 - p_lower, scope, np.zeros(300, dtype=bool))
    counts = np.arange(1, 200)[:, None]
    assert (max_edit_distance(inputs) == (p_lower - 1 + p**counts > 0.5).sum(axis=0)).all()
    assert (inputs.max_radius("add") == (p_lower * p**counts > 0.5).sum(axis=0)).all()
    assert (inputs.max_radius("delete") == (1 - p_lower < p**counts / 2).sum(axis=0)).all()


def test_more_edits_than_tokens():
    """Whoever replaces all tokens may still insert more: an input of one token is no exception."""
    scope = Scope([[0], [0]], [[0], [1]], closes_gaps=True)
    p_lower = np.full(2, 0.999)
    inputs = BoundedInputs(fp.FlipNoise(0.0, 0.9), p_lower, 1 - p_lower, scope, np.zeros(2, dtype=bool))
    assert max_edit_distance(inputs).tolist() == [6, 6]
    assert inputs.max_radius("add").tolist() == [6, 6]
    assert inputs.max_radius("delete").tolist() == [0, 1]
    assert max_edit_distance(inputs, limit=3).tolist() == [3, 3]


def test_noise_that_deletes_everything_says_the_same_of_everything():
    scope = Scope([[0]], [[4]], closes_gaps=True)
    inputs = BoundedInputs(fp.FlipNoise(0.0, 1.0), np.array([0.9]), np.array([0.1]), scope, np.zeros(1, dtype=bool))
    assert max_edit_distance(inputs).tolist() == [fp.UNBOUNDED]


@pytest.mark.parametrize("scope", [None, Scope([[3]], [[4]]), Scope([[3]], [[4]], makes_room=True)])
def test_other_votes_have_no_edit_distance(scope):
    votes = fp.Votes([[99, 1]], [[990, 10]], fp.FlipNoise(0.0, 0.8), 100, 1000, scope=scope)
    with pytest.raises(fp.InvalidInputError, match=r"expected votes on sequences whose gaps close, .*gaps='closed'"):
        fp.certify(votes).max_edit_distance()


@pytest.mark.parametrize(
    "noise",
    [fp.FlipNoise(0.1, 0.8), fp.FlipNoise(0.0, 0.8, 3), fp.JointNoise(tokens=fp.FlipNoise(0.0, 0.8))],
)
def test_gaps_close_only_under_noise_that_deletes(noise):
    scope = Scope([[0]], [[4]], closes_gaps=True)
    with pytest.raises(fp.InvalidInputError, match="expected the scope of 1 inputs under"):
        fp.Votes([[99, 1]], [[990, 10]], noise, 100, 1000, scope=scope)
