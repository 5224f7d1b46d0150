"""Data frames of parquet files: only plain columns are read, and never more cells or letters than fit into memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from flipproof.errors import FileFormatError, FlipproofError, reason_of
from flipproof.extras import require

_MOST_CELLS = 2**28
_MOST_LETTERS = 2**31
_INDEX = re.compile(r"__index_level_\d+__")
"""How pandas calls the columns that keep the index of a frame."""


def parquet_frame(content: bytes, drop: Sequence[str]) -> tuple[Any, list[str]]:
    """The frame in the bytes of a file, as `pandas.read_parquet` reads it without index, and the columns left out."""
    require("pandas")
    arrow = require("pyarrow")
    try:
        return _frame(arrow, content, drop)
    except FlipproofError:
        raise
    except Exception as error:  # a damaged file can make pyarrow raise anything
        raise FileFormatError(f"pyarrow cannot read it: {reason_of(error)}") from error


def _frame(arrow: Any, content: bytes, drop: Sequence[str]) -> tuple[Any, list[str]]:
    parquet = require("pyarrow.parquet")
    schema = parquet.ParquetFile(arrow.BufferReader(content)).schema_arrow
    names = [each.name for each in schema if each.name not in drop and not _INDEX.fullmatch(each.name)]
    for each in schema:
        if each.name in names and not _is_plain(arrow.types, each.type):
            raise FileFormatError(f"column {each.name!r} has values of type {each.type}: --drop it")
    texts = [each.name for each in schema if _is_text(arrow.types, each.type)]
    file = parquet.ParquetFile(arrow.BufferReader(content), read_dictionary=texts)
    rows = file.metadata.num_rows
    if rows * max(1, len(names)) > _MOST_CELLS:
        raise FileFormatError(f"it has {rows:,} rows of {len(names)} columns, more than {_MOST_CELLS:,} cells")
    table = file.read(columns=names)
    table.validate(full=True)
    plain = [_plain(arrow, schema.field(name).type, table.column(name), name) for name in names]
    frame = arrow.table(plain, names=names).to_pandas(ignore_metadata=True)
    return frame, [name for name in schema.names if name in drop]


def _is_text(types: Any, kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_plain(types: Any, kind: Any) -> bool:
    """Whether values are numbers, truth values, texts or categories of these, or times."""
    if types.is_dictionary(kind):
        return _is_plain(types, kind.value_type) and not types.is_dictionary(kind.value_type)
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_temporal, types.is_null)
    return _is_text(types, kind) or any(test(kind) for test in tests)


def _plain(arrow: Any, kind: Any, column: Any, name: str) -> Any:
    """A column of the type that the file says. Texts were read as numbers of texts, as few of them may be very long."""
    if not _is_text(arrow.types, kind):
        return column
    compute, letters = require("pyarrow.compute"), 0
    for chunk in column.chunks:
        sizes = compute.take(compute.binary_length(chunk.dictionary), chunk.indices)
        letters += compute.sum(compute.cast(sizes, "int64")).as_py() or 0
    if letters > _MOST_LETTERS:
        raise FileFormatError(f"column {name!r} has {letters:,} letters, more than {_MOST_LETTERS:,}")
    return column.cast("large_string")
