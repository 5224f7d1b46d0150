"""The example of data frames in the documents does what it says."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
PAGE = Path(__file__).parents[2] / "docs" / "other-data.md"


def test_the_example_of_data_frames(capsys):
    section = PAGE.read_text(encoding="utf-8").partition("## Data frames")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    exec(compile(code, str(PAGE), "exec"), {})
    promised = re.search(r"# (No attacker .+, )\.\.\.", code)[1].strip()
    assert promised in capsys.readouterr().out
