"""Rows of bits to draw from, and every kind of noise on them."""

import itertools

import numpy as np

from flipproof.noise.sampling.samplers import BitSampler, Stream
from flipproof.theory.law import FlipNoise

ROWS = [[0, 3, 4, 9], [], [5], list(range(12)), [0, 199], list(range(0, 200, 3))]
LENGTHS = [10, 7, 6, 12, 200, 200]
NOISES = {
    "deletion": FlipNoise(0.0, 0.6),
    "deletion of all": FlipNoise(0.0, 1.0),
    "nothing": FlipNoise(0.0, 0.0),
    "few additions": FlipNoise(0.01, 0.6),
    "some additions": FlipNoise(0.12, 0.3),
    "additions only": FlipNoise(0.05, 0.0),
    "hardly any": FlipNoise(1e-300, 0.5),
    "every entry": FlipNoise(0.125, 0.4),
    "most entries": FlipNoise(0.9, 0.8),
    "all zeros": FlipNoise(1.0, 0.5),
    "all": FlipNoise(1.0, 1.0),
    "all zeros, no one": FlipNoise(1.0, 0.0),
}


def bit_sampler(noise, seed=0, part=0, rows=ROWS, lengths=LENGTHS, dtype=np.int64):
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    positions = np.array([one for row in rows for one in row], dtype=dtype)
    return BitSampler(starts, positions, np.array(lengths, np.int64), noise, Stream(seed, part))


def drawn_rows(sampler, role, samples, rows):
    """Each (sample, row) as a list of positions."""
    starts, positions = sampler.draw(role, samples, np.asarray(rows, np.int64))
    assert starts[-1] == positions.size
    return [positions[a:b].tolist() for a, b in itertools.pairwise(starts)]
