"""The page's section on each experiment: tables and sentences, with all numbers taken from its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flipproof.reproduction.pages.rows import (
    Rows,
    distinct,
    matching,
    mean,
    number,
    prose,
    seeds_of,
    summarised,
    table,
    values,
)
from flipproof.reproduction.pages.table_sections import efficiency, table_1, table_2

Section = Callable[[Rows], Iterator[str]]

_NO_NUMBERS = "The figure of the paper has no numbers to compare with."
_MOST = "largest radius that the samples allow"
_MEANS = {"measure": "mean radius", "among": "all", "rule": "multi-class"}


def _radii(*names: str) -> Section:
    """A section with accuracies and mean radii, one line for each combination of the named columns."""

    def section(rows: Rows) -> Iterator[str]:
        radii = matching(rows, **_MEANS)
        axes = [case["along"] for case in distinct(radii, "along")]
        lines = []
        for case in distinct(radii, *names):
            accuracy = number(rows, 3, measure="smoothed accuracy", **case)
            means = [_with_cap(rows, radii, axis, case) for axis in axes]
            seeds = seeds_of(rows, measure="smoothed accuracy", **case)
            lines.append((*map(str, case.values()), accuracy, *means, seeds))
        facts = radii[0]
        yield prose(
            f"""{facts["samples"]:,} samples, {facts["inputs"]:,} inputs; in brackets the radius of an input on
            which all samples agree, beyond which nothing can be certified."""
        )
        head = (*(name.replace("_", " ") for name in names), "smoothed accuracy")
        yield table((*head, *(f"mean radius, {axis}" for axis in axes), "seeds"), lines)

    return section


def _with_cap(rows: Rows, radii: Rows, axis: str, case: dict[str, Any]) -> str:
    mean_radius, caps = number(radii, along=axis, **case), values(rows, measure=_MOST, along=axis, **case)
    return f"{mean_radius} ({caps[0]:.0f})" if caps else mean_radius


def _then(*sections: Section) -> Section:
    def section(rows: Rows) -> Iterator[str]:
        for each in sections:
            yield from each(rows)

    return section


def _says(text: str) -> Section:
    return lambda rows: iter([prose(text)])


def _heatmap(rows: Rows) -> Iterator[str]:
    facts = rows[0]
    cells = [f"{mean(rows, add=a, delete=d):.3f} at ({a}, {d})" for a, d in ((0, 5), (0, 10), (1, 5), (3, 0), (3, 5))]
    yield prose(
        f"""{facts["noise"]}, {facts["samples"]:,} samples, one seed. Share of the {facts["inputs"]:,} nodes that is
        certified against (added, deleted) bits: {", ".join(cells)}. {_NO_NUMBERS}"""
    )


def _tradeoffs(rows: Rows) -> Iterator[str]:
    found = {row["noise"]: row["value"] for row in summarised(matching(rows, measure="smoothed accuracy"))}
    lowest, highest = min(found, key=lambda noise: found[noise]), max(found, key=lambda noise: found[noise])
    yield prose(
        f"""The paper: less noise certifies more nodes at small radii, more noise reaches further, and the clean
        accuracy differs by at most 2 %. Here the smoothed accuracy, abstentions counted as wrong, goes from
        {found[lowest]:.3f} at {lowest} to {found[highest]:.3f} at {highest}: {found[highest] - found[lowest]:.3f}
        apart, with one seed."""
    )


def _joint(rows: Rows) -> Iterator[str]:
    pairs = [
        (
            f"{part}.{kind}",
            mean(rows, **_MEANS, noisy="both", along=f"{part}.{kind}"),
            mean(rows, **_MEANS, noisy=part, along=kind),
        )
        for part in ("structure", "attributes")
        for kind in ("add", "delete")
    ]
    words = "; ".join(f"{name} {joint:.2f} instead of {alone:.2f}" for name, joint, alone in pairs)
    yield prose(
        f"""The paper: slightly worse certificates than with noise on one part alone, and additions are especially
        hard. Here, mean radius with noise on both parts instead of one: {words}."""
    )


def _joint_pairs(rows: Rows) -> Iterator[str]:
    (facts,) = distinct(rows, "noise", "samples", "inputs")
    yield prose(
        f"""Noise {facts["noise"]}; {facts["samples"]:,} samples. The certified ratio of {facts["inputs"]:,} nodes
        over each pair of the four radii, the others 0; on the diagonal one radius alone. {_NO_NUMBERS}"""
    )


def _accuracies(rows: Rows) -> Iterator[str]:
    yield prose(
        """The majority of votes on test nodes, without abstaining. The paper (figure for attributes only, 10
        splits): noise on attributes improves on the accuracy without noise, noise on edges lowers it."""
    )
    for noisy in dict.fromkeys(row["noisy"] for row in rows):
        found = summarised(matching(rows, noisy=noisy))
        plain = mean(found, p_plus=0.0, p_minus=0.0)
        lowest, highest = (choose(found, key=lambda row: row["value"]) for choose in (min, max))
        above = sum(row["value"] > plain for row in found)
        yield prose(
            f"""Noise on {noisy}, {found[0]["samples"]:,} samples, {found[0]["of"]} split: {plain:.3f} without
            noise; the lowest {lowest["value"]:.3f} at {lowest["noise"]}, the highest {highest["value"]:.3f} at
            {highest["noise"]}; {above} of the {len(found) - 1} noises are above none."""
        )


def _rules(rows: Rows) -> Iterator[str]:
    means = values(rows, measure="mean difference of certified ratios")
    cells = summarised(matching(rows, measure="difference of certified ratios"))
    lowest, highest = (choose(cells, key=lambda row: row["value"]) for choose in (min, max))
    yield prose(
        f"""Certified ratio of test nodes by the multi-class rule less that by the two-class rule, mean over the
        cells where either certifies anything: {sum(means) / len(means):+.4f} (seeds:
        {", ".join(f"{each:+.4f}" for each in means)}; {rows[0]["samples"]:,} samples), published +0.012. The lowest
        cell has {lowest["value"]:+.3f}, at {lowest["add"]} added and {lowest["delete"]} deleted, the highest
        {highest["value"]:+.3f}, at {highest["add"]} and {highest["delete"]}; the paper has about -0.15 in the
        corners. It divides alpha by the number of classes; here a tenth of alpha pays for all other classes
        together, so that less is lost where all votes agree."""
    )


def _training(rows: Rows) -> Iterator[str]:
    yield prose(
        """The paper: any noise in training is better than none, and m = 1 is best. The smoothed loss (m > 1)
        averages probabilities over m noisy copies. The figure shows differences to m = 0 of the same seeds; large m
        have fewer of them."""
    )


def _compared(rows: Rows) -> Iterator[str]:
    radii = [radius for radius in (1, 2, 3, 5, 7, 10, 15, 20) if matching(rows, radius=radius)]
    for case in distinct(rows, "attacker"):
        found = matching(rows, **case)
        lines = []
        for one in distinct(found, "system", "model", "noise"):
            shares = [number(found, radius=radius, **one) for radius in radii]
            noise = "" if one["noise"] == "none" else f" {one['noise']}"
            lines.append((one["system"], f"{one['model']}{noise}", *shares))
        yield f"Share of {found[0]['inputs']} test nodes certified against r changes ({case['attacker']}):"
        yield table(("system", "classifier", *(f"r = {radius}" for radius in radii)), lines)


def _mnist(rows: Rows) -> Iterator[str]:
    ratios = matching(rows, measure="certified ratio")
    lines = []
    for case in distinct(ratios, "threshold", "noise"):
        found = matching(ratios, **case)
        shares = [f"{mean(found, along=axis, radius=r):.2f}" for axis in ("delete", "add") for r in (1, 2, 3, 4)]
        most = "/".join(f"{mean(rows, measure=_MOST, along=axis, **case):.0f}" for axis in ("delete", "add"))
        accuracy = number(rows, 3, measure="smoothed accuracy", **case)
        lines.append((f"> {case['threshold']}", case["noise"], accuracy, *shares, most))
    head = ("pixels that are ones", "noise", "smoothed accuracy")
    yield table((*head, *(f"r_{a} = {r}" for a in "da" for r in (1, 2, 3, 4)), "most, r_d/r_a"), lines)
    yield prose(
        f"""{rows[0]["inputs"]} test images, {rows[0]["samples"]:,} samples (published: 100,000), one seed,
        {mean(rows, measure="epochs"):.0f} epochs of training. "Most" is what the samples allow if all agree: with
        less noise it is smaller, so that beyond it the symmetric noise is ahead whatever the images are, and with
        more samples it moves out. The text of the paper says threshold 0.5 (pixels above 127), the authors' loader
        makes a one of every pixel above 0. The paper: (0.1, 0.2) certifies more deletions than the symmetric (0.2,
        0.2) of Lee et al., and as many additions. {_NO_NUMBERS}"""
    )


SECTIONS: dict[str, Section] = {
    "table-1": table_1,
    "table-2": table_2,
    "heatmap": _heatmap,
    "tradeoffs": _then(_radii("noise"), _tradeoffs),
    "models-attributes": _then(_radii("model"), _says(f"The paper: GAT above GCN and APPNP. {_NO_NUMBERS}")),
    "models-structure": _then(
        _radii("model"),
        _says(f"The paper: APPNP above GCN and GAT, and added edges are the hardest to certify. {_NO_NUMBERS}"),
    ),
    "models-deletion": _then(
        _radii("model"),
        _says(f"The paper: noise that only deletes certifies many more deletions than models-structure. {_NO_NUMBERS}"),
    ),
    "joint": _then(_radii("noisy", "noise"), _joint),
    "joint-pairs": _joint_pairs,
    "pubmed": _then(_radii("dataset"), _says(_NO_NUMBERS)),
    "mnist": _mnist,
    "mutag": _then(
        _radii("dataset"),
        _says(
            f"""Test graphs alone, a tenth of all in every split. The model was trained with four noisy copies in
            every step, where the paper has one. {_NO_NUMBERS}"""
        ),
    ),
    "training": _then(_radii("noisy_samples"), _training),
    "clean-accuracy": _accuracies,
    "rules": _rules,
    "compare-gcn": _then(
        _compared,
        _says(
            """The paper: smoothing is slightly better for deletions and worse for additions than a certificate that
            does not tell them apart (the last table here); its noises are not published. Our version of that
            certificate does tell them apart, and proves more then. The certificate of the network itself gets local
            budgets equal to the total one, as there. Its proofs are about another classifier than ours."""
        ),
    ),
    "compare-ppnp": _then(
        _compared,
        _says(
            """The paper: smoothing certifies significantly more nodes, especially at larger radii. `page_rank` is
            proved only against those who leave alone the edges of a spanning forest, as there. There, its budget
            was r directed edges, and ours r undirected ones; here both are r undirected edges, so that its attacker
            may switch 2 r directed ones. Of our noises, each is a classifier of its own."""
        ),
    ),
    "efficiency": efficiency,
}  # fmt: skip
"""The sections by experiment name, in the order of the page."""
