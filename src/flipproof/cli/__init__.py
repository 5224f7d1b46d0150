"""The command line: arguments in, one library call, text out. A refusal is one line and exit code 2."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer

from flipproof.cli import certify, compare, datasets, demo, radius, report, reproduce, train, verify
from flipproof.errors import FlipproofError, FlipproofWarning

app = typer.Typer(name="flipproof", pretty_exceptions_enable=False, add_completion=False)
for _command in (
    demo.demo,
    train.run,
    train.train,
    train.vote,
    certify.certify,
    report.report,
    verify.verify,
    compare.compare,
    reproduce.reproduce,
    datasets.datasets,
    radius.radius,
):
    app.command(_command.__name__)(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"flipproof {version('flipproof')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Prove how robust a classifier of discrete data is."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_usual_format = warnings.formatwarning


def _formatted(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
    """A warning of ours as one line, without the place in the code."""
    if issubclass(category, FlipproofWarning):
        return f"flipproof: {message}\n"
    return _usual_format(message, category, *place, **more)


def main() -> None:
    """Runs the program; whatever a user can get wrong becomes one line and exit code 2."""
    warnings.formatwarning = _formatted
    try:
        sys.exit(app(standalone_mode=False))
    except (FlipproofError, typer.TyperException) as error:
        message = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        print(f"flipproof: {' '.join(message.split())}", file=sys.stderr)
        sys.exit(2)
    except MemoryError as error:
        reason = " ".join(str(error).split()) or "there is no more"
        print(f"flipproof: expected enough memory, got: {reason}; see --memory and --workers", file=sys.stderr)
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone; Python must not try to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
