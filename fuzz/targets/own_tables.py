"""A user's own parquet files, whatever is in them."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from flipproof.datasets.loading import load_user_file
from flipproof.run_folder.reading import Reading
from fuzz.target import Target, saved

_READING = Reading(drop=("id",), fixed=("amount",))


def _seeds() -> Iterator[bytes]:
    cells = {
        "id": ["u", "v", "w"],
        "amount": [1.5, None, 2.5],
        "job": ["cook", None, "smith"],
        "label": ["no", "yes", "no"],
    }
    yield _file(pa.table(cells))
    yield _file(pa.table({**cells, "job": pa.array(cells["job"]).dictionary_encode()}), compression="none")
    yield _file(pa.table({"id": [1, 2], "amount": [2, 2], "on": [True, False], "label": [1, 0]}))


def _file(table: pa.Table, compression: str = "snappy") -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, compression=compression)
    return stream.getvalue()


def _read(content: bytes) -> None:
    load_user_file(saved(content, "mine.parquet"), _READING).table()


TARGET = Target("own_tables", _seeds, _read, words=(b"PAR1", b"label", b"ARROW:schema"))
