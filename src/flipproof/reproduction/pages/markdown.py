"""Small pieces of Markdown: tables and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.reproduction.pages.rows import Rows, matching, summarised, values


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    Example:
        >>> print(table(("a", "b"), [("1", "2")]))
        | a | b |
        |---|---|
        | 1 | 2 |
    """
    rows = [head, ["---"] * len(head), *lines]
    cells = [" | ".join(row) if row[0] != "---" else "|".join(row) for row in rows]
    return "\n".join(f"|{line}|" if line.startswith("---") else f"| {line} |" for line in cells)


def with_spread(row: dict[str, Any], digits: int = 2) -> str:
    """The mean of a summarised row, and its spread over seeds.

    Example:
        >>> with_spread({"value": 9.6349, "spread": 0.147, "of": 5})
        '9.63 ± 0.15'
    """
    spread = "" if row["spread"] is None else f" ± {row['spread']:.{digits}f}"
    return f"{row['value']:.{digits}f}{spread}"


def number(rows: Rows, digits: int = 2, **wanted: Any) -> str:
    """The mean of some rows with its spread over seeds; "-" if there are none."""
    found = summarised(matching(rows, **wanted))
    if len(found) > 1:
        raise FileFormatError(f"expected rows with {wanted} that differ in their seeds alone, got others")
    return with_spread(found[0], digits) if found else "-"


def seeds_of(rows: Rows, **wanted: Any) -> str:
    """The number of values in the matching rows."""
    return str(len(values(rows, **wanted)))


def distinct(rows: Rows, *names: str) -> Iterator[dict[str, Any]]:
    """Every distinct combination of the named columns, in the order of the rows."""
    yield from (
        dict(zip(names, key, strict=True))
        for key in dict.fromkeys(tuple(row.get(name) for name in names) for row in rows)
    )


def prose(text: str) -> str:
    """Joins text with any line breaks into one paragraph.

    Example:
        >>> prose('''One
        ...     sentence.''')
        'One sentence.'
    """
    return " ".join(text.split())
