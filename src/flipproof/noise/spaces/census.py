"""How large a space is: what kind of data it has and, by part, how many entries there are and how many are not zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from flipproof.noise.gaussian import RealRows
from flipproof.noise.spaces.graph import ATTRIBUTES, STRUCTURE, Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens


def census(space: Space) -> dict[str, Any]:
    """The kind of a space and the counts of its parts, as JSON values.

    Example:
        >>> census(DenseRows([[0, 1, 1], [1, 0, 0]]))
        {'kind': 'DenseRows', 'parts': {'values': {'entries': 6, 'nonzero': 3}}}
    """
    parts = {name: {"entries": entries, "nonzero": nonzero} for name, entries, nonzero in _counts(space)}
    return {"kind": type(space).__name__, "parts": {name: parts[name] for name in space.parts if name in parts}}


def _counts(space: Any) -> Iterator[tuple[str, int, int]]:
    """(part, entries, entries that are not zero). A space of the user's own is not looked into."""
    if isinstance(space, Graph | Graphs):
        edges = [graph.edges for graph in (space.graphs if isinstance(space, Graphs) else [space])]
        yield STRUCTURE, sum(each.pairs for each in edges), sum(each.count for each in edges)
        yield ATTRIBUTES, *_rows(space.attributes)
    elif isinstance(space, Table):
        for part in space.parts:
            yield part, *_values(space.values[:, [name == part for name in space.columns or ()]])
    elif isinstance(space, Tokens):
        tokens = space.values[~space.is_padding]
        yield "tokens", int(tokens.size), int(tokens.size if space.mask is not None else np.count_nonzero(tokens))
    elif isinstance(space, DenseRows | SparseRows | RealRows):
        yield space.parts[0], *_rows(space)


def _rows(rows: Any) -> tuple[int, int]:
    if isinstance(rows, SparseRows):
        return rows.inputs * rows.columns, rows.ones
    return _values(rows.values) if isinstance(rows, DenseRows | RealRows) else (0, 0)


def _values(values: Any) -> tuple[int, int]:
    return int(values.size), int(np.count_nonzero(values))
