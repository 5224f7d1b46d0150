"""What a page shows of certificates that did not come from `certify`: only what the `Certificate` protocol has."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.pictures.pictures import first_texts, packed
from flipproof.report.section import Section
from flipproof.report.shares import (
    CERTIFIED_ACCURACY,
    CERTIFIED_RATIO,
    counts_past,
    endless,
    mean_radius,
    percent,
    share_words,
    tile,
)
from flipproof.report.words.promises import axis_words, claim_words
from flipproof.report.words.verdict import unchecked_words
from flipproof.theory.radii import UNBOUNDED

_ABSTAINED = "nothing could be proved"


def plain_content(section: Section, inputs: bool = True) -> dict[str, Any]:
    """Certificates in the form that `content` has. `inputs` is False in a comparison, which shows no single inputs."""
    certified = section.certified
    counts = {name: counts_past(radii) for name, radii in certified.radii.items()}
    measured = (CERTIFIED_RATIO, CERTIFIED_ACCURACY) if certified.is_judged else (CERTIFIED_RATIO,)
    measures = [_measure(name, certified, counts) for name in measured]
    abstained = int(certified.abstained.sum())
    return section.outline() | {
        "words": {
            "promise": plain_promise(certified),
            "not_promised": _not_promised(certified),
            "cautions": unchecked_words(certified),
        },
        "abstentions": [{"reason": _ABSTAINED, "count": abstained}] if abstained else [],
        "numbers": _numbers(certified, measures),
        "axes": [
            {
                "name": axis,
                "words": axis_words(axis, certified),
                "counts": (0,),
                "line_counts": counts[axis],
                "cap": -1,
                "mean": mean_radius(radii),
                "largest": _shown(radii).max(initial=0).item(),
            }
            for axis, radii in certified.radii.items()
        ],
        "measures": measures,
        "table": _table(certified) if inputs else None,
        "sentences": _sentences(certified) if inputs else None,
    }


def plain_promise(certified: CertifiedInputs) -> list[str]:
    """What is proved, against which attacker, and how sure that is."""
    promise, inputs, described = certified.certificates.promise, certified.inputs, certified.described
    abstained = int(certified.abstained.sum())
    if abstained == inputs:
        return [f"Nothing is certified for any of {described.count(inputs)}."]
    robust = int(np.logical_or.reduce([radii >= 1 for radii in certified.radii.values()]).sum())
    return [
        f"{robust:,} of {described.count(inputs)} ({percent(robust, inputs)}) have a radius of at least 1.",
        f"The {promise.subject.value} keeps its prediction under this attack and any weaker one, if nothing else "
        f"changes: {promise.threat}, where r is the radius of {described.one}. For {abstained:,}, nothing is proved, "
        "not even without any change.",
        _guarantee(certified),
    ]


def _guarantee(certified: CertifiedInputs) -> str:
    promise = certified.certificates.promise
    if not promise.alpha:
        return "The certificates hold without any probability of error."
    sure = f"{(100 - 100 * Decimal(repr(promise.alpha))).normalize():f} %"
    alone = f"Each {certified.described.unit}'s certificate is"
    whose = "All certificates together are" if promise.simultaneous else alone
    return f"{whose} correct with at least {sure} probability over the random sampling."


def _not_promised(certified: CertifiedInputs) -> list[str]:
    subject = certified.certificates.promise.subject
    other = "base" if subject.name == "SMOOTHED" else "smoothed"
    return [
        "Only these changes are covered; everything else must stay the same.",
        f"The certificates are about the {subject.value}, not about the {other} classifier.",
        "A certified prediction is stable, not necessarily right: see certified accuracy.",
    ]


def _measure(name: str, certified: CertifiedInputs, counts: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    described, rows, counted = certified.described, np.arange(certified.inputs), ~certified.abstained
    if name == CERTIFIED_ACCURACY:
        rows, counted = certified.judged, counted & (certified.label == described.labels)
    lines = [_shares(certified.radii[axis][rows], along, counted[rows]).tolist() for axis, along in counts.items()]
    kind = "all" if rows.size == certified.inputs else "test"
    return {
        "name": name,
        "of": f"{kind} {described.units}: {rows.size:,}",
        "count": rows.size,
        "grid": None,
        "lines": lines,
    }


def _shares(radii: NDArray[Any], counts: tuple[int, ...], counted: BoolArray) -> FloatArray:
    return np.array([(counted & (radii >= count)).mean() if radii.size else 0.0 for count in counts])


def _shown(radii: NDArray[Any]) -> NDArray[Any]:
    """Radii as a page shows them: real numbers are rounded down to hundredths."""
    return endless(radii) if radii.dtype.kind in "iu" else np.where(radii < UNBOUNDED, np.floor(radii * 100) / 100, -1)


def _numbers(certified: CertifiedInputs, measures: list[dict[str, Any]]) -> list[dict[str, str]]:
    of, whose, numbers = certified.inputs, certified.certificates.promise.subject.value, []
    for axis, along in certified.radii.items():
        words, count, mean = (
            axis_words(axis, certified),
            int(((along >= 1) & ~certified.abstained).sum()),
            mean_radius(along),
        )
        numbers.append(tile(f"radius of at least 1, {words}", percent(count, of), f"{count:,} of {of:,}"))
        numbers += [] if mean is None else [tile(f"mean radius, {words}", f"{mean:.2f}", "")]
    return [*numbers, *(tile("accuracy", share_words(each["lines"][0][0]), whose) for each in measures[1:])]


def _table(certified: CertifiedInputs) -> dict[str, Any]:
    described = certified.described
    return {
        "id": None,
        "name": None if described.names is None else first_texts(described.names),
        "label": packed(certified.label, "u4"),
        "truth": None if described.labels is None else packed(np.asarray(described.labels), "i4"),
        "part": None,
        "parts": [],
        "abstention": packed(certified.abstained.astype(np.int64), "u1"),
        "reasons": ["", _ABSTAINED],
        "p_lower": None,
        "p_upper": None,
        "runner_up": None,
        "radius": [
            packed(_shown(each), "i4" if each.dtype.kind in "iu" else "f8") for each in certified.radii.values()
        ],
        "votes": None,
        "samples": None,
    }


def _sentences(certified: CertifiedInputs) -> dict[str, Any]:
    said = [claim_words(certified.claim(number), certified.described) for number in range(certified.inputs)]
    place = {sentence: number for number, sentence in enumerate(dict.fromkeys(said))}
    index: IntArray = np.array([place[sentence] for sentence in said], dtype=np.int64)
    return {"heads": list(place), "index": packed(index, "u4")}
