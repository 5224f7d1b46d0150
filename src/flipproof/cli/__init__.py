"""The command line: arguments in, one library call, text out. A refusal is one line and exit code 2.

A group of flags is a dataclass, and a command takes groups; a TOML file can set the same flags. The groups live in
`task_options`, `run_options` and `command_options`, which import nothing heavy; what a command does lives in the module
named in `COMMANDS`, which is imported when the command is called: `--help` costs next to nothing.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from flipproof.cli.command_options import (
    DatasetsOptions,
    DemoOptions,
    RadiusOptions,
    ReportOptions,
    ReproduceOptions,
    TableOptions,
    TermsOptions,
    VerifyOptions,
    VotesArgument,
)
from flipproof.cli.output import careful_output, say
from flipproof.cli.run_options import (
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
from flipproof.errors import FlipproofError, InvalidInputError, not_among

_ALIASES = {"json": "as_json"}
_FLAGS: set[str] = set()
"""The flags of all commands that read a config file."""


def command(home: str, *groups: type, config: bool = True) -> Callable[..., None]:
    """Makes a command of groups: their fields become options, and `--config FILE` gives them defaults.

    Args:
        home: What the command does, as "module.function" in this package: a function that takes one value per group.
        *groups: Dataclasses whose fields are annotated with what typer shows.
        config: Whether the command has `--config`.
    """
    module, _, name = home.partition(".")
    parameters = [parameter for group in groups for parameter in _fields(group)]
    if config:
        _FLAGS.update(each.name for each in parameters if not isinstance(each.annotation.__metadata__[0], ArgumentInfo))
        parameters.append(_parameter("config", _Config, None))

    def started(**flags: Any) -> None:
        values = (group(**{field.name: flags[field.name] for field in dataclasses.fields(group)}) for group in groups)
        getattr(import_module(f"flipproof.cli.{module}"), name)(*values)

    started.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    started.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return started


def _fields(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _parameter(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
        )
        for field in dataclasses.fields(group)
    ]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the values in the file the defaults of flags."""
    if path is None:
        return None
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InvalidInputError(f"--config {path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"--config {path} is not valid TOML: {error}") from error
    values = {_ALIASES.get(name, name.replace("-", "_")): value for name, value in content.items()}
    for flag, value in values.items():
        if isinstance(value, dict):
            raise InvalidInputError(f"expected keys without tables in {path}, got the table [{flag}]")
        if flag not in _FLAGS:
            raise not_among(f"every key in {path}", sorted(_FLAGS), flag)
    context.default_map = {**(context.default_map or {}), **values}
    return path


_Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Read flags from this TOML file, such as p_plus = 0.01; flags that you type win.",
        callback=read_config,
        is_eager=True,
    ),
]


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
        (TaskOptions, VoteOptions, PromiseOptions, MachineOptions, PageOption, OutputOptions, ForceOption),
        "Train, vote and certify. Finished steps are not repeated.",
    ),
    "train": (
        "train.train",
        (TaskOptions, MemoryOption, ForceOption),
        "Train a model with noise and save it in a run folder.",
    ),
    "vote": (
        "train.vote",
        (RunArgument, VoteOptions, MachineOptions, ModelOption, ForceOption),
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
        (VerifyOptions, ModelOption, MachineOptions, OutputOptions),
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
