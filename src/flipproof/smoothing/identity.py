"""What makes two runs the same run, and how they differ, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.noise.any_noise import AnyNoise
from flipproof.smoothing.noise_record import any_noise_from_record

_LONG, _SHORT = 24, 12
_CHECKED = "checked"
_CHECK_WORDS = {
    True: "a classifier that is checked as it votes (check=True)",
    False: "a classifier that nobody checked (check=False, --no-check)",
}


def differences_between(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Every difference between two descriptions of runs, as JSON values; empty if there is none.

    Example:
        >>> differences_between({"seed": 1, "noise": {"p_plus": 0.1}}, {"seed": 0, "noise": {"p_plus": 0.2}})
        'seed 1 instead of 0; noise.p_plus 0.1 instead of 0.2'
        >>> flips = {"p_plus": 0.1, "p_minus": 0.2, "categories": 2}
        >>> differences_between({"noise": {"gaussian": {"sigma": 0.5}}}, {"noise": flips})
        'noise GaussianNoise(sigma=0.5) instead of FlipNoise(p_plus=0.1, p_minus=0.2, categories=2)'
    """
    return "; ".join([*_differences(_unchecked(found), _unchecked(expected), ""), *_checks(found, expected)])


def _unchecked(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != _CHECKED}


def _checks(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Whether only one of both was checked; of earlier versions, which say nothing about it, none was."""
    one, other = (record.get(_CHECKED) is True for record in (found, expected))
    if one is not other:
        yield f"{_CHECK_WORDS[one]} instead of {_CHECK_WORDS[other]}"


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Every difference in words; those inside mappings are named one by one."""
    for key in [*expected, *(key for key in found if key not in expected)]:
        name = prefix + key
        if key not in expected:
            yield f"{name} {_shown(found[key])} instead of nothing"
        elif key not in found:
            yield f"no {name} instead of {_shown(expected[key])}"
        elif _other_laws(found[key], expected[key]):
            yield f"{name} {_shown(found[key])} instead of {_shown(expected[key])}"
        elif isinstance(found[key], dict) and isinstance(expected[key], dict):
            yield from _differences(found[key], expected[key], f"{name}.")
        elif _text(found[key]) != _text(expected[key]):
            yield f"{name} {_instead(found[key], expected[key])}"


def _other_laws(found: Any, expected: Any) -> bool:
    """Whether these are noises of two kinds, whose numbers cannot be compared one by one."""
    kinds = {type(_noise(record)) for record in (found, expected)}
    return len(kinds) == 2 and type(None) not in kinds


def _noise(record: Any) -> AnyNoise | None:
    """The noise that a record describes, if it does."""
    try:
        return any_noise_from_record(record) if isinstance(record, dict) else None
    except (InvalidInputError, TypeError, AttributeError):
        return None


def _instead(found: Any, expected: Any) -> str:
    if _shown(found) == _shown(expected):  # such as 1 and "1", or two long texts that begin alike
        return f"{_text(found)} instead of {_text(expected)}"
    return f"{_shown(found)} instead of {_shown(expected)}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: Any) -> str:
    """Numbers and noises in full; of long texts, such as hashes, the beginning."""
    if noise := _noise(value):
        return repr(noise)
    text = _text(value)[1:-1] if isinstance(value, str) else _text(value)
    return text if len(text) <= _LONG or isinstance(value, int | float) else text[:_SHORT].rstrip()
