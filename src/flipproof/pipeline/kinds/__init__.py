"""Kinds of data, one file each: `kind` has the seam, the other files the kinds that ship.

A kind of one's own is registered with `flipproof.pipeline.kinds.kind.register_kind`.
"""

from flipproof.pipeline.kinds.graphs import GRAPHS
from flipproof.pipeline.kinds.images import IMAGES
from flipproof.pipeline.kinds.kind import register_kind
from flipproof.pipeline.kinds.nodes import NODES
from flipproof.pipeline.kinds.tables import TABLES
from flipproof.pipeline.kinds.texts import TEXTS

for _kind in (NODES, GRAPHS, IMAGES, TEXTS, TABLES):
    register_kind(_kind)
