"""From vote counts to bounds on probabilities that hold together with a stated failure probability.

It has the rules (`bounds`), their confidence bounds, and the budget of alpha. It imports `theory` and `base`.
"""

PUBLIC = ("bounds",)
"""The modules that other rooms may import."""
