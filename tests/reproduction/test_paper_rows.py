"""Rows of experiments in files, numbers found in them, and small pieces of Markdown."""

import csv
import json

import pytest

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.reproduction.pages.page import all_rows
from flipproof.reproduction.pages.rows import mean, number, read_rows, summarised, summary_lines, table, write_rows

ROWS = [
    {
        "noise": "(0.1, 0.2)",
        "seed": seed,
        "samples": 10,
        "measure": "mean radius",
        "value": 1.0 + seed,
        "published": 2.5,
    }
    for seed in range(3)
]
FOUND = {
    "study": "table-1", "title": "A table", "scale": "quick", "seeds": [0, 1, 2], "trials": [],
    "made": {"date": "2020-01-01", "commit": "abc", "machine": "m", "versions": {}}, "rows": ROWS,
}  # fmt: skip


def test_files_say_the_same(tmp_path):
    files = write_rows(tmp_path / "table-1", FOUND)
    assert [file.name for file in files] == ["table-1.json", "table-1.csv"]
    assert read_rows(files[0]) == FOUND
    with open(files[1], newline="") as stream:
        lines = list(csv.DictReader(stream))
    more = {"scale": "quick", "date": "2020-01-01", "commit": "abc"}
    assert lines == [{name: str(value) for name, value in (row | more).items()} for row in ROWS]


def test_rows_with_other_columns_have_empty_cells(tmp_path):
    write_rows(tmp_path / "x", FOUND | {"rows": [*ROWS, {"radius": 3, "measure": "seconds", "value": 0.5}]})
    last = (tmp_path / "x.csv").read_text().splitlines()[-1]
    assert last == ",,,seconds,0.5,,3,quick,2020-01-01,abc"  # noise, seed, samples, measure, value, published, radius


@pytest.mark.parametrize("rows", [None, 3, [1], [{"measure": "m"}], [{"value": 1.0}]])
def test_other_files_are_refused(tmp_path, rows):
    record = {"format": "flipproof-rows", "version": 1, "rows": rows}
    (tmp_path / "x.json").write_text(json.dumps(record))
    with pytest.raises(FileFormatError, match="expected rows with a measure and a value"):
        read_rows(tmp_path / "x.json")


def test_means_and_spreads():
    (row,) = summarised(ROWS)
    assert (row["value"], row["spread"], row["of"], row["published"]) == (2.0, 1.0, 3, 2.5)
    assert mean(ROWS, seed=1) == 2.0
    assert number(ROWS, measure="mean radius") == "2.00 ± 1.00"
    assert number(ROWS, measure="nothing") == "-"
    with pytest.raises(FileFormatError, match=r"expected rows with {'seed': 7}, got none"):
        mean(ROWS, seed=7)


def test_what_is_the_same_everywhere_is_said_once():
    other = [row | {"noise": "(0, 0.8)", "published": None} for row in ROWS[:1]]
    first, *lines = summary_lines([*ROWS, *other])
    assert first == "all: samples 10"
    assert lines == [
        "(0.1, 0.2), mean radius           2 +- 1   published 2.5",
        "(0, 0.8), mean radius             1",
    ]


def test_tables():
    assert table(("a", "b"), []) == "| a | b |\n|---|---|"


def test_a_folder_without_rows(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"expected rows of experiments in .*, got none; name experiments to run"
    ):
        all_rows(tmp_path)
