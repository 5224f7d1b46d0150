"""Progress lines: in a terminal, in a notebook, and nothing anywhere else."""

import io
import sys
import types

import pytest

from flipproof.base.progress import progress_line

COLUMNS = ("bar", "count", "samples/s", "left", "time", "note")
STEPS = ((20.0, 100), (40.0, 212), (40.2, 220), (60.0, 324))
ANNOUNCED = "100,000 samples: about 5 h at 5.6 samples/s; 10,000: 30 min"


class Stream(io.StringIO):
    """A stream that may be a terminal."""

    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


def run_steps(monkeypatch, is_terminal, columns=COLUMNS):
    """What stderr got."""
    stream, now = Stream(is_terminal), [0.0]
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line("votes", columns, of=100_000, clock=lambda: now[0]) as line:
        for now[0], done in STEPS:
            line.update(done=done, note="1 process")
    return stream.getvalue()


@pytest.fixture
def cell(monkeypatch):
    """The outputs below a cell, as a kernel with IPython has them: the texts that each one showed."""
    outputs = []

    def display(data, raw, display_id):
        outputs.append([data["text/plain"]])
        assert raw
        assert display_id
        return types.SimpleNamespace(update=lambda data, raw: outputs[-1].append(data["text/plain"]))

    shell = types.SimpleNamespace(kernel=object())
    ipython = types.SimpleNamespace(get_ipython=lambda: shell, display=types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    return outputs


def test_a_pipe_gets_nothing(monkeypatch):
    assert run_steps(monkeypatch, is_terminal=False) == ""


def test_a_terminal_keeps_the_announcement_and_forgets_the_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    shown = run_steps(monkeypatch, is_terminal=True)
    assert shown.count(ANNOUNCED) == 1
    assert ANNOUNCED not in run_steps(monkeypatch, is_terminal=True, columns=("bar", "count"))


def test_a_notebook_has_one_output_that_is_replaced(monkeypatch, cell):
    assert run_steps(monkeypatch, is_terminal=False) == ""
    (texts,) = cell
    assert texts == [
        "votes: 100 of 100,000 (0 %), 1 process",
        f"{ANNOUNCED}\nvotes: 212 of 100,000 (0 %), 5.6 samples/s, 5 h left, 1 process",
        f"{ANNOUNCED}\nvotes: 324 of 100,000 (0 %), 5.6 samples/s, 5 h left, 1 process",
        "votes: 324 of 100,000 in 60 s",
    ]


def test_a_line_that_is_not_wanted_is_not_shown(monkeypatch, cell):
    with progress_line("votes", COLUMNS, of=10, show=False) as line:
        line.update(more=5)
    with progress_line("votes", COLUMNS, of=10):
        pass  # nothing happened: there is nothing to show
    assert cell == []
    with progress_line("cora.npz", ("bar", "bytes", "bytes/s", "time")) as line:
        line.update(done=2_500_000, of=10_000_000)
    assert cell[0][0] == "cora.npz: 2 of 10 MB (25 %)"
