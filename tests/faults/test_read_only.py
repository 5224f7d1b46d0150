"""A folder that nobody can write to: whoever has to write says so in one line, whoever only reads is not disturbed.

Root may write whatever the permissions say, so this is a file system that is mounted read-only.
"""

import hashlib
import json

import pytest
from forge import FEW, MORE, outcome, train, whole_run

from flipproof.datasets.fetching.data_file import DataFile
from flipproof.datasets.fetching.download import download
from flipproof.errors import OutputError
from loopback import ranged, serving


@pytest.fixture
def run(forge, table, small_disk):
    """A finished run that cannot be changed any more."""
    folder = small_disk.path / "run"
    assert forge.run(*whole_run(table, folder)).code == 0
    small_disk.make_read_only()
    return folder


def test_commands_that_write_say_that_they_cannot(forge, table, run, unhurt):
    new = run.parent / "new"
    for arguments in (
        train(table, new),
        whole_run(table, new),
        [*train(table, run), "--force"],
        whole_run(table, run),
        ["vote", run, *FEW],
        ["vote", run, *MORE],
        ["vote", run, *MORE, "--force"],
        ["certify", run],
        ["certify", run, "--alpha", 0.05, "--force"],
        ["certify", run / "votes.npz", "--csv", run.parent / "all.csv"],
        ["report", run],
        ["report", run, "--out", run.parent / "page.html"],
        ["demo", "--out", new, "--samples", 10],
        ["compare", "--dataset", "digits-graph", "--out", new],
        ["reproduce", "table-1", "--out", new],
    ):
        done = forge.run(*arguments)
        assert done.refused, (arguments, done)
        assert "Read-only file system" in done.err, arguments
    assert outcome(run) == unhurt


def test_what_only_reads_works(forge, table, run, tmp_path):
    page = tmp_path / "page.html"
    done = forge.run("report", run, "--out", page)
    assert (done.code, done.err) == (0, "")
    assert b"</html>" in page.read_bytes()
    done = forge.run("certify", run / "votes.npz", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["samples"]["estimate"]["count"] == 300
    done = forge.run("verify", run, "--resample", 2)
    assert (done.code, done.err) == (0, "")
    done = forge.run(*train(table, run))  # trained already: there is nothing to write
    assert (done.code, done.err) == (0, "")


def test_a_download_says_that_it_cannot_be_written(small_disk, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    small_disk.make_read_only()
    with serving() as home:
        file = DataFile("data.bin", 3, hashlib.sha256(b"abc").hexdigest(), (home.put("a", ranged(b"abc")),))
        with pytest.raises(OutputError, match=r"^expected to be able to write .*, got: Read-only file system$"):
            download(file, small_disk.path)
        assert home.asked == []
