"""A reader who takes a sentence at its word, and knows nothing of certificates: which changes does it speak of?

Nouns mean all that a layman would call so: "cells" are those of every column, "tokens" stand at every place, the
padding included. Only what a sentence says is left alone is exempt: what is padding before or after, for example.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

_COUNT = r"(?:(?P<up>up to|any or all) (?P<count>[\d,]+)|(?P<any>any number)(?: of)?|(?P<no>no|none))"
_KNOWN = r"another (?:such )?(?:value that occurs in|known value of) the column"
_VERBS = {
    # pattern of a act: which kinds of change it is
    rf"adds or deletes {_COUNT}(?P<noun> .+?)?(?: in all)?": ("add", "delete"),
    rf"adds {_COUNT}(?P<noun> .+?)?": ("add",),
    rf"deletes {_COUNT}(?P<noun> .+?)?": ("delete",),
    rf"changes {_COUNT}(?P<noun> .+?)? in any way": ("add", "delete", "change"),
    rf"changes {_COUNT}(?P<noun> .+?)? to {_KNOWN}": ("add", "delete", "change"),
    rf"changes {_COUNT}(?P<noun> .+?)?": ("change",),
    rf"turns {_COUNT}(?P<noun> .+?)? from a value that is not .+ to {_KNOWN}": ("change",),
    rf"turns {_COUNT}(?P<noun> .+?)? from .+ to {_KNOWN}": ("add",),
    rf"turns {_COUNT}(?P<noun> .+?)? from (?:category|kind|token) 0 to another": ("add",),
    rf"turns {_COUNT}(?P<noun> .+?)? to (?:category|kind|token) 0": ("delete",),
    rf"turns {_COUNT}(?P<noun> .+?)? from one to another that is not (?:category|kind|token) 0": ("change",),
    rf"turns {_COUNT}(?P<noun> .+?)? to '0'": ("delete",),
    rf"writes {_COUNT}(?P<noun> .+?)? into empty places": ("write",),
    rf"blanks {_COUNT}(?P<noun> .+?)?": ("blank",),
    rf"replaces {_COUNT}(?P<noun> .+?)? in place": ("replace", "add", "delete", "change"),
}
ENDLESS = 10**9


@dataclass(frozen=True)
class Act:
    """At most so many changes of these kinds to what the noun names."""

    kinds: tuple[str, ...]
    most: int
    noun: str


@dataclass(frozen=True)
class Reading:
    """Who stays within all acts and leaves the rest alone is said not to change the prediction."""

    acts: tuple[Act, ...]
    spared: tuple[str, ...]


def read(sentence: str) -> Reading | None:
    """What a sentence claims; None if nothing."""
    if "abstains" in sentence or sentence.startswith("No robustness proven"):
        return None
    found = re.fullmatch(r"No attacker who (.+) can change the prediction for this \w+(?: from .+ to .+\.)?", sentence)
    attack, spared = found[1].rstrip(","), ()
    if match := re.fullmatch(r"(.+?),? and leaves (?:alone what gets no noise|(.+) alone)", attack):
        attack, spared = match[1], tuple(re.split(r", | and ", match[2] or "what gets no noise"))
    attack = attack.removesuffix(" and changes nothing else")
    acts, noun = [], ""
    for clause in re.split(
        r", and |, | and (?=(?:adds|deletes|changes|turns|writes|blanks|replaces) )", attack.rstrip(",")
    ):
        act = _act(clause, noun)
        noun = act.noun
        acts.append(act)
    return Reading(tuple(acts), spared)


def _act(clause: str, noun: str) -> Act:
    for pattern, kinds in _VERBS.items():
        if match := re.fullmatch(pattern, clause):
            most = 0 if match["no"] else ENDLESS if match["any"] else int(match["count"].replace(",", ""))
            return Act(kinds, most, (match["noun"] or noun).strip())
    raise AssertionError(f"nobody understands {clause!r}")


def spoken_of(reading: Reading, names: Any, clean: np.ndarray, points: np.ndarray, empty: int | None) -> np.ndarray:
    """Which of the points [points, entries] the sentence speaks of, from a clean one; `names` says what entries are.

    `names(noun, clean)` are the entries [entries] that a noun or a spared thing names. A value `empty` is no token.
    """
    kinds = _kinds(clean, points, empty)
    spared = np.zeros(points.shape, dtype=bool)
    for thing in reading.spared:
        spared |= names(thing, clean) | names(thing, points)
    left, within = points != clean, np.ones(len(points), dtype=bool)
    for act in reading.acts:
        done = np.zeros_like(left)
        for kind in act.kinds:
            done |= kinds[kind] & names(act.noun, clean) & ~spared
        within &= done.sum(axis=1) <= act.most
        left &= ~done
    return within & ~left.any(axis=1)


def _kinds(clean: np.ndarray, points: np.ndarray, empty: int | None) -> dict[str, np.ndarray]:
    differs = points != clean
    there, stays = clean != empty, points != empty
    return {
        "add": differs & (clean == 0),
        "delete": differs & (points == 0),
        "change": differs & (clean != 0) & (points != 0),
        "write": differs & ~there & stays,
        "blank": differs & there & ~stays,
        "replace": differs & there & stays,
    }
