"""Where the program prints to: terminals that lack letters, full devices, and pipes whose reader has gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forge import whole_run, write_table

import flipproof

CLI = "import sys; from flipproof.cli import main; sys.argv[0] = 'flipproof'; main()"
RADIUS = ["radius", "--p-plus", "0.01", "--p-minus", "0.6", "--p-lower", "0.9"]
COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "nothing": [],
    "help of a command": ["vote", "--help"],
    "text": RADIUS,
    "json": [*RADIUS, "--json"],
    "table": ["datasets"],
    "much": ["datasets", "--json"],
}
FULL = "flipproof: expected to be able to write to stdout, got: No space left on device\n"
STRANGE = "猫 😀 é"

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


def run(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **environment):
    settings = os.environ | {"PYTHONPATH": str(Path(flipproof.__file__).parents[1])} | environment
    command = [sys.executable, "-c", CLI, *map(str, arguments)]
    return subprocess.run(command, env=settings, stdout=stdout, stderr=stderr, check=False)


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_full_device_is_one_line(arguments, unbuffered):
    with open("/dev/full", "wb") as full:
        done = run(*arguments, stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr.decode()) == (2, FULL)


@needs_full
def test_a_refusal_is_not_hidden_by_a_full_device():
    with open("/dev/full", "wb") as full:
        done = run("radius", "--p-plus", "7", stdout=full)
        assert done.returncode == 2
        assert done.stderr.startswith(b"flipproof: ")
        assert done.stderr.count(b"\n") == 1
        assert b"stdout" not in done.stderr
        silent = run("radius", "--p-plus", "7", stderr=full)
        assert (silent.returncode, silent.stdout) == (2, b"")


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_closed_pipe_is_left_without_a_word(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*arguments, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_letters_that_a_terminal_lacks_are_escaped(tmp_path):
    """On stdout and on stderr; here names of a folder and of classes."""
    table, folder = write_table(tmp_path / f"{STRANGE}.csv"), tmp_path / STRANGE
    table.write_text(table.read_text().replace("yes", "猫").replace("no", "😀"))
    done = run(*whole_run(table, folder), PYTHONIOENCODING="latin-1:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert STRANGE.encode("latin-1", errors="backslashreplace") in done.stdout
    refused = run("certify", tmp_path / "猫.npz", PYTHONIOENCODING="latin-1:strict")
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"flipproof: expected ")
    assert refused.stderr.count(b"\n") == 1
    assert "猫.npz".encode("latin-1", errors="backslashreplace") in refused.stderr


def test_names_that_are_no_text_can_be_printed(tmp_path):
    """A file name is bytes; stdout would refuse to encode those that are no letters."""
    table, folder = write_table(tmp_path / "table.csv"), os.fsdecode(os.fsencode(tmp_path) + b"/run-\xff")
    done = run(*whole_run(table, folder), PYTHONIOENCODING="utf-8:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"run-\udcff" in done.stdout
