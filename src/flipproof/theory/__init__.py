"""From a noise law and bounds on probabilities to radii: pure mathematics, no data, no randomness, no files.

Laws that have regions, regions of constant likelihood ratio, worst cases, tables, radii, claims, and the shape that
every certificate has. `exact` is the independent twin in fractions. It imports `base`.
"""

PUBLIC = (
    "base_law", "bounded_inputs", "certificate", "claims", "edit_distance", "frontier", "kernels", "l0_ball", "law",
    "radii", "regions", "scope", "search", "stairs", "tables", "worst_case",
)  # fmt: skip
"""The modules that other rooms may import."""
