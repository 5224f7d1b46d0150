"""Provable robustness of classifiers of discrete data, by sparsity-aware randomized smoothing."""

from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError
from flipproof.theory.law import FlipNoise, JointNoise
from flipproof.theory.radii import UNBOUNDED, Radii
from flipproof.theory.regions import Regions, regions
from flipproof.theory.search import frontier, largest_l0_radius, largest_radius
from flipproof.theory.tables import critical_table, mu_table, rho_table
from flipproof.theory.worst_case import critical_probability, mu, rho, rho_upper

__all__ = [
    "UNBOUNDED",
    "FileFormatError",
    "FlipNoise",
    "FlipproofError",
    "InvalidInputError",
    "JointNoise",
    "Radii",
    "Regions",
    "critical_probability",
    "critical_table",
    "frontier",
    "largest_l0_radius",
    "largest_radius",
    "mu",
    "mu_table",
    "regions",
    "rho",
    "rho_table",
    "rho_upper",
]
