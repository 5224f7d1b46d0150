"""What the paper says in words, as numbers that rows can confirm or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.report.paper.rows import Rows, matching, mean, values

_RADIUS = {"measure": "mean radius", "among": "all"}
_BY_RULE = {**_RADIUS, "rule": "multi-class"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A number that should be at least something.

    Attributes:
        study: whose rows it is about.
        words: what is claimed.
        at_least: what the number should reach.
        number: from the rows; None if they say nothing about it.
    """

    study: str
    words: str
    at_least: float
    number: Callable[[Rows], float | None]

    def measured(self, found: Mapping[str, Rows]) -> float | None:
        """The number, if there are rows that say it."""
        rows = found.get(self.study)
        return None if rows is None else self.number(rows)


def _mean(**wanted: Any) -> Callable[[Rows], float | None]:
    return lambda rows: mean(rows, **wanted) if values(rows, **wanted) else None


def _ratio(above: Mapping[str, Any], below: Mapping[str, Any]) -> Callable[[Rows], float | None]:
    """How many times larger one mean is than another, among the seeds that both have."""

    def number(rows: Rows) -> float | None:
        pairs = _pairs(rows, above, below)
        if not pairs:
            return None
        return sum(upper for upper, _ in pairs) / max(sum(lower for _, lower in pairs), 1e-12)

    return number


def _lead(above: Mapping[str, Any], below: Mapping[str, Any], worst: bool = False) -> Callable[[Rows], float | None]:
    """How far one number is above another of the same seed: the mean over seeds, or the worst of them."""

    def number(rows: Rows) -> float | None:
        leads = [upper - lower for upper, lower in _pairs(rows, above, below)]
        return (min(leads) if worst else sum(leads) / len(leads)) if leads else None

    return number


def _pairs(rows: Rows, above: Mapping[str, Any], below: Mapping[str, Any]) -> list[tuple[float, float]]:
    first, second = ({row["seed"]: float(row["value"]) for row in matching(rows, **each)} for each in (above, below))
    return [(first[seed], second[seed]) for seed in first if seed in second]


def _of_model(model: str) -> dict[str, Any]:
    return {**_BY_RULE, "along": "delete", "model": model}


def _of_noise(noise: str, along: str = "delete", samples: int = 100_000) -> dict[str, Any]:
    return {**_BY_RULE, "noise": noise, "along": along, "samples": samples}


def _on_mnist(noise: str, threshold: int) -> dict[str, Any]:
    return {"measure": "certified ratio", "along": "delete", "radius": 3, "noise": noise, "threshold": threshold}


def _of_copies(copies: int) -> dict[str, Any]:
    return {**_BY_RULE, "along": "delete", "noisy_samples": copies}


def _table_1_bars() -> list[Claim]:
    bars = {"(0.01, 0.6)": (9.0, 2.95), "(0.01, 0.8)": (12.65, 4.94), "(0, 0.8)": (19.5, 2.25)}
    claims = [
        Claim("table-1", f"{noise}, 100,000 samples: mean radius, {along}", bar, _mean(**_of_noise(noise, along)))
        for noise, pair in bars.items()
        for along, bar in zip(("delete", "add"), pair, strict=True)
    ]
    published = {"delete": 9.99, "add": 3.38}
    claims += [
        Claim(
            "table-1", f"(0.01, 0.6), 1,000,000 samples: mean radius, {along}, as published", bar,
            _mean(**_of_noise("(0.01, 0.6)", along, 1_000_000)),
        )
        for along, bar in published.items()
    ]  # fmt: skip
    return claims


def _farther(rows: Rows) -> float | None:
    """At the largest radius: the best smoothed certificate less the better one of PageRank."""
    last = max(row["radius"] for row in rows)
    shares = {
        ours: [
            float(row["value"])
            for row in matching(rows, attacker="delete", radius=last)
            if (row["system"] == "flipproof") == ours
        ]
        for ours in (True, False)
    }
    return max(shares[True]) - max(shares[False]) if all(shares.values()) else None


def _agreement(rows: Rows) -> float | None:
    """How little the critical probability of radius 3 differs from that of Lee's own algorithm, as digits."""
    ours = values(rows, measure="critical probability", system="flipproof", radius=3)
    theirs = values(rows, measure="critical probability", system="lee", radius=3)
    return 1.0 - max(abs(ours[0] - each) for each in theirs) if ours and theirs else None


CLAIMS = (
    Claim(
        "table-1", "sparsity-aware (0.01, 0.6) certifies so many times more deletions than Lee's (0.1, 0.1)", 3.5,
        _ratio(_of_noise("(0.01, 0.6)"), _of_noise("(0.1, 0.1)")),
    ),
    Claim(
        "table-1", "and so many times more than randomized ablation (a fifth is kept)", 3.5,
        _ratio(_of_noise("(0.01, 0.6)"), {**_RADIUS, "noise": "0.2 kept", "along": "delete", "samples": 100_000}),
    ),
    *_table_1_bars(),
    Claim("table-2", "256 levels: one less the distance to Lee's critical probability", 1 - 1e-9, _agreement),
    Claim("models-attributes", "attributes: GAT above GCN, mean r_d", 0.0, _lead(_of_model("gat"), _of_model("gcn"))),
    Claim("models-attributes", "attributes: GAT above APPNP", 0.0, _lead(_of_model("gat"), _of_model("appnp"))),
    Claim("models-structure", "structure: APPNP above GCN", 0.0, _lead(_of_model("appnp"), _of_model("gcn"))),
    Claim("models-structure", "structure: GCN above GAT", 0.0, _lead(_of_model("gcn"), _of_model("gat"))),
    Claim("models-deletion", "deleted edges: APPNP above GCN", 0.0, _lead(_of_model("appnp"), _of_model("gcn"))),
    *(
        Claim(
            "mnist", f"pixels > {threshold}: (0.1, 0.2) certifies more than (0.2, 0.2) at three deletions", 0.0,
            _lead(_on_mnist("(0.1, 0.2)", threshold), _on_mnist("(0.2, 0.2)", threshold)),
        )
        for threshold in (127, 0)
    ),
    Claim(
        "training", "noise in training (m = 1) above none (m = 0), attributes, in the worst seed", 0.0,
        _lead(_of_copies(1), _of_copies(0), worst=True),
    ),
    Claim("training", "m = 5 above m = 0, in the worst seed", 0.0, _lead(_of_copies(5), _of_copies(0), worst=True)),
    Claim("training", "m = 10 above m = 0, in the worst seed", 0.0, _lead(_of_copies(10), _of_copies(0), worst=True)),
    Claim("training", "m = 1 is best: above m = 10", 0.0, _lead(_of_copies(1), _of_copies(10))),
    Claim(
        "rules", "multi-class rule above two-class, mean over the radii, in the worst seed", 0.0,
        lambda rows: min(values(rows, measure="mean difference of certified ratios"), default=None),
    ),
    Claim("compare-ppnp", "deleted edges: smoothing above PageRank certificates at the largest radius", 0.0, _farther),
)  # fmt: skip
"""Bars, and orderings that the text of the paper names."""
