"""Tables and messages that users bring as files. What cannot be read is refused in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from flipproof.datasets import TableDataset, TextDataset, load
from flipproof.datasets.readers import text_files

TABLE = "city,Label,age\nRome,yes,10\nOslo,no,9\n,yes,10\n"


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_table(written):
    data = load(str(written("people.csv", TABLE)))
    assert isinstance(data, TableDataset)
    assert (data.name, data.column_names, data.class_names) == ("people", ("city", "age"), ("no", "yes"))
    assert data.values.tolist() == [[2, 1], [1, 0], [0, 1]]  # the empty cell first, then words; numbers by size
    assert (data.categories, data.labels.tolist()) == ((3, 2), [1, 0, 1])
    assert data.value_names == (("(empty)", "Oslo", "Rome"), ("9", "10"))


@pytest.mark.parametrize(
    "same",
    [
        "\ufeff" + TABLE,
        TABLE.replace("\n", "\r\n"),
        TABLE.replace("\n", "\n\n"),
        TABLE.replace(",", " , "),
        TABLE.replace("Rome", '"Rome"'),
        TABLE.removesuffix("\n"),
        "city,age,verdict\nRome,10,yes\nOslo,9,no\n,10,yes\n",
    ],
)
def test_the_same_table_written_otherwise(written, same):
    ours, theirs = load(written("a.csv", TABLE)), load(written("b.CSV", same))
    assert ours.values.tolist() == theirs.values.tolist()
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert (ours.column_names, ours.class_names) == (theirs.column_names, theirs.class_names)


def test_commas_quotes_and_lines_within_a_cell(written):
    data = load(written("a.csv", 'text,label\n"a, ""b""\nc",1\nd,0\n'))
    assert (data.values.tolist(), data.class_names) == ([[0], [1]], ("0", "1"))


def test_words_among_numbers_are_sorted_as_words(written):
    assert load(written("a.csv", "x,y\n10,a\n9,a\nnan,b\n")).values.tolist() == [[0], [1], [2]]
    assert load(written("a.csv", "x,y\n1e1,a\n-9,b\n9.5,b\n")).values.tolist() == [[2], [0], [1]]


def test_as_many_values_as_there_may_be(written):
    rows = [f"{i},{i % 2}" for i in range(256)]
    assert load(written("a.csv", "\n".join(["x,label", *rows]))).values[:, 0].tolist() == list(range(256))
    reason = refusal(written("a.csv", "\n".join(["x,label", *rows, "256,0"])))
    assert reason.endswith("column 'x' has more than 256 different values by line 258; cut it into ranges first")
    assert load(written("a.csv", "\n".join(["x,label", *(f"{i % 2},{i}" for i in range(300))]))).classes == 300


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "its first line names 0 columns; it takes labels and one more"),
        ("\n\n", "its first line names 0 columns; it takes labels and one more"),
        ("label\n1\n", "its first line names 1 columns; it takes labels and one more"),
        ("a;b;label\n1;2;3\n", "its first line names 1 columns; it takes labels and one more"),
        ("a,label\n", "it has no rows below its first line"),
        ("a,label,LABEL\n1,2,3\n", "2 columns are called label"),
        ("city,label\nRome,1\nRome,0\n", "column 'city' has one value; leave it out"),
        ("city,label\nRome,1\nOslo,1\n", "its labels are of 1 class; it takes at least two"),
        ("a,label\n1,2\n1,2,3\n", "line 3 has 3 cells, the first line 2"),
        ("a,label\n1,2\n1\n", "line 3 has 1 cells, the first line 2"),
        ("a,label\n1,2\n2, \n", "line 3 has no label"),
        ("a,label\n1,2\n\x00,2\n", "line 3 has a NUL byte, as no text in UTF-8 has"),
        (b"a,label\n1,2\n\xe9,2\n", "line 3 is not UTF-8"),
        (TABLE.encode("utf-16"), "line 1 has a NUL byte, as no text in UTF-8 has"),
        ('a,label\n1,2\n"2,2\n', "line 3: unexpected end of data"),
        ('a,label\n"1"x,2\n', "line 2: ',' expected after '\"'"),
        ("a,label\r1,2\r", "line 1: new-line character seen in unquoted field"),
        ("a,label\n" + "x" * 140_000 + ",1\n", "line 2: field larger than field limit (131072)"),
        ("," * 70_000 + "\n", "it has 70,001 columns, more than 65,536"),
    ],
)
def test_tables_that_are_refused(written, content, reason):
    path = written("mine.csv", content)
    assert refusal(path) == f"expected a table with commas between its cells, got {path}: {reason}"


def test_messages(written):
    data = load(written("mail.tsv", '\ufeffspam\tYou won!\r\n\nham\t"Ok\tbye\neggs\t\nham\tÖl\n'))
    assert isinstance(data, TextDataset)
    assert (data.name, data.class_names) == ("mail", ("eggs", "ham", "spam"))
    assert (data.messages, data.labels.tolist()) == (("You won!", '"Ok\tbye', "", "Öl"), [2, 1, 0, 1])
    assert load(written("stars.tsv", "10\ta\n9\tb\n")).class_names == ("9", "10")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it has no lines"),
        ("\n\r\n", "it has no lines"),
        ("ham\ta\n\nspam b\n", "line 3 has no tab"),
        ("ham\ta\n \tb\n", "line 2 has no label"),
        ("ham\ta\nham \tb\n", "its labels are of 1 class; it takes at least two"),
        ("Label\ttext\nham\ta\n", "line 1 is a header; leave it out"),
        ("ham\ta\nham\t\0\n", "line 2 has a NUL byte, as no text in UTF-8 has"),
        (b"ham\ta\nham\t\xff\n", "line 2 is not UTF-8"),
    ],
)
def test_messages_that_are_refused(written, content, reason):
    path = written("mine.tsv", content)
    assert refusal(path) == f"expected a text with a label, a tab and a message in every line, got {path}: {reason}"


@given(st.binary(max_size=60) | st.text('ab,"\n\r\t 1', max_size=60).map(str.encode))
def test_any_bytes_are_data_or_refused(tmp_path_factory, content):
    for name in ("any.csv", "any.tsv", "any.npz"):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(content)
        if refusal(path) is None:
            assert len(load(path)) == load(path).labels.size > 0


def test_files_that_are_too_long(written, monkeypatch):
    monkeypatch.setattr(text_files, "_LONGEST_LINE", 8)
    assert refusal(written("a.tsv", "a\tbcd\na\tbcdefgh\n")).endswith("line 2 is longer than 8 bytes")
    monkeypatch.setattr(text_files, "_MOST_BYTES", 10)
    assert refusal(written("a.tsv", "a\tbcd\na\tbcd\n")).endswith("it has 12 bytes, more than 10")
    monkeypatch.undo()
    monkeypatch.setattr(text_files, "_MOST_CLASSES", 2)
    reason = "column 'label' has more than 2 different values by line 4; cut it into ranges first"
    assert refusal(written("a.csv", "label,x\n1,1\n2,2\n3,2\n")).endswith(reason)
