"""The command line: arguments in, one library call, text out. A refusal is one line and exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flipproof.cli import certify, demo, radius
from flipproof.errors import FlipproofError

app = typer.Typer(name="flipproof", no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False)
app.command("radius")(radius.radius)
app.command("certify")(certify.certify)
app.command("demo")(demo.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"flipproof {version('flipproof')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Prove how robust a classifier of discrete data is."""


def main() -> None:
    """Runs the program; a refusal becomes one line. Wrong usage is explained by typer, also with exit code 2."""
    try:
        app()
    except FlipproofError as error:
        print(f"flipproof: {error}", file=sys.stderr)
        sys.exit(2)
