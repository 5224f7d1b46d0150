"""What a run folder says of its data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class DataRecord:
    """What a model was trained on; of a user's own table also which column has the labels, and what they are.

    `separator` stood between its cells.
    """

    section: ClassVar[str] = "dataset"
    name: str
    counts: dict[str, int]
    classes: int
    fingerprint: str
    label_column: str = field(default_factory=str)
    class_counts: dict[str, int] = field(default_factory=dict)
    separator: str = field(default_factory=str)

    @property
    def words(self) -> str:
        """The counts as people read them.

        Example:
            >>> DataRecord("cora", {"nodes": 2810, "edges": 7981}, 7, "").words
            '2,810 nodes, 7,981 edges'
        """
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items())

    def to_record(self) -> dict[str, Any]:
        """JSON values; what is only known of tables is left out of other data."""
        of_tables = ("label_column", "class_counts", "separator")
        return {name: value for name, value in asdict(self).items() if value or name not in of_tables}
