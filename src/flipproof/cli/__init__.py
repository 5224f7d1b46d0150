"""The command line: arguments in, one library call, text out. A refusal is one line and exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flipproof.cli import certify, compare, datasets, demo, radius, report, reproduce, train, verify
from flipproof.cli.streams import careful_output, say
from flipproof.errors import FlipproofError

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


def main() -> None:
    """Runs the program; whatever a user can get wrong becomes one line and exit code 2."""
    try:
        with careful_output():
            code = app(standalone_mode=False)
        sys.exit(code)
    except (FlipproofError, typer.TyperException) as error:
        say(error.format_message() if isinstance(error, typer.TyperException) else str(error))
        sys.exit(2)
    except MemoryError as error:
        say(f"expected enough memory, got: {str(error) or 'there is no more'}; see --memory and --workers")
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone
        sys.exit(1)
