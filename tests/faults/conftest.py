"""What all tests of faults share: a forge, an unhurt run to compare with, and small file systems."""

import subprocess
from pathlib import Path

import pytest
from forge import Forge, outcome, whole_run, write_table

from hanging import no_test_waits_forever  # noqa: F401 (a fixture for all tests here)


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """The data of the small run."""
    return write_table(tmp_path_factory.mktemp("faults") / "table.csv")


@pytest.fixture(scope="session")
def forge(table):
    """Runs commands in processes of their own."""
    forge = Forge(table)
    yield forge
    forge.close()


@pytest.fixture(scope="session")
def unhurt(forge, table, tmp_path_factory):
    """What the small run finds when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("unhurt") / "run"
    done = forge.run(*whole_run(table, folder))
    assert (done.code, done.err) == (0, "")
    return outcome(folder)


class SmallDisk:
    """A file system of its own, of so many bytes."""

    def __init__(self, path):
        self.path = path

    def resize(self, size):
        _mount("-o", f"remount,size={size}", self.path)

    def make_read_only(self):
        _mount("-o", "remount,ro", self.path)


def _mount(*arguments):
    return subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=True)


@pytest.fixture
def small_disk(tmp_path):
    """A file system in memory. Only root may mount one."""
    path = Path(tmp_path / "disk")
    path.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", path)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs the right to mount a file system: {error}")
    yield SmallDisk(path)
    subprocess.run(["umount", "-l", str(path)], check=True)
