"""From vote counts to bounds on probabilities that hold together with a stated failure probability.

The rules (`bounds`), the confidence bounds they use, and the budget of alpha. It imports `theory` and `base`.
"""
