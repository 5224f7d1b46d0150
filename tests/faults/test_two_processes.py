"""Two processes and one run: the second is told in one line, the first does not notice, readers are not disturbed."""

import contextlib
import os
import shutil

import pytest
from forge import FEW, MORE, check_whole, outcome, train, whole_run


@pytest.fixture(scope="module")
def finished(forge, table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert forge.run(*whole_run(table, folder)).code == 0
    return folder


@contextlib.contextmanager
def paused(forge, folder, number, *arguments):
    """A command that stands still in front of its change with this number, and must end well afterwards."""
    arrived, leave = (f"{folder}.{name}" for name in ("arrived", "leave"))
    os.mkfifo(arrived)
    os.mkfifo(leave)
    started = forge.start(*arguments, fault=("pause_at", str(folder), number, arrived, leave))
    with open(arrived):
        pass
    try:
        yield
    finally:
        with open(leave, "w"):
            pass
        done = forge.wait(started)
    assert (done.code, done.err) == (0, "")


def test_a_second_command_is_told_and_the_first_does_not_notice(forge, table, finished, unhurt, tmp_path):
    """The first one has begun to write votes."""
    folder = tmp_path / "run"
    assert forge.run(*train(table, folder)).code == 0
    with paused(forge, folder, 10, "vote", folder, *FEW):
        before = (folder / "votes.checkpoint").read_bytes()
        for arguments in (
            ["vote", folder, *FEW],
            ["vote", folder, *FEW, "--force"],
            [*train(table, folder), "--force"],
            whole_run(table, folder),
            ["certify", folder],
        ):
            done = forge.run(*arguments)
            assert done.refused, arguments
            assert done.err == (f"flipproof: {folder} is in use by another process; wait until that is done\n")
        assert (folder / "votes.checkpoint").read_bytes() == before
    assert forge.run("certify", folder, "--no-report").code == 0
    assert outcome(folder) == unhurt


def test_a_second_training_is_told(forge, table, unhurt, tmp_path):
    """The first one is about to write what it has trained."""
    folder = tmp_path / "run"
    with paused(forge, folder, 20, *whole_run(table, folder)):
        done = forge.run(*whole_run(table, folder))
        assert done.refused
        assert "is in use by another process" in done.err
    assert outcome(folder) == unhurt


def test_readers_are_not_disturbed_by_a_writer(forge, finished, tmp_path):
    """Whether the writer adds votes to the checkpoint or replaces the files, readers get a page or one clear line."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    pages, lines = 0, 0
    for number in (9, 16, 21):
        folder = shutil.copytree(finished, tmp_path / f"run-{number}")
        with paused(forge, folder, number, "vote", folder, *MORE):
            done = forge.run("report", folder, "--out", tmp_path / f"{number}.html")
            assert (done.code, done.err) == (0, "") or done.refused, done
            pages, lines = pages + (done.code == 0), lines + (done.code == 2)
            check_whole(folder)
        assert forge.run("certify", folder, "--no-report").code == 0
        assert forge.run("report", folder, "--out", tmp_path / f"{number}.html").code == 0
    assert pages >= 2


def vote_with_checkpoint(path, times):
    """Called by the forge: so many samples, into a checkpoint of their own."""
    import numpy as np

    import flipproof as fp

    rows = np.random.default_rng(0).integers(0, 2, (5, 8))
    classifier = fp.FunctionClassifier(lambda batch: batch[:, 0], classes=2)
    try:
        votes = fp.vote(classifier, rows, fp.FlipNoise(0.1, 0.3), 10, int(times), chunk_size=10, checkpoint=path)
    except fp.FlipproofError as error:
        raise SystemExit(str(error)) from None
    print(votes.estimation.tolist())


def test_two_writers_of_one_checkpoint(forge, tmp_path):
    path, other = tmp_path / "run.ckpt", tmp_path / "other.ckpt"
    call = ["call", f"{__file__}:vote_with_checkpoint"]
    expected = forge.run(*call, other, 60).out
    with paused(forge, path, 9, *call, path, 60):
        done = forge.run(*call, path, 60)
        assert done.code == 1
        assert done.err == f"expected {path} to be free, got a checkpoint that another process is writing\n"
    assert forge.run(*call, path, 60).out == expected
