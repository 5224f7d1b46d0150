"""Tables, messages, images and graphs of the user's own through the same commands as named data."""

import json
import shlex

import numpy as np
import pytest

import flipproof as fp
from flipproof.cli.values import repeating_command

FEW = ["--samples", 100, "--select-samples", 50, "--inputs", 10, "--no-report"]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder to work in with a file of each kind."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.Generator(np.random.Philox(6))
    fever, age = rng.integers(0, 2, 80), rng.integers(0, 4, 80)
    people = list(zip(fever, age, strict=True))
    rows = [f"{('no', 'yes')[f]},{a},{('well', 'ill')[f]}" for f, a in people]
    (tmp_path / "mine.csv").write_text("\n".join(["fever,age,state", *rows]))
    lines = [f"{('ham', 'spam')[f]}\t{('see', 'won')[f]} you {a} {i}" for i, (f, a) in enumerate(people)]
    (tmp_path / "mine.tsv").write_text("\n".join(lines))
    images = (rng.random((40, 8, 8)) < 0.2 + 0.6 * fever[:40, None, None]).astype(np.uint8)
    fp.datasets.ImageDataset("mine", images, fever[:40], images[:12], fever[:12], levels=2).save("images.npz")
    ring = [[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]
    graphs = (ring, [[0, 1], [1, 0]]) * 15
    fp.datasets.GraphDataset("mine", graphs, ([0, 1, 0],) * 30, [0, 1] * 15).save("graphs.npz")
    return tmp_path


CASES = [
    ("mine.csv", "tables", "cells", "forest", ["--noisy-samples", 2, "--label", "state"]),
    ("mine.tsv", "text", "words", "logistic", ["--noisy-samples", 1]),
    ("images.npz", "images", "pixels", "cnn", ["--epochs", 1, "--hidden", 8]),
    ("graphs.npz", "graphs", "structure", "gin", ["--epochs", 1]),
]


@pytest.mark.parametrize(("file", "kind", "noisy", "model", "flags"), CASES, ids=[case[0] for case in CASES])
def test_runs_on_own_files(run, mine, monkeypatch, file, kind, noisy, model, flags):
    code, _, err = run("run", "--dataset", file, *flags, "--out", "run", *FEW)
    assert (code, err) == (0, "")
    task = json.loads((mine / "run" / "run.json").read_text())["task"]
    assert (task["kind"], task["noisy"], task["model"]["name"]) == (kind, noisy, model)
    assert task["dataset"] == str(mine / file)
    (mine / "elsewhere").mkdir()
    monkeypatch.chdir(mine / "elsewhere")  # later steps find the file from anywhere
    assert run("vote", mine / "run", "--samples", 120, "--select-samples", 50)[0] == 0


def test_other_data_under_the_same_name_are_refused(run, mine):
    asked = ["--dataset", "mine.csv", "--label", "state", "--noisy-samples", 2]
    assert run("train", *asked, "--out", "run")[0] == 0
    assert run("vote", "run", "--samples", 50, "--select-samples", 20)[0] == 0
    text = (mine / "mine.csv").read_text()
    for other in (text.replace("yes", "very"), text.replace("\nno,", "\nyes,", 1)):
        (mine / "mine.csv").write_text(other)
        code, _, err = run("vote", "run", "--samples", 100, "--select-samples", 20)
        assert code != 0
        assert "expected the data that run was trained on, got others" in err


def test_files_that_cannot_be_read(run, mine):
    (mine / "broken.csv").write_text("a,label\n1,2\n1\n")
    (mine / "broken.npz").write_bytes((mine / "images.npz").read_bytes()[:-9])
    for file, reason in (
        ("broken.csv", "line 3 has 1 cells, the first line 2"),
        ("broken.npz", "expected a dataset written by flipproof, got broken.npz"),
        ("nowhere.tsv", "expected a readable dataset, got nowhere.tsv: No such file or directory"),
    ):
        code, out, err = run("run", "--dataset", file, "--out", "run", *FEW)
        assert code != 0
        assert out == ""
        assert reason in err
        assert err.count("\n") == 1
        assert not (mine / "run").exists()


def test_the_command_that_repeats_a_run_whose_images_are_gone(run, mine):
    assert run("train", "--dataset", "images.npz", "--epochs", 40, "--hidden", 8, "--out", "run", "--inputs", 5)[0] == 0
    record = json.loads((mine / "run" / "run.json").read_text())
    there = shlex.split(repeating_command(record, "run"))
    assert "--noise" not in there
    (mine / "images.npz").unlink()
    gone = shlex.split(repeating_command(record, "run"))
    for flag, value in (
        ("--noise", "pixels"),
        ("--epochs", "40"),
        ("--patience", str(record["task"]["training"]["patience"])),
    ):
        assert gone[gone.index(flag) + 1] == value
    assert [word for word in there if word not in gone] == []
