"""What inputs look like, as arrays for a page: neighbourhoods of nodes, images with noisy copies, small graphs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.noise.graph import ATTRIBUTES, Graph, plain_attributes
from flipproof.noise.graphs import Graphs
from flipproof.noise.rows import DenseRows, SparseRows
from flipproof.noise.sampling import Role
from flipproof.noise.space import Space
from flipproof.report.packing import packed
from flipproof.report.subject import Subject
from flipproof.smoothing.certificates import Certificates

_COPIES = 3
_IMAGE_BYTES = 4_000_000
_MOST_EDGES = 200_000
_TEXT_BYTES = 2_000_000
"""A page with all of them, with plotly and with 100,000 inputs stays below 20 MB."""


def pictures(certificates: Certificates, subject: Subject) -> dict[str, Any] | None:
    """All pictures that there are data for; None if there are none."""
    space, shape = _drawable(certificates, subject), subject.image_shape
    found = {
        "graph": neighbourhoods(space) if isinstance(space, Graph) else None,
        "images": None if space is None or shape is None else images(certificates, space, shape),
        "texts": None if subject.texts is None else first_texts(subject.texts),
        "graphs": small_graphs(space) if isinstance(space, Graphs) else None,
    }
    return found if any(each is not None for each in found.values()) else None


def _drawable(certificates: Certificates, subject: Subject) -> Space | None:
    """The data, if their rows are the inputs: votes on some targets do not say which these were."""
    run = certificates.votes.run
    return None if run is not None and run.identity.get("targets") is not None else subject.space


def neighbourhoods(graph: Graph) -> dict[str, Any] | None:
    """Who is joined to whom, whichever way; None for a graph with too many edges for a page."""
    if graph.edges.count > _MOST_EDGES:
        return None
    heads, tails = graph.edges.index()
    both = np.unique(np.concatenate([heads * graph.nodes + tails, tails * graph.nodes + heads]))
    heads, tails = both // graph.nodes, both % graph.nodes
    heads, tails = heads[heads != tails], tails[heads != tails]
    return {
        "starts": packed(np.searchsorted(heads, np.arange(graph.nodes + 1)), "u4"),
        "neighbours": packed(tails, "u4"),
    }


def images(certificates: Certificates, space: Space, shape: tuple[int, ...]) -> dict[str, Any]:
    """The first images, as many as a page can hold, each with the first noisy copies that were voted on."""
    clean = _pixels(space, math.prod(shape))
    count = min(len(clean), _IMAGE_BYTES // (clean.shape[1] * (1 + _COPIES)))
    numbers, noisy = _noisy_copies(certificates, space, count)
    height, width, channels = (*shape, 1)[:3]
    return {
        "height": height,
        "width": width,
        "channels": channels,
        "levels": _levels(certificates, space),
        "count": count,
        "clean": packed(clean[:count].reshape(count, height, width, channels), "u1"),
        "touched": not (isinstance(space, Graph) and space.noisy == "structure"),
        "copies": numbers,
        "noisy": packed(noisy.reshape(len(numbers), count, height, width, channels), "u1"),
    }


def small_graphs(graphs: Graphs) -> dict[str, Any] | None:
    """The edges of many graphs, one after the other; None if there are too many for a page."""
    if sum(graph.edges.count for graph in graphs.graphs) > _MOST_EDGES:
        return None
    indices = [_each_edge_once(graph) for graph in graphs.graphs]
    starts = np.cumsum([0, *(index.shape[1] for index in indices)])
    edges = np.concatenate(indices, axis=1) if indices else np.zeros((2, 0), dtype=np.int64)
    return {
        "starts": packed(starts, "u4"),
        "nodes": packed(np.array([graph.nodes for graph in graphs.graphs], dtype=np.int64), "u4"),
        "edges": packed(edges, "u4"),
    }


def _pixels(space: Space, size: int) -> NDArray[Any]:
    """The entries of every input as one row of bytes."""
    if not isinstance(space, Graph | DenseRows | SparseRows):
        raise InvalidInputError(f"expected rows of pixels for image_shape, got {type(space).__name__}")
    rows = _dense(plain_attributes(space.attributes if isinstance(space, Graph) else space))
    flat = rows.reshape(len(rows), -1) if rows.ndim > 1 else np.zeros((0, 0))
    if flat.shape[1] != size or not np.array_equal(flat, flat.astype(np.uint8)):
        raise InvalidInputError(
            f"expected images of {size} pixels with levels 0 to 255, as image_shape says, got {flat.shape[1]} entries "
            "per input, or others"
        )
    return flat.astype(np.uint8)


def _each_edge_once(graph: Graph) -> NDArray[Any]:
    index = graph.edges.index()
    return index if graph.edges.directed else index[:, index[0] <= index[1]]


def _levels(certificates: Certificates, space: Space) -> int:
    noise = certificates.noise
    part = dict(noise.parts).get(ATTRIBUTES) if hasattr(noise, "parts") else noise
    return 2 if part is None or (isinstance(space, Graph) and space.noisy == "structure") else int(part.categories)


def _noisy_copies(certificates: Certificates, space: Space, count: int) -> tuple[list[int], NDArray[Any]]:
    """The first estimation samples of the run, where noise touches pixels; their numbers and their pixels."""
    run = certificates.votes.run
    if run is None or not run.estimate or (isinstance(space, Graph) and space.noisy == "structure"):
        return [], np.zeros((0, count), dtype=np.uint8)
    first = run.estimate.to_record()[0][0]
    numbers = range(first, min(first + _COPIES, run.estimate.to_record()[0][1]))
    sampler = space.sampler(certificates.noise, run.identity["seed"])
    if isinstance(space, Graph):
        drawn = sampler.draw(Role.ESTIMATE, numbers, np.zeros(1, dtype=np.int64))
        noisy = [_dense(copy.attributes)[:count] for copy in drawn]
    else:
        noisy = list(_dense(sampler.draw(Role.ESTIMATE, numbers, np.arange(count))).reshape(len(numbers), count, -1))
    return list(numbers), np.array(noisy)


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def first_texts(texts: tuple[str, ...]) -> list[str]:
    """As many as a page can hold, measured as they are written there: other letters than ASCII take six bytes."""
    lengths = np.cumsum([len(json.dumps(text)) for text in texts])
    return list(texts[: int(np.searchsorted(lengths, _TEXT_BYTES, side="right"))])
