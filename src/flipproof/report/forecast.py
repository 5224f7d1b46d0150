"""What more samples would certify, if every label kept its share of the votes. A forecast, not a promise."""

from __future__ import annotations

from typing import Any

from flipproof.base.arrays import IntArray
from flipproof.report.findings import Findings
from flipproof.report.page.packing import known_cap
from flipproof.report.shares import mean_radius
from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT

FACTORS = (1, 2, 10, 100)


def forecasts(found: Findings, speed: float | None = None) -> list[dict[str, Any]]:
    """For the present number of samples and for multiples of it, as JSON values; `speed` is in samples per second.

    Along every axis: how many inputs would have a larger radius than today, the mean radius, and the cap. What cannot
    be known, because a search for radii ends, is None.
    """
    return [_forecast(more, found, speed) for k in FACTORS if (more := found.with_samples(k)) is not None]


def at_cap(found: Findings) -> dict[str, int]:
    """For every axis, the inputs whose radius is all that the number of samples allows."""
    counts = {}
    for name, cap in found.sample_caps.items():
        held_back = (found.uncapped_radii[name] == cap) & (found.radii[name] == cap)
        counts[name] = int((~found.abstained & held_back).sum()) if cap < SEARCH_LIMIT else 0
    return counts


def _forecast(then: Findings, today: Findings, speed: float | None) -> dict[str, Any]:
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
