"""Several certificates of the same inputs in one table: what each system proves, against which attacker.

A system that is to be compared is a function that yields entries. It imports `pipeline` and `baselines`.
"""
