"""Checks that a certificate is consistent in itself: its words, promise, samples and arrays must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.certificate import StatedCertificate
from flipproof.verification.other_laws import OtherLaw
from flipproof.verification.plain_files import sha256_of
from flipproof.verification.verdicts import Levels

_ROUNDING = Fraction(1, 2**40)
"""The most that a bound's share of alpha may deviate, to allow for float rounding."""

RADIUS_LIMIT = 1000
"""The largest radius that is searched for."""

STREAM_VERSION, ENGINE_VERSIONS = 3, {"fused": 1, "torch": None, None: None}
"""The versions of the sampler and of the engines that evaluate samples."""

ROLES = ("select", "estimate")


def objections(certificate: StatedCertificate) -> Iterator[str]:
    """Every inconsistency, in words; empty if there is none."""
    yield from _about_words(certificate)
    yield from _about_promise(certificate)
    yield from _about_samples(certificate)
    yield from _about_identity(certificate)
    yield from wrong_hash(certificate.arrays_file, certificate.record["hashes"]["arrays"])


def wrong_hash(path: Any, stated: Any) -> Iterator[str]:
    """An objection if a file does not have the stated hash."""
    try:
        found = sha256_of(path)
    except FileFormatError as error:
        yield str(error)
        return
    if found != stated:
        yield f"{path.name} has the sha256 {found[:12]} instead of {str(stated)[:12]}"


def _about_words(certificate: StatedCertificate) -> Iterator[str]:
    if certificate.record["claim"] != claim_in_words(certificate):
        yield "the claim in words is another one than that of the numbers"
    if certificate.radius_limit != RADIUS_LIMIT:
        yield f"radii were looked for up to {certificate.radius_limit} instead of {RADIUS_LIMIT}"
    if len(set(certificate.ids)) < certificate.inputs:
        yield "an input that is there twice"
    abstained = sum(certificate.columns["abstained"].numbers)
    if certificate.record["abstained"] != abstained:
        yield f"{certificate.record['abstained']} inputs are said to abstain, {abstained} do"


def claim_in_words(certificate: StatedCertificate) -> str:
    """The claim that the numbers make, in words."""
    over = "for all inputs at once" if certificate.promise.simultaneous else "for each input by itself"
    kinds = ", ".join(axis.name for axis in certificate.axes)
    alpha, scope = float(certificate.promise.alpha), certificate.scope
    fixed = "all that gets no noise" if scope is None else ", ".join(("the model", *scope.fixed))
    identity = certificate.record["identity"]
    unchecked = "" if identity is None or identity["checked"] else f" {NOT_CHECKED}"
    closing = f" {GAPS_CLOSE}" if scope is not None and scope.closes_gaps else ""
    return (
        f"With probability at least 1 - {alpha:g} over the random samples, {over}: unless the input abstained, the "
        f"smoothed classifier predicts `label`. It does so after any changes of one kind, up to `max_KIND` of them, "
        f"where KIND is one of {kinds}, and after any changes of all kinds together, up to `max_any` of them, as long "
        f"as these stay the same: {fixed}. The smoothed classifier predicts the label that the classifier gives most "
        f"probably to a noisy copy, as `noise` describes it.{closing}{unchecked}"
    )


GAPS_CLOSE = (
    "An input is a sequence of entries: `add` inserts one anywhere, `delete` deletes one anywhere, and the gaps close."
)
NOT_CHECKED = "It was not checked that the classifier always gives the same label to the same noisy input."


def _about_promise(certificate: StatedCertificate) -> Iterator[str]:
    """Checks that the shares of alpha follow the rule, rounded down. More claims than inputs: some were left out."""
    promise, levels = certificate.promise, Levels.of(certificate.promise, certificate.classes)
    if (promise.for_lower + promise.for_upper) * promise.claims + promise.sampling_error > promise.alpha:
        yield "more than alpha is spent"
    if promise.claims < certificate.inputs if promise.simultaneous else promise.claims != 1:
        needed = certificate.inputs if promise.simultaneous else 1
        yield f"alpha is shared by {promise.claims} claims instead of {needed}"
    for name, share in (("for_lower", levels.lower), ("for_upper", levels.upper)):
        spent = getattr(promise, name)
        if abs(spent - share) > _ROUNDING * share:
            yield f"{name} is {float(spent):.6g} instead of {float(share):.6g}"


def _about_samples(certificate: StatedCertificate) -> Iterator[str]:
    """Checks that every sample is counted once and has a source."""
    samples = certificate.record["samples"]
    for role, count in zip(ROLES, (certificate.n_select, certificate.n_estimate), strict=True):
        ranges = samples[role]["ranges"]
        if ranges is not None and count_of(ranges) != count:
            yield f"the ranges of the {role} samples do not add up to {count}"
        if ranges is not None and samples["sources"] is not None:
            pieces = [pair for source in samples["sources"] for pair in source[role]]
            if joined(pieces) != joined(ranges):
                yield f"the sources of the {role} samples are those of others"


def count_of(ranges: Sequence[Sequence[int]]) -> int | None:
    """How many numbers the ranges contain; None if the ranges overlap or are out of order."""
    total, end = 0, 0
    for start, stop in ranges:
        if not end <= start < stop:
            return None
        total, end = total + stop - start, stop
    return total


def joined(ranges: Sequence[Sequence[int]]) -> list[list[int]] | None:
    """Joins the ranges into as few as possible; None if a number occurs twice.

    Example:
        >>> joined([[5, 9], [0, 5], [12, 13]])
        [[0, 9], [12, 13]]
    """
    found: list[list[int]] = []
    for start, stop in sorted(map(list, ranges)):
        if start >= stop or (found and start < found[-1][1]):
            return None
        if found and start == found[-1][1]:
            found[-1][1] = stop
        else:
            found.append([start, stop])
    return found


def _about_identity(certificate: StatedCertificate) -> Iterator[str]:
    """Checks that the statements of what the votes depend on agree; a certificate may also state nothing."""
    record, identity = certificate.record, certificate.record["identity"]
    samples, hashes = record["samples"], record["hashes"]
    parts = {
        "seed": (samples["seed"], identity and identity["seed"]),
        "model": (hashes["model"], identity and identity["model"]),
        "data": (hashes["data"], identity and identity["data"]),
        "number of classes": (certificate.classes, identity["classes"] if identity else certificate.classes),
    }
    if identity is None:
        parts |= {name: (record[name], None) for name in ("space", "versions")}
        parts |= {"sources": (samples["sources"], None)}
        parts |= {f"range of {role} samples": (samples[role]["ranges"], None) for role in ROLES}
        if certificate.promise.sampling_error:
            yield "a sampling error of nobody's samples"
    else:
        missing = [samples["sources"], *(samples[role]["ranges"] for role in ROLES), record["space"]]
        if any(each is None for each in missing):
            yield "an identity of votes without their space, their sources or their ranges"
            return
        known = ENGINE_VERSIONS[identity["engine"]]
        parts |= {
            "noise": ([law(part["part"], part) for part in record["noise"]], laws(identity["noise"])),
            "stream version": (STREAM_VERSION, identity["stream version"]),
            "engine version": (known if identity["engine version"] else None, identity["engine version"]),
            "set of versions": (record["versions"], merged_versions(samples["sources"])),
        }
    yield from (f"{name} and identity do not fit" for name, (one, other) in parts.items() if one != other)


def merged_versions(sources: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The versions of all sources; where they differ, every version is listed."""
    names = sorted({name for source in sources for name in source["versions"]})
    return {name: " / ".join(sorted({source["versions"].get(name, "none") for source in sources})) for name in names}


_FLIPS = {"p_plus", "p_minus", "categories"}
"""The fields of a law made of flips."""


def laws(noise: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The parts of a noise. Floats are taken literally, as binary fractions."""
    if not {"p_plus", "parts"} & noise.keys():
        return [law(None, {"law": noise})]
    parts = noise.get("parts", {None: noise}).items()
    if ("parts" in noise and len(noise) > 1) or any(set(part) != _FLIPS for _, part in parts):
        raise FileFormatError("a noise with other fields than it should have")
    if any(type(part[side]) not in (int, float) for _, part in parts for side in ("p_plus", "p_minus")):
        raise FileFormatError("a noise without probabilities")
    return [law(name, part) for name, part in parts]


def law(name: str | None, part: Mapping[str, Any]) -> tuple[Any, ...]:
    """One part as a tuple that can be compared: its name and its numbers."""
    if "law" in part:
        return name, OtherLaw.of(part["law"])
    return name, Fraction(part["p_plus"]), Fraction(part["p_minus"]), part["categories"]
