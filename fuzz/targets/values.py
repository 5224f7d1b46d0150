"""What is typed: numbers and words of the command line, memory limits, and configuration files."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import typer

import flipproof as fp
from flipproof.cli import app, read_config
from flipproof.errors import FlipproofError, InvalidInputError
from flipproof.smoothing.voting.chunks import checked_memory
from fuzz.target import Target, saved

_FLAGS = ("--p-plus", "--p-minus", "--categories", "--alpha", "--add", "--delete", "--change")
_COUNTS = ("--add", "--delete", "--change")
_WORDS = (
    *(b"%c" % byte for byte in b"0123456789.-e+\n"),
    b"nan",
    b"inf",
    b"1e999",
    b"\x1b[",
    b"GB",
    b"\0",
    b"\xff",
)


def _seeds() -> Iterator[bytes]:
    yield b"r0.01\n0.6"
    yield b"r0.01\n0.6\n3\n0.05\n1\n2\n1"
    yield b"p0.01\n0.6\n0.99\n2\n1\n2"
    yield b"m1.5 GB"
    yield b"m4096"
    yield b'cp_plus = 0.01\nsamples = 1000\nmodel = "gcn"\n'


def _read(content: bytes) -> None:
    kind, text = content[:1], content[1:].decode("utf-8", "surrogateescape")
    if kind == b"m":
        checked_memory(text)
    elif kind == b"c":
        context: Any = SimpleNamespace(default_map=None)
        read_config(context, saved(content[1:], "mine.toml"))
    elif kind == b"p":
        _worst_case(text.split("\n"))
    else:
        _table(text.split("\n"))


def _worst_case(values: list[str]) -> None:
    """One number, whatever the noise is; words that are no numbers never come so far."""
    try:
        *floats, categories, add, delete = (*map(float, values[:3]), *(int(value[:2]) for value in values[3:6]))
    except ValueError:
        return
    if len(floats) == 3:
        p_plus, p_minus, p_lower = floats
        fp.rho(fp.FlipNoise(p_plus, p_minus, categories), fp.Radii(add, delete), p_lower)


def _table(values: list[str]) -> None:
    """The table of `flipproof radius`; a wrong word is refused by the parser of the command line."""
    given = []
    for flag, value in zip(_FLAGS, values, strict=False):
        if value:
            given += [flag, value[:1] if flag in _COUNTS else value]  # larger tables take their time, as asked for
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            app(["radius", *given], standalone_mode=False)
        except FlipproofError:
            raise
        except typer.TyperException as error:
            raise InvalidInputError(error.format_message()) from error


TARGET = Target("values", _seeds, _read, words=_WORDS)
