"""Flags as values: a group of options is a dataclass, and a command takes groups. A TOML file can set the same flags.

The groups live in modules that import nothing heavy, and what a command does lives in another module, which is imported
when the command is called: `--help` costs next to nothing.
"""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from flipproof.errors import InvalidInputError, not_among

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
