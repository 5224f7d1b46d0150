"""What a page shows of a certificate that did not come from `certify`: all of it from the `Certificate` protocol."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.arrays import BoolArray, FloatArray, IntArray
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.page.packing import endless, first_texts, packed
from flipproof.report.section import Section
from flipproof.report.shares import CERTIFIED_ACCURACY, CERTIFIED_RATIO
from flipproof.report.words.promises import axis_words, share_words
from flipproof.report.words.sentences import claimed
from flipproof.report.words.verdict import percent
from flipproof.theory.certificate import Certificate
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

_FAR = 100
"""The largest count of a line."""
_ABSTAINED = "nothing could be proved"


def plain_content(section: Section, inputs: bool = True) -> dict[str, Any]:
    """One certificate, in the form in which `content` has a run; without its inputs one by one in a comparison."""
    certificate, described = section.certificates, section.described
    radii = {str(axis): np.asarray(certificate.max_radius(str(axis))) for axis in certificate.axes}
    counts = {name: _counts(each) for name, each in radii.items()}
    measures = [_measure(name, section, counts, radii) for name in _measured(described)]
    abstained = int(certificate.abstained.sum())
    return {
        "name": section.name,
        "words": {
            "promise": plain_promise(certificate, described),
            "not_promised": _not_promised(certificate),
            "cautions": [],
        },
        "facts": [{"title": facts.title, "rows": facts.rows} for facts in section.facts],
        "command": section.command,
        "inputs": len(certificate),
        "unit": described.unit,
        "units": described.units,
        "classes": [described.class_name(label) for label in range(section.classes)],
        "limit": SEARCH_LIMIT,
        "abstentions": [{"reason": _ABSTAINED, "count": abstained}] if abstained else [],
        "numbers": _numbers(certificate, described, radii, measures),
        "details": [],
        "by_class": None,
        "axes": [
            {
                "name": str(axis),
                "words": axis_words(axis, described),
                "counts": (0,),
                "line_counts": counts[str(axis)],
                "cap": -1,
                "mean": _mean(radii[str(axis)]),
                "largest": _shown(radii[str(axis)]).max(initial=0).item(),
            }
            for axis in certificate.axes
        ],
        "measures": measures,
        "table": _table(section, radii) if inputs else None,
        "any": None,
        "stairs": None,
        "sentences": _sentences(certificate, described) if inputs else None,
        "forecast": None,
        "pictures": None,
    }


def plain_promise(certificate: Certificate, described: DescribedInputs) -> list[str]:
    """What is proved, against which attacker, and how sure that is."""
    promise, inputs, abstained = certificate.promise, len(certificate), int(certificate.abstained.sum())
    if abstained == inputs:
        return [f"Nothing is certified for any of {described.count(inputs)}."]
    robust = int(np.logical_or.reduce([certificate.max_radius(str(axis)) >= 1 for axis in certificate.axes]).sum())
    return [
        f"{robust:,} of {described.count(inputs)} ({percent(robust, inputs)}) have a radius of at least 1.",
        f"The {promise.subject.value} keeps its prediction whenever {promise.threat}, where r is the radius of "
        f"{described.one}. Of {abstained:,} nothing is proved, not even without any change.",
        _sure(certificate, described),
    ]


def _sure(certificate: Certificate, described: DescribedInputs) -> str:
    alpha = certificate.promise.alpha
    if not alpha:
        return "The certificates are proofs without any probability of error."
    sure = f"{(100 - 100 * Decimal(repr(alpha))).normalize():f} %"
    whose = (
        "All certificates together are"
        if certificate.promise.simultaneous
        else f"Each {described.unit}'s certificate is"
    )
    return f"{whose} correct with at least {sure} probability over the random sampling."


def _not_promised(certificate: Certificate) -> list[str]:
    other = "base" if certificate.promise.subject.name == "SMOOTHED" else "smoothed"
    return [
        "Only these changes are covered; everything else must stay the same.",
        f"The certificates are about the {certificate.promise.subject.value}, not about the {other} classifier.",
        "A certified prediction is stable, not necessarily right: see certified accuracy.",
    ]


def _measured(described: DescribedInputs) -> tuple[str, ...]:
    """The certified ratio and, if there are inputs with known labels to judge, the certified accuracy."""
    judged = described.labels is not None and (described.judged is None or described.judged.size > 0)
    return (CERTIFIED_RATIO, CERTIFIED_ACCURACY) if judged else (CERTIFIED_RATIO,)


def _counts(radii: NDArray[Any]) -> tuple[int, ...]:
    """From 0 to one more than the last certificate that ends."""
    last = int(radii[radii < SEARCH_LIMIT].max(initial=0)) + 1
    return tuple(range(min(_FAR, last) + 1))


def _measure(
    name: str, section: Section, counts: dict[str, tuple[int, ...]], radii: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    certificate, described = section.certificates, section.described
    rows, counted = np.arange(len(certificate)), ~certificate.abstained
    if name == CERTIFIED_ACCURACY:
        rows, counted = (
            rows if described.judged is None else described.judged,
            counted & (certificate.label == described.labels),
        )
    lines = [_shares(radii[axis][rows], along, counted[rows]).tolist() for axis, along in counts.items()]
    kind = "all" if rows.size == len(certificate) else "test"
    return {
        "name": name,
        "of": f"{kind} {described.units}: {rows.size:,}",
        "count": rows.size,
        "grid": None,
        "lines": lines,
    }


def _shares(radii: NDArray[Any], counts: tuple[int, ...], counted: BoolArray) -> FloatArray:
    return np.array([(counted & (radii >= count)).mean() if radii.size else 0.0 for count in counts])


def _mean(radii: NDArray[Any]) -> float | None:
    return float(radii.mean()) if radii.size and radii.max() < SEARCH_LIMIT else None


def _shown(radii: NDArray[Any]) -> NDArray[Any]:
    """Radii as the page takes them: real ones are rounded down, to hundredths."""
    return endless(radii) if radii.dtype.kind in "iu" else np.where(radii < UNBOUNDED, np.floor(radii * 100) / 100, -1)


def _numbers(
    certificate: Certificate, described: DescribedInputs, radii: dict[str, NDArray[Any]], measures: list[dict[str, Any]]
) -> list[dict[str, str]]:
    of = len(certificate)
    whose, numbers = certificate.promise.subject.value, []
    for axis in certificate.axes:
        along, words = radii[str(axis)], axis_words(axis, described)
        count, mean = int(((along >= 1) & ~certificate.abstained).sum()), _mean(along)
        numbers.append(_number(f"radius of at least 1, {words}", percent(count, of), f"{count:,} of {of:,}"))
        numbers += [] if mean is None else [_number(f"mean radius, {words}", f"{mean:.2f}", "")]
    return [*numbers, *(_number("accuracy", share_words(each["lines"][0][0]), whose) for each in measures[1:])]


def _number(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}


def _table(section: Section, radii: dict[str, NDArray[Any]]) -> dict[str, Any]:
    certificate, described = section.certificates, section.described
    return {
        "id": None,
        "name": None if described.names is None else first_texts(described.names),
        "label": packed(certificate.label, "u4"),
        "truth": None if described.labels is None else packed(np.asarray(described.labels), "i4"),
        "part": None,
        "parts": [],
        "abstention": packed(certificate.abstained.astype(np.int64), "u1"),
        "reasons": ["", _ABSTAINED],
        "p_lower": None,
        "p_upper": None,
        "runner_up": None,
        "radius": [packed(_shown(each), "i4" if each.dtype.kind in "iu" else "f8") for each in radii.values()],
        "votes": None,
        "samples": None,
    }


def _sentences(certificate: Certificate, described: DescribedInputs) -> dict[str, Any]:
    said = [claimed(certificate.claim(number), described) for number in range(len(certificate))]
    place = {sentence: number for number, sentence in enumerate(dict.fromkeys(said))}
    index: IntArray = np.array([place[sentence] for sentence in said], dtype=np.int64)
    return {"heads": list(place), "index": packed(index, "u4")}
