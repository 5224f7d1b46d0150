"""Tokens that noise hides: the law that is drawn, and that nothing certified for it is violated."""

import itertools
from collections import Counter
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from drawing import draw
from noise_reference import Words, noisy_values

import flipproof as fp
from chi_square import p_value
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.tokens import Tokens

NOISE = fp.FlipNoise(0.0, 0.6)
MASK = 9
VALUES = [[5, 2, 7, 8, 9], [4, 7, 7, 7, 7], [9, 0, 9, 3, 7]]
TOKENS = Tokens(VALUES, padding=7, mask=MASK)


# What is drawn


def test_draws_are_those_of_the_reference():
    sampler = TOKENS.sampler(NOISE, 31)
    for role, sample, row in itertools.product(Role, (0, 5, 2**33), range(3)):
        bits = [int(value not in (7, MASK)) for value in VALUES[row]]
        kept = noisy_values(Words(31, role, sample, row), bits, [NOISE] * 5)
        expected = [value if bit else MASK for value, bit in zip(VALUES[row], kept, strict=True)]
        assert sampler.draw(role, range(sample, sample + 1), np.array([row])).tolist() == [expected]


def test_draws_written_down():
    """Saved votes and resumed runs rely on the streams never changing."""
    drawn = draw(TOKENS, NOISE, samples=range(2**33 + 5, 2**33 + 8), seed=2**40 + 2020, role=Role.ESTIMATE)
    assert drawn.reshape(3, 15).tolist() == [
        [9, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 9],
        [9, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 9, 9, 9],
        [9, 9, 9, 9, 9, 4, 9, 9, 9, 9, 9, 9, 9, 3, 9],
    ]
    assert drawn.dtype == np.int64


def test_copies_have_the_exact_law():
    """All copies of a sequence, counted; from 1e-6 on such a deviation happens once in a million."""
    for row, values in enumerate(VALUES):
        drawn = draw(TOKENS, NOISE, samples=20_000).reshape(-1, 3, 5)[:, row]
        law = copies_of([MASK if value == 7 else value for value in values], NOISE.p_minus, MASK)
        seen = Counter(map(tuple, drawn.tolist()))
        assert set(seen) <= set(law)
        assert p_value([seen[copy] for copy in law], [float(p) for p in law.values()]) > 1e-6


@pytest.mark.parametrize(("p_minus", "expected"), [(0.0, [[5, 2, 9, 8, 9]]), (1.0, [[9] * 5])])
def test_all_or_nothing(p_minus, expected):
    assert draw(Tokens(VALUES[:1], padding=7, mask=MASK), fp.FlipNoise(0.0, p_minus), samples=1).tolist() == expected


def test_padding_and_mask_are_both_empty():
    """A classifier can't tell hidden tokens, padding and tokens that were hidden before apart."""
    empty = Tokens(np.where(np.array(VALUES) == 7, MASK, VALUES), mask=MASK)
    assert TOKENS.lengths.tolist() == empty.lengths.tolist() == [3, 1, 2]
    assert np.array_equal(draw(TOKENS, NOISE), draw(empty, NOISE))


@pytest.mark.parametrize("mask", [-1, 0, 3, 2**40])
def test_mask_may_be_any_number(mask):
    """Also one among the tokens: what holds it is empty."""
    drawn = draw(Tokens([[1, 2, mask]], mask=mask), NOISE, samples=50)
    assert {tuple(copy) for copy in drawn.tolist()} == set(itertools.product((1, mask), (2, mask), (mask,)))


def test_a_joint_noise_of_the_only_part_is_its_noise():
    assert np.array_equal(draw(TOKENS, fp.JointNoise(tokens=NOISE)), draw(TOKENS, NOISE))


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.1, 0.6), fp.FlipNoise(0.0, 0.6, 3), fp.FlipNoise(1e-300, 0.6)])
def test_noise_that_does_more_than_hide_is_refused(noise):
    message = r"expected noise with p_plus = 0 and 2 categories for tokens with a mask, got FlipNoise\("
    with pytest.raises(InvalidInputError, match=message):
        TOKENS.sampler(noise, 0)


def test_memory_is_at_least_what_a_row_takes():
    sampler = TOKENS.sampler(NOISE, 0)
    assert 12 * sampler.bytes_per_row > sampler.draw(Role.SELECT, range(4), np.arange(3)).nbytes
    assert sampler.distance == 0


# What is certified, by all sequences and all copies of a small world, in fractions. The last number is the mask.


def copies_of(sequence, p_minus, mask):
    """The probability of every noisy copy of a sequence."""
    hidden = Fraction(p_minus)
    options = [[(mask, Fraction(1))] if token == mask else [(token, 1 - hidden), (mask, hidden)] for token in sequence]
    return {tuple(token for token, _ in copy): prod(p for _, p in copy) for copy in itertools.product(*options)}


def radii_between(x, y, mask):
    """Tokens that are no longer there, and tokens that are new."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a != b]
    return fp.Radii(add=sum(b != mask for _, b in pairs), delete=sum(a != mask for a, _ in pairs))


class SmallWorld:
    """All sequences, and the law of their copies [sequence, copy]; all its numbers are floats without rounding."""

    def __init__(self, words, length, p_minus):
        self.mask, self.noise = words, fp.FlipNoise(0.0, p_minus)
        self.sequences = list(itertools.product(range(words + 1), repeat=length))
        laws = [copies_of(x, p_minus, self.mask) for x in self.sequences]
        exact = [[law.get(copy, Fraction(0)) for copy in self.sequences] for law in laws]
        self.law = np.array(exact, dtype=float)
        assert [[Fraction(p) for p in row] for row in self.law.tolist()] == exact

    def smoothed(self, labels, classes):
        """Probabilities [classifier, sequence, class] of classifiers given by their labels [classifier, copy]."""
        return np.einsum("xz,fzc->fxc", self.law, np.eye(classes)[labels])

    def pairs(self):
        for (i, x), (j, y) in itertools.product(enumerate(self.sequences), repeat=2):
            yield i, j, radii_between(x, y, self.mask)


def every_classifier(copies, classes):
    return np.array(list(itertools.product(range(classes), repeat=copies)))


def some_classifiers(rng, world, classes, count):
    """Half of them say a class of their own often, so that there is something to certify."""
    labels = rng.integers(0, classes, (count, len(world.sequences)))
    often = rng.random(labels.shape) < np.linspace(0.0, 1.0, count)[:, None]
    return np.where(often, rng.integers(0, classes, (count, 1)), labels)


def worlds(rng):
    """(world, labels, classes): all classifiers of very small worlds, some of larger ones."""
    yield SmallWorld(1, 2, 0.75), every_classifier(4, 3), 3
    yield SmallWorld(2, 2, 0.75), every_classifier(9, 2), 2
    yield SmallWorld(2, 2, 0.5), every_classifier(9, 2), 2
    for world in (SmallWorld(2, 3, 0.875), SmallWorld(3, 2, 0.75), SmallWorld(1, 4, 0.9375)):
        yield world, some_classifiers(rng, world, 3, 300), 3


def test_no_certificate_is_violated_anywhere(rng):
    certified = 0
    for world, labels, classes in worlds(rng):
        p, which = world.smoothed(labels, classes), np.arange(len(labels))
        for i, j, radii in world.pairs():
            label = p[:, i].argmax(axis=1)
            here, there = p[which, i, label], p[which, j, label]
            others = np.where(np.eye(classes, dtype=bool)[label][:, None], -1.0, p).max(axis=2)
            for p_upper in (others[:, i], None):
                margin = fp.mu(world.noise, radii, here, p_upper)
                assert (margin <= there - others[:, j] + 1e-12).all()
                assert (there > others[:, j])[margin > 0].all(), (world.sequences[i], world.sequences[j])
                certified += int((margin > 0).sum()) * (i != j)
    assert certified > 10_000


def test_every_pair_of_sequences_has_a_classifier_that_attains_the_bound():
    """So no smaller radii would do for a replaced, a removed or a written token."""
    world = SmallWorld(2, 2, 0.75)
    p = world.smoothed(every_classifier(9, 2), 2)[:, :, 0]
    for i, j, radii in world.pairs():
        assert (fp.rho(world.noise, radii, p[:, i]) <= p[:, j]).all()
        for corner in np.minimum(fp.regions(world.noise, radii).clean.cumsum(), 1.0):  # rho is linear between these
            attained = p[np.abs(p[:, i] - corner) < 1e-12, j].min()
            assert fp.rho(world.noise, radii, corner) == pytest.approx(attained, abs=1e-12)


@pytest.mark.parametrize("replaced", [1, 2, 3])
def test_replaced_tokens_cost_what_levine_and_feizi_say(replaced):
    """An attacker gains the probability that some of them are seen, 1 - p^r, on either side; a classifier gives it.

    It says 0 when it sees a token that will be replaced, 1 when it sees one that replaces it, and what it likes if
    it sees neither, which happens with the same probability before and after.
    """
    world, hidden = SmallWorld(2, 4, 0.875), 0.875**replaced
    x, y = (0,) * 4, (1,) * replaced + (0,) * (4 - replaced)
    assert radii_between(x, y, world.mask) == (radii := fp.Radii(add=replaced, delete=replaced))
    for last in (0, world.mask):
        for other in (1, 2):
            labels = [
                next((token for token in copy[:replaced] if token != world.mask), other if copy[-1] == last else 0)
                for copy in world.sequences
            ]
            p = world.smoothed(np.array([labels]), 3)[0]
            before, after = p[world.sequences.index(x)], p[world.sequences.index(y)]
            assert fp.rho(world.noise, radii, before[0]) == pytest.approx(before[0] - (1 - hidden), abs=1e-12)
            assert after[0] == pytest.approx(before[0] - (1 - hidden), abs=1e-12)
            margin = before[0] - before[1] - 2 * (1 - hidden)
            assert fp.mu(world.noise, radii, before[0], before[1]) == pytest.approx(margin, abs=1e-12)
            assert after[0] - after[1] == pytest.approx(margin, abs=1e-12)
            two_class = 2 * (before[0] - (1 - hidden)) - 1
            assert fp.mu(world.noise, radii, before[0]) == pytest.approx(two_class, abs=1e-12)


def test_an_unseen_token_is_no_way_around():
    """The classifier may know every token: a bit of its own for each, seen in no copy of the clean sequence."""
    known = fp.FunctionClassifier(lambda batch: (batch == 3).any(axis=1).astype(int), classes=2)
    clean, attacked = (
        fp.vote(known, Tokens([[word, 1, 2]], mask=9), fp.FlipNoise(0.0, 0.875), n_select=100, n_estimate=4000)
        for word in (0, 3)
    )
    certificates = fp.certify(clean, alpha=0.001)
    assert certificates.certified(fp.Radii(add=1, delete=1)).tolist() == [True]
    assert clean.estimation[0].tolist() == [4000, 0]
    assert attacked.estimation[0, 0] > attacked.estimation[0, 1] > 0
