"""Values that hold what several systems prove about the same inputs: one entry per system and kind of attacker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, IntArray, read_only
from flipproof.baselines.proofs import Proofs
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.files.strict_json import is_number
from flipproof.theory.certificate import ANY, Promise, Subject
from flipproof.theory.radii import UNBOUNDED


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What one system proves against one kind of attacker.

    Attributes:
        system: its name; "flipproof" is this package's own certificate, other names are modules of
            `flipproof.baselines`.
        attacker: the kind of changes made: "delete", "add" or "change"; for a joint noise "structure.add" and the like;
            or "any".
        model: the model whose predictions are proved.
        noise: the noise law behind the votes, in words; "none" for a proof about the classifier itself.
        proofs: one per input.
        seconds: the time that training, votes and certificates took.
        spared: what this proof's attackers leave alone although other attackers of their kind do not; mostly nothing.
    """

    system: str
    attacker: str
    model: str
    noise: str
    proofs: Proofs
    seconds: float
    spared: str = ""

    @property
    def name(self) -> tuple[str, str, str]:
        """Identifies this entry among all entries against the same attacker."""
        return (self.system, self.model, self.noise)

    def to_record(self) -> dict[str, Any]:
        """The entry as JSON values."""
        promise, proofs = self.proofs.promise, self.proofs
        return {
            "system": self.system,
            "against": self.attacker,
            "model": self.model,
            "noise": self.noise,
            "seconds": self.seconds,
            "spared": self.spared,
            "promise": {
                "system": promise.system,
                "subject": promise.subject.value,
                "threat": promise.threat,
                "rule": promise.rule,
                "alpha": promise.alpha,
            },
            "label": proofs.label.tolist(),
            "radius": proofs.radius.tolist(),
            "abstained": proofs.abstained.tolist(),
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Entry:
        """Reads what `to_record` returns. The record is not trusted: anything unexpected is refused."""
        words = {name: record[name] for name in ("system", "against", "model", "noise", "spared")}
        words |= {name: record["promise"][name] for name in ("threat", "rule")}
        if not all(isinstance(word, str) for word in words.values()):
            raise FileFormatError(f"expected an entry in words, got {words}")
        for number in (record["seconds"], record["promise"]["alpha"]):
            if not is_number(number):
                raise FileFormatError(f"expected an entry with a number, got {number!r}")
        terms = record["promise"]
        promise = Promise(**(terms | {"subject": Subject(terms["subject"])}))
        label, radius, abstained = (np.array(record[name]) for name in ("label", "radius", "abstained"))
        proofs = Proofs(promise, label, radius, abstained, record["against"])
        return cls(
            **{name: record[name] for name in ("system", "model", "noise", "seconds", "spared")},
            attacker=record["against"],
            proofs=proofs,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The entries of several systems about the same inputs.

    Attributes:
        entries: the entries of all systems.
        inputs: the numbers of the inputs.
        labels: their true labels.
        room: by attacker, the largest possible number of such changes to each input. An input that withstands all of
            them is certified at every larger radius, and means count no larger radius for it.

    Example:
        >>> promise = Promise("somebody", Subject.BASE, "r bits change", "exact")
        >>> proofs = Proofs(promise, np.array([0, 1]), np.array([3, 1]), np.array([False, False]))
        >>> entry = Entry("theirs", "any", "gcn", "none", proofs, seconds=1.0)
        >>> comparison = Comparison((entry,), np.array([4, 7]), np.array([0, 0]))
        >>> [row["certified_ratio"] for row in comparison.rows([1, 2])]
        [1.0, 0.5]
    """

    entries: tuple[Entry, ...]
    inputs: IntArray
    labels: IntArray
    room: Mapping[str, IntArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = {self.inputs.size, self.labels.size, *(len(entry.proofs) for entry in self.entries)}
        sizes |= {room.size for room in self.room.values()}
        if len(sizes) != 1:
            raise InvalidInputError(f"expected proofs about the same inputs, got {sorted(sizes)} of them")
        for name in ("inputs", "labels"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def attackers(self) -> tuple[str, ...]:
        """All kinds of attackers, with "any" last."""
        found = dict.fromkeys(entry.attacker for entry in self.entries)
        return (*(each for each in found if each != ANY), *(each for each in found if each == ANY))

    def against(self, attacker: str) -> list[Entry]:
        """One entry per system and noise: its proofs against this attacker, or if it has none, against any attacker."""
        best = {entry.name: entry for entry in self.entries if entry.attacker == ANY}
        best |= {entry.name: entry for entry in self.entries if entry.attacker == attacker}
        order = dict.fromkeys(entry.name for entry in self.entries)
        return [best[name] for name in order if name in best]

    def accuracy(self, entry: Entry) -> float:
        """The share of inputs that are labelled correctly and without abstaining."""
        return self._share(entry.proofs.certified(0) & (entry.proofs.label == self.labels))

    def certified(self, entry: Entry, attacker: str, radius: int) -> BoolArray:
        """Whether each input withstands this many changes, or as many as are possible."""
        return np.asarray((entry.proofs.radius >= np.minimum(radius, self._room(attacker))) & ~entry.proofs.abstained)

    def certified_ratio(self, entry: Entry, attacker: str, radius: int) -> float:
        """The share of inputs whose label is proved."""
        return self._share(self.certified(entry, attacker, radius))

    def certified_accuracy(self, entry: Entry, attacker: str, radius: int) -> float:
        """The share of inputs whose label is correct and proved."""
        return self._share(self.certified(entry, attacker, radius) & (entry.proofs.label == self.labels))

    def mean_radius(self, entry: Entry, attacker: str, most: int) -> float:
        """The mean radius over all inputs. Larger radii count as `most`, so that systems can be compared."""
        return self._share(np.minimum(np.minimum(entry.proofs.radius, self._room(attacker)), most))

    def _room(self, attacker: str) -> IntArray:
        return self.room.get(attacker, np.full(self.inputs.size, UNBOUNDED))

    @staticmethod
    def _share(numbers: NDArray[Any]) -> float:
        return float(numbers.mean()) if numbers.size else 0.0

    def rows(self, radii: list[int]) -> Iterator[dict[str, Any]]:
        """One row per attacker, system and radius, with everything needed to draw it."""
        for attacker in self.attackers:
            for entry in self.against(attacker):
                promise = entry.proofs.promise
                for radius in radii:
                    yield {
                        "attacker": attacker,
                        "system": entry.system,
                        "published_by": promise.system,
                        "proved_about": promise.subject.value,
                        "model": entry.model,
                        "noise": entry.noise,
                        "spared": entry.spared,
                        "alpha": promise.alpha,
                        "inputs": len(entry.proofs),
                        "radius": radius,
                        "certified_ratio": self.certified_ratio(entry, attacker, radius),
                        "certified_accuracy": self.certified_accuracy(entry, attacker, radius),
                        "seconds": entry.seconds,
                    }
