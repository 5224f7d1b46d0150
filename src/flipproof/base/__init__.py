"""Tools that know nothing of certificates: array types, argument checks, rounding, compiled loops, progress, threads.

It imports nothing of the package but the errors.
"""

PUBLIC = ("compiled", "own_imports", "progress", "rounding", "short_repr", "threads", "values")
"""The modules that other rooms may import."""
