"""What inputs look like, as arrays for a page. A page with all of them and 100,000 inputs stays below 20 MB."""

from __future__ import annotations

from typing import Any

from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.packing import first_texts
from flipproof.report.pictures.graph_pictures import neighbourhoods, small_graphs
from flipproof.report.pictures.row_pictures import images, table_rows
from flipproof.report.pictures.word_pictures import bags, sequences
from flipproof.smoothing.certificates import Certificates


def pictures(certificates: Certificates, described: DescribedInputs) -> dict[str, Any] | None:
    """All pictures that there are data for; None if there are none."""
    space, shape, vocabulary = _drawable(certificates, described), described.image_shape, described.vocabulary
    found: dict[str, Any] = {"texts": None if described.texts is None else first_texts(described.texts)}
    if space is not None and shape is not None:
        found["images"] = images(certificates, space, shape)
    elif isinstance(space, Tokens) and vocabulary is not None:
        found["sequences"] = sequences(certificates, space, vocabulary)
    elif isinstance(space, SparseRows) and vocabulary is not None:
        found["bags"] = bags(certificates, space, vocabulary)
    elif isinstance(space, Table):
        found["rows"] = table_rows(certificates, space, described.column_names, described.value_names)
    elif isinstance(space, Graphs):
        found["graphs"] = small_graphs(certificates, space, described.node_names)
    if isinstance(space, Graph):
        found["graph"] = neighbourhoods(space)
    held = {name: picture for name, picture in found.items() if picture is not None}
    return held or None


def _drawable(certificates: Certificates, described: DescribedInputs) -> Space | None:
    """The data, if their rows, or the nodes of their graph, are the inputs: votes may be on some targets only."""
    votes = certificates.votes
    others = isinstance(described.space, Graph) and not votes.in_order
    return None if votes.on_some or others else described.space
