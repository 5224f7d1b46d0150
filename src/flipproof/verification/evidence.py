"""Whether a certificate fits what lies beside it: its arrays, the votes it was made of, the model, the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.certificate import Certificate
from flipproof.verification.plain_files import Array, read_record, reading_arrays, refusing, sha256_of
from flipproof.verification.verdicts import Levels

_ROUNDING = Fraction(1, 2**40)
"""How far from its share of alpha a bound may be: floats round it."""

_BESIDE = {"votes": "votes.npz", "weights": "weights.safetensors", "inputs": "inputs.npz"}
_FIELDS = {
    "format", "version", "claim", "inputs", "classes", "abstained", "noise", "space", "scope", "promise", "samples",
    "versions", "hashes", "radius_limit",
}  # fmt: skip
_HASHES = {"model", "data", "arrays", *_BESIDE}
RADIUS_LIMIT = 1000
"""Where the search for radii ends."""
_ROLES = {"select": "selection", "estimate": "estimation"}


def objections(certificate: Certificate) -> Iterator[str]:
    """Everything that does not fit, in words; nothing if all does."""
    yield from _about_form(certificate)
    yield from _about_promise(certificate)
    yield from _about_samples(certificate)
    yield from _about_files(certificate)
    beside = {"run.json": _about_run}
    if _hashes(certificate).get("votes") is not None:  # else a votes file beside it is of something else
        beside[_BESIDE["votes"]] = _about_votes
    for name, about in beside.items():
        path = certificate.path.with_name(name)
        if path.exists():
            try:
                yield from about(certificate, path)
            except FileFormatError as error:
                yield str(error)


def _hashes(certificate: Certificate) -> Mapping[str, Any]:
    hashes = certificate.record.get("hashes")
    return hashes if isinstance(hashes, dict) else {}


def _about_form(certificate: Certificate) -> Iterator[str]:
    """The claim in words is that of the numbers, and there is nothing that nobody looks at."""
    yield from (f"an unknown field {name}" for name in sorted(set(certificate.record) - _FIELDS))
    yield from (f"an unknown hash {name}" for name in sorted(set(_hashes(certificate)) - _HASHES))
    if certificate.record.get("claim") != claim_in_words(certificate):
        yield "the claim in words is another one than that of the numbers"
    if certificate.radius_limit != RADIUS_LIMIT:
        yield f"radii were looked for up to {certificate.radius_limit} instead of {RADIUS_LIMIT}"


def claim_in_words(certificate: Certificate) -> str:
    """What the numbers claim."""
    over = "for all inputs at once" if certificate.promise.simultaneous else "for each input by itself"
    kinds = ", ".join(axis.name for axis in certificate.axes)
    alpha, scope = float(certificate.promise.alpha), certificate.scope
    fixed = "all that gets no noise" if scope is None else ", ".join(("the model", *scope.fixed))
    return (
        f"With probability at least 1 - {alpha:g} over the random samples, {over}: unless the input abstained, the "
        f"smoothed classifier predicts `label`. It does so after any changes of one kind, up to `max_KIND` of them, "
        f"where KIND is one of {kinds}, and after any changes of all kinds together, up to `max_any` of them, as long "
        f"as these stay the same: {fixed}. The smoothed classifier predicts the label that the classifier gives most "
        "probably to a noisy copy, as `noise` describes it."
    )


def _about_promise(certificate: Certificate) -> Iterator[str]:
    """The shares of alpha are those of the rule, rounded down."""
    promise, levels = certificate.promise, Levels.of(certificate.promise, certificate.classes)
    claims = max(1, certificate.inputs) if promise.simultaneous else 1
    if (promise.for_lower + promise.for_upper) * promise.claims + promise.sampling_error > promise.alpha:
        yield "more than alpha is spent"
    if promise.claims != claims:
        yield f"alpha is shared by {promise.claims} claims instead of {claims}"
    for name, share in (("for_lower", levels.lower), ("for_upper", levels.upper)):
        spent = getattr(promise, name)
        if abs(spent - share) > _ROUNDING * share:
            yield f"{name} is {float(spent):.6g} instead of {float(share):.6g}"
    abstained = sum(certificate.columns["abstained"].numbers)
    if certificate.record.get("abstained") != abstained:
        yield f"{certificate.record.get('abstained')} inputs are said to abstain, {abstained} do"


def _about_samples(certificate: Certificate) -> Iterator[str]:
    """Samples are counted once."""
    for role, count in (("select", certificate.n_select), ("estimate", certificate.n_estimate)):
        ranges = certificate.record["samples"][role].get("ranges")
        if ranges is not None and _count(ranges) != count:
            yield f"the ranges of the {role} samples do not add up to {count}"


def _count(ranges: Any) -> int | None:
    """How many numbers are in some ranges; None if they are not in order, or overlap."""
    total, end = 0, 0
    if not isinstance(ranges, list):
        return None
    for pair in ranges:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(each) is int for each in pair):
            return None
        if not end <= pair[0] < pair[1]:
            return None
        total, end = total + pair[1] - pair[0], pair[1]
    return total


def _about_files(certificate: Certificate) -> Iterator[str]:
    """Every file has the hash that is stated, and no file of a run is missing."""
    hashes = _hashes(certificate)
    if not hashes:
        yield "no hashes are stated"
        return
    files = {"arrays": certificate.arrays_file.name, **_BESIDE}
    is_run = certificate.path.with_name("run.json").exists()
    for name, file in files.items():
        path, stated = certificate.path.with_name(file), hashes.get(name)
        if not path.exists():
            if stated is not None and is_run:
                yield f"{file} is missing"
        elif stated is None:
            if is_run or name == "arrays":
                yield f"the sha256 of {file} is not stated"
        else:
            try:
                found = sha256_of(path)
            except FileFormatError as error:
                yield str(error)
                continue
            if found != stated:
                yield f"{file} has the sha256 {found[:12]} instead of {str(stated)[:12]}"


def _about_votes(certificate: Certificate, path: Path) -> Iterator[str]:
    """The votes file has the same votes under the same law, and its portions add up to them."""
    with reading_arrays(path) as member:
        record = member("metadata.json")
        for role, name in _ROLES.items():
            total = member(name)
            stated_votes = certificate.columns[name]
            if (total.shape, list(total.numbers)) != (stated_votes.shape, list(stated_votes.numbers)):
                yield f"{path.name} has other {name} votes"
            samples, ranges = record[f"n_{role}"], record.get("portions")
            if ranges is not None and not _adds_up(member, ranges, role, total, samples):
                yield f"the portions of {path.name} do not add up to its {name} votes"
        if certificate.scope is not None and record.get("scope") is not None:
            for name in ("zeros", "nonzeros"):
                found_counts, stated_counts = member(name), certificate.columns[name]
                if (found_counts.shape, list(found_counts.numbers)) != (
                    stated_counts.shape,
                    list(stated_counts.numbers),
                ):
                    yield f"{path.name} has other numbers of {name}"
        stated = _facts_of_certificate(certificate)
        found = _facts_of_votes(record, record.get("run") or {})
        yield from (f"{path.name} has another {name}" for name in stated if stated[name] != found[name])


def _adds_up(member: Callable[[str], Any], ranges: Any, role: str, total: Array, samples: int) -> bool:
    """The votes of all portions, and their samples, of which none is in two."""
    portions: Array = member(f"{_ROLES[role]}_portions")
    pairs = sorted(pair for portion in ranges[role] for pair in portion)
    if portions.shape != (len(ranges[role]), *total.shape) or _count(pairs) != samples:
        return False
    size = len(total.numbers)
    sums = [0] * size
    for start in range(0, len(portions.numbers), size or 1):
        sums = [one + other for one, other in zip(sums, portions.numbers[start : start + size], strict=True)]
    return sums == list(total.numbers)


def _facts_of_certificate(certificate: Certificate) -> dict[str, Any]:
    """What a certificate says about its votes and how they were drawn."""
    record = certificate.record
    samples, hashes = record["samples"], _hashes(certificate)
    return {
        "number of classes": certificate.classes,
        "noise": [_law(part["part"], part) for part in record["noise"]],
        "number of selection samples": certificate.n_select,
        "number of estimation samples": certificate.n_estimate,
        "seed": samples.get("seed"),
        "range of selection samples": samples["select"].get("ranges"),
        "range of estimation samples": samples["estimate"].get("ranges"),
        "sampling error": record["promise"]["sampling_error"],
        "data": hashes.get("data"),
        "model": hashes.get("model"),
        "space": record.get("space"),
        "scope": record.get("scope"),
        "set of versions": record.get("versions"),
    }


def _facts_of_votes(record: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The same, as the votes file has it. Its floats are taken literally, as the binary fractions that they are."""
    noise, identity = record["noise"], run.get("identity") or {}
    return {
        "number of classes": identity.get("classes"),
        "noise": [_law(name, part) for name, part in noise.get("parts", {None: noise}).items()],
        "number of selection samples": record["n_select"],
        "number of estimation samples": record["n_estimate"],
        "seed": identity.get("seed"),
        "range of selection samples": run.get("select"),
        "range of estimation samples": run.get("estimate"),
        "sampling error": run.get("sampling_error", 0.0),
        "data": identity.get("data"),
        "model": identity.get("model"),
        "space": run.get("space"),
        "scope": record.get("scope"),
        "set of versions": run.get("versions"),
    }


def _law(name: str | None, part: Mapping[str, Any]) -> tuple[Any, ...]:
    return name, Fraction(part["p_plus"]), Fraction(part["p_minus"]), part["categories"]


def _about_run(certificate: Certificate, path: Path) -> Iterator[str]:
    """`run.json` knows the same promise, the same model and the same votes."""
    promise, hashes, run = certificate.record["promise"], _hashes(certificate), read_record(path)
    with refusing(path):
        asked, training, votes = (run.get(name) or {} for name in ("certificates", "training", "votes"))
        pairs = {name: (asked.get(name), promise[name]) for name in ("alpha", "rule", "simultaneous")}
        pairs |= {
            "model": (training.get("model"), hashes.get("model")),
            "sha256 of the weights": (training.get("weights_sha256"), hashes.get("weights")),
            "sha256 of the inputs": (training.get("inputs_sha256"), hashes.get("inputs")),
            "sha256 of the votes": (votes.get("sha256"), hashes.get("votes")),
            "number of selection samples": (votes.get("n_select"), certificate.n_select),
            "number of estimation samples": (votes.get("n_estimate"), certificate.n_estimate),
        }
        yield from (f"run.json has another {name}" for name, (known, stated) in pairs.items() if known != stated)
