"""Checks JSON values against a schema, in the subset of JSON Schema 2020-12 that our schemas use.

A field that the schema does not describe is refused. `schemas/` has a file for each of our formats.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from flipproof.errors import FileFormatError

Schema = Mapping[str, Any]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, limit: value >= limit,
    "exclusiveMinimum": lambda value, limit: value > limit,
    "maximum": lambda value, limit: value <= limit,
    "exclusiveMaximum": lambda value, limit: value < limit,
}
_SHOWN = 60


@functools.cache
def schema_of(name: str) -> Schema:
    """Reads one of the published schemas."""
    schema: Schema = json.loads(files("flipproof.verification").joinpath(f"schemas/{name}.json").read_text("utf-8"))
    return schema


def check_form(value: Any, schema: Schema) -> None:
    """Refuses a value that does not match the schema.

    Example:
        >>> check_form({"a": 1}, {"type": "object", "properties": {}, "additionalProperties": False})
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: an unknown field a
    """
    _Form(schema).check(value, schema, "")


class _Form:
    """A schema together with the definitions that it references."""

    def __init__(self, root: Schema) -> None:
        self._defs = root.get("$defs", {})

    def check(self, value: Any, schema: Schema, path: str) -> None:
        if "$ref" in schema:
            self.check(value, self._defs[schema["$ref"].removeprefix("#/$defs/")], path)
        for several in ("oneOf", "anyOf"):
            if several in schema:
                self._check_one(value, schema[several], path)
        if not _has_type(value, schema) or not _is_allowed(value, schema):
            raise FileFormatError(f"{path or 'a value'} {json.dumps(value)[:_SHOWN]}")
        if isinstance(value, dict):
            self._check_fields(value, schema, path)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                self.check(each, schema.get("items", {}), f"{path}[{index}]")

    def _check_one(self, value: Any, options: list[Schema], path: str) -> None:
        """If no option fits, the first one of the value's type reports the error."""
        fitting = [option for option in options if _has_type(value, option)]
        if not fitting:
            raise FileFormatError(f"{path} {json.dumps(value)[:_SHOWN]}")
        for option in fitting[1:]:
            with contextlib.suppress(FileFormatError):
                self.check(value, option, path)
                return
        self.check(value, fitting[0], path)

    def _check_fields(self, value: Mapping[str, Any], schema: Schema, path: str) -> None:
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        prefix = f"{path}." if path else ""
        for name in schema.get("required", ()):
            if name not in value:
                raise FileFormatError(f"no {prefix}{name}")
        for name, each in value.items():
            if name not in known and others is False:
                raise FileFormatError(f"an unknown field {prefix}{name[:_SHOWN]}")
            self.check(each, known.get(name, others), f"{prefix}{name[:_SHOWN]}")


def _has_type(value: Any, schema: Schema) -> bool:
    names = schema.get("type", ())
    return not names or any(_TYPES[name](value) for name in ([names] if isinstance(names, str) else names))


def _is_allowed(value: Any, schema: Schema) -> bool:
    if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
        return False
    if "enum" in schema and not any(value == each and type(value) is type(each) for each in schema["enum"]):
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, list):
        return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))
    if type(value) in (int, float):
        return all(fits(value, schema[name]) for name, fits in _LIMITS.items() if name in schema)
    return True
