"""Exact noise: laws that can be sampled, spaces that define one entry, and samplers that draw noisy copies.

`laws` brings data and laws together; `ablation` and `gaussian` each define a law. `spaces` has one file per space.
`usual` has the noise that data get by default.
`sampling` holds the random streams, exact coins and compiled loops. This package imports `theory` and `base`.
"""

PUBLIC = (
    "ablation", "gaussian", "laws", "sampling.bit_kernels", "sampling.bit_law", "sampling.block_kernels",
    "sampling.counter", "sampling.philox", "sampling.samplers", "spaces.edge_features", "spaces.edges",
    "spaces.frame_book", "spaces.graph", "spaces.graphs", "spaces.images", "spaces.noisy_graphs", "spaces.pyg",
    "spaces.rows", "spaces.space", "spaces.table", "spaces.texts", "spaces.tokens", "spaces.words", "usual",
)  # fmt: skip
"""The modules that other packages may import."""
