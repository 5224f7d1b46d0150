"""The paper's setting on the real Cora-ML, with few samples: what a run on a laptop has to reach."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import flipproof as fp

PROGRAM = str(Path(sys.executable).parent / "flipproof")


@pytest.fixture(scope="module")
def plain_accuracy(cora_ml):
    """Of a GCN that has never seen noise, on the same split."""
    import torch

    graph, split = cora_ml.graph("attributes"), fp.Split.per_class(cora_ml.labels, seed=0)
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(2879, 7), classes=7)
    fp.train(classifier, graph, cora_ml.labels, split, settings=fp.TrainingSettings(noisy_samples=0), progress=False)
    return (classifier([graph.clean()])[0] == cora_ml.labels)[split.test].mean()


@pytest.mark.parametrize(
    ("noise", "p_plus", "p_minus", "accuracy", "delete"),
    [("attributes", 0.01, 0.6, 0.81, 5.0), ("structure", 0.001, 0.4, 0.79, 1.2), ("structure", 0.0, 0.4, 0.80, 3.2)],
)
def test_the_noises_of_the_paper(cora_ml, plain_accuracy, tmp_path, noise, p_plus, p_minus, accuracy, delete):
    """With 1,000 samples many nodes are certified to fewer changes than with 100,000; that is all that is smaller."""
    flags = ["--noise", noise, "--p-plus", p_plus, "--p-minus", p_minus, "--samples", 1000, "--select-samples", 200]
    command = [PROGRAM, "run", "--dataset", "cora_ml", "--out", tmp_path / "run", "--json", *flags]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)["summary"]
    assert (summary["inputs"], summary["test_inputs"]) == (2810, 2530)
    assert summary["smoothed_accuracy"] > accuracy
    assert summary["smoothed_accuracy"] > plain_accuracy - 0.04
    assert summary["axes"]["delete"]["mean"] > delete
