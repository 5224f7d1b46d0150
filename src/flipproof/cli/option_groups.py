"""Flags as values: a group of options is a dataclass, and a command takes groups. A TOML file has the same words."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from flipproof.errors import InvalidInputError, not_among

_ALIASES = {"json": "as_json"}
_WORDS: set[str] = set()
"""The words of all commands that read a configuration."""


def takes(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a command of a function of groups: their fields become options, `--config FILE` gives them defaults.

    Parameters of the function that are no groups come first and stay as they are.
    """

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function).parameters.values())[: -len(groups)]
        hints = get_type_hints(function, include_extras=True)
        parameters = [
            *(_parameter(each.name, hints[each.name], each.default) for each in own),
            *(parameter for group in groups for parameter in _fields(group)),
            _parameter("config", _Config, None),
        ]

        def command(**flags: Any) -> None:
            values = (
                group(**{field.name: flags[field.name] for field in dataclasses.fields(group)}) for group in groups
            )
            function(*(flags[each.name] for each in own), *values)

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__doc__, command.__name__ = function.__doc__, function.__name__
        _WORDS.update(field.name for group in groups for field in dataclasses.fields(group))
        return command

    return decorated


def _fields(group: Any) -> list[inspect.Parameter]:
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
    """Flags that are not given get their values from the file."""
    if path is None:
        return None
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InvalidInputError(f"expected a readable --config, got {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"expected TOML in --config, got {path}: {error}") from error
    words = {_ALIASES.get(name, name.replace("-", "_")): value for name, value in found.items()}
    for word, value in words.items():
        if isinstance(value, dict):
            raise InvalidInputError(f"expected keys without tables in {path}, got the table [{word}]")
        if word not in _WORDS:
            raise not_among(f"every key in {path}", sorted(_WORDS), word)
    context.default_map = {**(context.default_map or {}), **words}
    return path


_Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="A TOML file with the same words: p_plus = 0.01.", callback=read_config, is_eager=True
    ),
]
