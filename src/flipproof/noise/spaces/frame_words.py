"""The words for changes in data frames: columns and values have names, and only known values are covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flipproof.noise.spaces.frame_bins import BinnedColumn
from flipproof.noise.spaces.frame_book import FrameBook
from flipproof.noise.spaces.frame_columns import CategoryColumn, CodedColumn
from flipproof.noise.spaces.words import ANY, KNOWN_VALUES, OCCURRING_VALUES, ChangeWords, WordsByKind

_MOST_NAMES = 8
"""How many columns a sentence names one by one."""
_MOST_IN_PART = 2
"""How many columns of a part are named whenever their cells are spoken of."""
_MOST_ZEROS = 3
"""How many values that play the zero a sentence names."""


def frame_words(book: FrameBook, noisy: Iterable[str | None], entries: str) -> dict[str, Any]:
    """The words for changes in a table that was a frame, as fields of a report's subject.

    Args:
        book: the columns.
        noisy: the parts with noise; None is the only part.
        entries: the word for cells, in the plural.
    """
    parts = tuple(noisy)
    named = {part: part_entries(book, part, entries) for part in parts if part is not None}
    touched = [column for column, part in zip(book.columns, book.parts, strict=True) if _is_in(part, parts)]
    known = _known(touched)
    changes: WordsByKind = {}
    for part in parts:
        columns = [column for column, own in zip(book.columns, book.parts, strict=True) if _is_in(own, (part,))]
        prefix = "" if part is None else f"{part}."
        changes |= _kinds(prefix, entries if part is None else named[part], zero_words(columns), known)
    another = known.format("another")
    changes[ANY] = ChangeWords(f"changes {{}} to {another}", f"{entries} changed to {another}")
    return {
        "entries": {"": entries} | named,
        "where": f"the {entries} of the observed row",
        "within": f", each to {known.format('a')},",
        "caution": _caution(touched, known),
        "changes": changes,
    }


def left_alone(book: FrameBook, parts: Iterable[str]) -> tuple[str, ...]:
    """What must stay as it is if these parts get noise, as noun phrases: other columns, and which values there are.

    Certificates keep these phrases, so that nobody who sees them without the table reads too much into them.
    """
    noisy = set(parts)
    held, touched = (
        [column for column, part in zip(book.columns, book.parts, strict=True) if (part in noisy) is wanted]
        for wanted in (False, True)
    )
    values = OCCURRING_VALUES if all(column.complete for column in touched) else KNOWN_VALUES
    bins = ("the bins",) if any(isinstance(column, BinnedColumn) for column in touched) else ()
    return (*_held_words([column.name for column in held], [column.name for column in touched]), values, *bins)


def _held_words(held: Sequence[str], touched: Sequence[str]) -> tuple[str, ...]:
    if not held:
        return ()
    if len(held) <= _MOST_NAMES:
        return (f"the column{'s' if len(held) > 1 else ''} {_joined(map(repr, held))}",)
    if len(touched) <= _MOST_NAMES:
        return (f"all columns but {_joined(map(repr, touched))}",)
    return (f"the {len(held)} columns without noise",)


def part_entries(book: FrameBook, part: str, entries: str) -> str:
    """The words for the cells of a part: those of a column, of a group, or of columns with equally many values.

    A group whose columns have different numbers of values is divided by them.
    """
    group, size = next(
        (group, size) for group, own, size in zip(book.groups, book.parts, book.sizes, strict=True) if own == part
    )
    columns = [repr(column.name) for column, own in zip(book.columns, book.parts, strict=True) if own == part]
    if not group and len(columns) <= _MOST_IN_PART:
        return f"{entries} of the column{'s' if len(columns) > 1 else ''} {_joined(columns)}"
    if not group:
        return f"{entries} of columns with {size} values"
    return f"{entries} of {group}" if part == group else f"{entries} of {group} with {size} values"


def zero_words(columns: Sequence[CodedColumn]) -> str:
    """The values that play the zero in some columns."""
    zeros: dict[str, list[str]] = {}
    for column in columns:
        zeros.setdefault(_zero(column), []).append(column.name)
    if len(zeros) == 1:
        return next(iter(zeros))
    if len(zeros) > _MOST_ZEROS or len(columns) > _MOST_NAMES:
        return "the base value of the column"
    return " or ".join(f"{zero} ({', '.join(names)})" for zero, names in zeros.items())


def _zero(column: CodedColumn) -> str:
    if isinstance(column, CategoryColumn) and isinstance(column.plain[0], str):
        return repr(column.plain[0])
    return column.labels[0]


def _kinds(prefix: str, entries: str, zero: str, known: str) -> WordsByKind:
    away = f"from {zero} to {known.format('another')}"
    among = f"from a value that is not {zero} to {known.format('another such')}"
    return {
        f"{prefix}add": ChangeWords(f"turns {{}} {away}", f"{entries} turned {away}"),
        f"{prefix}delete": ChangeWords(f"turns {{}} to {zero}", f"{entries} turned to {zero}"),
        f"{prefix}change": ChangeWords(f"turns {{}} {among}", f"{entries} turned {among}"),
    }


def _known(columns: Sequence[CodedColumn]) -> str:
    """Which values are covered, with {} for an article. Those that do not occur are, too, if they were declared."""
    complete = all(column.complete for column in columns)
    return "{} value that occurs in the column" if complete else "{} known value of the column"


def _caution(columns: Sequence[CodedColumn], known: str) -> str:
    """What a reader must know about values, bins and zeros."""
    said = ["A cell that gets a value which does not occur in its column is not covered."]
    if "known" in known:
        said = [
            "Known are the values that occur in a column, in the table that the columns were read from, and those that "
            "its type or the caller lists; a cell that gets any other value is not covered."
        ]
    binned = [column.name for column in columns if isinstance(column, BinnedColumn)]
    if binned:
        many = len(binned) > 1
        said.append(
            f"In the column{'s' if many else ''} {_joined(map(repr, binned))} the model sees the representative of a "
            "bin, not the row's own number; the certified prediction is the one for the row with these "
            "representatives, and a number that stays in its bin is no change."
        )
    zeros = ", ".join(f"{_zero(column)} ({column.name})" for column in columns[:_MOST_NAMES])
    said.append(f"Base values are {zeros}{' and others' if len(columns) > _MOST_NAMES else ''}.")
    return " ".join(said)


def _is_in(part: str, parts: Sequence[str | None]) -> bool:
    return bool(part) and (part in parts or None in parts)


def _joined(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
