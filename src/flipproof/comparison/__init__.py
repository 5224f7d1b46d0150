"""Compares several certificates for the same inputs in one table: what each system proves against which attacker.

Each system is a function that yields entries. This subpackage may import `pipeline`, `baselines` and all below them.
"""

PUBLIC = ("compare", "comparison", "setting")
"""The modules that other subpackages may import."""
