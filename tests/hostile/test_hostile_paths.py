"""Paths that lead to something else than a file, or have names that a terminal would obey."""

import contextlib
import os
import re
import threading

import pytest
from hostile_loaders import JOURNALS, KINDS, LOADERS, refusal

import flipproof as fp

EVERY_LOADER = pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)


@contextlib.contextmanager
def pipe(path):
    """A pipe with a writer that says nothing: who reads it all the same finds it empty, instead of waiting for ever."""
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: os.close(os.open(path, os.O_WRONLY)))
    writer.start()
    try:
        yield path
    finally:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join()
        os.close(reader)


@EVERY_LOADER
def test_the_small_file_is_read(loader, tmp_path):
    loader.write(tmp_path / loader.name)
    loader.read(tmp_path / loader.name)


@EVERY_LOADER
def test_a_pipe_is_not_waited_for(loader, tmp_path):
    with pipe(tmp_path / loader.name) as path:
        assert re.search("pipe or a device, no file|which is no file|which is something else", refusal(loader, path))


@EVERY_LOADER
def test_a_device_is_not_read(loader, tmp_path):
    (tmp_path / loader.name).symlink_to("/dev/zero")
    assert re.search(f"{loader.name}|/dev/zero", refusal(loader, tmp_path / loader.name))


@EVERY_LOADER
def test_a_folder_is_no_file(loader, tmp_path):
    (tmp_path / loader.name).mkdir()
    if loader is LOADERS["peek"]:
        assert loader.read(tmp_path / loader.name) is None
    else:
        assert loader.name in refusal(loader, tmp_path / loader.name)


@EVERY_LOADER
def test_a_link_to_itself(loader, tmp_path):
    (tmp_path / loader.name).symlink_to(tmp_path / loader.name)
    assert loader.name in refusal(loader, tmp_path / loader.name)


@EVERY_LOADER
def test_a_file_of_two_terabytes_takes_no_memory(loader, tmp_path):
    with (tmp_path / loader.name).open("wb") as stream:
        stream.truncate(2 * 10**12)
    assert loader.name in refusal(loader, tmp_path / loader.name)


@EVERY_LOADER
def test_a_file_that_goes_on_for_two_terabytes_takes_no_memory(loader, tmp_path):
    path = tmp_path / loader.name
    loader.write(path)
    os.truncate(path, 2 * 10**12)
    if loader.name == "run.ckpt":
        loader.read(path)  # what follows the last whole record is what a crash left
    else:
        assert loader.name in refusal(loader, path)


@pytest.mark.parametrize("loader", JOURNALS.values(), ids=JOURNALS)
def test_a_checkpoint_whose_beginning_is_damaged_takes_no_memory(loader, tmp_path):
    path = tmp_path / loader.name
    path.write_bytes(b"flipproof-checkpoint 1\n")
    os.truncate(path, 2 * 10**12)
    assert "its description is damaged" in refusal(loader, path)


@EVERY_LOADER
@pytest.mark.parametrize("name", ["\x1b[2J\x07\nevil", "\u202etxt", "x" * 200, "\udcff"])
def test_names_of_files_stay_words(loader, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    (folder / loader.name).write_bytes(b"\x00garbage\x1b[2J")
    assert loader.name in refusal(loader, folder / loader.name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_a_pipe_is_not_asked_for(kind, tmp_path):
    with pipe(tmp_path / "mine.npz") as path, pytest.raises(fp.FileFormatError, match="which is no file"):
        KINDS[kind](path)
