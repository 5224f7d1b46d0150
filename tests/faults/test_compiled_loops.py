"""A place for compiled loops that is full, damaged, forbidden or somebody else's: the same results, and one line."""

import hashlib
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import flipproof

SOURCES = str(Path(flipproof.__file__).parents[1])
SMALL = "from flipproof.theory.kernels import complement_up; import numpy as np; print(complement_up(np.array([0.1])))"
SMALL_RESULT = "[0.9]\n"
CLI = "import sys; from flipproof.cli import main; sys.argv[0] = 'flipproof'; main()"
RADIUS = ["-c", CLI, "radius", "--p-plus", "0.01", "--p-minus", "0.6", "--p-lower", "0.9"]
VOTES = """
import flipproof as fp
classifier = fp.FunctionClassifier(lambda rows: rows[:, 0], classes=2)
votes = fp.vote(classifier, [[1, 1, 1]], fp.FlipNoise(0.1, 0.2), 50, 2_000, workers={workers})
print(votes.estimation.tolist(), fp.certify(votes).max_radius("delete").tolist())
"""
NOBODY = 65534
ADVICE = "make room there, delete the folder, or set NUMBA_CACHE_DIR to another one of your own"


def run(loops, *arguments, **environment):
    """A program that keeps its loops in a folder."""
    settings = os.environ | {"PYTHONPATH": SOURCES, "NUMBA_CACHE_DIR": str(loops)} | environment
    command = [sys.executable, "-W", "default", *(arguments or ("-c", SMALL))]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, cwd="/")


def files_in(loops):
    return sorted(Path(loops).rglob("*.nbk"))


def warning_of(done):
    """The one warning of a program that has done its work, without the line of source that Python shows."""
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "expected" in line]
    assert "Traceback" not in done.stderr
    found = re.search(
        r"expected to keep compiled loops in (.*), got: (.*); they are compiled anew in memory; (.*)$", line
    )
    assert found[3] == ADVICE
    return found[1], found[2]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """What a first run leaves: one private folder with whole files."""
    loops = tmp_path_factory.mktemp("loops")
    done = run(loops)
    assert (done.stdout, done.stderr, done.returncode) == (SMALL_RESULT, "", 0)
    assert files_in(loops)
    return loops


@pytest.fixture
def loops(kept, tmp_path):
    """A copy of it that may be hurt."""
    return shutil.copytree(kept, tmp_path / "loops")


def test_loops_are_compiled_once(loops):
    before = {path: path.stat().st_ino for path in files_in(loops)}
    done = run(loops)
    assert (done.stdout, done.stderr) == (SMALL_RESULT, "")
    assert {path: path.stat().st_ino for path in files_in(loops)} == before


def test_a_folder_of_loops_is_of_the_user_alone(tmp_path):
    """Whatever files are usually allowed to others."""
    loops = tmp_path / "loops"
    done = subprocess.run(
        [sys.executable, "-c", SMALL],
        env=os.environ | {"PYTHONPATH": SOURCES, "NUMBA_CACHE_DIR": str(loops)},
        umask=0,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    [folder] = {path.parent for path in files_in(loops)}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in files_in(loops)} == {0o600}


def flip_last_byte(path):
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.mark.parametrize(
    "hurt",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:40]),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        flip_last_byte,
    ],
    ids=["empty", "no contents", "truncated", "one bit"],
)
def test_damaged_files_are_replaced(loops, hurt):
    for path in files_in(loops):
        hurt(path)
    done = run(loops)
    place, reason = warning_of(done)
    assert done.stdout == SMALL_RESULT
    assert place == str(files_in(loops)[0].parent)
    assert reason in [f"{path.name} is damaged" for path in files_in(loops)]
    again = run(loops)
    assert (again.stdout, again.stderr) == (SMALL_RESULT, "")


def test_loops_of_other_sources_are_replaced_without_a_word(loops):
    for path in files_in(loops):
        content = path.read_bytes()
        path.write_bytes(bytes(32) + content[32:])
    done = run(loops)
    assert (done.stdout, done.stderr) == (SMALL_RESULT, "")
    assert all(path.read_bytes()[:32] != bytes(32) for path in files_in(loops))


class Trap:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def lay_traps(loops, sprung):
    """Files that look whole, and run something when they are unpickled."""
    content = pickle.dumps(Trap(sprung))
    for path in files_in(loops):
        path.write_bytes(path.read_bytes()[:32] + hashlib.sha256(content).digest() + content)


def test_a_trap_in_a_folder_of_ones_own_is_sprung(loops, tmp_path):
    """So that the next test can fail: nobody else could have laid this one."""
    lay_traps(loops, tmp_path / "sprung")
    assert run(loops).stdout == SMALL_RESULT
    assert (tmp_path / "sprung").exists()


def give_away(path):
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(path, NOBODY, NOBODY)


def replace_by_link(path):
    shutil.move(path, path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


@pytest.mark.parametrize("what", ["folder", "files"])
@pytest.mark.parametrize(
    ("open_up", "reason"),
    [
        (give_away, "it belongs to another user"),
        (lambda path: path.chmod(path.stat().st_mode | 0o002), "others may write to it"),
        (lambda path: path.chmod(path.stat().st_mode | 0o020), "others may write to it"),
        (replace_by_link, "it is a link|Too many levels of symbolic links"),
    ],
    ids=["owner", "world", "group", "link"],
)
def test_what_others_could_have_written_is_not_read(loops, tmp_path, what, open_up, reason):
    lay_traps(loops, tmp_path / "sprung")
    for path in files_in(loops) if what == "files" else {path.parent for path in files_in(loops)}:
        open_up(path)
    done = run(loops)
    assert re.match(reason, warning_of(done)[1])
    assert done.stdout == SMALL_RESULT
    assert not (tmp_path / "sprung").exists()


# The disk


def test_a_full_disk_keeps_nothing_and_hurts_nothing(small_disk):
    """There is room for the folders, but for no compiled loop, then for some of them."""
    expected = run(os.environ["NUMBA_CACHE_DIR"], *RADIUS)
    for pages in (1, 10):
        small_disk.resize(pages * 4096)
        done = run(small_disk.path, *RADIUS)
        assert (done.returncode, done.stdout) == (0, expected.stdout)
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith(f"flipproof: expected to keep compiled loops in {small_disk.path}/theory_")
        assert done.stderr.endswith(f", got: No space left on device; they are compiled anew in memory; {ADVICE}\n")
        assert list(small_disk.path.rglob("*.part")) == []


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_votes_and_certificates_on_a_full_disk(small_disk, workers):
    """Worker processes compile for themselves; only the program itself says so."""
    expected = run(os.environ["NUMBA_CACHE_DIR"], "-c", VOTES.format(workers=1))
    small_disk.resize(4096)
    done = run(small_disk.path, "-c", VOTES.format(workers=workers))
    assert warning_of(done)[1] == "No space left on device"
    assert done.stdout == expected.stdout


def test_a_disk_that_became_read_only(small_disk):
    """numba finds the place when the program starts; it may be lost later."""
    lost = (
        "import flipproof.theory.kernels, subprocess; "
        f"subprocess.run(['mount', '-o', 'remount,ro', {str(small_disk.path)!r}], check=True); {SMALL}"
    )
    done = run(small_disk.path, "-c", lost)
    assert warning_of(done)[1] == "Read-only file system"
    assert done.stdout == SMALL_RESULT


# As another user

AS_NOBODY = f"""
import os, linecache, numba, numpy  # root may be the only one who can read Python itself
numba.njit(lambda numbers: numbers + 1)(numpy.zeros(1))
os.setgroups([]), os.setresgid({NOBODY}, {NOBODY}, {NOBODY}), os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
{SMALL}
"""


class Stranger:
    """Another user, with a folder for loops and a copy of the sources that only root can change."""

    def __init__(self, home):
        self.sources, self.loops = home / "sources", home / "loops"
        shutil.copytree(
            f"{SOURCES}/flipproof", self.sources / "flipproof", ignore=shutil.ignore_patterns("__pycache__")
        )
        self.loops.mkdir()
        os.chown(self.loops, NOBODY, NOBODY)

    def run(self):
        settings = {"PYTHONPATH": str(self.sources), "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
        return run(self.loops, "-B", "-c", AS_NOBODY, **settings)


@pytest.fixture
def stranger():
    if os.geteuid() != 0:
        pytest.skip("only root may run programs as another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o755)
        yield Stranger(Path(name))


@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_folder_without_rights_is_not_needed(stranger, mode):
    """It has lost the right to be written to, or even to be looked into."""
    assert stranger.run().stderr == ""
    [folder] = {path.parent for path in files_in(stranger.loops)}
    for path in files_in(stranger.loops):
        path.unlink()
    folder.chmod(mode)
    done = stranger.run()
    assert warning_of(done) == (str(folder), "Permission denied")
    assert done.stdout == SMALL_RESULT


def test_a_file_without_rights_is_not_needed(stranger):
    assert stranger.run().stderr == ""
    for path in files_in(stranger.loops):
        path.chmod(0)
    done = stranger.run()
    assert warning_of(done)[1] == "Permission denied"
    assert done.stdout == SMALL_RESULT
    assert stranger.run().stderr == ""  # they were replaced


def test_nowhere_to_keep_anything(stranger):
    """Neither where it was asked for nor beside the sources, which belong to root, nor in a home."""
    stranger.loops.chmod(0o500)
    done = stranger.run()
    assert done.stdout == SMALL_RESULT
    assert (
        "expected a folder to keep compiled loops in, got none that can be written to; they are compiled anew in "
        "memory; set NUMBA_CACHE_DIR to a folder of your own\n"
    ) in done.stderr


def test_users_who_share_a_folder_do_not_disturb_each_other(stranger):
    by_root = run(stranger.loops, PYTHONPATH=str(stranger.sources))
    [shared] = stranger.loops.iterdir()
    shared.chmod(0o777)
    for done in (by_root, stranger.run(), stranger.run()):
        assert (done.stdout, done.stderr) == (SMALL_RESULT, "")
    assert {path.parent.stat().st_uid for path in files_in(stranger.loops)} == {0, NOBODY}
