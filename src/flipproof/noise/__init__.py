"""Exact noise: laws that can be sampled, spaces (what is one entry), and samplers that draw noisy copies.

`laws` lists all laws; a law has a file of its own here. `spaces` has one file for each space, `sampling` the random
streams, exact coins and compiled loops. It imports `theory` and `base`.
"""

PUBLIC = (
    "ablation", "gaussian", "laws", "sampling.bit_kernels", "sampling.bit_law", "sampling.block_kernels",
    "sampling.counter", "sampling.philox", "sampling.samplers", "spaces.edges", "spaces.graph", "spaces.graphs",
    "spaces.noisy_graphs", "spaces.pyg", "spaces.rows", "spaces.space", "spaces.table", "spaces.tokens", "spaces.words",
)  # fmt: skip
"""The modules that other rooms may import."""
