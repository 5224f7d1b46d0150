"""One way for all tests to draw all rows of a space."""

import numpy as np

from flipproof.noise.sampling.samplers import Role


def draw(space, noise, samples=4, seed=0, role=Role.SELECT):
    """The first samples of all rows; of certain samples for a range."""
    sampler = space.sampler(noise, seed)
    return sampler.draw(role, range(samples) if isinstance(samples, int) else samples, np.arange(sampler.rows))
