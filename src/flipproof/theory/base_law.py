"""The protocol of noise laws, and the register of laws. docs/extending.md shows how to add a law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from flipproof.errors import InvalidInputError

if TYPE_CHECKING:
    from flipproof.theory.law import FlipNoise
    from flipproof.theory.radii import Radii
    from flipproof.theory.regions import Regions

KINDS = ("add", "delete", "change")


class Axis(NamedTuple):
    """One direction in which an attacker can move: a kind of change in a part (None: the only part)."""

    part: str | None
    kind: str

    def __str__(self) -> str:
        return self.kind if self.part is None else f"{self.part}.{self.kind}"


class Law(ABC):
    """The law of some noise, as a frozen, hashable value.

    A law with certificates of its own, outside of this package's engine, is a `Law`. A law whose likelihood ratios
    have regions is a `Noise`, and is certified, put into words, reported and verified like flips.
    """

    __slots__ = ()

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """The law as JSON values, from which `law_from_record` makes it again; floats keep all their digits."""

    @abstractmethod
    def without_noise(self) -> Law:
        """The law of the same kind that leaves inputs unchanged."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The kinds of change that are counted, part by part; none for a law without regions."""
        return ()

    @property
    def flips(self) -> tuple[tuple[str | None, FlipNoise], ...]:
        """The flips that the law is made of, part by part; none if it is not made of flips."""
        return ()

    @property
    def part_names(self) -> tuple[str | None, ...]:
        """The names of the parts of an input that get noise; a single part has none."""
        return (None,)

    @property
    def words(self) -> str:
        """The law on one line, as a terminal shows it."""
        return repr(self)

    @property
    def short_words(self) -> str:
        """The law in few letters, different for different laws."""
        return repr(self)

    def space_of(self, inputs: Any) -> Any:
        """The space of data that only this law can read; None if all laws read the data alike."""
        return None


class Noise(Law):
    """A law with regions of constant likelihood ratio, from which certificates are computed.

    A new law states its `axes` and gives the `regions` at every number of changes; nothing is assumed about how
    regions at different radii compare. Flips have an engine of their own, which knows how their regions compare.
    """

    __slots__ = ()

    @property
    def is_even(self) -> bool:
        """Whether all changes of a part are alike: then only their number matters."""
        return len(self.axes) == 1

    @property
    def has_levels(self) -> bool:
        """Whether some entry has more than two values."""
        return True

    @property
    def changes_entries(self) -> bool:
        """Whether one change gives one entry another value, whatever that is.

        Only then can an input suffer no more changes than it has entries. A law that counts something else, such as the
        steps between levels, leaves this False: radii are then not limited by the size of the input.
        """
        return bool(self.flips)

    def regions(self, radii: Radii) -> Regions:
        """The regions between an input and any other input with exactly these numbers of changes, in any entries.

        Laws made of flips leave this to `flipproof.theory.regions.regions`.
        """
        raise InvalidInputError(f"expected a law with regions of its own, got {self!r}")

    def meaning(self, axis: Axis) -> str:
        """The meaning of a single change along an axis, as a clause: "a zero becomes a one"."""
        return "a value becomes any other one"

    def facts(self) -> tuple[tuple[str | None, str, str], ...]:
        """The facts that a report states about the law: (part, name, value), with all digits."""
        ((name, values),) = self.record().items()
        return tuple((None, f"{name}, {field}", f"{value!r}") for field, value in values.items())

    def exact_record(self) -> list[dict[str, Any]]:
        """The law in the form in which a certificate states it and the checker reads it."""
        return [{"part": None, "law": self.record()}]


_Made = TypeVar("_Made", bound=type[Law])
_READERS: dict[str, Callable[[Mapping[str, Any]], Law]] = {}
_OWNERS: dict[str, str] = {}


def register_law(name: str) -> Callable[[_Made], _Made]:
    """Registers a class of laws under the one name in its records: {name: the fields of the law}.

    Example:
        >>> from dataclasses import dataclass
        >>> @register_law("coarse")
        ... @dataclass(frozen=True)
        ... class Coarse(Law):
        ...     step: int
        ...     def record(self):
        ...         return {"coarse": {"step": self.step}}
        ...     def without_noise(self):
        ...         return Coarse(1)
        >>> law_from_record({"coarse": {"step": 3}})
        Coarse(step=3)
    """

    def register(made: _Made) -> _Made:
        def read(record: Mapping[str, Any]) -> Law:
            return made(**record[name])

        read.__module__, read.__qualname__ = made.__module__, made.__qualname__
        register_reader(name, read)
        return made

    return register


def register_reader(name: str, read: Callable[[Mapping[str, Any]], Law]) -> None:
    """Registers the function that reads records with a field of this name.

    A name belongs to whoever registered it first; only the same definition, run again, may replace itself.
    """
    owner = f"{read.__module__}.{read.__qualname__}"
    if not name or _OWNERS.setdefault(name, owner) != owner:
        raise InvalidInputError(f"expected a name that no other law has, got {name!r}")
    _READERS[name] = read


def law_from_record(record: Mapping[str, Any]) -> Law:
    """The law that a record describes: the inverse of `Law.record`."""
    for name, read in _READERS.items():
        if name in record:
            return read(record)
    known, got = ", ".join(_READERS), ", ".join(record) or "nothing"
    raise InvalidInputError(f"expected a law with one of {known}, got {got}; import the module that registers it")
