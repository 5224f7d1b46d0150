"""A certificate file as the checker reads it: every claim as exact numbers, and the votes that are to support it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.plain_files import Array, read_record, reading_arrays, refusing
from flipproof.verification.worst_case import Law

FORMAT, VERSION = "flipproof-certificates", 3
UNBOUNDED = 2**63 - 1
"""How the arrays say that no number of changes matters."""

ANY = "max_any"
"""The name of the radii of all kinds together."""

_RULES = ("multi-class", "two-class")


@dataclass(frozen=True, slots=True)
class Promise:
    """How probable an error may be, and who may spend how much of that; as exact fractions."""

    alpha: Fraction
    rule: str
    simultaneous: bool
    claims: int
    sampling_error: Fraction
    for_lower: Fraction
    for_upper: Fraction


@dataclass(frozen=True, slots=True)
class Axis:
    """One kind of changes in one part, the name of its radii, and the number of the part."""

    name: str
    law: Law
    kind: str
    part: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What is said of all inputs: what gets no noise, and whether a deletion makes room for an addition."""

    fixed: tuple[str, ...]
    makes_room: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed about one input, its votes, and how many entries it has: by part, zeros and others.

    Where these numbers are not stated there is no end to changes.
    """

    label: int
    runner_up: int
    abstained: bool
    p_lower: Fraction
    p_upper: Fraction
    radii: tuple[int, ...]
    any_radius: int
    selection: tuple[int, ...]
    estimation: tuple[int, ...]
    zeros: tuple[int, ...] | None
    nonzeros: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """The content of `certificates.json` and of the arrays beside it."""

    path: Path
    record: Mapping[str, Any]
    promise: Promise
    axes: tuple[Axis, ...]
    inputs: int
    classes: int
    n_select: int
    n_estimate: int
    radius_limit: int
    scope: Scope | None
    columns: Mapping[str, Array]

    @property
    def arrays_file(self) -> Path:
        """Where the arrays are."""
        return self.path.with_suffix(".npz")

    def claim(self, index: int) -> Claim:
        """What is claimed about one input."""
        number = {name: column.numbers[index] for name, column in self.columns.items() if len(column.shape) == 1}
        return Claim(
            label=number["label"],
            runner_up=number["runner_up"],
            abstained=bool(number["abstained"]),
            p_lower=Fraction(number["p_lower"]),
            p_upper=Fraction(number["p_upper"]),
            radii=tuple(number[f"max_{axis.name}"] for axis in self.axes),
            any_radius=number[ANY],
            selection=tuple(self.columns["selection"].row(index)),
            estimation=tuple(self.columns["estimation"].row(index)),
            zeros=None if self.scope is None else tuple(self.columns["zeros"].row(index)),
            nonzeros=None if self.scope is None else tuple(self.columns["nonzeros"].row(index)),
        )

    def room(self, claim: Claim, beside: bool = False) -> tuple[int, ...]:
        """How many changes along each axis the input can suffer, alone or beside changes of other kinds."""
        if self.scope is None or claim.zeros is None or claim.nonzeros is None:
            return (UNBOUNDED,) * len(self.axes)
        freed = claim.nonzeros if beside and self.scope.makes_room else (0,) * len(claim.nonzeros)
        return tuple(
            claim.zeros[axis.part] + freed[axis.part] if axis.kind == "add" else claim.nonzeros[axis.part]
            for axis in self.axes
        )

    def total_room(self, claim: Claim) -> int:
        """How many changes of all kinds together the input can suffer."""
        if self.scope is None or claim.zeros is None or claim.nonzeros is None:
            return UNBOUNDED
        return sum(claim.zeros) + (2 if self.scope.makes_room else 1) * sum(claim.nonzeros)


def read_certificate(path: Path) -> Certificate:
    """Reads and checks the form of a certificate; what it claims is not looked at here."""
    record = read_record(path)
    with refusing(path):
        if record.get("format") != FORMAT or record.get("version") != VERSION:
            raise FileFormatError(f"no {FORMAT} of version {VERSION}; certify with this flipproof, or use the other")
        axes = tuple(_axes(_field(record, "noise", list)))
        scope = None if record.get("scope") is None else _scope(_field(record, "scope", dict))
        samples, inputs, classes = _field(record, "samples", dict), _count(record, "inputs"), _count(record, "classes")
        if not classes:
            raise FileFormatError("no classes")
        return Certificate(
            path=path,
            record=record,
            promise=_promise(_field(record, "promise", dict)),
            axes=axes,
            inputs=inputs,
            classes=classes,
            n_select=_count(_field(samples, "select", dict), "count"),
            n_estimate=_count(_field(samples, "estimate", dict), "count"),
            radius_limit=_count(record, "radius_limit"),
            scope=scope,
            columns=_columns(path.with_suffix(".npz"), axes, scope, inputs, classes),
        )


def _scope(record: Mapping[str, Any]) -> Scope:
    fixed = _field(record, "fixed", list)
    if set(record) != {"fixed", "makes_room"} or not all(isinstance(words, str) for words in fixed):
        raise FileFormatError("a scope that is none")
    return Scope(tuple(fixed), _field(record, "makes_room", bool))


def _columns(path: Path, axes: Sequence[Axis], scope: Scope | None, inputs: int, classes: int) -> dict[str, Array]:
    names = ("label", "runner_up", "abstained", "p_lower", "p_upper", ANY, *(f"max_{axis.name}" for axis in axes))
    shapes = dict.fromkeys(names, (inputs,)) | dict.fromkeys(("selection", "estimation"), (inputs, classes))
    if scope is not None:
        shapes |= dict.fromkeys(("zeros", "nonzeros"), (inputs, len({axis.part for axis in axes})))
    with reading_arrays(path) as array_named:
        columns = {name: array_named(name) for name in shapes}
        for name, column in columns.items():
            _check_column(name, column, shapes[name])
    return columns


def _check_column(name: str, column: Array, shape: tuple[int, ...]) -> None:
    if column.shape != shape:
        raise FileFormatError(f"{name} of shape {column.shape} instead of {shape}")
    if column.whole == (name in ("p_lower", "p_upper")):
        raise FileFormatError(f"{name} with numbers of another type")
    most = UNBOUNDED if column.whole else 1.0
    if not all(0 <= number <= most for number in column.numbers):  # a NaN is not, either
        raise FileFormatError(f"{name} with a number outside [0, {most}]")


def _axes(parts: Sequence[Any]) -> list[Axis]:
    if not parts:
        raise FileFormatError("no noise")
    axes = []
    for number, part in enumerate(parts):
        if not isinstance(part, dict) or "part" not in part:
            raise FileFormatError("a noise that is none")
        law = Law(_fraction(part, "p_plus"), _fraction(part, "p_minus"), _count(part, "categories"))
        if law.categories < 2:
            raise FileFormatError(f"{law.categories} categories")
        name = part["part"]
        if not (name is None and len(parts) == 1) and not (isinstance(name, str) and name.isprintable()):
            raise FileFormatError("parts of a noise without names")
        axes += [Axis(kind if name is None else f"{name}.{kind}", law, kind, number) for kind in law.kinds]
    if len({axis.name for axis in axes}) < len(axes):
        raise FileFormatError("two parts with one name")
    return axes


def _promise(record: Mapping[str, Any]) -> Promise:
    alpha, sampling_error, for_lower, for_upper = (
        Fraction(_field(record, name, float)) for name in ("alpha", "sampling_error", "for_lower", "for_upper")
    )
    rule, claims = _field(record, "rule", str), _count(record, "claims")
    if rule not in _RULES:
        raise FileFormatError(f"rule {rule[:40]!r}")
    if not 0 < alpha < 1 or not 0 <= sampling_error < alpha or claims < 1:
        raise FileFormatError("a promise that is none")
    return Promise(alpha, rule, _field(record, "simultaneous", bool), claims, sampling_error, for_lower, for_upper)


def _field(record: Mapping[str, Any], name: str, kind: type) -> Any:
    value = record.get(name)
    if type(value) is not kind:
        raise FileFormatError(f"no {name}" if value is None else f"{name} that is no {kind.__name__}")
    return value


def _count(record: Mapping[str, Any], name: str) -> int:
    count: int = _field(record, name, int)
    if not 0 <= count < 2**60:
        raise FileFormatError(f"{name} {count}")
    return count


def _fraction(record: Mapping[str, Any], name: str) -> Fraction:
    found = re.fullmatch(r"([0-9]{1,400})/([0-9]{1,400})", _field(record, name, str))
    if not found or not 0 <= int(found[1]) <= int(found[2]) or not int(found[2]):
        raise FileFormatError(f"{name} that is no fraction between 0 and 1")
    return Fraction(int(found[1]), int(found[2]))
