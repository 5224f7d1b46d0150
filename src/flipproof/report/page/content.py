"""All that a page shows of one run, as JSON values. The browser only draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.base.arrays import IntArray
from flipproof.report.by_class import cautions, class_results, class_rows, majority
from flipproof.report.forecast import at_cap, forecasts, mean_radius
from flipproof.report.page.packing import endless, first_texts, known_cap, packed
from flipproof.report.page.plain_content import plain_content
from flipproof.report.pictures.pictures import pictures
from flipproof.report.section import Section
from flipproof.report.shares import (
    ShareGrid,
    ShareLine,
    accuracy_grid,
    accuracy_lines,
    ratio_grid,
    ratio_lines,
)
from flipproof.report.words.any_changes import AnyChanges
from flipproof.report.words.promises import axis_words, not_promised, promise, share_words
from flipproof.report.words.sentences import Sentences, lead_of
from flipproof.report.words.verdict import percent, proviso, withstanding
from flipproof.run_folder.split import Split
from flipproof.smoothing.certificates import Abstention, Certificates
from flipproof.smoothing.claims import Lead, has_boxes
from flipproof.smoothing.stairs import GridCounts, Stairs, page_counts
from flipproof.theory.radii import UNBOUNDED, axes_of
from flipproof.theory.search import SEARCH_LIMIT

MOST_GRID_AXES = 8
"""With more axes than this, combinations of all kinds are not shown: changes of any kinds are."""

_MOST_CLASSES = 10
_NOTE = (
    "A forecast: it assumes that every label keeps its share of the votes. Make a new run with another seed and the "
    "number of samples that you want: adding samples to this one until it certifies voids the guarantee."
)


def content(section: Section, inputs: bool = True) -> dict[str, Any]:
    """One run; without its inputs one by one in a comparison."""
    if not isinstance(section.certificates, Certificates):
        return plain_content(section, inputs)
    certificates, described = section.certificates, section.described
    shown = {
        "name": section.name,
        "words": {
            "promise": promise(certificates, described),
            "not_promised": not_promised(certificates, described),
            "cautions": cautions(certificates, described, section.blind) if len(certificates) else [],
        },
        "facts": [{"title": facts.title, "rows": facts.rows} for facts in section.facts],
        "command": section.command,
        "inputs": len(certificates),
        "unit": described.unit,
        "units": described.units,
        "classes": [described.class_name(label) for label in range(certificates.votes.classes)],
        "limit": SEARCH_LIMIT,
        "abstentions": _abstentions(certificates),
        "numbers": [],
        "details": [],
        "by_class": None,
        "axes": [],
        "measures": [],
        "table": _table(section) if inputs else None,
        "any": None,
        "stairs": None,
        "sentences": None,
        "forecast": None,
        "pictures": pictures(certificates, described) if inputs else None,
    }
    return shown | _measured(section, inputs) if len(certificates) else shown


def _measured(section: Section, inputs: bool) -> dict[str, Any]:
    certificates = section.certificates
    changes, many = AnyChanges.of(section), len(axes_of(certificates.noise)) > MOST_GRID_AXES
    counts = None if many else page_counts(certificates)
    grids, lines = _grids(section, counts), _lines(section)
    return {
        "numbers": [*_headline_numbers(section, lines), *_radius_numbers(section, lines, changes)],
        "details": _axis_numbers(section, lines) if _leads_together(section) else [],
        "by_class": _by_class(section),
        "axes": _axes(section, counts, lines[0]),
        "measures": [
            _measure(section, grid, [*along, *([] if changes is None else [changes.lines[i]])])
            for i, (grid, along) in enumerate(zip(grids, lines, strict=True))
        ],
        "any": None if changes is None else changes.content(inputs),
        "forecast": _forecast(section) if inputs else None,
    } | (_one_by_one(section, counts) if inputs else {})


def _one_by_one(section: Section, counts: GridCounts | None) -> dict[str, Any]:
    """What is certified of every input, within what it can suffer."""
    certificates, scope = section.certificates, section.certificates.votes.scope
    if counts is None:
        return {"stairs": None, "sentences": Sentences.of(certificates, section.described).content()}
    stairs = Stairs.of(certificates, counts)
    shown = stairs if scope is None else stairs.within(scope.room(certificates.noise))
    said = Sentences.of(certificates, section.described, stairs if has_boxes(certificates.noise) else None)
    return {
        "stairs": {"index": packed(shown.index, "u4"), "height": packed(shown.heights, "u2")},
        "sentences": said.content(),
    }


def _is_judged(section: Section) -> bool:
    """Whether there are inputs with known labels to judge."""
    judged = section.described.judged
    return section.described.labels is not None and (judged is None or judged.size > 0)


def _lines(section: Section) -> list[tuple[ShareLine, ...]]:
    """The certified ratio along every axis and, if labels are known, the certified accuracy."""
    lines, labels = [ratio_lines(section.certificates)], section.described.labels
    if labels is not None and _is_judged(section):
        lines.append(accuracy_lines(section.certificates, labels, section.described.judged))
    return lines


def _grids(section: Section, counts: GridCounts | None) -> list[ShareGrid | None]:
    """Certified ratio and accuracy over all combinations of counts; None where there are too many axes to combine."""
    if counts is None:
        return [None] * (1 + _is_judged(section))
    grids: list[ShareGrid | None] = [ratio_grid(section.certificates, counts)]
    labels = section.described.labels
    if labels is not None and _is_judged(section):
        grids.append(accuracy_grid(section.certificates, labels, counts, section.described.judged))
    return grids


def _measure(section: Section, grid: ShareGrid | None, lines: Sequence[ShareLine]) -> dict[str, Any]:
    """With a line for every axis and, if it is known, one for changes of any kinds."""
    kind = "all" if lines[0].of == len(section.certificates) else "test"
    return {
        "name": lines[0].measure,
        "of": f"{kind} {section.described.units}: {lines[0].of:,}",
        "count": lines[0].of,
        "grid": None if grid is None else packed(grid.shares, "f8"),
        "lines": [line.shares.tolist() for line in lines],
    }


def _axes(section: Section, counts: GridCounts | None, lines: Sequence[ShareLine]) -> list[dict[str, Any]]:
    certificates = section.certificates
    axes, every = [], axes_of(certificates.noise)
    for axis, along, line in zip(every, ((0,),) * len(every) if counts is None else counts, lines, strict=True):
        radii = certificates.max_radius(str(axis))
        axes.append(
            {
                "name": str(axis),
                "words": axis_words(axis, section.described),
                "counts": along,
                "line_counts": line.counts,
                "cap": known_cap(line.cap),
                "mean": mean_radius(radii),
                "largest": int(endless(radii.max())),
            }
        )
    return axes


def _leads_together(section: Section) -> bool:
    """Whether changes of all kinds together come first, and those of one kind are details."""
    noise = section.certificates.noise
    return lead_of(noise, section.described) is Lead.TOGETHER and len(axes_of(noise)) > 2


def _headline_numbers(section: Section, lines: Sequence[Sequence[ShareLine]]) -> list[dict[str, str]]:
    """How many withstand a change at all, and how good the predictions are."""
    certificates, described, of = section.certificates, section.described, len(section.certificates)
    numbers = [
        _number(
            f"withstand {each.words}",
            percent(each.count, of),
            f"{each.count:,} of {described.count(of)}{proviso(certificates)}",
        )
        for each in withstanding(certificates, described)
    ]
    judged = described.units if described.split is None else f"test {described.units}"
    if section.unjudged is not None:
        numbers.append(_number("accuracy", "not reported", section.unjudged))
    if section.base_accuracy is not None:
        numbers.append(_number("clean accuracy", share_words(section.base_accuracy), f"base classifier, {judged}"))
    if len(lines) > 1:
        note = f"{judged}: {lines[1][0].of:,}; abstentions count as wrong"
        numbers.append(_number("smoothed accuracy", share_words(lines[1][0].shares[0]), note))
    blind = majority(certificates, described) if section.blind is None else section.blind
    if blind is not None:
        numbers.append(_number("accuracy without the noisy part", share_words(blind.accuracy), blind.words))
    numbers.append(_number("not abstained", share_words(lines[0][0].shares[0]), f"of {described.count(of)}"))
    return numbers


def _radius_numbers(
    section: Section, lines: Sequence[Sequence[ShareLine]], changes: AnyChanges | None
) -> list[dict[str, str]]:
    """The radii that lead: of all kinds together, or kind by kind."""
    together = [] if changes is None else [_radius_number(section, changes.words, changes.radii, changes.lines)]
    return together if _leads_together(section) else [*_axis_numbers(section, lines), *together]


def _axis_numbers(section: Section, lines: Sequence[Sequence[ShareLine]]) -> list[dict[str, str]]:
    certificates = section.certificates
    return [
        _radius_number(section, axis_words(axis, section.described), certificates.max_radius(str(axis)), along)
        for axis, *along in zip(axes_of(certificates.noise), *lines, strict=True)
    ]


def _by_class(section: Section) -> dict[str, Any] | None:
    """Class by class what was predicted and proved; None without labels."""
    results = class_results(section.certificates, section.described)
    if not results:
        return None
    found = withstanding(section.certificates, section.described)
    shares = [f"{share} {each.words}" for each in found for share in ("withstand", "right, and withstand")]
    return {
        "head": ["class", f"true {section.described.units}", "predicted", "smoothed accuracy", *shares],
        "rows": list(class_rows(results, found)),
    }


def _radius_number(section: Section, words: str, radii: IntArray, along: Sequence[ShareLine]) -> dict[str, str]:
    note = ", ".join(f"{line.measure} at 1: {share_words(line.shares[1])}" for line in along)
    note += proviso(section.certificates)
    mean = mean_radius(radii)
    name, value = ("median", _radius(np.sort(radii)[len(radii) // 2])) if mean is None else ("mean", f"{mean:.2f}")
    return _number(f"{name} radius, {words}", value, note)


def _number(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}


def _radius(radius: int) -> str:
    if radius == UNBOUNDED:
        return "unbounded"
    return f"{radius:,}" if radius < SEARCH_LIMIT else f"{radius:,}+"


def _abstentions(certificates: Certificates) -> list[dict[str, Any]]:
    counts = np.bincount(certificates.abstention, minlength=len(Abstention))
    return [
        {"reason": why.words, "count": int(counts[why])} for why in Abstention if why != Abstention.NONE and counts[why]
    ]


def _table(section: Section) -> dict[str, Any]:
    certificates, described = section.certificates, section.described
    bounds, votes = certificates.bounds, certificates.votes
    return {
        "id": None if votes.in_order else packed(votes.ids, "f8"),
        "name": None if described.names is None else first_texts(described.names),
        "label": packed(bounds.label, "u4"),
        "truth": None if described.labels is None else packed(np.asarray(described.labels), "i4"),
        "part": _packed_parts(described.split, len(certificates)),
        "parts": ["other", "training", "validation", "test"],
        "abstention": packed(certificates.abstention, "u1"),
        "reasons": [why.words for why in Abstention],
        "p_lower": packed(bounds.p_lower, "f8"),
        "p_upper": packed(bounds.p_upper, "f8"),
        "runner_up": packed(bounds.runner_up, "u4"),
        "radius": [packed(endless(certificates.max_radius(str(axis))), "i4") for axis in axes_of(certificates.noise)],
        "votes": _votes(votes.estimation),
        "samples": votes.n_estimate,
    }


def _votes(counts: IntArray) -> dict[str, Any]:
    """The votes of all classes, or of those with most of them and the sum of the rest."""
    classes = counts.shape[1]
    if classes <= _MOST_CLASSES:
        shown = np.tile(np.arange(classes), (len(counts), 1))
    else:
        shown = np.sort(np.argsort(-counts, axis=1, kind="stable")[:, :_MOST_CLASSES], axis=1)
    kept = np.take_along_axis(counts, shown, axis=1)
    others = counts.sum(axis=1) - kept.sum(axis=1)
    return {"classes": packed(shown, "u4"), "counts": packed(kept, "f8"), "others": packed(others, "f8")}


def _packed_parts(split: Split | None, inputs: int) -> dict[str, Any] | None:
    """What every input is for; None if that is not known of any."""
    parts = np.zeros(inputs, dtype=np.int64)
    for number, rows in enumerate(() if split is None else (split.train, split.validation, split.test), start=1):
        parts[rows] = number
    return packed(parts, "u1") if parts.any() else None


def _forecast(section: Section) -> dict[str, Any]:
    certificates, speed = section.certificates, section.samples_per_second
    present = certificates.votes.n_estimate
    return {
        "samples": present,
        "rows": [
            {
                "samples": row.samples,
                "seconds": (row.samples + certificates.votes.n_select) / speed if speed else None,
                "abstained": row.abstained,
                "axes": [
                    {"name": each.name, "more": each.more, "mean": each.mean, "cap": known_cap(each.cap)}
                    for each in row.axes
                ],
            }
            for row in forecasts(certificates)
        ],
        "at_cap": [{"name": name, "count": count} for name, count in at_cap(certificates).items()],
        "note": _NOTE,
    }
