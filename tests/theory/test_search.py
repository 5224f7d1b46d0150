import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.statistics.bounds import lower_bound
from flipproof.theory import exact
from flipproof.theory.radii import axes_of, radii_at

PAPER = fp.FlipNoise(0.01, 0.6)


@pytest.mark.parametrize(
    ("noise", "samples", "add", "delete"),
    [
        (fp.FlipNoise(0.01, 0.6), 10**6, 8, 23),
        (fp.FlipNoise(0.01, 0.8), 10**6, 22, 54),
        (fp.FlipNoise(0.1, 0.1), 10**6, 5, 5),
        (fp.FlipNoise(0.0, 0.8), 10**6, 3, 51),
        (fp.FlipNoise(0.001, 0.4), 10**6, 2, 12),
        (fp.FlipNoise(2e-5, 0.4), 10**6, 2, 12),
        (fp.FlipNoise(2e-5, 0.6), 10**6, 3, 22),
        (fp.FlipNoise(0.2, 0.4), 10**6, 25, 29),
        (fp.FlipNoise(0.01, 0.6), 10**5, 6, 18),
        (fp.FlipNoise(0.1, 0.2), 10**5, 5, 6),
        (fp.FlipNoise(0.2, 0.2), 10**5, 9, 9),
        (fp.FlipNoise(0.8, 0.8, 256), 10**5, 9, 9),
    ],
)
def test_caps_when_all_votes_agree(noise, samples, add, delete):
    """The largest radius that a number of samples can certify at all, alpha = 0.01."""
    p_lower = lower_bound(samples, samples, 0.01)
    assert fp.largest_radius(noise, p_lower, along="add") == add
    assert fp.largest_radius(noise, p_lower, along="delete") == delete


def brute_force(noise, p_lower, p_upper, size):
    """All certified points of a box, by exact arithmetic."""
    points = itertools.product(range(size), repeat=len(axes_of(noise)))
    return {p for p in points if exact.certified(noise, radii_at(noise, p), p_lower, p_upper)}


CASES = [
    (fp.FlipNoise(0.05, 0.3), 0.97, None, 8),
    (fp.FlipNoise(0.05, 0.3), 0.7, 0.1, 8),
    (fp.FlipNoise(0.7, 0.8), 0.99, None, 10),
    (fp.FlipNoise(0.0, 0.8), 0.9, 0.02, 12),
    (fp.FlipNoise(0.1, 0.4, 3), 0.9, 0.06, 6),
    (fp.FlipNoise(0.4, 0.4, 5), 0.99, None, 5),
    (fp.JointNoise(a=fp.FlipNoise(0.05, 0.4), b=fp.FlipNoise(0.1, 0.5)), 0.9, 0.06, 6),
]


@pytest.mark.parametrize(("noise", "p_lower", "p_upper", "size"), CASES)
def test_searches_find_what_brute_force_finds(noise, p_lower, p_upper, size):
    certified = brute_force(noise, p_lower, p_upper, size)
    axes = axes_of(noise)
    for i, axis in enumerate(axes):
        along = max(p[i] for p in certified if not any(p[:i] + p[i + 1 :]))
        assert along < size - 1, "the box is too small for this test"
        assert fp.largest_radius(noise, p_lower, str(axis), p_upper) == along
    totals = [r for r in range(size) if all(p in certified for p in _points(size, axes) if sum(p) == r)]
    assert fp.largest_l0_radius(noise, p_lower, p_upper) == max(totals)
    maximal = {p for p in certified if not any(_step(p, i) in certified for i in range(len(axes)))}
    assert _as_points(noise, fp.frontier(noise, p_lower, p_upper)) == maximal


def _points(size, axes):
    return itertools.product(range(size), repeat=len(axes))


def _step(point, i):
    return (*point[:i], point[i] + 1, *point[i + 1 :])


def _as_points(noise, frontier):
    from flipproof.theory.radii import point_of

    return {point_of(noise, radii) for radii in frontier}


@pytest.mark.parametrize(("zeros", "nonzeros"), [(0, 3), (2, 1), (3, 0), (1, None), (None, 2), (0, None)])
def test_an_l0_ball_leaves_out_what_the_input_cannot_suffer(zeros, nonzeros):
    noise, p_lower, most = fp.FlipNoise(0.05, 0.3), 0.97, 9
    cap = (most if zeros is None else zeros, most if nonzeros is None else nonzeros)
    feasible = [(a, d) for a in range(cap[0] + 1) for d in range(cap[1] + 1)]
    certified = brute_force(noise, p_lower, None, most + 1)
    expected = 0
    for r in range(1, most):
        splits = [p for p in feasible if sum(p) == r]
        if not all(p in certified for p in splits):
            break
        expected = r if splits else fp.UNBOUNDED
    assert fp.largest_l0_radius(noise, p_lower, zeros=zeros, nonzeros=nonzeros) == expected


def test_an_input_without_entries_has_nothing_to_fear_if_it_is_certified():
    radii = fp.largest_l0_radius(PAPER, [0.0, 0.3, 0.5, 0.51], zeros=0, nonzeros=0)
    assert radii.tolist() == [0, 0, 0, fp.UNBOUNDED]


def test_large_l0_balls_are_a_lower_bound_that_is_not_far_from_the_exact_one():
    noise = fp.FlipNoise(0.3, 0.6)
    radius = fp.largest_l0_radius(noise, 0.999)
    assert radius > 150
    for size, holds in ((radius, True), (radius * 4 // 3, False)):
        splits = [fp.Radii(a, size - a) for a in range(size + 1)]
        assert (min(fp.mu(noise, split, 0.999) for split in splits) > 0) == holds


def test_change_and_delete_share_the_nonzeros():
    noise = fp.FlipNoise(0.1, 0.6, 3)
    assert fp.largest_l0_radius(noise, 0.999, zeros=0, nonzeros=2) == fp.UNBOUNDED
    assert fp.largest_l0_radius(noise, 0.999, zeros=0, nonzeros=50) == fp.largest_l0_radius(noise, 0.999, zeros=0)


def test_l0_counts_of_a_joint_noise_are_given_by_part():
    noise = fp.JointNoise(a=fp.FlipNoise(0.05, 0.4), b=fp.FlipNoise(0.1, 0.5))
    free = fp.largest_l0_radius(noise, 0.999)
    assert fp.largest_l0_radius(noise, 0.999, zeros={"a": 0, "b": 0}) > free
    with pytest.raises(fp.InvalidInputError, match="expected zeros as a mapping"):
        fp.largest_l0_radius(noise, 0.999, zeros=3)
    with pytest.raises(fp.InvalidInputError, match="expected parts among a, b, got 'c'"):
        fp.largest_l0_radius(noise, 0.999, nonzeros={"c": 3})


def test_nothing_certified_is_zero_and_an_empty_frontier():
    assert fp.largest_radius(PAPER, 0.5, "add") == 0
    assert fp.largest_radius(PAPER, 0.4, "add", 0.6) == 0
    assert fp.largest_l0_radius(PAPER, 0.3) == 0
    assert fp.frontier(PAPER, 0.5) == []
    assert fp.frontier(PAPER, 0.51) == [fp.Radii()]


def test_no_information_means_unbounded():
    hidden = fp.FlipNoise(0.25, 0.75)
    assert fp.largest_radius(hidden, 0.51, "add") == fp.UNBOUNDED
    assert fp.largest_radius(hidden, 0.5, "add") == 0
    assert fp.largest_l0_radius(hidden, 0.51) == fp.UNBOUNDED
    assert fp.frontier(hidden, 0.51) == [fp.Radii(fp.UNBOUNDED, fp.UNBOUNDED)]
    assert fp.largest_radius(fp.FlipNoise(0.3, 0.7), 0.51, "add", limit=50) == 50  # 0.3 + 0.7 is not quite 1
    half = fp.FlipNoise(0.2, 0.75, 4)  # a changed non-zero leaves no trace, an added one does
    assert fp.largest_radius(half, 0.9, "change") == fp.UNBOUNDED
    assert 0 < fp.largest_radius(half, 0.9, "delete") < 10
    assert all(radii.change == fp.UNBOUNDED for radii in fp.frontier(half, 0.9))


def test_certainty_is_unbounded_where_the_clean_input_reaches_everything():
    assert fp.largest_radius(PAPER, 1.0, "add") == fp.UNBOUNDED
    assert fp.largest_radius(fp.FlipNoise(0.0, 0.8), 1.0, "delete") == fp.UNBOUNDED
    assert fp.largest_radius(fp.FlipNoise(0.0, 0.8), 1.0, "add") == 3
    assert fp.frontier(fp.FlipNoise(0.0, 0.8), 1.0) == [fp.Radii(3, fp.UNBOUNDED)]


def test_arrays_in_arrays_out():
    radii = fp.largest_radius(PAPER, [[0.4, 0.7], [0.99, 0.9999]], "delete")
    np.testing.assert_array_equal(radii, [[0, 1], [7, 17]])
    assert radii.dtype == np.int64
    assert fp.largest_radius(PAPER, [], "delete").shape == (0,)
    assert type(fp.largest_radius(PAPER, 0.99, "delete")) is int
    np.testing.assert_array_equal(fp.largest_l0_radius(PAPER, [0.4, 0.9999]), [0, 6])


def test_searches_that_would_take_too_long_are_refused():
    noise = fp.FlipNoise(0.66, 0.6666, 3)
    with pytest.raises(fp.InvalidInputError, match="expected a smaller limit for this frontier"):
        fp.frontier(noise, 0.99, limit=200)
    assert fp.frontier(noise, 0.99, limit=2) == [fp.Radii(2, 2, 2)]


def test_a_search_stops_at_its_limit():
    assert fp.largest_radius(PAPER, 0.99999, "delete", limit=5) == 5
    assert fp.largest_l0_radius(PAPER, 0.99999, limit=3) == 3
    with pytest.raises(fp.InvalidInputError, match="expected limit"):
        fp.largest_radius(PAPER, 0.99, "delete", limit=-1)
    with pytest.raises(fp.InvalidInputError, match="expected one p_lower"):
        fp.frontier(PAPER, [0.9, 0.99])
