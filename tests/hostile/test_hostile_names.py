"""Names in files that a terminal would obey, or that look like markup, when they are printed later."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets import GraphDataset, ImageDataset, NodeDataset, TableDataset
from flipproof.run_folder.task import ModelSpec, Task

COMMAND = "a\x1b[2J\x07\nb\u202e"


def test_parts_of_a_noise_have_plain_names(tmp_path):
    part = fp.FlipNoise(0.1, 0.2)
    for name in (COMMAND, "", "x" * 101):
        with pytest.raises(fp.InvalidInputError, match="expected parts with short names"):
            fp.JointNoise(**{name: part})


def test_names_that_look_like_markup_are_printed_as_they_are(tmp_path, run):
    parts = {name: fp.FlipNoise(0.1, 0.3) for name in ("[/red]", "[link=file:///etc]x")}
    counts = [[90, 10], [5, 95]]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.JointNoise(**parts))
    votes.save(tmp_path / "votes.npz")
    code, out, _ = run("certify", tmp_path / "votes.npz")
    assert code == 0
    assert "[/red]" in out
    assert "[link=file:///etc]x" in out


@pytest.mark.parametrize(
    "data",
    [
        NodeDataset(COMMAND, sp.csr_array([[0, 1], [1, 0]]), None, [0, 1], (COMMAND, "b")),
        GraphDataset(COMMAND, ([[0, 1], [1, 0]], [[], []]), ([0, 1], [1]), [0, 1], (COMMAND, "b"), (COMMAND, "N")),
        ImageDataset(
            COMMAND, np.zeros((2, 2, 2)).astype(int), [0, 1], np.zeros((1, 2, 2)).astype(int), [1], (COMMAND, "b")
        ),
    ],
    ids=["nodes", "graphs", "images"],
)
def test_saved_datasets_have_plain_names(data, tmp_path):
    data.save(tmp_path / "mine.npz")
    again = fp.datasets.load(tmp_path / "mine.npz")
    assert again.name.isprintable()
    assert all(name.isprintable() for name in (*again.class_names, *getattr(again, "node_names", ())))


def test_tables_have_plain_names():
    table = TableDataset("t", [[0], [1]], [2], [0, 1], (COMMAND,), (COMMAND, "b"), ((COMMAND, "y"),))
    assert all(name.isprintable() for name in (*table.column_names, *table.class_names, *table.value_names[0]))


@pytest.mark.parametrize(("dataset", "model"), [(COMMAND, "gcn"), ("cora_ml", f"{COMMAND}.py:Net"), (3, "gcn")])
def test_a_task_has_plain_names(dataset, model):
    """They are kept in run.json, where such names are refused."""
    with pytest.raises(fp.InvalidInputError, match="expected names without control characters"):
        Task("nodes", dataset, ModelSpec(model), "attributes", fp.FlipNoise(0.1, 0.2))
    record = Task("nodes", "cora_ml", ModelSpec("gcn"), "attributes", fp.FlipNoise(0.1, 0.2)).to_record()
    assert Task.from_record(json.loads(json.dumps(record))).dataset == "cora_ml"
