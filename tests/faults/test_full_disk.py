"""A disk that is full at any stage of a run: one clear line, nothing half, and the same command goes on with room."""

import hashlib
import shutil

import numpy as np
import pytest
from forge import check_whole, leftovers, outcome, whole_run

from flipproof.datasets.fetching.data_file import DataFile
from flipproof.datasets.fetching.download import download
from flipproof.errors import OutputError
from loopback import ranged, serving

ROOM = "64m"
PAGE = 4096
ENOUGH = 100 * PAGE  # for all files of the small run but its report


def test_a_run_goes_on_when_a_disk_of_any_size_gets_room(forge, table, unhurt, small_disk):
    refused = set()
    for size in range(PAGE, ENOUGH, PAGE):
        small_disk.resize(size)
        folder = small_disk.path / "run"
        done = forge.run(*whole_run(table, folder))
        if done.code == 0:
            break
        assert done.refused, done
        assert done.err.endswith(", got: No space left on device\n")
        check_whole(folder)
        assert leftovers(folder) == []
        refused.add(done.err.split(", got: ")[0].rpartition("/")[2])
        small_disk.resize(ROOM)
        again = forge.run(*whole_run(table, folder))
        assert (again.code, again.err) == (0, "")
        assert outcome(folder) == unhurt
        shutil.rmtree(folder)
    assert done.code == 0
    assert refused >= {"weights.safetensors", "run.json", "votes.checkpoint", "votes.npz", "certificates.json"}


@pytest.fixture
def finished(forge, table, small_disk):
    """A run on a disk that has no room for a report."""
    folder = small_disk.path / "run"
    assert forge.run(*whole_run(table, folder)).code == 0
    small_disk.resize(ENOUGH)
    return folder


def test_a_report_that_has_no_room_leaves_what_was_there(forge, finished, small_disk):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    done = forge.run("report", finished)
    assert done.refused, done
    assert done.err.endswith("report.html, got: No space left on device\n")
    check_whole(finished)
    assert leftovers(finished) == []
    assert not (finished / "report.html").exists()
    small_disk.resize(ROOM)
    assert forge.run("report", finished).code == 0
    check_whole(finished)
    assert (finished / "report.html").is_file()


def test_certificates_do_not_depend_on_the_room_for_their_report(forge, finished):
    """The work is done: the report is only offered."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    done = forge.run("certify", finished)
    assert done.code == 0
    assert done.err.startswith("flipproof: no report: expected to be able to write ")
    assert done.err.endswith("No space left on device\n")
    assert done.err.count("\n") == 1


def test_a_download_goes_on_when_there_is_room(small_disk, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    content = np.random.default_rng(7).bytes(300_000)
    small_disk.resize(25 * PAGE)
    with serving() as home:
        file = DataFile(
            "data.bin", len(content), hashlib.sha256(content).hexdigest(), (home.put("a", ranged(content)),)
        )
        with pytest.raises(OutputError, match=r"^expected to be able to write .*, got: No space left on device$"):
            download(file, small_disk.path)
        assert [path.name for path in small_disk.path.iterdir()] == [".data.bin.part"]
        small_disk.resize(ROOM)
        assert download(file, small_disk.path).read_bytes() == content
        (_, first), (_, second) = home.asked
        assert first is None
        assert int(second.removeprefix("bytes=").removesuffix("-")) > 0
