"""Several certificates of the same inputs in one table: what each system proves, against which attacker.

A system that can be compared is a function that yields entries. It imports `pipeline`, `baselines` and all below.
"""

PUBLIC = ("compare", "comparison", "setting")
"""The modules that other rooms may import."""
