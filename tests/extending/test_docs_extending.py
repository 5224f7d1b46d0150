"""The code in docs/extending.md is that of the toys, or runs and prints what it says."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOYS = "\n".join(path.read_text() for path in sorted(Path(__file__).parent.glob("toy_*.py")))
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "extending.md").read_text(), flags=re.DOTALL)
RUNS, SCRIPT = "import flipproof as fp", "# mine.py"


def test_excerpts_are_those_of_the_toys():
    excerpts = [block for block in BLOCKS if RUNS not in block and SCRIPT not in block]
    assert len(excerpts) >= 8
    for excerpt in excerpts:
        assert excerpt in TOYS


def test_the_rest_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in BLOCKS if RUNS in block)
    exec(compile(block, "extending.md", "exec"), {})
    expected = re.findall(r"^print\(.*\)\s+# (.*)$", block, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
