"""Coins with exactly the probability that a float64 is."""

from fractions import Fraction

import noise_reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipproof.noise.sampling.bit_law import digits_of
from flipproof.noise.sampling.coins import coins, flips
from flipproof.noise.sampling.counter import ENTRIES, NONZEROS, U64, Place
from flipproof.noise.sampling.philox import fill_words, further_word
from flipproof.noise.sampling.samplers import Role

SPECIAL = [0.0, 1.0, 0.5, 0.1, 5e-324, 1 - 2**-53, 1e-300, 2**-32, 2**-32 + 2**-60, 2.2250738585072014e-308]
PLACE = Place(U64(3), U64(0), U64(4), U64(0), U64(5))
REFERENCE = noise_reference.Words(3, Role.SELECT, 4, 5)


def value_of(digits):
    return sum(Fraction(int(digit), 2 ** (32 * (i + 1))) for i, digit in enumerate(digits))


@pytest.mark.parametrize("p", SPECIAL)
def test_digits_of_special_probabilities_add_up(p):
    digits = digits_of(p)
    assert value_of(digits) == Fraction(p)
    assert 1 <= digits.size <= 34
    assert digits.size == 1 or digits[-1] > 0
    assert not digits.flags.writeable


@given(st.floats(0.0, 1.0))
def test_digits_of_any_probability_add_up(p):
    digits = digits_of(p)
    assert value_of(digits) == Fraction(p)
    assert p == 1.0 or digits.max() < 2**32


def test_the_extreme_digits():
    assert digits_of(1.0).tolist() == [2**32]
    assert digits_of(0.0).tolist() == [0]
    assert digits_of(5e-324).tolist() == [0] * 33 + [2**14]  # 2**-1074 = 2**14 / 2**(32 * 34)


@pytest.mark.parametrize("word", [0, 1, 2**31, 2**32 - 1])
def test_certain_coins_never_and_always_flip(word):
    assert not flips(U64(word), digits_of(0.0), PLACE, NONZEROS, 0)
    assert flips(U64(word), digits_of(1.0), PLACE, NONZEROS, 0)


@pytest.mark.parametrize("purpose", [NONZEROS, ENTRIES])
@pytest.mark.parametrize("equal", [0, 1, 2, 4, 5, 16, 32])
@pytest.mark.parametrize("difference", [-1, 0, 1])
def test_a_tie_is_decided_by_the_first_digit_that_differs(purpose, equal, difference):
    """A threshold that agrees with the random number in `equal` words and then is `difference` away from it."""
    number, word = 70, 123_456_789
    random = [word, *(further_word(PLACE, purpose, number, digit) for digit in range(1, 34))]
    threshold = [*random[:equal], random[equal] + difference]
    # Short of the random number, or equal to it as far as it goes: not below. Above it: below.
    for digits in (threshold, [*threshold, 0], [*threshold, 0, 0]):
        below = value_of(random) < value_of(digits)
        assert below == (difference == 1)
        assert flips(U64(word), np.array(digits, np.uint64), PLACE, purpose, number) == below


@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
def test_coins_are_those_of_fractions(number, p):
    first = REFERENCE.first(0, number)
    assert flips(U64(first), digits_of(p), PLACE, NONZEROS, number) == REFERENCE.coin(0, number, p)


@given(st.integers(0, 10**6), st.integers(-3, 3))
def test_coins_with_probabilities_next_to_the_random_number_are_those_of_fractions(number, steps):
    """The nearest floats agree with the random number in its first word: a tie, decided by further ones."""
    first, second = REFERENCE.first(0, number), REFERENCE.further(0, number, 1)
    p = (first * 2**21 + (second >> 11) + steps) / 2**53
    assert flips(U64(first), digits_of(p), PLACE, NONZEROS, number) == REFERENCE.coin(0, number, p)


def near_ties(tile):
    """Probabilities that agree with a coin of the tile in its first 15, 16, 17, 31 or 32 binary digits."""
    for number, digits in [(tile, 15), (tile + 1, 16), (tile + 5, 17), (tile + 31, 31), (tile + 63, 32)]:
        word = REFERENCE.first(0, number)
        for step in (-1, 0, 1):
            yield ((word >> (32 - digits)) + step) / 2**digits


@pytest.mark.parametrize("tile", [0, 64, 2**20])
def test_many_coins_are_the_single_ones(tile):
    words = np.zeros(192, np.uint32)
    for p in [*SPECIAL, 0.6, *near_ties(tile)]:
        fill_words(words, PLACE, NONZEROS, tile, 64)
        together = int(coins(words, digits_of(p), PLACE, NONZEROS, tile))
        assert [together >> j & 1 for j in range(64)] == [REFERENCE.coin(0, tile + j, p) for j in range(64)]
