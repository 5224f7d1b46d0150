"""Exact noise: laws that can be sampled, spaces (what is one entry), and samplers that draw noisy copies.

`laws` lists all laws; a law has a file of its own here. `spaces` has one file for each space, `sampling` the random
streams and compiled loops, which nobody outside needs. It imports `theory` and `base`.
"""
