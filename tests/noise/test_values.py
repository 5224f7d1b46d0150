"""Noisy rows of categories, value by value against the same in plain Python."""

import pickle

import numpy as np
import pytest
from noise_reference import Words, noisy_values

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.samplers import Role, Stream, ValueSampler
from flipproof.theory.law import FlipNoise

# A third of all words is passed over for 1431655766 outcomes.
CATEGORIES = [2, 3, 4, 256, 1000, 1431655767, 2**31]


def value_sampler(values, noises, law_of=None, seed=0, part=0):
    laws = np.zeros((1, values.shape[1]), np.int16) if law_of is None else np.array(law_of, np.int16)
    return ValueSampler(values, laws, noises, Stream(seed, part))


def drawn_values(sampler, role, samples, rows):
    return sampler.draw(role, samples, np.asarray(rows, np.int64)).tolist()


def expected_values(sampler, role, samples, rows):
    expected, many = [], len(sampler.law_of) > 1
    for sample in samples:
        for row in rows:
            words = Words(sampler.stream.seed, role, sample, row, sampler.stream.part)
            noises = [None if law < 0 else sampler.noises[law] for law in sampler.law_of[row if many else 0]]
            expected.append(noisy_values(words, sampler.values[row].tolist(), noises))
    return expected


@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize(("p_plus", "p_minus"), [(0.1, 0.3), (1.0, 1.0), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0)])
def test_draws_are_those_of_the_reference(categories, p_plus, p_minus, rng):
    values = rng.integers(0, categories, (4, 30)).astype(np.min_scalar_type(categories - 1))
    values[0] = 0
    sampler = value_sampler(values, [FlipNoise(p_plus, p_minus, categories)], seed=21)
    drawn = drawn_values(sampler, Role.SELECT, range(5, 7), range(4))
    assert drawn == expected_values(sampler, Role.SELECT, range(5, 7), range(4))


def test_rows_longer_than_a_stretch_of_words_are_those_of_the_reference(rng):
    """Words of entries are made 4096 at a time, those of values 64."""
    values = rng.integers(0, 5, (1, 4300)).astype(np.uint8)
    sampler = value_sampler(values, [FlipNoise(0.9, 0.9, 5)], seed=22)
    assert drawn_values(sampler, Role.SELECT, range(1), [0]) == expected_values(sampler, Role.SELECT, range(1), [0])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_each_entry_follows_its_own_law(dtype):
    values = np.array([[0, 1, 2, 1, 0, 99], [1, 0, 6, 0, 1, 99]], dtype)
    noises = [FlipNoise(0.5, 0.5), FlipNoise(0.9, 0.9, 7), FlipNoise(1.0, 1.0)]
    for law_of in ([[0, 0, 1, 2, 2, -1]], [[0, 0, 1, 2, 2, -1], [-1, 2, 1, 0, 1, -1]]):
        sampler = value_sampler(values, noises, law_of, seed=2**64 - 1, part=1)
        samples = range(2**32 - 2, 2**32 + 2)
        drawn = drawn_values(sampler, Role.TRAIN, samples, [1, 0])
        assert drawn == expected_values(sampler, Role.TRAIN, samples, [1, 0])
        assert {row[5] for row in drawn} == {99}


@pytest.mark.parametrize("steps", [-1, 0, 1])
@pytest.mark.parametrize("value", [0, 1])
def test_ties(value, steps):
    """The probability starts with the random word of an entry, so a further word decides."""
    words = Words(23, Role.SELECT, 0, 0)
    for j in range(70):
        p = (words.word(1, j) * 2**21 + (words.further(1, j, 1) >> 11) + steps) / 2**53
        sampler = value_sampler(np.full((1, 70), value, np.uint8), [FlipNoise(p, p)], seed=23)
        (drawn,) = drawn_values(sampler, Role.SELECT, range(1), [0])
        assert (drawn[j] != value) == (steps == 1)


def test_nothing_is_rounded_and_nothing_written_to(rng):
    values = rng.integers(0, 3, (5, 8)).astype(np.uint8)
    before = values.copy()
    sampler = value_sampler(values, [FlipNoise(0.5, 0.5, 3)])
    drawn = sampler.draw(Role.SELECT, range(10), np.arange(5))
    assert sampler.distance == 0
    assert (drawn != np.tile(values, (10, 1))).any()
    assert np.array_equal(values, before)


def test_a_sampler_sent_to_another_process_draws_the_same(rng):
    sampler = value_sampler(rng.integers(0, 3, (5, 8)).astype(np.uint8), [FlipNoise(0.5, 0.5, 3)])
    copy = pickle.loads(pickle.dumps(sampler))
    assert drawn_values(copy, Role.SELECT, range(3), range(5)) == drawn_values(sampler, Role.SELECT, range(3), range(5))


@pytest.mark.parametrize("samples", [range(0, 10, 2), range(-1, 3), range(2**40, 2**40 + 1)])
def test_samples_without_words_of_their_own_are_refused(samples):
    sampler = value_sampler(np.zeros((2, 3), np.uint8), [FlipNoise(0.5, 0.5)])
    with pytest.raises(InvalidInputError, match="expected consecutive samples"):
        sampler.draw(Role.SELECT, samples, np.arange(2))


def test_more_rows_than_there_are_words_for_are_refused():
    with pytest.raises(TooLargeError, match=f"expected at most {2**32} rows, got {2**32 + 1}"):
        value_sampler(np.broadcast_to(np.uint8(0), (2**32 + 1, 1)), [FlipNoise(0.5, 0.5)])
