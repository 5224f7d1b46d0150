"""Workers that hang: killed after the time-out, their chunk done once more, then one clear line and votes so far."""

import json
import os
import threading

import numpy as np
import pytest
from forge import outcome, whole_run

import flipproof as fp
from flipproof.smoothing.classifier import WorkerError

ROWS = np.random.default_rng(0).integers(0, 2, (5, 8))
ASKED = {"inputs": ROWS, "noise": fp.FlipNoise(0.1, 0.3), "n_select": 20, "n_estimate": 80, "chunk_size": 10}


def hanging(folder, times):
    """A classifier that hangs so many times, always on the same chunk: the one whose noisy rows are these."""
    reference = fp.FunctionClassifier(lambda rows: rows @ (np.arange(8) ** 2 + 1) % 3, 3, "hanging")

    def label(rows):
        if rows.tobytes() == STUCK:
            for each in range(times):
                try:
                    os.mkdir(f"{folder}/hung-{each}")
                except FileExistsError:
                    continue
                threading.Event().wait()
        return reference(rows)

    return fp.FunctionClassifier(label, 3, "hanging")


def noisy_rows():
    """Those of every chunk."""
    found = []
    classifier = fp.FunctionClassifier(lambda rows: found.append(rows.tobytes()) or rows[:, 0], 2, "listening")
    fp.vote(classifier, **ASKED, check=False)
    return found


STUCK = noisy_rows()[4]  # after two chunks of selection samples, the third of estimation samples
HUNG = "Chunk(role='estimate', samples=range(20, 30))"


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


@pytest.fixture(scope="module")
def unhurt_votes():
    return counts(fp.vote(hanging(None, 0), **ASKED))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_hangs_costs_nothing_but_time(tmp_path, workers, unhurt_votes):
    """Also with workers=1: who asks for a time-out gets a process that can be killed."""
    votes = fp.vote(hanging(tmp_path, 1), **ASKED, workers=workers, timeout=1.0)
    assert counts(votes) == unhurt_votes
    assert len(list(tmp_path.iterdir())) == 1


def test_a_chunk_that_hangs_twice_ends_the_run_and_the_next_one_goes_on(tmp_path, unhurt_votes):
    (tmp_path / "hangs").mkdir()
    classifier, path = hanging(tmp_path / "hangs", 2), tmp_path / "run.ckpt"
    with pytest.raises(WorkerError) as caught:
        fp.vote(classifier, **ASKED, workers=2, timeout=1.0, checkpoint=path)
    assert str(caught.value) == (
        f"expected a worker to take at most 1 seconds for {HUNG}, got 2 that took longer and were stopped; raise the "
        "time-out (timeout=..., --timeout) if the classifier is slow, and see why it hangs if it is not"
    )
    kept = caught.value.votes.n_select + caught.value.votes.n_estimate
    assert kept >= 40
    votes = fp.vote(classifier, **ASKED, workers=2, timeout=1.0, checkpoint=path)  # it has hung as often as it wants to
    assert counts(votes) == unhurt_votes
    assert votes.run.drawn == 100 - kept


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf"), "60", True])
def test_a_time_that_is_none_is_refused(timeout):
    error = "^expected timeout to be a positive number of seconds, or None, got "
    with pytest.raises(fp.InvalidInputError, match=error):
        fp.vote(hanging(None, 0), **ASKED, timeout=timeout)


def test_the_usual_time_needs_no_process(unhurt_votes):
    """A classifier that cannot be sent anywhere."""
    lock = threading.Lock()

    def label(rows):
        with lock:
            return rows @ (np.arange(8) ** 2 + 1) % 3

    for timeout in ({}, {"timeout": None}):
        assert counts(fp.vote(fp.FunctionClassifier(label, 3, "hanging"), **ASKED, **timeout)) == unhurt_votes
    with pytest.raises(fp.InvalidInputError, match=r"use workers=1 without a timeout$"):
        fp.vote(fp.FunctionClassifier(label, 3, "hanging"), **ASKED, timeout=60)


def test_a_worker_of_a_command_that_stands_still_costs_nothing_but_time(forge, table, unhurt, tmp_path):
    """It is stopped when it has answered for one chunk and has others in hand."""
    folder = tmp_path / "run"
    flags = ["--no-report", "--timeout", 1.0]
    done = forge.run(*whole_run(table, folder, *flags), fault=("stop_a_worker_at", str(folder), 40))
    assert (done.code, done.err) == (0, "")
    assert outcome(folder) == unhurt


MODEL = """
    import os, threading
    import torch

    class Model(torch.nn.Linear):
        def __init__(self, features, classes):
            super().__init__(features, classes)

        def forward(self, rows):
            if os.path.exists({hang!r}):
                threading.Event().wait()
            return super().forward(rows.float())
"""


@pytest.mark.slow
def test_the_command_says_which_chunk_hangs_and_goes_on(forge, table, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    model, hang, folder = tmp_path / "model.py", tmp_path / "hang", tmp_path / "run"
    model.write_text("\n".join(line[4:] for line in MODEL.format(hang=str(hang)).splitlines()))
    named = ["--model", f"{model}:Model"]
    done = forge.run("train", "--dataset", table, "--out", folder, *named, "--epochs", 2, "--noisy-samples", 1)
    assert (done.code, done.err) == (0, "")
    hang.touch()
    few = ["--samples", 50, "--select-samples", 10]
    done = forge.run("vote", folder, *named, *few, "--timeout", 0.5)
    assert done.refused, done
    assert "expected a worker to take at most 0.5 seconds for the check of " in done.err
    assert "--timeout" in done.err
    hang.unlink()
    done = forge.run("vote", folder, *named, *few, "--timeout", 60)
    assert (done.code, done.err) == (0, "")
    assert json.loads((folder / "run.json").read_text())["votes"]["n_estimate"] == 50


@pytest.mark.parametrize(
    "command", [["vote", "RUN"], ["demo"], ["compare", "--dataset", "digits-graph", "--out", "RUN"]]
)
def test_a_time_that_is_none_is_refused_by_commands(forge, table, tmp_path, command):
    folder = tmp_path / "run"
    if command[0] == "vote":
        assert forge.run("train", "--dataset", table, "--out", folder, "--noisy-samples", 1).code == 0
    done = forge.run(*(folder if each == "RUN" else each for each in command), "--timeout", -1)
    assert done.refused
    assert "expected timeout to be a positive number of seconds, or None, got -1.0" in done.err
