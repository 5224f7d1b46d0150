"""What is drawn against the exact law: whole joint distributions of short rows, then counts, pairs and independence."""

from math import comb

import numpy as np
import pytest
from bit_rows import bit_sampler

from chi_square import ENOUGH, assert_independent, assert_independent_columns, p_value
from flipproof.noise.sampling import bit_law
from flipproof.noise.sampling.samplers import Role, Stream, ValueSampler
from flipproof.noise.spaces.graph import Graph
from flipproof.theory.law import FlipNoise, JointNoise

PROBABILITIES = [
    (0.0, 0.6),
    (0.0, 1.0),
    (0.0, 0.0),
    (0.03, 0.6),
    (0.1249, 0.3),
    (0.05, 0.0),
    (0.05, 1.0),
    (1e-300, 0.5),
    (0.125, 0.4),
    (0.7, 0.9),
    (0.3, 0.0),
    (1.0, 0.5),
    (1.0, 1.0),
    (1.0, 0.0),
]


def on_probabilities(noise, ones, length):
    """The probability of a one at each place of a noisy row."""
    p = np.full(length, noise.p_plus)
    p[list(ones)] = 1.0 - noise.p_minus
    return p


def joint_law(p):
    """The probability of each subset of entries, as a bit mask."""
    law = np.ones(1)
    for on in p:
        law = np.concatenate([law * (1.0 - on), law * on])
    return law


def bit_masks(sampler, samples, row=0, role=Role.SELECT):
    starts, positions = sampler.draw(role, range(samples), np.array([row]))
    owners = np.repeat(np.arange(samples), np.diff(starts))
    return np.bincount(owners, weights=2.0**positions, minlength=samples).astype(np.int64)


def bit_table(sampler, role, samples, rows):
    """Zeros and ones [samples, entries of all rows]; rows of equal length."""
    starts, positions = sampler.draw(role, samples, rows)
    table = np.zeros((len(samples) * rows.size, int(sampler.entries[0])))
    table[np.repeat(np.arange(len(table)), np.diff(starts)), positions] = 1.0
    return table.reshape(len(samples), -1)


@pytest.mark.parametrize(("p_plus", "p_minus"), PROBABILITIES)
@pytest.mark.parametrize("ones", [(), (1, 4), (0, 1, 2, 3, 4, 5)])
def test_all_outcomes_of_a_short_row(p_plus, p_minus, ones):
    noise = FlipNoise(p_plus, p_minus)
    masks = bit_masks(bit_sampler(noise, 41, rows=[ones], lengths=[6]), 50_000)
    assert p_value(np.bincount(masks, minlength=64), joint_law(on_probabilities(noise, ones, 6))) > ENOUGH


def test_all_outcomes_of_a_short_row_beside_a_longer_one():
    """Marks past the end of the short row are forgotten."""
    noise = FlipNoise(0.12, 0.3)
    sampler = bit_sampler(noise, 42, rows=[(1,), tuple(range(20))], lengths=[4, 60])
    assert sampler._law.block_size == 60
    masks = bit_masks(sampler, 100_000)
    assert p_value(np.bincount(masks, minlength=16), joint_law(on_probabilities(noise, (1,), 4))) > ENOUGH


@pytest.mark.parametrize("size", [1, 2, 4])
def test_all_outcomes_of_a_row_of_several_blocks(size, monkeypatch):
    monkeypatch.setattr(bit_law, "_SMALLEST_BLOCK", size)
    monkeypatch.setattr(bit_law, "_FLIPS_PER_BLOCK", 2**-30)
    noise, ones = FlipNoise(0.1, 0.4), (0, 3, 6)
    sampler = bit_sampler(noise, 43, rows=[ones], lengths=[7])
    assert sampler._law.block_size == size
    masks = bit_masks(sampler, 100_000)
    assert p_value(np.bincount(masks, minlength=128), joint_law(on_probabilities(noise, ones, 7))) > ENOUGH


def test_all_outcomes_around_the_boundary_of_two_blocks():
    noise, ones = FlipNoise(0.12, 0.4), (0, 4094, 4097, 8199)
    sampler = bit_sampler(noise, 44, rows=[ones], lengths=[8200])
    assert sampler._law.block_size == 4096
    starts, positions = sampler.draw(Role.SELECT, range(10_000), np.array([0]))
    owners, near = np.repeat(np.arange(10_000), np.diff(starts)), (positions >= 4093) & (positions < 4099)
    masks = np.bincount(owners[near], weights=2.0 ** (positions[near] - 4093), minlength=10_000).astype(np.int64)
    assert p_value(np.bincount(masks, minlength=64), joint_law(on_probabilities(noise, (1, 4), 6))) > ENOUGH


def binomial_law(n, p):
    return np.array([comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize(("p_plus", "p_minus"), [(0.0, 0.6), (0.01, 0.6), (0.12, 0.1), (0.2, 0.7)])
def test_counts_of_ones(p_plus, p_minus):
    """A sum of two binomials: the ones that stay and the zeros that flip."""
    sampler = bit_sampler(FlipNoise(p_plus, p_minus), 45, rows=[range(0, 300, 12)], lengths=[300])
    starts, _ = sampler.draw(Role.SELECT, range(50_000), np.array([0]))
    law = np.convolve(binomial_law(25, 1.0 - p_minus), binomial_law(275, p_plus))
    assert p_value(np.bincount(np.diff(starts), minlength=law.size), law) > ENOUGH


ROW_SETS = [(), tuple(range(0, 24, 3)), tuple(range(24))]
# Two zeros flip together in 200 samples or more, so sums over samples are about normal.
METHODS = [(0.0, 0.4), (0.12, 0.6), (0.2, 0.7)]


def row_sets(p_plus, p_minus, part=0, seed=46):
    """A sampler of three rows of 24 entries, and the probability of a one for each of the 72."""
    noise = FlipNoise(p_plus, p_minus)
    p = np.concatenate([on_probabilities(noise, ones, 24) for ones in ROW_SETS])
    return bit_sampler(noise, seed, part, rows=ROW_SETS, lengths=[24] * 3), p


@pytest.mark.parametrize(("p_plus", "p_minus"), METHODS)
def test_marginals_and_all_pairs(p_plus, p_minus):
    sampler, p = row_sets(p_plus, p_minus)
    table = bit_table(sampler, Role.SELECT, range(20_000), np.arange(3))
    assert not table[:, p == 0.0].any()
    table, p = table[:, p > 0.0], p[p > 0.0]
    for column, on in zip(table.T, p, strict=True):
        assert p_value([20_000 - column.sum(), column.sum()], [1.0 - on, on]) > ENOUGH / p.size
    assert_independent_columns(table, p)


@pytest.mark.parametrize(("p_plus", "p_minus"), METHODS)
def test_consecutive_samples_roles_parts_and_seeds_are_independent(p_plus, p_minus):
    sampler, p = row_sets(p_plus, p_minus)
    samples, rows, possible = range(20_000), np.arange(3), p > 0.0
    table = bit_table(sampler, Role.SELECT, samples, rows)[:, possible]
    others = {
        "next sample": bit_table(sampler, Role.SELECT, range(1, 20_001), rows),
        "sample 2**32 later": bit_table(sampler, Role.SELECT, range(2**32, 2**32 + 20_000), rows),
        "estimation": bit_table(sampler, Role.ESTIMATE, samples, rows),
        "training": bit_table(sampler, Role.TRAIN, samples, rows),
        "other part": bit_table(row_sets(p_plus, p_minus, part=1)[0], Role.SELECT, samples, rows),
        "next seed": bit_table(row_sets(p_plus, p_minus, seed=47)[0], Role.SELECT, samples, rows),
    }
    for other in others.values():
        assert_independent(table, other[:, possible], p[possible], p[possible], ENOUGH / len(others))


def test_structure_and_attributes_are_independent():
    """Six pairs of four nodes and six attributes of the first, all of them ones: the same coins would show."""
    pairs = np.array([(u, v) for u in range(4) for v in range(4) if u != v]).T
    noise, samples, rows = FlipNoise(0.0, 0.5), range(20_000), np.arange(1)
    sampler = Graph.from_edge_index(pairs, 4, np.ones((4, 6))).sampler(
        JointNoise(structure=noise, attributes=noise), 49
    )
    structure = bit_table(sampler.structure, Role.SELECT, samples, rows)
    attributes = bit_table(sampler.attributes.bits, Role.SELECT, samples, rows)
    assert_independent(structure, attributes, np.full(6, 0.5), np.full(6, 0.5))


def value_law(value, noise):
    """The probability of each value of a noisy entry."""
    flip = noise.p_minus if value else noise.p_plus
    law = np.full(noise.categories, flip / (noise.categories - 1))
    law[value] = 1.0 - flip
    return law


def drawn(values, noise, samples, seed=48):
    array = np.array([values], np.min_scalar_type(noise.categories - 1))
    sampler = ValueSampler(array, np.zeros((1, len(values)), np.int16), [noise], Stream(seed))
    return sampler.draw(Role.SELECT, range(samples), np.array([0])).astype(np.int64)


@pytest.mark.parametrize("noise", [FlipNoise(0.3, 0.6, 3), FlipNoise(1.0, 0.5, 3), FlipNoise(0.05, 0.9, 2)])
@pytest.mark.parametrize("values", [(0, 0, 0, 0), (0, 1, 1, 0), (0, 1, 2, 1)])
def test_all_outcomes_of_a_short_row_of_categories(noise, values):
    values, size = [min(value, noise.categories - 1) for value in values], noise.categories
    codes = drawn(values, noise, 50_000) @ size ** np.arange(4)
    law = np.ones(1)
    for value in values:
        law = np.outer(value_law(value, noise), law).ravel()
    assert p_value(np.bincount(codes, minlength=size**4), law) > ENOUGH


@pytest.mark.parametrize("categories", [2, 3, 256, 1000])
@pytest.mark.parametrize("value", [0, 1, -1])
def test_all_other_values_are_equally_likely(categories, value):
    noise, value = FlipNoise(0.9, 0.8, categories), value % categories
    counts = np.bincount(drawn([value] * 4, noise, 25_000).ravel(), minlength=categories)
    assert p_value(counts, value_law(value, noise)) > ENOUGH


def test_the_values_of_two_entries_are_independent():
    noise = FlipNoise(0.9, 0.9, 20)
    codes = drawn([0, 7], noise, 100_000) @ [1, 20]
    law = np.outer(value_law(7, noise), value_law(0, noise)).ravel()
    assert p_value(np.bincount(codes, minlength=400), law) > ENOUGH
