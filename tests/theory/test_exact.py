"""The exact certificate against brute force over all noisy inputs, closed forms and published numbers."""

from fractions import Fraction
from itertools import pairwise, product
from math import inf, nan, prod

import pytest

from flipproof.errors import InvalidInputError
from flipproof.theory import exact
from flipproof.theory.law import FlipNoise, JointNoise
from flipproof.theory.radii import Radii

HALF = Fraction(1, 2)
PROBABILITIES = (0, 0.01, 0.25, 0.3, 0.5, 1)
FLIPS = [*product(PROBABILITIES, repeat=2), (0.25, 0.75), (0.4, 0.6), (0.3, 0.7), (0.9, 0.8), (0.99, 0.75)]
LEVELS = (0, 1e-9, 0.3, HALF, Fraction(2, 3), 0.9, 0.999, 1)

# Clean and adversarial input; where they agree, nothing may depend on the value.
INPUTS = {
    2: [("0", "0"), ("0", "1"), ("1", "0"), ("0011", "1100"), ("00110", "11111"), ("10110", "00001")],
    3: [("0", "2"), ("1", "0"), ("1", "2"), ("0120", "1200"), ("0012", "1121"), ("2210", "0112")],
    4: [("0", "3"), ("2", "0"), ("1", "2"), ("013", "320"), ("201", "031"), ("123", "321")],
}
SINGLE = [(categories, *pair) for categories, pairs in INPUTS.items() for pair in pairs]


# --- brute force: every noisy input z, one by one -------------------------------------------------


def value_law(noise, value):
    """The probabilities of all values that noise may put in place of one value."""
    flip = Fraction(noise.p_minus if value else noise.p_plus)
    return [1 - flip if z == value else flip / (noise.categories - 1) for z in range(noise.categories)]


def all_points(parts):
    """(P(phi(x) = z), P(phi(x~) = z)) for every z; parts are (noise, x, x~)."""
    entries = [
        list(zip(value_law(noise, int(one)), value_law(noise, int(two)), strict=True))
        for noise, clean, adversarial in parts
        for one, two in zip(clean, adversarial, strict=True)
    ]
    return [tuple(map(prod, zip(*choice, strict=True))) for choice in product(*entries)]


def ratio(point):
    clean, adversarial = point
    return clean / adversarial if adversarial else inf


def reachable(points):
    return sorted((point for point in points if any(point)), key=ratio, reverse=True)


def brute_regions(points):
    merged = {}
    for clean, adversarial in reachable(points):
        total = merged.setdefault(ratio((clean, adversarial)), [0, 0])
        total[0] += clean
        total[1] += adversarial
    return tuple(tuple(total) for total in merged.values())


def brute_fill(ordered, p):
    """Adversarial mass of the first points that have clean mass p, the last of them in part."""
    mass, left = Fraction(0), Fraction(p)
    for clean, adversarial in ordered:
        share = min(Fraction(1), left / clean) if clean else 1
        mass += share * adversarial
        left -= share * clean
    return mass


def brute_rho(points, p):
    return brute_fill([point for point in reachable(points) if point[0]], p)


def brute_rho_upper(points, p):
    return brute_fill(reversed(reachable(points)), p)


def radii_between(clean, adversarial):
    moves = [(int(one), int(two)) for one, two in zip(clean, adversarial, strict=True) if one != two]
    return Radii(
        add=sum(one == 0 for one, _ in moves),
        delete=sum(two == 0 for _, two in moves),
        change=sum(one > 0 and two > 0 for one, two in moves),
    )


def check_against_brute_force(noise, radii, points):
    regions = exact.regions(noise, radii)
    assert regions == brute_regions(points)
    for p in LEVELS:
        assert exact.rho(noise, radii, p) == brute_rho(points, p)
        assert exact.rho_upper(noise, radii, p) == brute_rho_upper(points, p)
    critical = exact.critical_probability(noise, radii)
    if critical is None:
        assert brute_rho(points, 1) <= HALF
    else:  # rho is convex with rho(0) = 0, so it passes 1/2 only once
        assert brute_rho(points, critical) == HALF < brute_rho(points, 1)


def test_the_brute_force_is_a_law():
    points = all_points([(FlipNoise(0.01, 0.3, 3), "0120", "1200")])
    assert len(points) == 3**4
    assert tuple(map(sum, zip(*points, strict=True))) == (1, 1)


@pytest.mark.parametrize(("categories", "clean", "adversarial"), SINGLE)
def test_equals_brute_force(categories, clean, adversarial):
    for flips in FLIPS:
        noise = FlipNoise(*flips, categories)
        points = all_points([(noise, clean, adversarial)])
        check_against_brute_force(noise, radii_between(clean, adversarial), points)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.01, 0.6), (0.002, 0.4)),
        ((0.25, 0.5), (0.25, 0.5)),
        ((0, 0.25), (0.25, 0)),
        ((0, 0.3), (0, 0.5)),
        ((0.3, 1), (0.9, 0.8)),
        ((0.25, 0.75), (0.01, 0.3)),
        ((0, 0), (0.01, 0.3)),
    ],
)
@pytest.mark.parametrize(
    ("categories", "one", "two"),
    [(2, ("001", "110"), ("011", "100")), (2, ("10", "01"), ("0", "0")), (3, ("01", "10"), ("012", "120"))],
)
def test_joint_equals_brute_force(first, second, categories, one, two):
    left, right = FlipNoise(*first), FlipNoise(*second, categories)
    points = all_points([(left, *one), (right, *two)])
    radii = {"left": radii_between(*one), "right": radii_between(*two)}
    check_against_brute_force(JointNoise(left=left, right=right), radii, points)


# --- laws -----------------------------------------------------------------------------------------

LARGER = [
    (FlipNoise(0.01, 0.6), Radii(7, 9)),
    (FlipNoise(0.7, 0.8), Radii(4, 3)),
    (FlipNoise(0, 0.8), Radii(3, 5)),
    (FlipNoise(1, 1), Radii(2, 1)),
    (FlipNoise(0.01, 0.6, 5), Radii(3, 2, 4)),
    (FlipNoise(0.8, 0.8, 256), Radii(2, 2, 2)),
    (
        JointNoise(a=FlipNoise(0.01, 0.6), b=FlipNoise(0, 0.4, 3)),
        {"a": Radii(2, 3), "b": Radii(1, 2, 1)},
    ),
]


@pytest.mark.parametrize(("noise", "radii"), LARGER)
def test_regions_are_two_laws_in_strict_order(noise, radii):
    regions = exact.regions(noise, radii)
    assert sum(region.clean for region in regions) == sum(region.adversarial for region in regions) == 1
    assert all(ratio(one) > ratio(two) for one, two in pairwise(regions))
    assert all(any(region) for region in regions)


@pytest.mark.parametrize(("noise", "radii"), LARGER)
@pytest.mark.parametrize("p", [0, 0.3, 0.97, 1])
def test_rho_upper_is_the_complement_of_rho(noise, radii, p):
    assert exact.rho_upper(noise, radii, p) == 1 - exact.rho(noise, radii, 1 - Fraction(p))
    assert exact.mu(noise, radii, p) == 2 * exact.rho(noise, radii, p) - 1


@pytest.mark.parametrize(("noise", "radii"), LARGER)
def test_certified_above_the_critical_probability_only(noise, radii):
    critical = exact.critical_probability(noise, radii)
    if critical is None:
        assert not exact.certified(noise, radii, 1)
    else:
        assert not exact.certified(noise, radii, critical)
        assert exact.certified(noise, radii, critical + (1 - critical) / 2**100)


def test_certified_uses_the_upper_bound():
    noise, radii = FlipNoise(0.01, 0.6), Radii(delete=1)
    assert not exact.certified(noise, radii, 0.6)
    assert exact.certified(noise, radii, 0.6, p_upper=0.05)


def test_without_changes_rho_is_p():
    assert exact.regions(FlipNoise(0.01, 0.6, 3), Radii()) == ((1, 1),)
    assert exact.rho(FlipNoise(0.01, 0.6), Radii(), 0.3) == Fraction(0.3)
    assert exact.critical_probability(FlipNoise(0.01, 0.6), Radii()) == HALF


@pytest.mark.parametrize(("p_plus", "p_minus"), [(0.01, 0.6), (0, 0.8), (0.7, 0.9), (1, 0.3)])
def test_zeros_and_ones_may_trade_places(p_plus, p_minus):
    one = exact.regions(FlipNoise(p_plus, p_minus), Radii(add=4, delete=2))
    assert one == exact.regions(FlipNoise(p_minus, p_plus), Radii(add=2, delete=4))


def test_an_untouched_part_does_not_matter():
    noise = FlipNoise(0.01, 0.6, 3)
    joint = JointNoise(touched=noise, other=FlipNoise(0.1, 0.2))
    radii = Radii(2, 1, 1)
    assert exact.regions(joint, {"touched": radii}) == exact.regions(noise, radii)


def test_two_parts_with_one_noise_are_one_part():
    noise = FlipNoise(0.01, 0.6)
    split = {"a": Radii(2, 1), "b": Radii(1, 3)}
    assert exact.regions(JointNoise(a=noise, b=noise), split) == exact.regions(noise, Radii(3, 4))


# --- closed forms and number of regions -----------------------------------------------------------


@pytest.mark.parametrize("radius", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("p_minus", [0.25, 0.6, 0.8])
def test_deletion_noise_has_closed_forms(radius, p_minus):
    noise, power = FlipNoise(0, p_minus), Fraction(p_minus) ** radius
    assert exact.critical_probability(noise, Radii(delete=radius)) == 1 - power / 2
    for p in map(Fraction, (0.6, 0.9, 0.99999, 1)):
        assert exact.rho(noise, Radii(add=radius), p) == p * power
        assert exact.certified(noise, Radii(add=radius), p) == (p * power > HALF)


@pytest.mark.parametrize("radii", [Radii(1, 1), Radii(3, 2), Radii(5, 9)])
def test_three_regions_without_additions(radii):
    noise = FlipNoise(p_plus=0, p_minus=0.8)
    regions = exact.regions(noise, radii)
    added, deleted = Fraction(0.8) ** radii.add, Fraction(0.8) ** radii.delete
    assert regions == ((1 - deleted, 0), (deleted, added), (0, 1 - added))


@pytest.mark.parametrize("categories", [3, 4, 256])
@pytest.mark.parametrize("radii", [Radii(1), Radii(0, 0, 4), Radii(3, 2, 4)])
def test_equal_flips_have_two_r_plus_one_regions(categories, radii):
    regions = exact.regions(FlipNoise(0.3, 0.3, categories), radii)
    assert len(regions) == 2 * (radii.add + radii.delete + radii.change) + 1


@pytest.mark.parametrize(("noise", "count"), [(FlipNoise(0.01, 0.6), 8), (FlipNoise(0.7, 0.6), 8)])
def test_binary_noise_has_r_plus_one_regions(noise, count):
    assert len(exact.regions(noise, Radii(add=3, delete=4))) == count


@pytest.mark.parametrize(
    "noise", [FlipNoise(0.25, 0.75), FlipNoise(0.4, 0.6), FlipNoise(1, 0), FlipNoise(0.75, 0.75, 4)]
)
def test_noise_that_hides_everything_has_one_region(noise):
    assert exact.regions(noise, Radii(add=3, delete=4)) == ((1, 1),)
    assert exact.critical_probability(noise, Radii(add=3, delete=4)) == HALF


def test_floats_are_taken_literally():
    assert Fraction(0.3) + Fraction(0.7) != 1
    assert len(exact.regions(FlipNoise(0.3, 0.7), Radii(add=3, delete=4))) == 8


# --- published numbers ----------------------------------------------------------------------------

CRITICAL = [
    *(
        (FlipNoise(0.01, 0.6), Radii(delete=radius), printed)
        for radius, printed in {
            1: 0.69696970,
            2: 0.81634527,
            3: 0.88869410,
            5: 0.95911629,
            10: 0.99665704,
            15: 0.99972666,
            20: 0.99997765,
        }.items()
    ),
    *(
        (FlipNoise(0.01, 0.6), Radii(add=radius), printed)
        for radius, printed in {
            1: 0.825,
            2: 0.985875,
            3: 0.98962875,
            4: 0.99945017,
            5: 0.9994776,
            6: 0.99977513,
            7: 0.99997531,
            8: 0.99998134,
        }.items()
    ),
    (FlipNoise(0.001, 0.4), Radii(add=1), 0.99916667),
    (FlipNoise(0.001, 0.4), Radii(delete=1), 0.79979980),
    (FlipNoise(0.8, 0.8, 256), Radii(change=9), 0.99993970),
]


@pytest.mark.parametrize(("noise", "radii", "printed"), CRITICAL)
def test_critical_probability_to_eight_digits(noise, radii, printed):
    assert round(float(exact.critical_probability(noise, radii)), 8) == printed


@pytest.mark.parametrize(
    ("samples", "flips", "add", "delete"),
    [
        (10**6, (0.01, 0.6), 8, 23),
        (10**6, (0.01, 0.8), 22, 54),
        (10**6, (0.1, 0.1), 5, 5),
        (10**6, (0, 0.8), 3, 51),
        (10**6, (0.001, 0.4), 2, 12),
        (10**6, (2e-5, 0.4), 2, 12),
        (10**6, (2e-5, 0.6), 3, 22),
        (10**6, (0.2, 0.4), 25, 29),
        (10**5, (0.01, 0.6), 6, 18),
        (10**5, (0.1, 0.2), 5, 6),
        (10**5, (0.2, 0.2), 9, 9),
    ],
)
def test_largest_radius_when_all_votes_agree(samples, flips, add, delete):
    noise, p_lower = FlipNoise(*flips), 0.01 ** (1 / samples)
    for kind, radius in (("add", add), ("delete", delete)):
        assert exact.certified(noise, Radii(**{kind: radius}), p_lower)
        assert not exact.certified(noise, Radii(**{kind: radius + 1}), p_lower)


def test_joint_regions_are_sorted_again():
    noise = JointNoise(a=FlipNoise(0.002, 0.4), b=FlipNoise(0.002, 0.6))
    value = exact.rho(noise, {"a": Radii(add=2), "b": Radii(delete=12)}, 0.9999954)
    assert round(float(value), 3) == 0.396


# --- binomial tail --------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0, 0.01, 0.3, HALF, 1])
def test_binomial_tail_equals_counting(p):
    for votes in range(7):
        outcomes = (bits for bits in product((0, 1), repeat=6) if sum(bits) >= votes)
        counted = sum(prod(Fraction(p) if bit else 1 - Fraction(p) for bit in bits) for bits in outcomes)
        assert exact.clopper_pearson_tail(votes, 6, p) == counted


def test_binomial_tail_of_many_samples():
    assert exact.clopper_pearson_tail(1501, 3001, 0.5) == HALF
    assert exact.clopper_pearson_tail(3000, 3000, 0.3) == Fraction(0.3) ** 3000
    assert exact.clopper_pearson_tail(0, 3000, 0.3) == 1
    assert exact.clopper_pearson_tail(1, 3000, 0.3) == 1 - (1 - Fraction(0.3)) ** 3000


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [-0.1, 1.3, 2, Fraction(3, 2), nan, inf, True])
def test_probabilities_outside_the_unit_interval_are_refused(p):
    noise, radii = FlipNoise(0.01, 0.6), Radii(delete=1)
    for call in (exact.rho, exact.mu, exact.certified):
        with pytest.raises(InvalidInputError, match=rf"^expected p_lower in \[0, 1\], got {p}$"):
            call(noise, radii, p)
    with pytest.raises(InvalidInputError, match=r"^expected p_upper in \[0, 1\], got "):
        exact.rho_upper(noise, radii, p)
    with pytest.raises(InvalidInputError, match=r"^expected p in \[0, 1\], got "):
        exact.clopper_pearson_tail(1, 2, p)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidInputError, match="expected change = 0"):
        exact.regions(FlipNoise(0.01, 0.6), Radii(change=1))
    with pytest.raises(InvalidInputError, match=r"expected votes in \[0, 2\], got 3"):
        exact.clopper_pearson_tail(3, 2, 0.5)
