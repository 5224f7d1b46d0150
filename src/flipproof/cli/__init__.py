"""The command line: arguments in, one library call, text out. A refusal is one line and exit code 2.

The flags of a command live in `task_options`, `run_options` and `command_options`; what it does lives in the module
named in `COMMANDS`, which is imported when the command is called.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flipproof.cli.command_options import (
    AtOption,
    CheckedArgument,
    DatasetsOptions,
    DemoOptions,
    DepthOptions,
    RadiusOptions,
    ReportOptions,
    ReproduceOptions,
    ResampleOptions,
    TableOptions,
    TermsOptions,
    VotesArgument,
)
from flipproof.cli.option_groups import command
from flipproof.cli.output import careful_output, say
from flipproof.cli.run_options import (
    CheckOption,
    ForceOption,
    MachineOptions,
    MemoryOption,
    ModelOption,
    OutputOptions,
    PageOption,
    PromiseOptions,
    RunArgument,
    VoteOptions,
)
from flipproof.cli.task_options import TaskOptions
from flipproof.errors import FlipproofError

_RADIUS_HELP = """Show which radii a given probability certifies.

With --p-lower, the radii that this probability certifies.

With --samples, the radii that this many samples certify when they all agree.

With neither, the probability that each radius needs.
"""
COMMANDS: dict[str, tuple[str, tuple[type, ...], str]] = {
    "demo": (
        "demo.demo",
        (DemoOptions,),
        "Train a graph neural network on built-in data and prove how robust it is: about a minute.",
    ),
    "run": (
        "train.run",
        (TaskOptions, VoteOptions, CheckOption, PromiseOptions, MachineOptions, PageOption, OutputOptions, ForceOption),
        "Train, vote and certify. Finished steps are not repeated.",
    ),
    "train": (
        "train.train",
        (TaskOptions, MemoryOption, ForceOption),
        "Train a model with noise and save it in a run folder.",
    ),
    "vote": (
        "train.vote",
        (RunArgument, VoteOptions, CheckOption, MachineOptions, ModelOption, ForceOption),
        "Draw votes for a trained run; continue an interrupted one, or add samples.",
    ),
    "certify": (
        "certify.certify",
        (VotesArgument, PromiseOptions, TableOptions, PageOption, OutputOptions, ForceOption),
        "Turn votes into certificates: a summary, the certified ratio over the radii, --json, --csv FILE.",
    ),
    "report": (
        "report.report",
        (ReportOptions,),
        "Write a page that shows what is certified: one file that any browser opens, without a network.",
    ),
    "verify": (
        "verify.verify",
        (CheckedArgument, DepthOptions, AtOption, ResampleOptions, ModelOption, MachineOptions, OutputOptions),
        "Check certificates independently: their arithmetic, and the evidence in the run folder. Exit code 0: "
        "everything is confirmed.",
    ),
    "compare": (
        "compare.compare",
        (TaskOptions, TermsOptions, MachineOptions, OutputOptions),
        "Certify the same predictions with every system that applies: a table, a figure, rows. Finished work is kept.",
    ),
    "reproduce": (
        "reproduce.reproduce",
        (ReproduceOptions, MachineOptions),
        "Run experiments of the paper and show the results beside the published numbers. Finished work is kept.",
    ),
    "datasets": ("datasets.datasets", (DatasetsOptions,), "List the datasets, or show the card of one."),
    "radius": ("radius.radius", (RadiusOptions,), _RADIUS_HELP),
}
"""For each command: its function, the groups of its flags, and its help. Most commands can read a config file."""

app = typer.Typer(name="flipproof", pretty_exceptions_enable=False, add_completion=False)
for _name, (_home, _groups, _help) in COMMANDS.items():
    app.command(_name, help=_help)(command(_home, *_groups, config=len(_groups) > 1))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # only --version needs it

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
        say(f"not enough memory{f': {error}' if str(error) else ''}; lower --memory or --workers")
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # nobody reads our output any more
        sys.exit(1)
