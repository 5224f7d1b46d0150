"""Claims that the rows should fulfil: statements of the paper, and bars that this project sets itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from flipproof.reproduction.pages.rows import Rows, matching, mean, values

_RADIUS = {"measure": "mean radius", "among": "all"}
_BY_RULE = {**_RADIUS, "rule": "multi-class"}
_MNIST_RADII = (1, 2, 3, 4)


class Basis(StrEnum):
    """The source of a claim."""

    TEXT = "paper, text"
    NUMBER = "paper, number"
    FIGURE = "paper, figure"
    OWN = "our bar"


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim that a number exceeds a bar.

    Attributes:
        study: the study whose rows the claim is about.
        words: the claim in words.
        source: the source of the claim.
        more_than: the value that the number must exceed; for bars and numbers it may be equal.
        number: computes the number from the rows; None if they do not contain it.
    """

    study: str
    words: str
    source: Basis
    more_than: float
    number: Callable[[Rows], float | None]

    def measured(self, found: Mapping[str, Rows]) -> float | None:
        """The number, or None if the rows do not contain it."""
        rows = found.get(self.study)
        return None if rows is None else self.number(rows)

    def holds(self, number: float) -> bool:
        """Whether this number is enough. A tie does not count as a lead."""
        leads = self.source in (Basis.TEXT, Basis.FIGURE)
        return number > self.more_than if leads else number >= self.more_than


def _mean(**wanted: Any) -> Callable[[Rows], float | None]:
    return lambda rows: mean(rows, **wanted) if values(rows, **wanted) else None


def _ratio(above: Mapping[str, Any], below: Mapping[str, Any]) -> Callable[[Rows], float | None]:
    """The ratio of two means, over the seeds that both have."""

    def number(rows: Rows) -> float | None:
        pairs = _pairs(rows, above, below)
        if not pairs:
            return None
        return sum(upper for upper, _ in pairs) / max(sum(lower for _, lower in pairs), 1e-12)

    return number


def _lead(above: Mapping[str, Any], below: Mapping[str, Any], worst: bool = False) -> Callable[[Rows], float | None]:
    """How far one number is above another for the same seed: the mean over seeds, or the worst seed."""

    def number(rows: Rows) -> float | None:
        leads = [upper - lower for upper, lower in _pairs(rows, above, below)]
        return (min(leads) if worst else sum(leads) / len(leads)) if leads else None

    return number


def _pairs(rows: Rows, above: Mapping[str, Any], below: Mapping[str, Any]) -> list[tuple[float, float]]:
    first, second = ({row["seed"]: float(row["value"]) for row in matching(rows, **each)} for each in (above, below))
    return [(first[seed], second[seed]) for seed in first if seed in second]


def _deleted(**facts: Any) -> dict[str, Any]:
    """What rows have that hold the mean radius for deletions with these facts."""
    return {**_BY_RULE, "along": "delete", **facts}


def _of_noise(noise: str, along: str = "delete", samples: int = 100_000) -> dict[str, Any]:
    return _deleted(noise=noise, along=along, samples=samples)


def _best_single_copy(rows: Rows) -> float | None:
    """The smallest lead of m = 1 over any larger m, averaged over the seeds that both have."""
    others = sorted({row["noisy_samples"] for row in rows if row["noisy_samples"] > 1})
    leads = [_lead(_deleted(noisy_samples=1), _deleted(noisy_samples=copies))(rows) for copies in others]
    return min((lead for lead in leads if lead is not None), default=None)


def _on_mnist(along: str, radius: int, threshold: int) -> Callable[[Rows], float | None]:
    """The lead of (0.1, 0.2) over (0.2, 0.2)."""
    case = {"measure": "certified ratio", "along": along, "radius": radius, "threshold": threshold}
    return _lead({**case, "noise": "(0.1, 0.2)"}, {**case, "noise": "(0.2, 0.2)"})


def _accuracy_kept(rows: Rows) -> float | None:
    """The lowest smoothed accuracy over all noises minus the highest."""
    found = values(rows, measure="smoothed accuracy")
    return min(found) - max(found) if found else None


def _farther(rows: Rows) -> float | None:
    """At the largest radius: the best of our noises minus the PageRank certificate."""
    last = matching(rows, attacker="delete", radius=max(row["radius"] for row in rows))
    ours, theirs = values(last, system="flipproof"), values(last, system="page_rank")
    return max(ours) - max(theirs) if ours and theirs else None


def _deletions(rows: Rows) -> float | None:
    """At radius 10: the best of our noises against deletions minus the GCN certificate against any flips."""
    ours = values(rows, attacker="delete", radius=10, system="flipproof")
    theirs = values(rows, attacker="any", radius=10, system="gcn_attributes")
    return max(ours) - max(theirs) if ours and theirs else None


def _agreement(rows: Rows) -> float | None:
    """The negative of the largest distance between our critical probability and that of Lee's algorithm."""
    case = {"measure": "critical probability", "radius": 3}
    ours, theirs = values(rows, system="flipproof", **case), values(rows, system="lee", **case)
    return -max(abs(ours[0] - each) for each in theirs) if ours and theirs else None


def _table_1() -> list[PaperClaim]:
    rivals = {"Lee's (0.1, 0.1)": _of_noise("(0.1, 0.1)"), "randomized ablation": _of_noise("0.2 kept")}
    claims = [
        PaperClaim(
            "table-1", f"mean certified deletions of (0.01, 0.6) over those of {name}", Basis.OWN, 3.5,
            _ratio(_of_noise("(0.01, 0.6)"), {name: value for name, value in case.items() if name != "rule"}),
        )
        for name, case in rivals.items()
    ]  # fmt: skip
    bars = {"(0.01, 0.6)": (9.0, 2.95), "(0.01, 0.8)": (12.65, 4.94), "(0, 0.8)": (19.5, 2.25)}
    for noise, pair in bars.items():
        for along, bar in zip(("delete", "add"), pair, strict=True):
            words = f"{noise}, 100,000 samples: mean radius, {along}"
            claims.append(PaperClaim("table-1", words, Basis.OWN, bar, _mean(**_of_noise(noise, along))))
    for along, known in (("delete", 9.99), ("add", 3.38)):
        words = f"(0.01, 0.6), 1,000,000 samples: mean radius, {along}"
        number = _mean(**_of_noise("(0.01, 0.6)", along, 1_000_000))
        claims.append(PaperClaim("table-1", words, Basis.NUMBER, known, number))
    return claims


def _models() -> list[PaperClaim]:
    orders = (
        ("models-attributes", "gat", "gcn", Basis.TEXT),
        ("models-attributes", "gat", "appnp", Basis.TEXT),
        ("models-structure", "appnp", "gcn", Basis.TEXT),
        ("models-structure", "appnp", "gat", Basis.TEXT),
        ("models-structure", "gcn", "gat", Basis.FIGURE),
    )
    return [
        PaperClaim(study, f"{first.upper()} above {second.upper()}: lead in the mean radius, delete", source, 0.0,
              _lead(_deleted(model=first), _deleted(model=second)))
        for study, first, second, source in orders
    ]  # fmt: skip


def _training() -> list[PaperClaim]:
    claims = [
        PaperClaim("training", f"m = {copies} above m = 0: lead in mean radius, delete, in the worst seed", Basis.TEXT,
              0.0, _lead(_deleted(noisy_samples=copies), _deleted(noisy_samples=0), worst=True))
        for copies in (1, 5, 10)
    ]  # fmt: skip
    return [
        *claims,
        PaperClaim("training", "m = 1 above all larger m: the smallest lead", Basis.TEXT, 0.0, _best_single_copy),
    ]


def _mnist() -> list[PaperClaim]:
    names = {"delete": "(0.1, 0.2) certifies more than (0.2, 0.2)", "add": "(0.1, 0.2) certifies as much as (0.2, 0.2)"}
    return [
        PaperClaim("mnist", f"pixels > {threshold}: {words}, {along} {radius}: lead", Basis.TEXT,
              0.0 if along == "delete" else -0.05, _on_mnist(along, radius, threshold))
        for threshold in (127, 0)
        for along, words in names.items()
        for radius in _MNIST_RADII
    ]  # fmt: skip


def _rules(rows: Rows) -> list[float]:
    return values(rows, measure="mean difference of certified ratios")


CLAIMS = (
    *_table_1(),
    PaperClaim(
        "table-2", "256 levels: minus the distance to Lee's critical probability", Basis.TEXT, -1e-9, _agreement
    ),
    PaperClaim("tradeoffs", "lowest less highest smoothed accuracy over noises", Basis.TEXT, -0.02, _accuracy_kept),
    *_models(),
    *_mnist(),
    *_training(),
    PaperClaim(
        "rules", "multi-class above two-class rule in the mean over the radii, in the worst seed", Basis.OWN, 0.0,
        lambda rows: min(_rules(rows), default=None),
    ),
    PaperClaim(
        "rules", "the same, mean over seeds", Basis.NUMBER, 0.012,
        lambda rows: sum(_rules(rows)) / len(_rules(rows)) if _rules(rows) else None,
    ),
    PaperClaim(
        "compare-gcn", "10 deletions, best of three noises, above 10 flips by the certificate of the GCN", Basis.TEXT,
        0.0, _deletions,
    ),
    PaperClaim(
        "compare-ppnp", "deleted edges, at the largest radius: the best of four noises above the PageRank certificate",
        Basis.TEXT, 0.0, _farther,
    ),
)  # fmt: skip
"""All claims, in the order of the page."""
