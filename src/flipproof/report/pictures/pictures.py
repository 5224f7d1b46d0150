"""What inputs look like, as arrays for a page. A page with all of them and 100,000 inputs stays below 20 MB."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.page.packing import first_texts
from flipproof.report.pictures.graph_pictures import neighbourhoods, small_graphs
from flipproof.report.pictures.row_pictures import images, table_rows
from flipproof.report.pictures.word_pictures import bags, sequences

Pictures = dict[str, Any]
"""By form, what a page draws: "images", "sequences", "bags", "rows", "graphs" or "graph"; None stands for none."""


def pictures(certified: CertifiedInputs) -> Pictures | None:
    """All pictures that there are data for; None if there are none, or if the votes are on some targets only."""
    described, space = certified.described, certified.described.space
    texts, shape = described.texts, described.image_shape
    drawn: Pictures = {"texts": None if texts is None else first_texts(texts)}
    if space is not None and not certified.on_some:
        drawn["images"] = None if shape is None else images(certified, space, shape)
        drawn |= pictures_of(space, certified)
    held = {name: picture for name, picture in drawn.items() if picture is not None}
    return held or None


@singledispatch
def pictures_of(space: Any, certified: CertifiedInputs) -> Pictures:
    """The pictures of one kind of data beside images: none, until `pictures_of.register` is told of its class.

    Whatever can be shown as images is registered with `row_pictures.pixels_of`.
    """
    return {}


@pictures_of.register
def _(space: Tokens, certified: CertifiedInputs) -> Pictures:
    words = certified.described.vocabulary
    return {} if words is None else {"sequences": sequences(certified, space, words)}


@pictures_of.register
def _(space: SparseRows, certified: CertifiedInputs) -> Pictures:
    words = None if certified.described.image_shape is not None else certified.described.vocabulary
    return {} if words is None else {"bags": bags(certified, space, words)}


@pictures_of.register
def _(space: Table, certified: CertifiedInputs) -> Pictures:
    return {"rows": table_rows(certified, space, certified.described.column_names, certified.described.value_names)}


@pictures_of.register
def _(space: Graphs, certified: CertifiedInputs) -> Pictures:
    return {"graphs": small_graphs(certified, space, certified.described.node_names)}


@pictures_of.register
def _(space: Graph, certified: CertifiedInputs) -> Pictures:
    return {"graph": neighbourhoods(space) if certified.in_order else None}
