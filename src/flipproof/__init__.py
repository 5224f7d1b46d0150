"""Provable robustness of classifiers of discrete data, by sparsity-aware randomized smoothing."""

from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError, OutputError
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes
from flipproof.theory.frontier import frontier
from flipproof.theory.l0_ball import largest_l0_radius
from flipproof.theory.law import FlipNoise, JointNoise
from flipproof.theory.radii import UNBOUNDED, Radii
from flipproof.theory.regions import Regions, regions
from flipproof.theory.search import largest_radius
from flipproof.theory.tables import critical_table, mu_table, rho_table
from flipproof.theory.worst_case import critical_probability, mu, rho, rho_upper

__all__ = [
    "UNBOUNDED",
    "Certificates",
    "FileFormatError",
    "FlipNoise",
    "FlipproofError",
    "InvalidInputError",
    "JointNoise",
    "OutputError",
    "Radii",
    "Regions",
    "Votes",
    "certify",
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
