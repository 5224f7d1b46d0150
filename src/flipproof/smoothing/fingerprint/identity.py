"""The identity of a run: whether two runs are the same, and their differences in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, law_from_record
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION, fingerprint

_LONG, _SHORT = 24, 12
_IN_WORDS = ("code", "files")
"""Fields that are put into words instead of showing their hashes."""
_NEW = ("engine version", "targets", "checked")
"""Fields that flipproof did not record, or recorded in another way, before it recorded its code."""
_VERSIONS = {"stream version", "engine version"}
_OLDER = "it is of an older flipproof, which did not note its code"
_CHANGED = "what turns noisy inputs into labels has changed in flipproof since"
_FINGERPRINTS = "fingerprints"
_ANEW = ", or draw anew into another file (flipproof vote --force)"
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
    """Says so if only one of two runs was checked; a run of an earlier version, which does not say, was not."""
    one, other = (record.get(_CHECKED) is True for record in (found, expected))
    if one is not other:
        yield f"{_CHECK_WORDS[one]} instead of {_CHECK_WORDS[other]}"


def of_other_fingerprints(record: Mapping[str, Any], version: int = FINGERPRINTS_VERSION) -> str:
    """Says which flipproof made a record, if its fingerprints cannot be compared; empty if they can.

    Args:
        record: a record with fingerprints and, as "fingerprints", their version; without it, that is version 1.
        version: the version to compare with.

    Example:
        >>> of_other_fingerprints({"model": "ab"}, version=2)
        'made by an older flipproof (fingerprints of version 1)'
    """
    found = record.get(_FINGERPRINTS, 1)
    if found == version:
        return ""
    age = "an older" if isinstance(found, int) and found < version else "a newer"
    return f"made by {age} flipproof (fingerprints of version {_shown(found)})"


def check_data(identity: Mapping[str, Any], space: Space) -> None:
    """Refuses data that differ from those of a run, or that cannot be compared with them."""
    if other := of_other_fingerprints(identity):
        raise InvalidInputError(
            f"expected votes of this flipproof, got votes {other}; leave out `inputs` to have a report without them"
        )
    if fingerprint(space) != identity["data"]:
        raise InvalidInputError("expected the data that were voted on, got other data")


def run_differences(
    found: Mapping[str, Any], expected: Mapping[str, Any], began_with: Callable[[], str | None] = lambda: None
) -> str:
    """Every difference between the identities of two runs and what to do about it; empty if there is none.

    The user's files are no difference by themselves: the model's fingerprint covers those whose contents matter. They
    explain why that fingerprint differs.

    Args:
        found: the identity of votes that exist already.
        expected: the identity of votes that are to be drawn.
        began_with: returns the version of flipproof that drew the existing votes, or None if it is unknown.

    Example:
        >>> run_differences({"model": "ab", "files": {"net.py": "12"}}, {"model": "cd", "files": {"net.py": "34"}})
        'model ab instead of cd; net.py has changed since: put it back, or draw anew into another file ...'
    """
    if other := of_other_fingerprints(found, expected.get(_FINGERPRINTS, 1)):
        return f"it was {other}: {_finish_with(began_with())}{_ANEW}"
    differing, older = _differing(found, expected), ("code" in found) != ("code" in expected)
    if "model" in differing and not older:
        differing.discard("code")  # another model uses other code
    hidden = (*_IN_WORDS, *(_NEW if older else ()), *(("engine version",) if "engine" in differing else ()))
    named = differences_between(*(_without(record, hidden) for record in (found, expected)))
    edited = changed_files(found.get("files"), expected.get("files")) if "model" in differing else []
    advice = [changed_since(edited)] if edited else []
    if differing & ({"code"} | _VERSIONS - {*hidden}):
        reason = [_OLDER if older else _CHANGED] if "code" in differing else []
        advice.append(": ".join([*reason, _finish_with(began_with())]))
    return "; ".join(filter(None, [named, *advice])) + (_ANEW if advice else "")


def _finish_with(began: str | None) -> str:
    return f"finish with flipproof {began}" if began else "finish with the flipproof that began it"


def changed_since(files: Sequence[str]) -> str:
    """Says which files were edited and what to do about it.

    Example:
        >>> changed_since(["net.py"])
        'net.py has changed since: put it back'
    """
    one = len(files) == 1
    return f"{', '.join(files)} {'has' if one else 'have'} changed since: put {'it' if one else 'them'} back"


def changed_files(found: object, expected: object) -> list[str]:
    """The names of files that are in both mappings from names to hashes, but with other contents."""
    if not isinstance(found, Mapping) or not isinstance(expected, Mapping):
        return []
    return sorted(str(name) for name in found if name in expected and found[name] != expected[name])


def differences_again(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The differences that keep samples from being drawn again; empty if there are none.

    The code that gives labels may differ, as votes drawn again are compared with the first ones. The noise and the
    engine must not differ, though an older flipproof did not record the engine.
    """
    hidden = (*_IN_WORDS, *(() if "code" in expected else ("engine version",)))
    differences = differences_between(*(_without(record, hidden) for record in (found, expected)))
    other = _differing(found, expected) & (_VERSIONS - {*hidden})
    return f"{differences}; take the flipproof that drew them" if other else differences


def _without(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> set[str]:
    return {name for name in {*found, *expected} if found.get(name, ...) != expected.get(name, ...)}


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Every difference in words; differences inside mappings are named one by one."""
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


def _other_laws(found: object, expected: object) -> bool:
    """Whether two records are noises of two kinds, whose numbers cannot be compared one by one."""
    kinds = {type(_noise(record)) for record in (found, expected)}
    return len(kinds) == 2 and type(None) not in kinds


def _noise(record: object) -> Law | None:
    """The noise that a record describes; None if it describes none."""
    try:
        return law_from_record(record) if isinstance(record, dict) else None
    except (InvalidInputError, TypeError, AttributeError):
        return None


def _instead(found: object, expected: object) -> str:
    if _shown(found) == _shown(expected):  # such as 1 and "1", or two long texts that begin alike
        return f"{_text(found)} instead of {_text(expected)}"
    return f"{_shown(found)} instead of {_shown(expected)}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: object) -> str:
    """A value in words: numbers and noises in full, and the beginning of long texts, such as hashes."""
    if noise := _noise(value):
        return repr(noise)
    text = _text(value)[1:-1] if isinstance(value, str) else _text(value)
    return text if len(text) <= _LONG or isinstance(value, int | float) else text[:_SHORT].rstrip()
