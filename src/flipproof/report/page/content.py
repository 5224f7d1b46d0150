"""All that a page shows of one run, as JSON values. The browser only draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.report.certified_inputs import REASONS, CertifiedInputs
from flipproof.report.page.plain_content import plain_content
from flipproof.report.pictures.pictures import first_texts, packed, pictures
from flipproof.report.section import Section
from flipproof.report.shares import ShareGrid, ShareLine, endless, known_cap, mean_radius, percent, share_words, tile
from flipproof.report.words.promises import Sentences, axis_words, not_promised, promise
from flipproof.report.words.verdict import (
    AnyChanges,
    cautions,
    class_results,
    class_rows,
    majority,
    proviso,
    withstanding,
)
from flipproof.run_folder.split import Split
from flipproof.theory.claims import Lead
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

_MOST_CLASSES = 10
_NOTE = (
    "A forecast: it assumes that every label keeps its share of the votes. Make a new run with another seed and the "
    "number of samples that you want: adding samples to this one until it certifies voids the guarantee."
)


def content(section: Section, inputs: bool = True) -> dict[str, Any]:
    """One run as JSON values. `inputs` is False in a comparison, which shows no single inputs."""
    certified = section.certified
    if not certified.is_smoothed:
        return plain_content(section, inputs)
    shown = section.outline() | {
        "words": {
            "promise": promise(certified),
            "not_promised": not_promised(certified),
            "cautions": cautions(certified, section.blind) if certified.inputs else [],
        },
        "abstentions": _abstentions(certified),
        "table": _table(certified) if inputs else None,
        "pictures": pictures(certified) if inputs else None,
    }
    return shown | _measured(section, inputs) if certified.inputs else shown


def _measured(section: Section, inputs: bool) -> dict[str, Any]:
    certified = section.certified
    changes = AnyChanges.of(certified)
    shown = {
        "numbers": [*_headline_numbers(section), *_radius_numbers(certified, changes)],
        "details": _axis_numbers(certified) if _leads_together(certified) else [],
        "by_class": _by_class(certified),
        "axes": _axes(certified),
        "measures": [
            _measure(certified, grid, [*along, *([] if changes is None else [changes.lines[i]])])
            for i, (grid, along) in enumerate(zip(certified.grids, certified.lines, strict=True))
        ],
        "any": None if changes is None else _any_changes(changes, inputs),
    }
    return shown | _one_by_one(certified, section.samples_per_second) if inputs else shown


def _one_by_one(certified: CertifiedInputs, speed: float | None) -> dict[str, Any]:
    """What is certified of each input, and a forecast for more samples."""
    stairs, sentences = certified.shown_stairs, Sentences.of(certified)
    return {
        "stairs": stairs and {"index": packed(stairs.index, "u4"), "height": packed(stairs.heights, "u2")},
        "sentences": {"heads": list(sentences.heads), "index": packed(sentences.index, "u4")},
        "forecast": {
            "samples": certified.votes.n_estimate,
            "rows": forecasts(certified, speed),
            "at_cap": [{"name": name, "count": count} for name, count in at_cap(certified).items()],
            "note": _NOTE,
        },
    }


def _measure(certified: CertifiedInputs, grid: ShareGrid | None, lines: Sequence[ShareLine]) -> dict[str, Any]:
    """A measure with a line for each axis and, if known, one for changes of any kind."""
    kind = "all" if lines[0].of == certified.inputs else "test"
    return {
        "name": lines[0].measure,
        "of": f"{kind} {certified.described.units}: {lines[0].of:,}",
        "count": lines[0].of,
        "grid": None if grid is None else packed(grid.shares, "f8"),
        "lines": [line.shares.tolist() for line in lines],
    }


def _axes(certified: CertifiedInputs) -> list[dict[str, Any]]:
    counts = ((0,),) * len(certified.axes) if certified.counts is None else certified.counts
    return [
        {
            "name": name,
            "words": axis_words(name, certified),
            "counts": along,
            "line_counts": line.counts,
            "cap": known_cap(line.cap),
            "mean": mean_radius(radii),
            "largest": int(endless(radii.max())),
        }
        for (name, radii), along, line in zip(certified.radii.items(), counts, certified.lines[0], strict=True)
    ]


def _any_changes(changes: AnyChanges, inputs: bool) -> dict[str, Any]:
    """Radii over all kinds together, in the form of an axis; with the radius of each input if `inputs` is true."""
    return {
        "words": changes.words,
        "line_counts": changes.lines[0].counts,
        "cap": known_cap(changes.lines[0].cap),
        "mean": mean_radius(changes.radii),
        "largest": int(endless(changes.radii.max())),
        "radius": packed(endless(changes.radii), "i4") if inputs else None,
    }


def _leads_together(certified: CertifiedInputs) -> bool:
    """Whether radii over all kinds together come first and those of single kinds are details."""
    return certified.lead is Lead.TOGETHER and len(certified.axes) > 2


def _headline_numbers(section: Section) -> list[dict[str, str]]:
    """How many inputs withstand one change, and how good the predictions are."""
    certified, described, of = section.certified, section.described, section.certified.inputs
    lines, beside = certified.lines, proviso(certified)
    numbers = [
        tile(f"withstand {each.words}", percent(each.count, of), f"{each.count:,} of {described.count(of)}{beside}")
        for each in withstanding(certified)
    ]
    judged = described.units if described.split is None else f"test {described.units}"
    if section.unjudged is not None:
        numbers.append(tile("accuracy", "not reported", section.unjudged))
    if section.base_accuracy is not None:
        numbers.append(tile("clean accuracy", share_words(section.base_accuracy), f"base classifier, {judged}"))
    if len(lines) > 1:
        note = f"{judged}: {lines[1][0].of:,}; abstentions count as wrong"
        numbers.append(tile("smoothed accuracy", share_words(lines[1][0].shares[0]), note))
    blind = majority(certified) if section.blind is None else section.blind
    if blind is not None:
        numbers.append(tile("accuracy without the noisy part", share_words(blind.accuracy), blind.words))
    numbers.append(tile("not abstained", share_words(lines[0][0].shares[0]), f"of {described.count(of)}"))
    return numbers


def _radius_numbers(certified: CertifiedInputs, changes: AnyChanges | None) -> list[dict[str, str]]:
    """The mean radii at the top: over all kinds together, or kind by kind."""
    together = [] if changes is None else [_radius_number(certified, changes.words, changes.radii, changes.lines)]
    return together if _leads_together(certified) else [*_axis_numbers(certified), *together]


def _axis_numbers(certified: CertifiedInputs) -> list[dict[str, str]]:
    return [
        _radius_number(certified, axis_words(axis, certified), radii, along)
        for (axis, radii), *along in zip(certified.radii.items(), *certified.lines, strict=True)
    ]


def _by_class(certified: CertifiedInputs) -> dict[str, Any] | None:
    """What was predicted and proved for each class; None without labels."""
    results = class_results(certified)
    if not results:
        return None
    kinds = withstanding(certified)
    shares = [f"{share} {each.words}" for each in kinds for share in ("withstand", "right, and withstand")]
    return {
        "head": ["class", f"true {certified.described.units}", "predicted", "smoothed accuracy", *shares],
        "rows": list(class_rows(results, kinds)),
    }


def _radius_number(
    certified: CertifiedInputs, words: str, radii: IntArray, along: Sequence[ShareLine]
) -> dict[str, str]:
    note = ", ".join(f"{line.measure} at 1: {share_words(line.shares[1])}" for line in along) + proviso(certified)
    mean = mean_radius(radii)
    name, value = ("median", _radius(np.sort(radii)[len(radii) // 2])) if mean is None else ("mean", f"{mean:.2f}")
    return tile(f"{name} radius, {words}", value, note)


def _radius(radius: int) -> str:
    if radius == UNBOUNDED:
        return "unbounded"
    return f"{radius:,}" if radius < SEARCH_LIMIT else f"{radius:,}+"


def _abstentions(certified: CertifiedInputs) -> list[dict[str, Any]]:
    _, *counts = np.bincount(certified.certificates.abstention, minlength=len(REASONS)).tolist()
    return [{"reason": why, "count": count} for why, count in zip(REASONS[1:], counts, strict=True) if count]


def _table(certified: CertifiedInputs) -> dict[str, Any]:
    certificates, votes, described = certified.certificates, certified.votes, certified.described
    bounds = certificates.bounds
    return {
        "id": None if certified.in_order else packed(votes.ids, "f8"),
        "name": None if described.names is None else first_texts(described.names),
        "label": packed(bounds.label, "u4"),
        "truth": None if described.labels is None else packed(np.asarray(described.labels), "i4"),
        "part": _packed_parts(described.split, certified.inputs),
        "parts": ["other", "training", "validation", "test"],
        "abstention": packed(certificates.abstention, "u1"),
        "reasons": list(REASONS),
        "p_lower": packed(bounds.p_lower, "f8"),
        "p_upper": packed(bounds.p_upper, "f8"),
        "runner_up": packed(bounds.runner_up, "u4"),
        "radius": [packed(endless(radii), "i4") for radii in certified.radii.values()],
        "votes": _votes(votes.estimation),
        "samples": votes.n_estimate,
    }


def _votes(counts: IntArray) -> dict[str, Any]:
    """The votes of all classes, or of those with most votes and the sum of the others."""
    classes = counts.shape[1]
    if classes <= _MOST_CLASSES:
        shown = np.tile(np.arange(classes), (len(counts), 1))
    else:
        shown = np.sort(np.argsort(-counts, axis=1, kind="stable")[:, :_MOST_CLASSES], axis=1)
    kept = np.take_along_axis(counts, shown, axis=1)
    others = counts.sum(axis=1) - kept.sum(axis=1)
    return {"classes": packed(shown, "u4"), "counts": packed(kept, "f8"), "others": packed(others, "f8")}


def _packed_parts(split: Split | None, inputs: int) -> dict[str, Any] | None:
    """What each input was used for, as a number; None if there is no split."""
    parts = np.zeros(inputs, dtype=np.int64)
    for number, rows in enumerate(() if split is None else (split.train, split.validation, split.test), start=1):
        parts[rows] = number
    return packed(parts, "u1") if parts.any() else None


FACTORS = (1, 2, 10, 100)
"""A forecast is made for these multiples of the samples."""


def forecasts(certified: CertifiedInputs, speed: float | None = None) -> list[dict[str, Any]]:
    """What more samples would certify, as JSON values; `speed` is in samples per second.

    For each axis: how many inputs would have a larger radius than today, the mean radius, and the cap. A number is None
    if radii are only known to be large.
    """
    return [_forecast(more, certified, speed) for k in FACTORS if (more := certified.with_samples(k)) is not None]


def at_cap(certified: CertifiedInputs) -> dict[str, int]:
    """For each axis, the number of inputs whose radius is the largest that the number of samples can certify."""
    counts = {}
    for name, cap in certified.sample_caps.items():
        held_back = (certified.uncapped_radii[name] == cap) & (certified.radii[name] == cap)
        counts[name] = int((~certified.abstained & held_back).sum()) if cap < SEARCH_LIMIT else 0
    return counts


def _forecast(then: CertifiedInputs, today: CertifiedInputs, speed: float | None) -> dict[str, Any]:
    votes = then.votes
    return {
        "samples": votes.n_estimate,
        "seconds": (votes.n_estimate + votes.n_select) / speed if speed else None,
        "abstained": int(then.abstained.sum()),
        "axes": [
            {
                "name": name,
                "more": _gaining(today.radii[name], radii),
                "mean": mean_radius(radii),
                "cap": known_cap(then.sample_caps[name]),
            }
            for name, radii in then.radii.items()
        ],
    }


def _gaining(today: IntArray, then: IntArray) -> int | None:
    beyond_search = (today >= SEARCH_LIMIT) & (today < UNBOUNDED)
    return None if beyond_search.any() else int((then > today).sum())
