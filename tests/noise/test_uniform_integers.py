"""Words become uniform integers without bias: every outcome has equally many accepted words."""

import itertools

import numpy as np
import pytest
from bit_rows import bit_sampler, drawn_rows
from noise_reference import POSITIONS, Words, below

from flipproof.noise.sampling.samplers import Role
from flipproof.theory.law import FlipNoise

# Of all blocks a sampler makes, the one for which most words are passed over: 2**32 = 4099 * 1047553 + 1047549.
WORST_BLOCK = 1_047_553


def accepted_words(limit, outcome):
    """How many words w have w * limit = outcome * 2**32 + rest with rest >= 2**32 mod limit."""
    first = -(-(outcome * 2**32 + 2**32 % limit) // limit)
    return -(-(outcome + 1) * 2**32 // limit) - first


@pytest.mark.parametrize("limit", [1, 2, 3, 255, 999, 2879, 4096, WORST_BLOCK, 2**20, 1431655766, 2**31 - 1])
def test_every_outcome_has_equally_many_words(limit, rng):
    ends = range(limit) if limit < 5000 else [*range(2000), *range(limit - 2000, limit)]
    outcomes = {*ends, *rng.integers(0, limit, 5000).tolist()}
    assert {accepted_words(limit, outcome) for outcome in outcomes} == {2**32 // limit}


@pytest.mark.parametrize("limit", [1, 3, 7, 11, 16, 255])
def test_counting_words_of_eight_bits(limit):
    """The same rule with 2**8 in the place of 2**32, where all words can be tried."""
    products = np.arange(2**8) * limit
    kept = products[products % 2**8 >= 2**8 % limit] // 2**8
    assert np.bincount(kept, minlength=limit).tolist() == [2**8 // limit] * limit


def test_positions_pass_over_the_words_that_would_favour_some():
    """Given how many there are, the positions are the first distinct outcomes of the block's words after four."""
    sampler, samples = bit_sampler(FlipNoise(64 / WORST_BLOCK, 0.5), 31, rows=[[]], lengths=[WORST_BLOCK]), range(400)
    assert sampler._law.block_size == WORST_BLOCK
    passed_over = 0
    for sample, row in zip(samples, drawn_rows(sampler, Role.SELECT, samples, [0]), strict=True):
        words, numbers, draws = Words(31, Role.SELECT, sample, 0), itertools.count(4), 0
        source, found = (words.word(POSITIONS, number) for number in numbers), set()
        while len(found) < len(row):
            found.add(below(WORST_BLOCK, source))
            draws += 1
        assert row == sorted(found)
        passed_over += next(numbers) - 4 - draws
    assert passed_over > 0
