"""A wall clock that leaps by days: nothing in flipproof asks it what to do."""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forge import outcome, whole_run

import flipproof
from flipproof.datasets.fetching.data_file import DataFile
from flipproof.datasets.fetching.download import download
from loopback import cut, ranged, serving

SOURCES = Path(flipproof.__file__).parent
WALL_CLOCK = {
    "time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.ctime", "time.asctime", "time.strftime",
    "time.clock_gettime", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "os.path.getmtime",
}  # fmt: skip
FILE_TIMES = {"st_mtime", "st_ctime", "st_atime", "st_mtime_ns", "getmtime", "getctime"}
A_DATE_TO_READ = {("reproduction/study.py", "datetime.now")}
"""When rows were measured; nothing depends on it."""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_under_a_leaping_clock_finds_the_same(forge, table, unhurt, tmp_path, workers):
    folder = tmp_path / "run"
    flags = ["--no-report", "--workers", workers, "--timeout", 60]  # a deadline that must not fire
    done = forge.run(*whole_run(table, folder, *flags), fault=("leaping_clock",))
    assert (done.code, done.err) == (0, "")
    assert outcome(folder) == unhurt
    record = json.loads((folder / "run.json").read_text())
    for section in ("training", "votes"):
        assert 0 <= record[section]["seconds"] < 60


CONTENT = bytes(range(256)) * 800


def fetch(url, folder):
    """Called by the forge: a download of which the connection breaks twice."""
    file = DataFile("data.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), (url,))
    assert download(file, Path(folder)).read_bytes() == CONTENT


def test_a_download_under_a_leaping_clock_is_resumed(forge, tmp_path):
    with serving() as home:
        url = home.put("a", cut(CONTENT, 70_000), cut(CONTENT, 70_000), ranged(CONTENT))
        done = forge.run("call", f"{__file__}:fetch", url, tmp_path, fault=("leaping_clock",))
    assert (done.code, done.err) == (0, "")
    assert [asked for _, asked in home.asked] == [None, "bytes=70000-", "bytes=140000-"]


def names_in(path):
    """What a source calls or looks up, as it is written: `time.time`, `status.st_mtime`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (f"time.{each.name}" for each in node.names)


def test_sources_do_not_ask_for_the_wall_clock():
    found = {
        (str(path.relative_to(SOURCES)), name)
        for path in SOURCES.rglob("*.py")
        for name in names_in(path)
        if name in WALL_CLOCK or name.rpartition(".")[2] in FILE_TIMES or name.startswith("datetime.datetime")
    }
    assert found == A_DATE_TO_READ


def stamp_of(package):
    """What compiled loops of a copy of the package are known by."""
    code = "from flipproof.base.compiled import loop_stamp; print(loop_stamp('flipproof.noise.sampling.bit_kernels'))"
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_compiled_loops_are_known_by_contents_and_not_by_times(tmp_path):
    """Else a clock that was set back could make two versions look the same."""
    package = shutil.copytree(SOURCES, tmp_path / "flipproof", ignore=shutil.ignore_patterns("__pycache__"))
    before, file = stamp_of(package), package / "noise" / "sampling" / "philox.py"
    status, text = file.stat(), file.read_text()
    os.utime(file, (1, 1))
    assert stamp_of(package) == before
    file.write_text(text.replace("a", "e", 1))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert stamp_of(package) != before
