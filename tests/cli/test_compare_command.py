"""`flipproof compare`: the table, the files, and what it refuses."""

import csv
import json

import pytest

FLAGS = (
    "--hidden", 8, "--epochs", 40, "--train-per-class", 5, "--validation-per-class", 5, "--p-plus", 0.02, "--p-minus",
    0.5, "--samples", 200, "--select-samples", 20, "--nodes", 8, "--largest-radius", 3,
)  # fmt: skip


@pytest.fixture
def compared(run, planted, tmp_path):
    """Runs the command on a small graph; returns (folder, stdout)."""

    def runner(*flags):
        out = tmp_path / "compared"
        code, text, errors = run("compare", "--dataset", planted, "--out", out, *FLAGS, *flags)
        assert (code, errors) == (0, "")
        return out, text

    return runner


def test_the_table(compared):
    out, text = compared()
    for attacker in ("kind add", "kind delete", "any kind"):
        assert f"at most r changes of {attacker}" in text
    for system in ("flipproof", "f_divergence (renyi)", "lee", "ablation", "gcn_attributes"):
        assert f"\n{system} " in text, system
    assert "on 8 test nodes" in text
    assert f"wrote     comparison.csv, comparison.json, comparison.png, comparison.svg in {out}" in text
    for name in ("comparison.csv", "comparison.json", "comparison.png", "comparison.svg"):
        assert (out / name).stat().st_size > 200


def test_rows_say_the_same_everywhere(compared):
    out, text = compared("--system", "flipproof", "--system", "gcn_attributes", "--json")
    rows = json.loads(text)["rows"]
    with open(out / "comparison.csv", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [{name: str(value) for name, value in row.items()} for row in rows] == written
    entries = json.loads((out / "comparison.json").read_text())["entries"]
    for row in rows:
        found = [e for e in entries if (e["system"], e["against"]) == (row["system"], row["attacker"])]
        certified = [
            radius >= row["radius"] and not left
            for radius, left in zip(found[0]["radius"], found[0]["abstained"], strict=True)
        ]
        assert row["certified_ratio"] == sum(certified) / 8


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--system", "pagerank"), "did you mean page_rank"),
        (("--system", "gcn_structure"), "expected systems for such nodes with noise on attributes"),
        (("--weights", "w.safetensors"), "every system trains its own model; leave out --weights"),
        (("--kept-share", "2"), "expected the kept share between 0 and 1, got 2.0"),
        (("--nodes", "-1"), "--nodes"),
        (("--also", "0.1"), "expected --also P_PLUS,P_MINUS, such as 0.01,0.6, got '0.1'"),
        (("--also", "0.1,1.5"), "p_minus"),
        (("--samples", "0"), "at least one of the estimate samples"),
    ],
)
def test_refusals(run, planted, tmp_path, flags, words):
    out = tmp_path / "compared"
    code, text, errors = run("compare", "--dataset", planted, "--out", out, *FLAGS, *flags)
    assert (code, text) == (2, "")
    assert words in errors
    assert errors.count("\n") == 1
    assert not out.exists()
