"""Tools that know nothing of certificates: array types, argument checks, rounding, compiled loops, progress, threads.

Every room may use all of it. It imports nothing of the package but the errors.
"""
