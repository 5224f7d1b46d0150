"""A certificate file as the checker reads it: every claim as exact numbers, with the votes that should support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.other_laws import OtherLaw
from flipproof.verification.plain_files import Array, read_record, reading_archive, refusing
from flipproof.verification.schema import check_form, schema_of
from flipproof.verification.worst_case import FlipLaw

FORMAT, VERSION = "flipproof-certificates", 4
UNBOUNDED = 2**63 - 1
"""The radius in the arrays that means: no number of changes matters."""

ANY = "max_any"
"""The name of the radii for changes of all kinds together."""

_COUNTS, _NUMBERS, _TRUTHS, _FLOATS = ("I", "q"), ("q",), ("b",), ("d",)
"""The number types that arrays may have."""
_MOST_DIGITS = 400
"""Fractions may have this many digits; even the smallest float64 needs fewer."""


@dataclass(frozen=True, slots=True)
class StatedPromise:
    """The failure probability and how the bounds divide it, as exact fractions."""

    alpha: Fraction
    rule: str
    simultaneous: bool
    claims: int
    sampling_error: Fraction
    for_lower: Fraction
    for_upper: Fraction


@dataclass(frozen=True, slots=True)
class StatedAxis:
    """One kind of change in one part, the name of its radii, and the number of the part."""

    name: str
    law: FlipLaw | OtherLaw
    kind: str
    part: int


@dataclass(frozen=True, slots=True)
class StatedScope:
    """Statements about all inputs: what gets no noise, and what a deletion leaves.

    A deletion may make room for an addition. Or it closes the gap, and additions go anywhere: there is always room.
    """

    fixed: tuple[str, ...]
    makes_room: bool
    closes_gaps: bool = False


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """The claim about one input, its votes, and its numbers of zero and nonzero entries in each part.

    Where the numbers of entries are not stated, the number of changes is unlimited.
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
class StatedCertificate:
    """The content of `certificates.json` and of the arrays beside it."""

    path: Path
    record: Mapping[str, Any]
    promise: StatedPromise
    axes: tuple[StatedAxis, ...]
    inputs: int
    classes: int
    n_select: int
    n_estimate: int
    radius_limit: int
    scope: StatedScope | None
    columns: Mapping[str, Array]

    @property
    def other_law(self) -> OtherLaw | None:
        """The law if it is not made of flips, otherwise None."""
        law = self.axes[0].law
        return law if isinstance(law, OtherLaw) else None

    @property
    def ids(self) -> Sequence[int]:
        """The numbers of the inputs."""
        return self.columns["input"].numbers

    @property
    def arrays_file(self) -> Path:
        """The path of the file with the arrays."""
        return self.path.with_suffix(".npz")

    def claim(self, index: int) -> StatedClaim:
        """The claim about one input."""
        number = {name: column.numbers[index] for name, column in self.columns.items() if len(column.shape) == 1}
        return StatedClaim(
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

    def room(self, claim: StatedClaim, beside: bool = False) -> tuple[int, ...]:
        """The most changes possible in the input along each axis, alone or beside changes of other kinds."""
        if self.scope is None or claim.zeros is None or claim.nonzeros is None or not self._counts_entries:
            return (UNBOUNDED,) * len(self.axes)
        freed = claim.nonzeros if beside and self.scope.makes_room else (0,) * len(claim.nonzeros)
        if self.other_law is not None:  # all we know of it is that an entry changes
            return (claim.zeros[0] + claim.nonzeros[0] + freed[0],) * len(self.axes)
        if self.scope.closes_gaps:
            return tuple(UNBOUNDED if axis.kind == "add" else claim.nonzeros[axis.part] for axis in self.axes)
        return tuple(
            claim.zeros[axis.part] + freed[axis.part] if axis.kind == "add" else claim.nonzeros[axis.part]
            for axis in self.axes
        )

    @property
    def _counts_entries(self) -> bool:
        """Whether the number of entries limits the number of changes to an input."""
        return self.other_law is None or self.other_law.changes_entries

    def total_room(self, claim: StatedClaim) -> int:
        """The most changes possible in the input, all kinds together."""
        if self.scope is None or claim.zeros is None or claim.nonzeros is None or not self._counts_entries:
            return UNBOUNDED
        if self.scope.closes_gaps:
            return UNBOUNDED
        return sum(claim.zeros) + (2 if self.scope.makes_room else 1) * sum(claim.nonzeros)


def read_certificate(path: Path) -> StatedCertificate:
    """Reads a certificate and checks its form, but not its claims."""
    record = read_record(path)
    with refusing(path):
        if record.get("format") != FORMAT:
            raise FileFormatError("JSON of something else; name the run folder, or its certificates.json")
        if record.get("version") != VERSION:
            raise FileFormatError(f"no {FORMAT} of version {VERSION}; certify with this flipproof, or use the other")
        check_form(record, schema_of("certificates"))
        axes = tuple(_axes(record["noise"]))
        scope = _scope(record["scope"], axes)
        inputs, classes = (_count(record, name) for name in ("inputs", "classes"))
        promise, radius_limit = _promise(record["promise"]), _count(record, "radius_limit")
        n_select, n_estimate = (_count(record["samples"][role], "count") for role in ("select", "estimate"))
    columns = _columns(path.with_suffix(".npz"), axes, scope, inputs, classes)
    return StatedCertificate(
        path, record, promise, axes, inputs, classes, n_select, n_estimate, radius_limit, scope, columns
    )


def _columns(
    path: Path, axes: Sequence[StatedAxis], scope: StatedScope | None, inputs: int, classes: int
) -> dict[str, Array]:
    """All arrays, each with the expected shape and type; other arrays are refused."""
    radii = (ANY, *(f"max_{axis.name}" for axis in axes))
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(
        ("input", "label", "runner_up", "abstained", "p_lower", "p_upper", *radii), (inputs,)
    )
    shapes |= dict.fromkeys(("selection", "estimation"), (inputs, classes))
    if scope is not None:
        shapes |= dict.fromkeys(("zeros", "nonzeros"), (inputs, len({axis.part for axis in axes})))
    kinds = dict.fromkeys(shapes, _COUNTS) | dict.fromkeys(("label", "runner_up", *radii), _NUMBERS)
    kinds |= {"abstained": _TRUTHS, "p_lower": _FLOATS, "p_upper": _FLOATS}
    with reading_archive(path) as archive:
        archive.check_members(shapes)
        if archive.description() != {"format": FORMAT, "version": VERSION}:
            raise FileFormatError("another description")
        columns = {}
        for name, shape in shapes.items():
            columns[name] = archive.array(name)
            check_array(name, columns[name], shape, kinds[name])
    return columns


def check_array(name: str, column: Array, shape: tuple[int, ...], kinds: Sequence[str]) -> None:
    """Refuses an array with an unexpected shape or type, or with numbers that are neither counts nor probabilities."""
    if column.shape != shape:
        raise FileFormatError(f"{name} of shape {column.shape} instead of {shape}")
    if column.kind not in kinds:
        raise FileFormatError(f"{name} with numbers of another type")
    most = {"d": 1.0, "b": 1}.get(column.kind, UNBOUNDED)
    if not all(0 <= number <= most for number in column.numbers):  # this also refuses NaN
        raise FileFormatError(f"{name} with a number outside [0, {most}]")


def _axes(parts: Sequence[Mapping[str, Any]]) -> list[StatedAxis]:
    if "law" in parts[0]:
        if len(parts) > 1 or parts[0]["part"] is not None:
            raise FileFormatError("several parts of a noise that has none")
        other = OtherLaw.of(parts[0]["law"])
        return [StatedAxis(kind, other, kind, 0) for kind in other.kinds]
    axes = []
    for number, part in enumerate(parts):
        if "law" in part:
            raise FileFormatError("several parts of a noise that has none")
        law, name = FlipLaw(_float(part, "p_plus"), _float(part, "p_minus"), _count(part, "categories")), part["part"]
        if name is None and len(parts) > 1:
            raise FileFormatError("parts of a noise without names")
        axes += [StatedAxis(kind if name is None else f"{name}.{kind}", law, kind, number) for kind in law.kinds]
    if len({axis.name for axis in axes}) < len(axes):
        raise FileFormatError("two parts with one name")
    return axes


def _scope(record: Mapping[str, Any] | None, axes: Sequence[StatedAxis]) -> StatedScope | None:
    """The scope; gaps close only under one law of flips that deletes and does nothing else."""
    if record is None:
        return None
    scope = StatedScope(tuple(record["fixed"]), record["makes_room"], record.get("closes_gaps", False))
    law = axes[0].law
    deletes = len(axes) == 2 and isinstance(law, FlipLaw) and law.p_plus == 0 and law.categories == 2
    if scope.closes_gaps and (scope.makes_room or not deletes):
        raise FileFormatError("gaps that close under noise that does more than delete, or that make room")
    return scope


def _promise(record: Mapping[str, Any]) -> StatedPromise:
    alpha, sampling_error, for_lower, for_upper = (
        Fraction(record[name]) for name in ("alpha", "sampling_error", "for_lower", "for_upper")
    )
    if not 0 < alpha < 1 or not 0 <= sampling_error < alpha:
        raise FileFormatError("a promise that is none")
    claims = _count(record, "claims")
    return StatedPromise(alpha, record["rule"], record["simultaneous"], claims, sampling_error, for_lower, for_upper)


def _count(record: Mapping[str, Any], name: str) -> int:
    count: int = record[name]
    if count >= 2**60:
        raise FileFormatError(f"{name} {count}")
    return count


def _float(record: Mapping[str, Any], name: str) -> Fraction:
    """A float64 between 0 and 1, read as an exact fraction."""
    digits = record[name].split("/")
    if max(map(len, digits)) > _MOST_DIGITS:
        raise FileFormatError(f"{name} with too many digits")
    exact = Fraction(*map(int, digits))
    if (
        not 0 <= exact <= 1
        or Fraction(float(exact)) != exact
        or f"{exact.numerator}/{exact.denominator}" != record[name]
    ):
        raise FileFormatError(f"{name} that is no float64 between 0 and 1")
    return exact
