"""Downloads that are killed, cut or stall: the file gets its name only when it is right, and what has come is kept."""

import hashlib
import itertools
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from flipproof.datasets.fetching import download as downloads
from flipproof.datasets.fetching.data_file import DataFile, MissingDataError
from flipproof.datasets.fetching.download import PartFile, download
from loopback import cut, ranged, serving

CONTENT = np.random.default_rng(7).bytes(200_000)
BLOCK = 2**16


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as home:
        yield home


def data_file(url):
    return DataFile("data.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), (url,))


def fetch(url, folder, blocks="none"):
    """Called by the forge: a download, killed when so many blocks have come."""
    write, left = PartFile.write, itertools.count(1)

    def write_or_die(part, block):
        write(part, block)
        if str(next(left)) == blocks:
            os.kill(os.getpid(), signal.SIGKILL)

    PartFile.write = write_or_die
    try:
        download(data_file(url), Path(folder))
    except MissingDataError as error:
        sys.exit(str(error))


@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_a_killed_download_is_resumed(forge, home, tmp_path, blocks):
    """Also when all of it had come and only the check was missing."""
    url = home.put("a", ranged(CONTENT))
    done = forge.run("call", f"{__file__}:fetch", url, tmp_path, blocks)
    assert done.code == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [".data.bin.part"]
    assert (tmp_path / ".data.bin.part").read_bytes() == CONTENT[: BLOCK * blocks]
    assert download(data_file(url), tmp_path).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]
    assert home.asked[1:] == ([("/a", f"bytes={BLOCK * blocks}-")] if blocks < 4 else [])


def test_a_download_that_is_killed_in_front_of_any_change_is_resumed(forge, home, tmp_path):
    url, deaths = home.put("a", ranged(CONTENT)), []
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = forge.run("call", f"{__file__}:fetch", url, folder, fault=("die_at", str(folder), number))
        if done.code == 0:
            break
        deaths.append(done.err)
        assert (folder / "data.bin").read_bytes() == CONTENT if (folder / "data.bin").exists() else True
        assert download(data_file(url), folder).read_bytes() == CONTENT
        assert [path.name for path in folder.iterdir()] == ["data.bin"]
    assert deaths == ["open", "os.fsync", "os.rename"]


def test_a_server_that_stalls_is_given_up_and_resumed(home, tmp_path, monkeypatch):
    """It sends a part and then nothing more, but holds the connection; the second time it sends the rest."""
    monkeypatch.setattr(downloads, "_SECONDS", 0.2)

    def stall(handler, start):
        cut(CONTENT, 70_000)(handler, start)
        handler.connection.recv(1)  # until the other side has had enough

    url = home.put("a", stall, ranged(CONTENT))
    assert download(data_file(url), tmp_path).read_bytes() == CONTENT
    assert home.asked == [("/a", None), ("/a", "bytes=65536-")]


def test_a_server_that_never_says_anything_is_told_in_one_line(home, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "_SECONDS", 0.2)
    url = home.put("a", lambda handler, start: handler.connection.recv(1))
    with pytest.raises(MissingDataError, match=r"^expected to download data.bin, got: .*timed out.*; put a copy .*$"):
        download(data_file(url), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_was_damaged_while_nobody_looked_is_fetched_again(home, tmp_path):
    """A machine that stops may leave zeros where the last bytes should be."""
    (tmp_path / ".data.bin.part").write_bytes(CONTENT[:100_000] + bytes(50_000))
    assert download(data_file(home.put("a", ranged(CONTENT))), tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in home.asked] == ["bytes=150000-", None]
