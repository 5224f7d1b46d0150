"""A reader who takes a sentence at its word, and knows nothing of certificates: which changes does it speak of?

Nouns mean all that a layman would call so: "cells" are those of every column, "tokens" stand at every place, the
padding included. Only what a sentence says is left alone is exempt: what is padding before or after, for example.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

_COUNT = r"(?:(?P<up>up to|any or all) (?P<count>[\d,]+)|(?P<any>any number)(?: of)?|(?P<no>no|none))"
_ZERO = r"(?:(?:category|kind|token) 0|'a'|'0'|the first word of the vocabulary|the base value)"
_TOKENIZED = r"(, as the tokenizer splits them\b| \(as the tokenizer splits them\))"
_KNOWN = r"another (?:such )?(?:value that occurs in|known value of) the column"
_VERBS = {
    # pattern of a act: which kinds of change it is
    rf"adds or deletes {_COUNT}(?P<noun> .+?)?(?: in all)?": ("add", "delete"),
    rf"adds {_COUNT}(?P<noun> .+?)?": ("add",),
    rf"deletes {_COUNT}(?P<noun> .+?)?": ("delete",),
    rf"edits {_COUNT}(?P<noun> .+?)?": ("insert", "delete", "replace"),
    rf"inserts or deletes {_COUNT}(?P<noun> .+?)?(?: in all)?": ("insert", "delete"),
    rf"inserts {_COUNT}(?P<noun> .+?)?": ("insert",),
    rf"changes {_COUNT}(?P<noun> .+?)? in any way": ("add", "delete", "change"),
    rf"changes {_COUNT}(?P<noun> .+?)? to {_KNOWN}": ("add", "delete", "change"),
    rf"changes {_COUNT}(?P<noun> .+?)?": ("change",),
    rf"turns {_COUNT}(?P<noun> .+?)? from a value that is not .+ to {_KNOWN}": ("change",),
    rf"turns {_COUNT}(?P<noun> .+?)? from .+ to {_KNOWN}": ("add",),
    rf"turns {_COUNT}(?P<noun> .+?)? from {_ZERO} to another": ("add",),
    rf"turns {_COUNT}(?P<noun> .+?)? to {_ZERO}": ("delete",),
    rf"turns {_COUNT}(?P<noun> .+?)? from one to another that is not {_ZERO}": ("change",),
    rf"writes {_COUNT}(?P<noun> .+?)? into empty places": ("write",),
    rf"blanks {_COUNT}(?P<noun> .+?)?": ("blank",),
    rf"replaces {_COUNT}(?P<noun> .+?)? by others of the vocabulary": ("add", "delete", "change"),
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
    attack, spared = re.sub(_TOKENIZED, "", found[1]).rstrip(","), ()
    attack = attack.replace("inserts, deletes or replaces", "edits")
    if match := re.fullmatch(r"(.+?),? and leaves (?:alone what gets no noise|(.+) alone)", attack):
        attack, spared = match[1], tuple(re.split(r", | and ", match[2] or "what gets no noise"))
    attack = attack.removesuffix(" and changes nothing else")
    acts, noun = [], ""
    for clause in re.split(
        r", and |, | and (?=(?:adds|deletes|changes|turns|writes|blanks|replaces|inserts) )", attack.rstrip(",")
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


def reached(reading: Reading, clean: tuple[int, ...], alphabet: int, longest: int) -> set[tuple[int, ...]]:
    """The sequences over an alphabet, none longer than `longest`, that the sentence speaks of: one edit after another.

    A replacement in place is an edit by itself, so that nothing is known here of insertions that make up for deletions.
    """
    assert not reading.spared
    kinds = [(act.kinds, min(act.most, 2 * longest)) for act in reading.acts]
    waiting, seen = [(clean, tuple(most for _, most in kinds))], {}
    while waiting:
        sequence, left = waiting.pop()
        if any(all(a <= b for a, b in zip(left, other, strict=True)) for other in seen.get(sequence, [])):
            continue
        seen.setdefault(sequence, []).append(left)
        for number, (verbs, _) in enumerate(kinds):
            if left[number]:
                rest = (*left[:number], left[number] - 1, *left[number + 1 :])
                waiting += [(other, rest) for verb in verbs for other in _edited(sequence, verb, alphabet, longest)]
    return set(seen)


def _edited(sequence: tuple[int, ...], verb: str, alphabet: int, longest: int) -> list[tuple[int, ...]]:
    """What one edit makes of a sequence."""
    places = range(len(sequence) + (verb == "insert"))
    if verb == "delete":
        return [sequence[:i] + sequence[i + 1 :] for i in places]
    if verb == "insert" and len(sequence) == longest:
        return []
    after = 0 if verb == "insert" else 1
    return [(*sequence[:i], token, *sequence[i + after :]) for i in places for token in range(alphabet)]


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
