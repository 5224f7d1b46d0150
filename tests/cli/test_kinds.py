"""Whole graphs, images, text and tables through the same commands as nodes."""

import json
import os
import shlex

import numpy as np
import pytest

import flipproof as fp

FEW = ["--samples", 200, "--select-samples", 50, "--inputs", 12, "--no-report"]
needs_data = pytest.mark.skipif("FLIPPROOF_DATA" not in os.environ, reason="needs the datasets: set FLIPPROOF_DATA")

BUILT_IN = [
    ("digits", "pixels", ["--epochs", 2, "--hidden", 32], "images"),
    ("digits-grey", "levels", ["--epochs", 2, "--hidden", 32], "images"),
    ("digits-grey", "pixels", ["--epochs", 1, "--hidden", 16, "--threshold", 3], "images"),
    ("breast-cancer", "cells", ["--noisy-samples", 3], "rows"),
]
FROM_FILES = [
    ("mutag", "structure", ["--epochs", 3], "graphs"),
    ("mutag", "attributes", ["--epochs", 3], "graphs"),
    ("mutag", "attributes", ["--epochs", 3, "--one-hot"], "graphs"),
    ("mutag", "both", ["--epochs", 3, "--attributes-noise", 0.1, 0.1], "graphs"),
    ("sms_spam", "words", ["--noisy-samples", 1], "messages"),
    ("sms_spam", "words", ["--noisy-samples", 1, "--model", "forest"], "messages"),
    ("sms_spam", "substitution", ["--epochs", 1], "messages"),
    ("sms_spam", "masking", ["--epochs", 1], "messages"),
]


def name_of(case):
    return "-".join([case[0], case[1], *(str(word).strip("-") for word in case[2])])


@pytest.mark.parametrize("case", BUILT_IN, ids=name_of)
def test_built_in_data(run, tmp_path, case):
    check(run, tmp_path, *case)


@needs_data
@pytest.mark.parametrize("case", FROM_FILES, ids=name_of)
def test_data_from_files(run, tmp_path, case):
    check(run, tmp_path, *case)


def check(run, tmp_path, dataset, noisy, flags, units):
    """One command and three give the same; the summary speaks of these inputs; the report can be written."""
    one, three = tmp_path / "one", tmp_path / "three"
    asked = ["--dataset", dataset, "--noise", noisy, *flags]
    code, out, err = run("run", *asked, "--out", one, *FEW)
    assert (code, err) == (0, "")
    for words in (f"on 12 test {units}", f"of 12 {units}", f"share of all {units}"):
        assert words in out
    assert run("train", *asked, "--out", three, "--inputs", 12)[0] == 0
    assert run("vote", three, "--samples", 200, "--select-samples", 50, "--workers", 2)[0] == 0
    assert run("certify", three)[0] == 0
    votes = [fp.Votes.load(path / "votes.npz") for path in (one, three)]
    assert np.array_equal(votes[0].estimation, votes[1].estimation)
    assert (three / "report.html").exists()
    record = json.loads((three / "run.json").read_text())
    assert record["task"]["noisy"] == noisy
    assert units.rstrip("s") in (three / "report.html").read_text()


def test_the_command_in_a_report_repeats_the_run(run, tmp_path):
    flags = ["--dataset", "breast-cancer", "--noisy-samples", 3, "--p-plus", 0.1, "--p-minus", 0.2, "--test-share", 0.4]
    assert run("run", *flags, "--out", tmp_path / "run", *FEW[:-1])[0] == 0
    text = (tmp_path / "run" / "report.html").read_text()
    from flipproof.cli.values import repeating_command

    command = repeating_command(json.loads((tmp_path / "run" / "run.json").read_text()), "run")
    assert command in text
    words = shlex.split(command)
    words[words.index("--out") + 1] = tmp_path / "again"
    assert run(*words[1:])[0] == 0
    ours, theirs = (fp.Votes.load(tmp_path / name / "votes.npz") for name in ("run", "again"))
    assert np.array_equal(ours.estimation, theirs.estimation)


def test_weights_of_a_forest_are_read_without_running_code(run, tmp_path):
    flags = ["--dataset", "breast-cancer", "--noisy-samples", 2, "--inputs", 5]
    assert run("train", *flags, "--out", tmp_path / "run")[0] == 0
    weights = tmp_path / "run" / "weights.safetensors"
    code, out, _ = run("train", *flags, "--weights", weights, "--out", tmp_path / "other")
    assert code == 0
    assert "elsewhere" in out
    (tmp_path / "broken").write_bytes(weights.read_bytes()[:-9])
    code, _, err = run("train", *flags, "--weights", tmp_path / "broken", "--out", tmp_path / "third")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dataset", "digits", "--noise", "attributes"], "expected --noise to be one of pixels, levels, got 'attri"),
        (["--dataset", "digits", "--model", "gcn"], "expected model to be one of cnn, FILE.py:NAME, got 'gcn'"),
        (["--dataset", "digits", "--one-hot"], "--one-hot is only for graphs, but this dataset has images"),
        (["--dataset", "digits", "--train-per-class", 5], "--train-per-class does not apply to images"),
        (["--dataset", "digits-graph", "--test-share", 0.5], "--test-share does not apply to nodes"),
        (["--dataset", "digits-graph", "--inputs", 5], "expected all nodes of a graph to be certified, got inputs"),
        (["--dataset", "digits-graph", "--threshold", 5], "--threshold is only for images, but this dataset has nodes"),
        (["--dataset", "digits", "--noise", "levels", "--threshold", 5], "expected a threshold only for noise on pi"),
        (["--dataset", "breast-cancer", "--epochs", 5], "--epochs does not apply to forest; leave it out"),
        (["--dataset", "digits", "--test-share", 0.5], "--test-share does not apply to images"),
        (["--dataset", "digits-graph", "--batch-size", 5], "--batch-size does not apply to nodes"),
        (["--dataset", "breast-cancer", "--hidden", 5], "expected no hidden and no dropout for forest"),
        (["--dataset", "breast-cancer", "--test-share", 0.95], "expected shares that leave something to train on"),
        (["--dataset", "breast-cancer", "--test-share", 0.0005], "expected some of 569 inputs for test, got none"),
        (["--dataset", "breast-cancer", "--structure-noise", 0.1, 0.1], "--noise cells takes --p-plus and --p-minus"),
    ],
)  # fmt: skip
def test_flags_that_do_not_fit_are_one_line(run, tmp_path, arguments, words):
    code, out, err = run("train", *arguments, "--out", tmp_path / "run")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


OWN = """
import torch

class Net(torch.nn.Module):
    def __init__(self, shape, classes, levels):
        super().__init__()
        self.linear, self.levels = torch.nn.Linear(shape[0] * shape[1], classes), levels

    def forward(self, images):
        return self.linear(images.flatten(1) / (self.levels - 1))
"""


def test_an_image_model_of_your_own(run, tmp_path):
    (tmp_path / "net.py").write_text(OWN)
    model = ["--model", f"{tmp_path / 'net.py'}:Net"]
    asked = ["--dataset", "digits", "--epochs", 5, "--learning-rate", 0.01, *model, "--inputs", 50]
    assert run("train", *asked, "--out", tmp_path / "run")[0] == 0
    assert "expected --model" in run("vote", tmp_path / "run", *FEW[:4])[2]
    assert run("vote", tmp_path / "run", *FEW[:4], *model)[0] == 0
    code, out, _ = run("certify", tmp_path / "run", "--json", "--no-report")
    assert code == 0
    assert json.loads(out)["summary"]["smoothed_accuracy"] > 0.7
