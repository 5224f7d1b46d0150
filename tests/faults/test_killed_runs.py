"""`kill -9` in front of any change of a file: the same command goes on, nothing is lost, nothing half counts as whole.

The default run takes some moments of each kind, chosen with a pinned seed; the slow tier takes all of them.
"""

import itertools
import shutil
import signal

import pytest
from forge import FEW, MORE, check_whole, leftovers, outcome, train, whole_run

from hanging import HANGS


@pytest.fixture(scope="module")
def finished(forge, table, tmp_path_factory):
    """A run that is done; copy it before changing it."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert forge.run(*whole_run(table, folder)).code == 0
    return folder


@pytest.fixture(scope="module")
def extended(forge, finished, tmp_path_factory):
    """What is found with more samples when nothing goes wrong."""
    folder = shutil.copytree(finished, tmp_path_factory.mktemp("extended") / "run")
    for arguments in (["vote", folder, *MORE], ["certify", folder, "--no-report"]):
        assert forge.run(*arguments).code == 0
    return outcome(folder)


def killed(forge, folder, number, *arguments):
    """Whether a command was killed in front of its change with this number, or had ended before."""
    done = forge.run(*arguments, fault=("die_at", str(folder), number))
    if done.code == 0:
        assert done.err == ""
        return False
    assert done.code == -signal.SIGKILL, done
    if folder.is_dir():
        check_whole(folder)
    return True


def succeed(forge, *commands):
    for arguments in commands:
        done = forge.run(*arguments)
        assert (done.code, done.err) == (0, ""), arguments


EVERY = pytest.mark.parametrize("tier", ["some", pytest.param("all", marks=pytest.mark.slow)])


def numbers(tier, rng, count, most):
    """The moments at which to kill: all of them in the slow tier, else a few of the first so many."""
    signal.alarm(10 * HANGS)
    return itertools.count(1) if tier == "all" else sorted((1 + rng.choice(most, count, replace=False)).tolist())


@EVERY
def test_a_run_that_is_killed_anywhere_goes_on(tier, forge, table, unhurt, tmp_path, rng):
    deaths = 0
    for number in numbers(tier, rng, 16, 85):
        folder = tmp_path / f"run-{number}"
        if not killed(forge, folder, number, *whole_run(table, folder)):
            break
        deaths += 1
        succeed(forge, whole_run(table, folder))
        assert outcome(folder) == unhurt
        check_whole(folder)
        assert leftovers(folder) == []
    assert deaths >= (40 if tier == "all" else 10)


@EVERY
def test_votes_that_are_added_are_added_once(tier, forge, finished, extended, tmp_path, rng):
    deaths = 0
    for number in numbers(tier, rng, 6, 25):
        folder = shutil.copytree(finished, tmp_path / f"run-{number}")
        if not killed(forge, folder, number, "vote", folder, *MORE):
            break
        deaths += 1
        succeed(forge, ["vote", folder, *MORE], ["certify", folder, "--no-report"])
        assert outcome(folder) == extended
    assert deaths >= (15 if tier == "all" else 4)


@EVERY
def test_a_run_that_is_started_again_is_the_old_or_the_new_one(tier, forge, table, finished, unhurt, tmp_path, rng):
    deaths = 0
    for number in numbers(tier, rng, 5, 30):
        folder = shutil.copytree(finished, tmp_path / f"run-{number}")
        if not killed(forge, folder, number, *train(table, folder), "--force"):
            break
        deaths += 1
        succeed(forge, whole_run(table, folder))
        assert outcome(folder) == unhurt
    assert deaths >= (20 if tier == "all" else 3)


@EVERY
def test_a_report_is_whole_or_not_there(tier, forge, finished, tmp_path, rng):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    deaths = 0
    for number in numbers(tier, rng, 3, 35):
        folder = shutil.copytree(finished, tmp_path / f"run-{number}")
        if not killed(forge, folder, number, "report", folder):
            break
        deaths += 1
        succeed(forge, ["report", folder])
        check_whole(folder)
        assert leftovers(folder) == []
        assert (folder / "report.html").is_file()
        assert len(list((folder / "figures").iterdir())) >= 6
    assert deaths >= (20 if tier == "all" else 2)


def test_kills_in_a_row_change_nothing(forge, table, unhurt, tmp_path, rng):
    """After any number of chunks, again and again: every run begins where the one before it was killed."""
    folder = tmp_path / "run"
    succeed(forge, train(table, folder))
    for number in rng.integers(1, 12, 8).tolist():
        if not killed(forge, folder, number, "vote", folder, *FEW):
            break
    succeed(forge, whole_run(table, folder))
    assert outcome(folder) == unhurt


@pytest.mark.parametrize("fault", ["die_at", "kill_a_worker_at"])
def test_a_run_with_workers_survives(forge, table, unhurt, tmp_path, fault):
    """In the middle of writing the votes of a chunk, the parent or a worker is killed."""
    folder = tmp_path / "run"
    succeed(forge, train(table, folder))
    done = forge.run("vote", folder, *FEW, "--workers", 2, fault=(fault, str(folder), 9))
    if fault == "die_at":
        assert (done.code, done.err) in ((-signal.SIGKILL, "os.write"), (-signal.SIGKILL, "os.fsync"))
    else:
        assert (done.code, done.err) == (0, "")
    succeed(forge, whole_run(table, folder))
    assert outcome(folder) == unhurt
