"""Messages that users bring as files, and any bytes. What cannot be read is refused in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from flipproof.datasets import TextDataset, load
from flipproof.datasets.readers import text_files


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


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
    for name in ("any.csv", "any.tsv", "any.npz", "any.parquet"):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(content)
        if refusal(path) is None:
            assert len(load(path)) == load(path).labels.size > 0


def test_files_that_are_too_long(written, monkeypatch):
    monkeypatch.setattr(text_files, "_LONGEST_LINE", 8)
    assert refusal(written("a.tsv", "a\tbcd\na\tbcdefgh\n")).endswith("line 2 is longer than 8 bytes")
    monkeypatch.setattr(text_files, "_MOST_BYTES", 10)
    assert refusal(written("a.tsv", "a\tbcd\na\tbcd\n")).endswith("it has 12 bytes, more than 10")
