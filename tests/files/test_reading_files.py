"""What is opened is a file, and not longer than it may be."""

import os
import subprocess
import sys

import pytest

from flipproof.files.whole import is_bomb, opened, read_whole


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path):
    """In a process of its own, which could be ended if it waited."""
    os.mkfifo(tmp_path / "pipe")
    code = f"from flipproof.files.whole import opened; opened({str(tmp_path / 'pipe')!r})"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert "it is a pipe or a device, no file" in child.stderr


def test_what_is_no_file(tmp_path):
    with pytest.raises(OSError, match="it is a pipe or a device, no file"):
        opened("/dev/null")
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        opened("a\0b")


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_whole(path, 5) == b"12345"
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_whole(path, 4)


def test_what_a_bomb_is():
    assert not is_bomb(2**26, 0)
    assert is_bomb(2**26 + 1, 0)
    assert not is_bomb(100 * 10**7, 10**7)
    assert is_bomb(100 * 10**7 + 1, 10**7)
