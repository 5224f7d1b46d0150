"""The generator: published answers, and words that do not depend on how they are asked for."""

import itertools

import noise_reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipproof.noise.sampling import counter, philox
from flipproof.noise.sampling.counter import ENTRIES, NONZEROS, POSITIONS, U64, Place
from flipproof.noise.sampling.samplers import Role

# Random123, kat_vectors, philox4x32 10.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
PLACE = Place(U64(2**63 + 5), U64(1), U64(2**39 + 7), U64(1), U64(2**32 - 1))
REFERENCE = noise_reference.Words(2**63 + 5, Role.ESTIMATE, 2**39 + 7, 2**32 - 1, part=1)

fields = st.tuples(
    st.integers(0, 2**64 - 1),  # seed
    st.integers(0, 3),  # role
    st.integers(0, counter.SAMPLE_LIMIT - 1),
    st.integers(0, 3),  # part
    st.integers(0, counter.ROW_LIMIT - 1),
    st.integers(0, 63),  # purpose
    st.integers(0, counter.BLOCK_LIMIT - 1),
    st.integers(0, counter.GROUP_MASK),
)


def counter_and_key(seed, role, sample, part, row, purpose, block, group):
    place = Place(U64(seed), U64(role), U64(sample), U64(part), U64(row))
    return philox.counter_and_key(place, U64(purpose), U64(block), U64(group))


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_known_answers(counter, key, answer):
    given_words = tuple(int(word, 16) for word in (counter + " " + key).split())
    expected = tuple(int(word, 16) for word in answer.split())
    assert philox.philox(*map(U64, given_words)) == expected
    assert noise_reference.philox(given_words[:4], given_words[4:]) == expected


@given(fields)
def test_every_field_can_be_read_off_the_counter(place):
    """So no two places share a counter."""
    seed, role, sample, part, row, purpose, block, group = place
    c0, c1, c2, c3, k0, k1 = counter_and_key(*place)
    assert max(c0, c1, c2, c3, k0, k1) < 2**32
    assert (c0 % 2**24, c0 >> 24 & 63, c0 >> 30) == (group, purpose, part)
    assert (c1, c2 + (c3 % 2**8 << 32)) == (row, sample)
    assert (c3 >> 8 & 3, c3 >> 10) == (role, block)
    assert k0 + (k1 << 32) == seed


@given(fields, fields)
def test_different_places_have_different_counters(one, other):
    assert (one == other) == (counter_and_key(*one) == counter_and_key(*other))


def test_purposes_have_no_words_in_common():
    further = [{16 * (int(purpose) + 1) + i for i in range(9)} for purpose in (NONZEROS, ENTRIES)]
    first = {int(p) for p in (NONZEROS, ENTRIES, POSITIONS, counter.VALUES)}
    assert len(first) == 4
    assert all(one.isdisjoint(other) for one, other in itertools.combinations([first, *further], 2))
    assert max(set.union(first, *further)) < 64


# Inside a tile of 32 words, across tiles, across blocks of 2**26 words, and at the last words of all.
@pytest.mark.parametrize("first", [0, 1, 63, 64, 100, 2**26 - 70, 2**26, 5 * 2**26 - 1, counter.WORD_LIMIT - 200])
@pytest.mark.parametrize("count", [0, 1, 64, 65, 200])
def test_many_words_are_the_single_words(first, count):
    words = np.zeros(count + 128, np.uint32)
    skip = philox.fill_words(words, PLACE, POSITIONS, first, count)
    numbers = range(first, first + count)
    assert words[skip : skip + count].tolist() == [REFERENCE.word(2, number) for number in numbers]


@pytest.mark.parametrize("number", [0, 1, 2**24 - 1, 2**24, counter.WORD_LIMIT - 1])
@pytest.mark.parametrize("purpose", [NONZEROS, ENTRIES])
def test_further_words_belong_to_one_number(purpose, number):
    words = [philox.further_word(PLACE, purpose, number, digit) for digit in range(1, 34)]
    assert words == [REFERENCE.further(int(purpose), number, digit) for digit in range(1, 34)]
    assert len({REFERENCE.word(int(purpose), number), *words}) == 34


def test_blocks_share_out_the_tiles():
    """A kernel finds the words of a block by its tiles, so tiles must fill blocks exactly."""
    words_of_block, words_of_tile = 4 * 2**counter.GROUP_BITS, 32
    assert words_of_block == words_of_tile * 2**counter.TILE_BITS


@pytest.mark.parametrize("block", [0, 1, 5, counter.BLOCK_LIMIT - 1])
@pytest.mark.parametrize("tile", [0, 1, 2**counter.TILE_BITS - 1])
def test_tiles_of_a_block_have_its_words(block, tile):
    words = np.zeros(32, np.uint32)
    philox.fill_tile(words, 0, PLACE, POSITIONS, (block << counter.TILE_BITS) + tile)
    groups = (philox.group_of_words(PLACE, POSITIONS, U64(block), U64(8 * tile + i)) for i in range(8))
    assert sorted(words) == sorted(word for group in groups for word in group)
