"""What inputs look like, as arrays for a page. A page with all of them and 100,000 inputs stays below 20 MB."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.packing import first_texts
from flipproof.report.pictures.graph_pictures import neighbourhoods, small_graphs
from flipproof.report.pictures.row_pictures import images, table_rows
from flipproof.report.pictures.word_pictures import bags, sequences
from flipproof.smoothing.certificates import Certificates

Pictures = dict[str, Any]
"""By form, what a page draws: "images", "sequences", "bags", "rows", "graphs" or "graph"; None stands for none."""


def pictures(certificates: Certificates, described: DescribedInputs) -> Pictures | None:
    """All pictures that there are data for; None if there are none, or if the votes are on some targets only."""
    space, texts, shape = described.space, described.texts, described.image_shape
    found: Pictures = {"texts": None if texts is None else first_texts(texts)}
    if space is not None and not certificates.votes.on_some:
        found["images"] = None if shape is None else images(certificates, space, shape)
        found |= pictures_of(space, certificates, described)
    held = {name: picture for name, picture in found.items() if picture is not None}
    return held or None


@singledispatch
def pictures_of(space: Any, certificates: Certificates, described: DescribedInputs) -> Pictures:
    """The pictures of one kind of data beside images: none, until `pictures_of.register` is told of its class.

    Whatever can be shown as images is registered with `row_pictures.pixels_of`.
    """
    return {}


@pictures_of.register
def _(space: Tokens, certificates: Certificates, described: DescribedInputs) -> Pictures:
    words = described.vocabulary
    return {} if words is None else {"sequences": sequences(certificates, space, words)}


@pictures_of.register
def _(space: SparseRows, certificates: Certificates, described: DescribedInputs) -> Pictures:
    words = None if described.image_shape is not None else described.vocabulary
    return {} if words is None else {"bags": bags(certificates, space, words)}


@pictures_of.register
def _(space: Table, certificates: Certificates, described: DescribedInputs) -> Pictures:
    return {"rows": table_rows(certificates, space, described.column_names, described.value_names)}


@pictures_of.register
def _(space: Graphs, certificates: Certificates, described: DescribedInputs) -> Pictures:
    return {"graphs": small_graphs(certificates, space, described.node_names)}


@pictures_of.register
def _(space: Graph, certificates: Certificates, described: DescribedInputs) -> Pictures:
    return {"graph": neighbourhoods(space) if certificates.votes.in_order else None}
