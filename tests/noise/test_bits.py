"""Noisy rows of bits, bit by bit against the same in plain Python."""

import pickle
from bisect import bisect_right

import numpy as np
import pytest
from bit_rows import LENGTHS, NOISES, ROWS, bit_sampler, drawn_rows
from noise_reference import Words, noisy_bits

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling import bit_law
from flipproof.noise.sampling.bit_law import binomial_table
from flipproof.noise.sampling.block_kernels import _binomial
from flipproof.noise.sampling.samplers import BitSampler, Role, Stream
from flipproof.theory.law import FlipNoise


def expected_rows(sampler, role, samples, rows, ones=ROWS, lengths=LENGTHS):
    size, stream = int(sampler._law.block_size), sampler.stream
    return [
        noisy_bits(Words(stream.seed, role, sample, row, stream.part), ones[row], lengths[row], sampler.noise, size)
        for sample in samples
        for row in rows
    ]


def assert_same(drawn, expected):
    """In order, each once."""
    assert drawn == [sorted(row) for row in expected]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 entries, so that short rows have many, the last one cut off."""
    monkeypatch.setattr(bit_law, "_SMALLEST_BLOCK", 16)
    monkeypatch.setattr(bit_law, "_FLIPS_PER_BLOCK", 2**-30)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_draws_are_those_of_the_reference(name, dtype):
    sampler = bit_sampler(NOISES[name], seed=11, dtype=dtype)
    samples, rows = range(3, 7), range(len(ROWS))
    drawn = drawn_rows(sampler, Role.SELECT, samples, rows)
    assert_same(drawn, expected_rows(sampler, Role.SELECT, samples, rows))


@pytest.mark.parametrize("name", ["few additions", "some additions", "additions only"])
def test_draws_of_many_small_blocks_are_those_of_the_reference(name, small_blocks):
    sampler = bit_sampler(NOISES[name], seed=12)
    assert sampler._law.block_size == 16
    samples, rows = range(20), range(len(ROWS))
    drawn = drawn_rows(sampler, Role.ESTIMATE, samples, rows)
    assert_same(drawn, expected_rows(sampler, Role.ESTIMATE, samples, rows))


def test_a_row_of_several_real_blocks_is_that_of_the_reference():
    ones, lengths = [[5, 4095, 4096, 8191, 8192, 9999]], [10_000]
    sampler = bit_sampler(FlipNoise(0.12, 0.5), 13, rows=ones, lengths=lengths)
    assert sampler._law.block_size == 4096
    drawn = drawn_rows(sampler, Role.ESTIMATE, range(2), [0])
    assert_same(drawn, expected_rows(sampler, Role.ESTIMATE, range(2), [0], ones, lengths))


@pytest.mark.parametrize("step", [7, 41])
@pytest.mark.parametrize("p_minus", [0.0, 0.5, 1.0])
def test_blocks_with_many_ones_are_those_of_the_reference(step, p_minus):
    """Coins come in 64 at a time; the ones of a block may begin anywhere among them."""
    ones, lengths = [list(range(3, 9000, step))], [9001]
    sampler = bit_sampler(FlipNoise(0.03, p_minus), 20, rows=ones, lengths=lengths)
    assert sampler._law.block_size == 4096
    assert all(sum(one < border for one in ones[0]) % 64 for border in (4096, 8192))
    drawn = drawn_rows(sampler, Role.ESTIMATE, range(2), [0])
    assert_same(drawn, expected_rows(sampler, Role.ESTIMATE, range(2), [0], ones, lengths))


def sparse_row(length, noise, samples):
    """Ones of a row in blocks of 2**20: where samples have flips, at borders, and more than 64 in two blocks."""
    flips = set().union(*(noisy_bits(Words(21, Role.SELECT, i, 0), [], length, noise, 2**20) for i in samples))
    borders = {0, 1, 2**20 - 1, 2**20, 2**21 - 1, 2**21, length - 1}
    return sorted({*sorted(flips)[::2], *borders, *range(70_000, 2**20, 7001), *range(2**20 + 5, 2**21, 9001)})


@pytest.mark.parametrize(("p_minus", "dtype"), [(0.0, np.int64), (0.5, np.int64), (0.5, np.int32), (1.0, np.int32)])
def test_blocks_with_few_ones_are_those_of_the_reference(p_minus, dtype):
    """The last row is shorter than a block; of the row before it, one block has more ones than the others."""
    noise, samples, length = FlipNoise(1e-5, p_minus), range(5), 2**21 + 2**19
    few = sparse_row(length, noise, samples)
    ones = [few, [], [2**20], sorted({*few, *range(2**20 + 9, 2**20 + 1200)}), [7]]
    lengths = [length, length, length, length, 2**19]
    sampler = bit_sampler(noise, 21, rows=ones, lengths=lengths, dtype=dtype)
    assert sampler._law.block_size == 2**20
    drawn = drawn_rows(sampler, Role.SELECT, samples, range(5))
    assert_same(drawn, expected_rows(sampler, Role.SELECT, samples, range(5), ones, lengths))


def test_blocks_with_hardly_more_or_fewer_ones_are_those_of_the_reference():
    """Up to three ones and flips in 4096 entries are few, four are not."""
    ones, lengths = [list(range(5, 5 + count)) for count in range(6)], [4096, 3000, 4096, 5, 4096, 4096]
    ones[3] = [0, 2, 4]
    sampler = bit_sampler(FlipNoise(2e-4, 0.5), 22, rows=ones, lengths=lengths)
    assert sampler._law.block_size == 4096
    drawn = drawn_rows(sampler, Role.ESTIMATE, range(40), range(6))
    assert_same(drawn, expected_rows(sampler, Role.ESTIMATE, range(40), range(6), ones, lengths))


@pytest.mark.parametrize("name", ["deletion", "every entry"])
def test_rows_longer_than_a_stretch_of_words_are_those_of_the_reference(name):
    """Words are made 4096 at a time."""
    ones, lengths = [list(range(1, 4200))], [4300]
    sampler = bit_sampler(NOISES[name], 14, rows=ones, lengths=lengths)
    drawn = drawn_rows(sampler, Role.ESTIMATE, range(1), [0])
    assert_same(drawn, expected_rows(sampler, Role.ESTIMATE, range(1), [0], ones, lengths))


@pytest.mark.parametrize("name", ["deletion", "some additions", "every entry"])
@pytest.mark.parametrize("seed", [0, 2**63 + 1, 2**64 - 1])
@pytest.mark.parametrize("samples", [range(2**32 - 1, 2**32 + 1), range(2**40 - 1, 2**40)])
def test_numbers_that_fill_their_bits(name, seed, samples):
    sampler = bit_sampler(NOISES[name], seed, part=1)
    drawn = drawn_rows(sampler, Role.TRAIN, samples, [5, 0])
    assert_same(drawn, expected_rows(sampler, Role.TRAIN, samples, [5, 0]))


@pytest.mark.parametrize(("n", "p"), [(40, 0.1), (2879, 0.01), (4096, 0.1249), (2**20, 64 / 2**20), (9, 1e-300)])
def test_counts_next_to_every_threshold(n, p):
    """The count is the number of thresholds that are at most the 128-bit number of four words."""
    table = binomial_table(n, p)
    thresholds = [(int(high) << 64) + int(low) for high, low in zip(table.high, table.low, strict=True)]
    near = {t + step for t in thresholds for step in (-(2**64), -1, 0, 1, 2**64)} | {0, 2**120, 2**127, 2**128 - 1}
    for number in sorted(number for number in near if 0 <= number < 2**128):
        words = np.array([0] * 32 + [number >> shift & 2**32 - 1 for shift in (96, 64, 32, 0)], np.uint32)
        assert _binomial(words, table.high, table.low, table.guide) == bisect_right(thresholds, number)


def tied_probability(words, purpose, number, steps):
    """A float whose first 32 binary digits are the random word of that number: further words decide."""
    first, second = words.first(purpose, number), words.further(purpose, number, 1)
    return (first * 2**21 + (second >> 11) + steps) / 2**53


@pytest.mark.parametrize("steps", [-1, 0, 1])
@pytest.mark.parametrize("p_plus", [0.0, 0.05])
def test_ties_of_ones(p_plus, steps):
    words = Words(15, Role.SELECT, 2, 5)
    outcomes = set()
    for number in range(len(ROWS[5])):
        sampler = bit_sampler(FlipNoise(p_plus, tied_probability(words, 0, number, steps)), 15)
        (drawn,) = drawn_rows(sampler, Role.SELECT, range(2, 3), [5])
        assert_same([drawn], expected_rows(sampler, Role.SELECT, range(2, 3), [5]))
        outcomes.add(ROWS[5][number] in drawn)
    assert outcomes == {steps < 1}


@pytest.mark.parametrize("steps", [0, 1])
def test_a_tie_of_a_one_far_out(steps):
    """Further words go by the number of the one in its row, not in its stretch of 4096 words."""
    ones, lengths, number = [list(range(5000))], [5000], 4500
    p = tied_probability(Words(19, Role.SELECT, 0, 0), 0, number, steps)
    (drawn,) = drawn_rows(bit_sampler(FlipNoise(0.0, p), 19, rows=ones, lengths=lengths), Role.SELECT, range(1), [0])
    assert (number in drawn) == (steps == 0)


@pytest.mark.parametrize("steps", [-1, 0, 1])
@pytest.mark.parametrize("position", [0, 1, 2, 3, 150])
def test_ties_of_every_entry(position, steps):
    words = next(w for w in (Words(16, Role.SELECT, i, 5) for i in range(99)) if w.word(1, position) > 2**30)
    p = tied_probability(words, 1, position, steps)
    sampler = bit_sampler(FlipNoise(p, p), 16)
    samples = range(words.sample, words.sample + 1)
    (drawn,) = drawn_rows(sampler, Role.SELECT, samples, [5])
    assert_same([drawn], expected_rows(sampler, Role.SELECT, samples, [5]))
    assert ((position in drawn) != (position in ROWS[5])) == (steps == 1)


@pytest.mark.parametrize("p_minus", [0.0, 0.3, 1.0])
def test_chosen_ones_survive_as_in_the_whole_row(p_minus, rng):
    ones = np.unique(rng.integers(0, 10**6, 10_000))
    sampler = bit_sampler(FlipNoise(0.0, p_minus), 17, rows=[ones.tolist()], lengths=[10**6])
    numbers = np.sort(rng.choice(ones.size, 500, replace=False))
    starts, kept = sampler.draw_kept(Role.ESTIMATE, range(5, 9), numbers)
    whole = drawn_rows(sampler, Role.ESTIMATE, range(5, 9), [0])
    for i, row in enumerate(whole):
        assert ones[numbers[kept[starts[i] : starts[i + 1]]]].tolist() == np.intersect1d(row, ones[numbers]).tolist()


def test_ties_of_chosen_ones():
    words = Words(18, Role.SELECT, 0, 0)
    for number, steps in [(0, 0), (0, 1), (3, 0), (3, 1)]:
        sampler = bit_sampler(FlipNoise(0.0, tied_probability(words, 0, number, steps)), 18)
        starts, kept = sampler.draw_kept(Role.SELECT, range(1), np.array([number]))
        assert kept.tolist() == ([0] if steps == 0 else [])
        assert starts.tolist() == [0, kept.size]


@pytest.mark.parametrize("name", ["deletion", "some additions", "every entry"])
def test_a_draw_that_outgrows_its_memory_is_made_again(name, monkeypatch):
    sampler, rows = bit_sampler(NOISES[name]), range(len(ROWS))
    whole = drawn_rows(sampler, Role.SELECT, range(500), rows)
    monkeypatch.setattr(BitSampler, "expected_ones", lambda self, rows: 0.0)
    assert sum(map(len, whole)) > 3 * (4096 + 200)  # more than twice what is asked for first
    assert drawn_rows(sampler, Role.SELECT, range(500), rows) == whole


@pytest.mark.parametrize("name", NOISES)
def test_expected_ones_and_distance(name):
    noise = NOISES[name]
    sampler = bit_sampler(noise)
    ones, zeros = sum(map(len, ROWS)), sum(LENGTHS) - sum(map(len, ROWS))
    # Six sums and products in float64: each off by at most 2**-53 of the sum.
    expected = ones * (1 - noise.p_minus) + zeros * noise.p_plus
    assert sampler.expected_ones(np.arange(6)) == pytest.approx(expected, rel=6 * 2**-53, abs=0)
    scattered = 0 < noise.p_plus < 0.125
    assert (sampler.distance > 0) == scattered
    assert sampler.distance < 2**-110


def test_distance_counts_every_block():
    one_row = bit_sampler(FlipNoise(0.1, 0.1), rows=[[]], lengths=[4096])
    more = bit_sampler(FlipNoise(0.1, 0.1), rows=[[], [], []], lengths=[4097, 0, 1])
    assert more.distance == 3 * one_row.distance


def test_a_sampler_sent_to_another_process_draws_the_same():
    for name in ("deletion", "some additions", "every entry"):
        sampler = bit_sampler(NOISES[name])
        copy = pickle.loads(pickle.dumps(sampler))
        args = (Role.SELECT, range(3), range(6))
        assert drawn_rows(copy, *args) == drawn_rows(sampler, *args)


@pytest.mark.parametrize("samples", [range(0, 10, 2), range(-1, 3), range(2**40, 2**40 + 1), range(3, 0, -1)])
def test_samples_without_words_of_their_own_are_refused(samples):
    sampler = bit_sampler(FlipNoise(0.0, 0.5))
    with pytest.raises(InvalidInputError, match=r"expected consecutive samples from \[0, 1099511627776\), got range"):
        sampler.draw(Role.SELECT, samples, np.arange(2))
    with pytest.raises(InvalidInputError, match="expected consecutive samples"):
        sampler.draw_kept(Role.SELECT, samples, np.arange(2))


@pytest.mark.parametrize(
    ("noise", "limit"), [(FlipNoise(1e-9, 0.5), 2**42), (FlipNoise(0.1, 0.5), 2**34), (FlipNoise(0.5, 0.5), 2**46)]
)
def test_rows_with_more_entries_than_words_are_refused(noise, limit):
    bit_sampler(noise, rows=[[]], lengths=[limit])
    with pytest.raises(TooLargeError, match=f"expected at most {limit} entries in a row with .*, got {limit + 1}"):
        bit_sampler(noise, rows=[[]], lengths=[limit + 1])


def test_more_rows_than_there_are_words_for_are_refused():
    nothing = np.broadcast_to(np.int64(0), 2**32 + 1)
    with pytest.raises(TooLargeError, match=f"expected at most {2**32} rows, got {2**32 + 1}"):
        BitSampler(nothing, nothing[:0], nothing, FlipNoise(0.0, 0.5), Stream(0))


@pytest.mark.parametrize("seed", [-1, 2**64, 0.0, "0", None, True])
def test_seeds_are_64_bits(seed):
    with pytest.raises(InvalidInputError, match=r"expected seed to be an integer in \[0, 2\*\*64\), got"):
        Stream(seed)
