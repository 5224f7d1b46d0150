"""Random laws with everything special about them."""

import flipproof as fp

SPECIAL = [0.0, 1.0, 0.5, 0.25, 2e-5, 1e-6, 1 - 2**-20]


def random_law(rng, most_categories=300):
    """A law of which one in three is symmetric; every fifth probability is special."""
    flips = [float(rng.choice(SPECIAL) if rng.random() < 0.2 else rng.random()) for _ in range(2)]
    if rng.random() < 0.3:
        flips[1] = flips[0]
    categories = int(rng.choice([2, 2, 3, 4, 5, int(rng.integers(2, most_categories + 1))]))
    return fp.FlipNoise(*flips, categories)


def random_noise(rng, parts):
    """A joint law of so many parts."""
    return fp.JointNoise(**{f"part {i}": random_law(rng) for i in range(parts)})


def table(categories, p_plus, p_minus=None):
    """The law of a table with a column for each number of categories."""
    p_minus = p_plus if p_minus is None else p_minus
    return fp.JointNoise(**{f"column {i}": fp.FlipNoise(p_plus, p_minus, k) for i, k in enumerate(categories)})


def random_bounds(rng, size):
    """Pairs of bounds such as votes give, from hardly ahead to almost sure."""
    p_lower = 1 - 10 ** rng.uniform(-6, -0.3, size)
    return p_lower, (1 - p_lower) * rng.choice([0.01, 0.3, 0.8, 1.0], size)
