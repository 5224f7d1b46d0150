"""Shared by the tests of the command line."""

import sys

import pytest

from flipproof import cli


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs the program in this process; returns (exit code, stdout, stderr)."""

    def runner(*arguments):
        monkeypatch.setattr(sys, "argv", ["flipproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        return exit_.value.code or 0, captured.out, captured.err

    return runner
