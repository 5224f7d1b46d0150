"""Tables and messages that are none."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_loaders import OTHERS, TEXTS, refusal

import flipproof as fp


@pytest.mark.parametrize("loader", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "expected a t"),
        (b"\x00" * 1000, "line 1 has a NUL byte"),
        (b"a,label\t\n1,x\x00\t\n", "line 2 has a NUL byte"),
        (b"a,label\tx\n1,\xff\t\n", "line 2 is not UTF-8"),
        ("a,label\tx\n1,2\tx\n".encode("utf-16"), "line 1 (is not UTF-8|has a NUL byte)"),
        (b"a\tlabel,\ta" + b"x" * (2**24 + 1), "line 1 is longer than 16,777,216 bytes"),
        (b"\x1b[2J\x1b]0;owned\x07", "expected a t"),
    ],
)
def test_bytes_that_are_no_text(loader, content, reason, tmp_path):
    path = tmp_path / loader.name
    path.write_bytes(content)
    line = refusal(loader, path)
    assert any(part in line for part in ([reason] if "(" not in reason else ["is not UTF-8", "has a NUL byte"]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,label\n" + b"x" * 200_000 + b",1\n", "line 2: field larger than field limit"),
        (b'a,label\n"never closed,1\n' + b"2,3\n" * 100_000, "field larger than field limit"),
        (b"," * 70_000, "it has 70,001 columns, more than 65,536"),
        (b"\x1b[2J,label\n" + b"".join(b"%d,1\n" % n for n in range(300)), "its labels are of 1 class"),
        (b"x" * 10**5 + b",label\n" + b"".join(b"%d,%d\n" % (n, n % 2) for n in range(300)), "are no categories: --dr"),
        (b"\x1b[2J,label\n" + b"".join(b"%d,%d\n" % (n, n % 2) for n in range(300)), "(int64, 300 different values)"),
        (b"a,b\r1,2\r3,4", "new-line character seen in unquoted field"),
    ],
)
def test_tables_that_are_none(content, reason, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    assert reason in refusal(TEXTS["table"], path)


def test_names_of_classes_are_plain_lines(tmp_path):
    """They are printed later, and a terminal would obey them."""
    (tmp_path / "mine.tsv").write_bytes(b"ham\x1b[2J\thello\nsp\x07am\tbye\n")
    (tmp_path / "mine.csv").write_bytes(b"a,label\n1,x\x1b[31m\n2,y\x9b\n".decode("latin1").encode())
    for name in ("mine.tsv", "mine.csv"):
        assert all(word.isprintable() for word in fp.datasets.load(tmp_path / name).class_names)


def test_a_small_parquet_file_that_would_fill_the_memory(tmp_path):
    """A long text, or a number, that very many rows share takes next to no space in such a file."""
    path, few = tmp_path / "mine.parquet", pa.array(np.zeros(2**19, dtype=np.int32))
    long = pa.DictionaryArray.from_arrays(few, pa.array(["x" * 10**4]))
    labels = pa.array(["no", "yes"] * 2**18)
    pq.write_table(pa.table({"a": long, "label": labels}), path, store_schema=False)  # so that it is read as text
    assert path.stat().st_size < 10**6
    assert "column 'a' has 5,242,880,000 letters, more than 2,147,483,648" in refusal(OTHERS["parquet"], path)
    many = pa.table({f"column {i}": few for i in range(2**10)})
    pq.write_table(many, path)
    assert "it has 524,288 rows of 1024 columns, more than 268,435,456 cells" in refusal(OTHERS["parquet"], path)


@pytest.mark.parametrize("loader", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 1000, b"\xff\xfe", b"x" * 10**6, b"\x1b[2J\x1b]0;owned\x07", b"PAR1" * 9]
)
def test_bytes_that_are_nothing(loader, content, tmp_path):
    path = tmp_path / loader.name
    path.write_bytes(content)
    assert loader.name in refusal(loader, path)
