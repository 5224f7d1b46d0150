"""Pickles as Python 2 wrote them when Planetoid was published, made operation by operation."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def number(value: int) -> bytes:
    """The operation that pushes a number."""
    return b"J" + struct.pack("<i", value)


def text(value: bytes) -> bytes:
    """The operation that pushes a text."""
    return b"T" + struct.pack("<i", len(value)) + value


def numbers(values: Iterable[int]) -> bytes:
    """The operations that push a tuple of numbers."""
    return b"(" + b"".join(map(number, values)) + b"t"


def name(path: str) -> bytes:
    """The operation that imports something."""
    module, _, last = path.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def array(values: NDArray[Any], code: bytes | None = None, order: bytes = b"<") -> bytes:
    """The operations that make numpy build this array."""
    code = code or values.dtype.str[1:].encode()
    kind = name("numpy.dtype") + b"(" + text(code) + number(0) + number(1) + b"tR"
    kind += b"(" + number(3) + text(order) + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    made = name("numpy.core.multiarray._reconstruct") + b"(" + name("numpy.ndarray") + numbers([0]) + text(b"b") + b"tR"
    by_columns = values.flags.f_contiguous and not values.flags.c_contiguous
    content = text(values.tobytes(order="F" if by_columns else "C"))
    state = number(1) + numbers(values.shape) + kind + (b"\x88" if by_columns else b"\x89") + content
    return made + b"(" + state + b"tb"


def matrix(values: Any) -> bytes:
    """The operations that make scipy build this sparse matrix."""
    parts = {b"data": values.data, b"indices": values.indices, b"indptr": values.indptr}
    state = b"".join(text(key) + array(part) for key, part in parts.items())
    return name("scipy.sparse.csr.csr_matrix") + b")\x81}(" + text(b"_shape") + numbers(values.shape) + state + b"ub"


def lists(neighbours: Mapping[int, Iterable[int]]) -> bytes:
    """The operations that build a dictionary of lists."""
    items = b"".join(number(node) + b"](" + b"".join(map(number, others)) + b"e" for node, others in neighbours.items())
    return name("collections.defaultdict") + b"(" + name("__builtin__.list") + b"tR(" + items + b"u"


def program(body: bytes) -> bytes:
    """A whole pickle."""
    return b"\x80\x02" + body + b"."


def planetoid(
    attributes: Any, labels: NDArray[Any], test: NDArray[Any], graph: Mapping[int, list[int]]
) -> dict[str, bytes]:
    """The files of a graph called "few" whose nodes to test come last, listed in this order."""
    rows, first = sp.csr_matrix(attributes), len(labels) - len(test)
    one_hot = np.eye(labels.max() + 1, dtype=np.int32)[labels]
    return {
        "ind.few.allx": program(matrix(rows[:first])),
        "ind.few.tx": program(matrix(rows[test])),
        "ind.few.ally": program(array(np.asfortranarray(one_hot[:first]))),
        "ind.few.ty": program(array(one_hot[test])),
        "ind.few.graph": program(lists(graph)),
        "ind.few.test.index": "".join(f"{node}\n" for node in test).encode(),
    }
