"""Any r changes: never more than all splits prove, and exactly that where there are few of them."""

import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory import exact, l0_ball
from flipproof.theory.domination import worst_change
from flipproof.theory.l0_ball import budgets_of
from flipproof.theory.radii import axes_of, radii_at
from flipproof.theory.regions import regions_at
from random_laws import random_bounds, random_noise, table


def splits(noise, radius, zeros=None, nonzeros=None):
    """All ways to make so many changes, from the definition."""
    axes = axes_of(noise)
    for which in itertools.combinations_with_replacement(range(len(axes)), radius):
        point = tuple(which.count(i) for i in range(len(axes)))
        drawn = {}
        for axis, count in zip(axes, point, strict=True):
            drawn[axis.part, axis.kind == "add"] = drawn.get((axis.part, axis.kind == "add"), 0) + count
        given = {True: zeros or {}, False: nonzeros or {}}
        if all(count <= given[on_zeros].get(part, count) for (part, on_zeros), count in drawn.items()):
            yield point


def by_brute_force(noise, p_lower, p_upper, most, **entries):
    """The largest radius up to `most` of which all splits hold; `UNBOUNDED` where there are no more changes."""
    certified = p_lower > p_upper
    result = np.zeros(p_lower.size, dtype=np.int64)
    left = certified.copy()
    for radius in range(1, most + 1):
        points = list(splits(noise, radius, **entries))
        if not points:
            return np.where(left, fp.UNBOUNDED, result)
        for point in points:
            left &= regions_at(noise, point).margin(p_lower, p_upper) > 0
        result[left] = radius
    return result


@pytest.mark.parametrize("case", range(40))
def test_two_parts_are_exact(case, rng):
    noise, pairs = random_noise(rng, int(rng.integers(1, 3))), random_bounds(rng, 60)
    found, expected = fp.largest_l0_radius(noise, *pairs, limit=3), by_brute_force(noise, *pairs, 3)
    assert (np.minimum(found, 3) == expected).all()


@pytest.mark.parametrize("case", range(15))
def test_many_parts_are_never_more_than_exact(case, rng):
    noise, pairs = random_noise(rng, int(rng.integers(3, 5))), random_bounds(rng, 60)
    found, expected = fp.largest_l0_radius(noise, *pairs, limit=2), by_brute_force(noise, *pairs, 2)
    assert (np.minimum(found, 2) <= expected).all()


@pytest.mark.parametrize("case", range(25))
def test_the_worst_change_alone_is_never_more_than_exact(case, rng):
    noise, pairs = random_noise(rng, 2), random_bounds(rng, 60)
    curves = budgets_of(noise, None, None).curves()
    found = l0_ball._dominated_radii(worst_change(curves), *pairs, 3) if curves else np.zeros(60)
    assert (found <= by_brute_force(noise, *pairs, 3)).all()


@pytest.mark.parametrize("case", range(25))
def test_entries_that_are_not_there_cannot_be_changed(case, rng):
    noise, pairs = random_noise(rng, 2), random_bounds(rng, 40)
    zeros, nonzeros = ({name: int(rng.integers(0, 3)) for name, _ in noise if rng.random() < 0.7} for _ in range(2))
    found = fp.largest_l0_radius(noise, *pairs, zeros=zeros, nonzeros=nonzeros, limit=3)
    expected = by_brute_force(noise, *pairs, 3, zeros=zeros, nonzeros=nonzeros)
    # Where no change is left that matters, the radius is known to be unbounded, and brute force only that it is 3.
    assert (np.minimum(found, 3) == np.minimum(expected, 3)).all()


def test_radii_hold_in_exact_fractions(rng):
    for _ in range(12):
        noise, (p_lower, p_upper) = random_noise(rng, 2), random_bounds(rng, 4)
        p_lower[0], p_upper[:2] = 1.0, 0.0
        for p, q, radius in zip(p_lower, p_upper, fp.largest_l0_radius(noise, p_lower, p_upper, limit=2), strict=True):
            if p > q:
                every = splits(noise, min(radius, 2))
                assert all(exact.certified(noise, radii_at(noise, point), p, q) for point in every)


def test_a_radius_does_not_depend_on_the_other_inputs(rng):
    noise, (p_lower, p_upper) = table([2, 3, 5, 256], 0.8), random_bounds(rng, 50)
    together = fp.largest_l0_radius(noise, p_lower, p_upper)
    assert together.tolist() == [fp.largest_l0_radius(noise, p, q) for p, q in zip(p_lower, p_upper, strict=True)]


def test_columns_with_more_categories_make_the_others_irrelevant(rng):
    p_lower, p_upper = random_bounds(rng, 1000)
    wide, widest = table(range(3, 23), 0.6), fp.FlipNoise(0.6, 0.6, 22)
    assert len(budgets_of(wide, None, None).axes) == 1
    assert (fp.largest_l0_radius(wide, p_lower, p_upper) == fp.largest_radius(widest, p_lower, "add", p_upper)).all()


@pytest.mark.parametrize(
    "noise",
    [
        table(range(2, 22), 0.8),
        table(range(3, 23), 0.3, 0.6),
        table([2, 3, 4, 5, 9, 20, 100, 100], 0.7),
        table([2, 256], 0.8),
        fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(0.01, 0.6)),
    ],
    ids=["20 columns", "20 columns, sparsity-aware", "8 columns", "2 and 256", "graph"],
)
def test_every_kind_by_itself_bounds_any_mixture(noise, rng):
    p_lower, p_upper = random_bounds(rng, 300)
    mixed = fp.largest_l0_radius(noise, p_lower, p_upper, limit=20)
    alone = [fp.largest_radius(noise, p_lower, str(axis), p_upper, limit=20) for axis in axes_of(noise)]
    alone = np.min(alone, axis=0)
    assert (mixed <= alone).all()
    assert (mixed >= alone // 2).all()
    assert mixed.max() > 0


def test_two_and_256_categories_are_found_together(rng):
    noise, pairs = table([2, 256], 0.8), random_bounds(rng, 200)
    reduced = fp.JointNoise(a=fp.FlipNoise(0.8, 0.8), b=fp.FlipNoise(0.8, 0.8, 256))
    points = {r: [(a, 0, r - a, 0, 0) for a in range(r + 1)] for r in range(1, 8)}
    left, expected = pairs[0] > pairs[1], np.zeros(200, dtype=np.int64)
    for radius, every in points.items():
        for point in every:
            left = left & (regions_at(reduced, point).margin(*pairs) > 0)
        expected[left] = radius
    assert (fp.largest_l0_radius(noise, *pairs, limit=7).clip(max=7) == expected).all()


def test_changes_that_do_nothing_do_not_count():
    hidden, seen = fp.FlipNoise(0.25, 0.75), fp.FlipNoise(0.01, 0.6)
    both = fp.JointNoise(hidden=hidden, seen=seen)
    assert fp.largest_l0_radius(both, 0.9999) == fp.largest_l0_radius(seen, 0.9999)
    assert fp.largest_l0_radius(fp.JointNoise(a=hidden, b=hidden), 0.51) == fp.UNBOUNDED
    # Three entries that matter, and any number that do not.
    assert fp.largest_l0_radius(both, 0.9999, zeros={"seen": 1}, nonzeros={"seen": 2}) == fp.UNBOUNDED


def test_certainty_and_impossibility():
    graph = fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(0.01, 0.6))
    radii = fp.largest_l0_radius(graph, [1.0, 0.9, 0.0, 0.5], [0.0, 0.0, 1.0, 0.5])
    assert radii.tolist() == [fp.UNBOUNDED, fp.UNBOUNDED, 0, 0]
    deletion = fp.JointNoise(a=fp.FlipNoise(0.0, 0.8), b=fp.FlipNoise(0.0, 0.7))
    assert fp.largest_l0_radius(deletion, 1.0) == 1  # as long as 0.7 ** r, or 0.8 ** r, is above one half
    assert fp.largest_l0_radius(deletion, 1.0, zeros={"a": 0, "b": 0}) == fp.UNBOUNDED
    assert fp.largest_l0_radius(fp.JointNoise(a=fp.FlipNoise(0, 0), b=fp.FlipNoise(0, 0.5)), 1.0) == 0


def test_searches_without_end_stop_with_a_radius_that_holds():
    noise = fp.JointNoise(a=fp.FlipNoise(1e-17, 0.99), b=fp.FlipNoise(2e-17, 0.98))
    assert 0 < fp.largest_l0_radius(noise, 1 - 1e-16, limit=10**9) < 10**9
    near = fp.FlipNoise(0.66, 0.6666, 3)
    assert fp.largest_l0_radius(near, 0.99) == 1000
    assert fp.largest_l0_radius(near, 0.99, limit=20) == 20
    assert 1000 < l0_ball._affordable_limit(fp.FlipNoise(0.49, 0.49), 0, 10**9) < 10**5
