"""The page on data tells the truth: its table is that of the cards, and its code prints what it says."""

import re
from pathlib import Path

import pytest

import flipproof as fp

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()


def test_the_table_is_that_of_the_cards():
    rows = re.findall(r"^\| `(.*)` \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(fp.datasets.names())
    for name, cells in rows:
        card = fp.datasets.card(name)
        counts = ("-" if count is None else str(count) for count in (card.edges, card.features, card.classes))
        share = "-" if card.density is None else f"{card.density:.2%}"
        assert cells.split(" | ") == [card.kind, str(card.inputs), *counts, share]


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
def test_the_code_prints_what_it_says(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "datasets.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*# (.*)$", block, flags=re.MULTILINE)
