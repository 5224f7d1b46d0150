"""Runs that are stopped and go on: what a checkpoint refuses, and real processes that are killed.

Every call of the classifier in these processes says who it is and waits to be let through, so a run is killed at a
known moment. Workers share the stderr of their parent: its end means that all of them are gone.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import flipproof as fp
from flipproof.smoothing.voting.checkpoint import Checkpoint, CheckpointMismatchError
from hanging import HANGS, no_test_waits_forever  # noqa: F401 (a fixture for all tests here)

ROWS = np.random.default_rng(0).integers(0, 2, (5, 8))
NOISE = fp.FlipNoise(0.1, 0.3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


class Linear:
    """A model with weights."""

    def __init__(self, weights, classes=3):
        self.weights, self.classes = weights, classes

    def __call__(self, rows):
        return rows @ self.weights % 3


WEIGHTS = np.arange(8) ** 2 + 1
CALL = {
    "classifier": Linear(WEIGHTS), "inputs": ROWS, "noise": NOISE, "n_select": 20, "n_estimate": 50, "chunk_size": 16,
}  # fmt: skip


def vote(**changes):
    return fp.vote(**(CALL | changes))


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


# What a checkpoint refuses

OTHER_BIT = ROWS.copy()
OTHER_BIT[4, 7] ^= 1


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"classifier": Linear(WEIGHTS + (WEIGHTS == 50))}, "model [0-9a-f]{12} instead of [0-9a-f]{12}"),
        ({"classifier": Linear(WEIGHTS, classes=4)}, "model .{12} instead of .{12}; classes 3 instead of 4"),
        ({"inputs": OTHER_BIT}, "data [0-9a-f]{12} instead of [0-9a-f]{12}"),
        ({"inputs": ROWS[:4]}, "data .{12} instead of .{12}; rows per call 5 instead of 4"),
        ({"noise": fp.FlipNoise(0.1, 0.4)}, "noise.p_minus 0.3 instead of 0.4"),
        ({"noise": fp.FlipNoise(0.1, 0.3, 3)}, "noise.categories 2 instead of 3"),
        ({"seed": 1}, "seed 0 instead of 1"),
        ({"targets": [0, 1, 2, 3, 4]}, "targets null instead of [0-9a-f]{12}"),
        ({"chunk_size": 8}, "chunk size 16 instead of 8"),
        ({"memory_limit": 60_000}, "rows per call 5 instead of [1-4]"),
        ({"seed": 1, "chunk_size": 8}, "seed 0 instead of 1; chunk size 16 instead of 8"),
    ],
)
def test_another_run_is_refused_with_the_difference(path, changes, difference):
    vote(checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(CheckpointMismatchError, match=rf"got run.ckpt of another: {difference}$"):
        vote(checkpoint=path, **changes)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"n_select": 19},
            "some of the select samples 0 to 18, got one that has 0 to 19; ask for all of these",
        ),
        ({"n_estimate": 0}, "some of the estimate samples none, got one that has 0 to"),
        ({"n_estimate": range(1, 60)}, "expected a checkpoint with some of the estimate samples"),
    ],
)
def test_a_checkpoint_with_more_than_was_asked_for_is_refused(path, changes, words):
    first = vote(checkpoint=path)
    with pytest.raises(fp.InvalidInputError, match=words):
        vote(checkpoint=path, **changes)
    again = vote(checkpoint=path)
    assert counts(again) == counts(first)
    assert again.run.drawn == 0


def test_a_finished_run_is_not_run_again(path):
    class Once(Linear):
        fingerprint = "once"
        used = False

        def __call__(self, rows):
            assert not self.used
            return super().__call__(rows)

    once = Once(WEIGHTS)
    first = vote(classifier=once, checkpoint=path)
    once.used = True
    for chunk_size in (16, None):
        again = vote(classifier=once, checkpoint=path, chunk_size=chunk_size)
        assert counts(again) == counts(first)
        assert again.run.drawn == 0
        assert again.run.identity == first.run.identity
        assert again.sampling_error == first.sampling_error


def test_the_run_may_go_on_with_other_workers(path):
    vote(checkpoint=path, n_estimate=20)
    assert counts(vote(checkpoint=path, workers=2)) == counts(vote())


def test_the_size_of_the_chunks_is_that_of_the_checkpoint(path):
    vote(checkpoint=path, chunk_size=4)
    votes = vote(checkpoint=path, chunk_size=None, n_estimate=60)
    assert votes.run.identity["chunk size"] == 4
    assert votes.run.drawn == 10


def test_a_second_run_on_the_same_file_is_told(path):
    told = []

    class Impatient(Linear):
        fingerprint = "impatient"

        def __call__(self, rows):
            if not told:
                with pytest.raises(fp.OutputError, match="got a checkpoint that another process is writing") as caught:
                    vote(classifier=self, checkpoint=path)
                told.append(caught.value)
            return super().__call__(rows)

    assert counts(vote(classifier=Impatient(WEIGHTS), checkpoint=path)) == counts(vote())
    assert len(told) == 1


def test_other_files_are_refused_and_left_alone(path, tmp_path):
    path.write_text("my thesis")
    with pytest.raises(fp.FileFormatError, match=r"expected a checkpoint written by flipproof, got .*run.ckpt"):
        vote(checkpoint=path)
    assert path.read_text() == "my thesis"
    with pytest.raises(fp.OutputError, match=r"expected a file to write, got .*, which is something else"):
        vote(checkpoint=tmp_path)
    with pytest.raises(fp.OutputError, match="No such file"):
        vote(checkpoint=tmp_path / "missing" / "run.ckpt")


@pytest.mark.parametrize("size", [0, -3, "16", None, 1.5, [16], 10**30])
def test_a_hostile_chunk_size_in_a_checkpoint_is_refused(path, size):
    Checkpoint.open(path, {"chunk size": size}).close()
    with pytest.raises(fp.FlipproofError, match="expected"):
        vote(checkpoint=path, chunk_size=None)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_call_keeps_what_it_has_counted(path, workers):
    """Ctrl-C in a notebook: the process lives on, with no worker and no lock left."""

    class Interrupting(Linear):
        fingerprint = "interrupting"
        asked = 0

        def __call__(self, rows):
            self.asked += 1
            if self.asked == 5:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self.once)
                    os.kill(self.parent, signal.SIGINT)
            return super().__call__(rows)

    interrupting = Interrupting(WEIGHTS)
    interrupting.parent, interrupting.once = os.getpid(), f"{path}.once"
    with pytest.raises(KeyboardInterrupt):
        vote(classifier=interrupting, checkpoint=path, workers=workers, n_estimate=400, check=False)
    interrupting.asked = 100
    votes = vote(classifier=interrupting, checkpoint=path, workers=workers, n_estimate=400, check=False)
    assert counts(votes) == counts(vote(n_estimate=400))
    assert votes.run.drawn < 420


# Processes that are killed

SCRIPT = """
    import contextlib, json, os, socket, struct, sys
    import numpy as np
    import flipproof as fp

    class Gated:
        classes = 3
        fingerprint = "gated"

        def __init__(self, port):
            self.port = port

        def __call__(self, rows):
            with contextlib.suppress(OSError):  # there is no gate, or no more
                with socket.create_connection(("127.0.0.1", self.port)) as gate:
                    gate.sendall(struct.pack("<Q", os.getpid()))
                    gate.recv(1)
            return rows @ (np.arange(rows.shape[1]) ** 2 + 1) % 3

    if __name__ == "__main__":
        port, workers, samples, checkpoint = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
        rows = np.random.default_rng(0).integers(0, 2, (5, 8))
        votes = fp.vote(
            Gated(port), rows, fp.FlipNoise(0.1, 0.3), 40, samples, seed=3, chunk_size=8, workers=workers,
            checkpoint=checkpoint[0] if checkpoint else None, check=False,
        )
        print(json.dumps([votes.selection.tolist(), votes.estimation.tolist(), votes.run.drawn]))
"""


class Gate:
    """Where calls of the classifier wait to be let through."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(HANGS)
        self.port = self._server.getsockname()[1]
        self.waiting = []  # (process, connection)

    def wait_for(self, calls):
        """Until so many calls are waiting."""
        while len(self.waiting) < calls:
            connection, _ = self._server.accept()
            connection.settimeout(HANGS)
            process = connection.recv(8, socket.MSG_WAITALL)
            if len(process) == 8:
                self.waiting.append((struct.unpack("<Q", process)[0], connection))
        return [process for process, _ in self.waiting]

    def let_through(self, calls):
        """So many calls, those that have waited longest first."""
        for _ in range(calls):
            self.wait_for(1)
            _, connection = self.waiting.pop(0)
            with contextlib.suppress(OSError):  # the process may have been killed
                connection.sendall(b"x")
            connection.close()

    def forget(self, process):
        """A process that was killed waits no more."""
        for one in [one for one in self.waiting if one[0] == process]:
            self.waiting.remove(one)
            one[1].close()

    def close(self):
        """Lets everybody through from now on."""
        self._server.close()
        while self.waiting:
            self.waiting.pop()[1].close()


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("killed") / "script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return path


def started(script, port, workers, samples, *checkpoint):
    return subprocess.Popen(
        [sys.executable, str(script), str(port), str(workers), str(samples), *map(str, checkpoint)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(process):
    """The exit code and the output of a process, when it and all its workers are gone."""
    output, errors = process.communicate(timeout=HANGS)
    return process.returncode, output, errors


def votes_of(process):
    """The votes that it printed, and how many samples it drew for them."""
    code, output, errors = finished(process)
    assert (code, errors) == (0, "")
    *votes, drawn = json.loads(output)
    return votes, drawn


SAMPLES, CHUNK, SELECT = 400, 8, 40


@pytest.fixture(scope="module")
def uninterrupted(script):
    votes, drawn = votes_of(started(script, 0, 1, SAMPLES))
    assert drawn == SAMPLES + SELECT
    return votes


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_killed_run_goes_on_and_ends_with_the_same_votes(name, script, path, gate, uninterrupted):
    process = started(script, gate.port, 2, SAMPLES, path)
    gate.let_through(12)
    gate.wait_for(2)
    process.send_signal(getattr(signal, name))
    code, output, _ = finished(process)
    assert (code, output) == (-getattr(signal, name), "")
    votes, drawn = votes_of(started(script, 0, 2, SAMPLES, path))
    assert votes == uninterrupted
    # 14 chunks were begun. At most two per worker are not known to be done, and one may not have been noted yet.
    assert SAMPLES + SELECT - 14 * CHUNK <= drawn <= SAMPLES + SELECT - 9 * CHUNK


def test_a_run_survives_killed_workers(script, path, gate, uninterrupted):
    process = started(script, gate.port, 2, SAMPLES, path)
    for calls in (5, 9):
        gate.let_through(calls)
        victim = gate.wait_for(2)[0]
        os.kill(victim, signal.SIGKILL)
        gate.forget(victim)
    gate.let_through((SAMPLES + SELECT) // CHUNK - 14)
    votes, drawn = votes_of(process)
    assert votes == uninterrupted
    assert drawn == SAMPLES + SELECT


def test_a_single_process_is_killed_too(script, path, gate, uninterrupted):
    process = started(script, gate.port, 1, SAMPLES, path)
    gate.let_through(7)
    gate.wait_for(1)
    process.kill()
    assert finished(process)[0] == -signal.SIGKILL
    votes, drawn = votes_of(started(script, 0, 1, SAMPLES, path))
    assert votes == uninterrupted
    assert drawn == SAMPLES + SELECT - 7 * CHUNK


@pytest.mark.slow
def test_twenty_kills_in_a_row_change_nothing(script, path, rng):
    """The parent or a worker, by any signal, after any number of calls; a parent that is gone is run again."""
    signal.alarm(10 * HANGS)
    samples, gate = 4000, Gate()
    uninterrupted, _ = votes_of(started(script, 0, 1, samples))
    process, killed = started(script, gate.port, 2, samples, path), []
    for _ in range(20):
        gate.let_through(int(rng.integers(0, 30)))
        workers = gate.wait_for(2)
        victim, name = [
            (process.pid, "SIGINT"), (process.pid, "SIGTERM"), (process.pid, "SIGKILL"), (workers[0], "SIGKILL"),
            (workers[1], "SIGKILL"), (workers[0], "SIGTERM"),
        ][rng.integers(6)]  # fmt: skip
        os.kill(victim, getattr(signal, name))
        killed.append("parent" if victim == process.pid else "worker")
        gate.forget(victim)
        if victim == process.pid:
            code, output, _ = finished(process)
            assert (code, output) == (-getattr(signal, name), "")
            for worker in workers:
                gate.forget(worker)
            process = started(script, gate.port, 2, samples, path)
    gate.let_through(1)
    gate.close()
    votes, drawn = votes_of(process)
    assert votes == uninterrupted
    assert 0 < drawn < samples
    assert {"parent", "worker"} == set(killed)
