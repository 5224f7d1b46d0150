"""What the page says about each experiment: tables and sentences, all numbers from its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flipproof.report.paper.markdown import distinct, number, seeds_of, table, with_spread
from flipproof.report.paper.rows import Rows, matching, mean, summarised, values

_NO_NUMBERS = "Its figure has no numbers to compare with."
_ALL = {"measure": "mean radius", "among": "all", "rule": "multi-class"}


def _table_1(rows: Rows) -> Iterator[str]:
    yield "Largest certified radius of a GCN on Cora-ML, attributes, mean over nodes. The paper has 1,000,000 samples."
    lines = []
    radii = [row for row in rows if row["measure"] == "mean radius" and row["rule"] != "two-class"]
    for case in distinct(radii, "noise", "samples", "along"):
        found = matching(radii, **case)
        (ours,) = summarised(matching(found, among="all"))
        known = ours["published"]
        test = number(found, among="test")
        measured = (str(ours["of"]), with_spread(ours), test, f"{known:g}", f"{ours['value'] - known:+.2f}")
        lines.append((case["noise"], case["along"], f"{case['samples']:,}", *measured))
    yield table(("noise", "along", "samples", "seeds", "all nodes", "test nodes", "published", "difference"), lines)
    yield from _table_1_causes(rows)


def _table_1_causes(rows: Rows) -> Iterator[str]:
    """Why ours differ: what was measured of each possible cause."""
    radii = matching(rows, measure="mean radius", along="delete")
    counts = sorted({row["samples"] for row in radii})
    yield (
        "What moves these means, measured for deletions one by one. The splits of the paper are not published, "
        "and neither is "
        "over which nodes it averages; its rule divides alpha by the number of classes."
    )
    lines = []
    for case in distinct(matching(radii, samples=counts[0]), "noise"):
        found = matching(radii, samples=counts[0], among="all", **case)
        ours = [row for row in found if row["rule"] != "two-class"]
        test = [row for row in matching(radii, samples=counts[0], among="test", **case) if row["rule"] != "two-class"]
        other = values(found, rule="two-class")
        rule = f"{mean(found, rule='two-class') - mean(ours):+.2f}" if other else "-"
        stopped = values(rows, measure="epochs", samples=counts[0], **case)
        lines.append((case["noise"], rule, _range(values(ours)), f"{mean(test) - mean(ours):+.2f}", _range(stopped, 0)))
    yield table(("noise", "two-class rule", "over seeds", "test nodes alone", "epochs until early stopping"), lines)
    yield from _table_1_samples(matching(radii, among="all", rule="multi-class", noise="(0.01, 0.6)"))


def _table_1_samples(rows: Rows) -> Iterator[str]:
    """What more samples are worth, with the seeds that have both."""
    counts = [row["samples"] for row in rows]
    few, many = min(counts), max(counts)
    for row in matching(rows, samples=many):
        if few != many:
            before = mean(rows, samples=few, seed=row["seed"])
            yield (
                f"{many:,} instead of {few:,} samples are worth {row['value'] - before:+.2f} deletions at (0.01, "
                "0.6), seed "
                f"{row['seed']}: {before:.2f} and {row['value']:.2f}."
            )


def _range(found: list[float], digits: int = 2) -> str:
    """From the smallest to the largest."""
    return f"{min(found):.{digits}f} to {max(found):.{digits}f}" if len(found) > 1 else "one seed"


def _table_2(rows: Rows) -> Iterator[str]:
    yield (
        "256 levels, of which a pixel keeps its own with probability 0.2. What p_lower must exceed, and the time "
        "to find "
        "that out; none of it depends on the number of pixels here. The paper has 2.5 ms for this method, 28 ms for "
        "f-divergences and four days for Lee's algorithm on ImageNet."
    )
    lines = []
    for radius in sorted({row["radius"] for row in matching(rows, measure="critical probability", system="flipproof")}):
        cells = [str(radius)]
        for system in ("flipproof", "f_divergence"):
            case = {"system": system, "radius": radius}
            cells.append(f"{mean(rows, **case, measure='critical probability'):.6f}")
            cells.append(f"{1e3 * mean(rows, **case, measure='seconds'):.3f}")
        lines.append(cells)
    yield table(("radius", "this method", "ms", "f-divergence (best)", "ms"), lines)
    yield from _lee(rows)
    yield (
        "Certified accuracy on CIFAR-10, which is at hand, in place of ImageNet, which is not: these cannot be "
        "the numbers of the "
        "paper, and are shown beside them for the shape alone. A small CNN saw 5,000 photos."
    )
    accuracies = []
    for case in distinct(matching(rows, measure="certified accuracy"), "system", "radius"):
        (row,) = summarised(matching(rows, measure="certified accuracy", **case))
        accuracies.append((case["system"], str(case["radius"]), f"{row['value']:.2f}", f"{row['published']:g}"))
    yield table(("certificate", "radius", "CIFAR-10, here", "ImageNet, published"), accuracies)
    (facts,) = distinct(matching(rows, measure="smoothed accuracy"), "samples", "inputs")
    yield (
        f"{facts['inputs']} test photos, {facts['samples']:,} samples; smoothed accuracy "
        f"{mean(rows, measure='smoothed accuracy'):.2f}."
    )


def _lee(rows: Rows) -> Iterator[str]:
    """How far the algorithm of Lee et al. comes."""
    times = [row for row in matching(rows, system="lee", measure="seconds") if "entries" in row]
    last = max(times, key=lambda row: row["entries"])
    slope = mean(rows, system="lee", measure="exponent of the time in entries")
    yield (
        f"Lee's own algorithm with integers of any size, radius {last['radius']}: {last['value']:.1f} s for d = "
        f"{last['entries']}, the largest power of two tried; its time grew as d^{slope:.1f}. Its critical "
        "probability is the "
        "same. An ImageNet photo has d = 150,528."
    )


def _radii(*names: str) -> Callable[[Rows], Iterator[str]]:
    """Accuracies and mean radii, a line for each combination of some columns."""

    def section(rows: Rows) -> Iterator[str]:
        radii = matching(rows, **_ALL)
        axes = [case["along"] for case in distinct(radii, "along")]
        lines = []
        for case in distinct(radii, *names):
            cells = [str(value) for value in case.values()]
            accuracy = number(rows, 3, measure="smoothed accuracy", **case)
            means = [number(radii, along=axis, **case) for axis in axes]
            lines.append((*cells, accuracy, *means, seeds_of(radii, along=axes[0], **case)))
        facts = radii[0]
        yield f"{facts['samples']:,} samples, {facts['inputs']:,} inputs."
        head = (*(name.replace("_", " ") for name in names), "smoothed accuracy")
        yield table((*head, *(f"mean radius, {axis}" for axis in axes), "seeds"), lines)

    return section


def _then(*sections: Callable[[Rows], Iterator[str]]) -> Callable[[Rows], Iterator[str]]:
    def section(rows: Rows) -> Iterator[str]:
        for each in sections:
            yield from each(rows)

    return section


def _says(text: str) -> Callable[[Rows], Iterator[str]]:
    return lambda rows: iter([text])


def _heatmap(rows: Rows) -> Iterator[str]:
    facts = rows[0]
    cells = {
        (add, delete): mean(rows, add=add, delete=delete) for add, delete in ((0, 5), (0, 10), (1, 5), (3, 0), (3, 5))
    }
    shares = ", ".join(f"{share:.3f} at ({add}, {delete})" for (add, delete), share in cells.items())
    yield (
        f"{facts['noise']}, {facts['samples']:,} samples, one seed. Share of the {facts['inputs']:,} nodes that "
        "is certified against "
        f"(added, deleted) bits: {shares}. The figure of the paper has no numbers to compare with."
    )


def _tradeoffs(rows: Rows) -> Iterator[str]:
    accuracies = values(rows, measure="smoothed accuracy")
    yield (
        "The paper: less noise certifies more nodes at small radii, more noise reaches further, and the accuracy "
        "differs by at most "
        f"2 %. Here the smoothed accuracy, abstentions counted as wrong, lies between {min(accuracies):.3f} and "
        f"{max(accuracies):.3f}."
    )


def _joint_pairs(rows: Rows) -> Iterator[str]:
    (facts,) = distinct(rows, "noise", "samples", "inputs")
    yield (
        f"Noise {facts['noise']}; {facts['samples']:,} samples. The certified ratio of {facts['inputs']:,} nodes "
        "over each pair of the four "
        "radii, the others 0; on the diagonal one radius alone."
    )


def _accuracies(rows: Rows) -> Iterator[str]:
    for noisy in dict.fromkeys(row["noisy"] for row in rows):
        found = matching(rows, noisy=noisy)
        plain = mean(found, p_plus=0.0, p_minus=0.0)
        numbers = [row["value"] for row in summarised(found)]
        yield (
            f"Noise on {noisy}: {plain:.3f} without noise, between {min(numbers):.3f} and {max(numbers):.3f} over "
            "the grid "
            f"({found[0]['samples']:,} samples, {seeds_of(found, p_plus=0.0, p_minus=0.0)} of the 10 splits of "
            "the paper)."
        )
    yield (
        "The paper: noise on attributes improves on the accuracy without noise, noise on edges lowers it; the "
        "majority of votes "
        "on test nodes, without abstaining."
    )


def _rules(rows: Rows) -> Iterator[str]:
    means = values(rows, measure="mean difference of certified ratios")
    cells = summarised(matching(rows, measure="difference of certified ratios"))
    lowest = min(cells, key=lambda row: row["value"])
    facts = rows[0]
    yield (
        "Certified ratio of the multi-class rule less that of the two-class rule, mean over the cells where "
        "either certifies anything: "
        f"{sum(means) / len(means):+.4f} (seeds: {', '.join(f'{each:+.4f}' for each in means)}; "
        f"{facts['samples']:,} samples), published +0.012. "
        f"The lowest cell has {lowest['value']:+.3f}, at {lowest['add']} added and {lowest['delete']} deleted; "
        "the paper has about -0.15 "
        "in the corners. It divides alpha by the number of classes, and here a tenth of alpha pays for all other "
        "classes together, "
        "so less is lost where few votes are missing."
    )


def _training(rows: Rows) -> Iterator[str]:
    yield (
        "The paper: any noise in training is better than none, and m = 1 is best. The smoothed loss (m > 1) "
        "averages probabilities "
        "over m noisy copies. The figure shows differences to m = 0 of the same seeds."
    )


def _compared(rows: Rows) -> Iterator[str]:
    attackers = [case["attacker"] for case in distinct(rows, "attacker")]
    radii = [radius for radius in (1, 2, 3, 5, 7, 10, 15, 20) if matching(rows, radius=radius)]
    for attacker in attackers:
        found = matching(rows, attacker=attacker)
        lines = []
        for case in distinct(found, "system", "model", "noise"):
            shares = [number(found, radius=radius, **case) for radius in radii]
            noise = "" if case["noise"] == "none" else f" {case['noise']}"
            lines.append((case["system"], f"{case['model']}{noise}", *shares))
        yield f"Share of {found[0]['inputs']} test nodes certified against r changes ({attacker}):"
        yield table(("system", "classifier", *(f"r = {radius}" for radius in radii)), lines)
    spared = {row["system"]: row["spared"] for row in rows if row.get("spared")}
    for system, words in spared.items():
        yield f"`{system}` is proved only against those who leave alone {words}, as published."


def _mnist(rows: Rows) -> Iterator[str]:
    lines = []
    for case in distinct(matching(rows, measure="certified ratio"), "threshold", "noise"):
        found = matching(rows, measure="certified ratio", **case)
        shares = [f"{mean(found, along=axis, radius=r):.2f}" for axis in ("delete", "add") for r in (1, 2, 3, 4)]
        lines.append(
            (f"> {case['threshold']}", case["noise"], number(rows, 3, measure="smoothed accuracy", **case), *shares)
        )
    facts = rows[0]
    yield f"{facts['inputs']} test images, {facts['samples']:,} samples (published: 100,000), one seed."
    head = ("pixels that are ones", "noise", "smoothed accuracy")
    yield table((*head, *(f"r_{a} = {r}" for a in "da" for r in (1, 2, 3, 4))), lines)
    yield (
        "The text of the paper says threshold 0.5 (pixels above 127), the authors' loader makes a one of every "
        "pixel above 0. The "
        "paper: (0.1, 0.2) certifies more deletions than the symmetric (0.2, 0.2) of Lee et al., and as many additions."
    )


def _efficiency(rows: Rows) -> Iterator[str]:
    yield from _lee(rows)
    counted = matching(rows, system="flipproof", measure="regions")
    far = max(counted, key=lambda row: (row["radius"], row["categories"]))
    case = {"radius": far["radius"], "categories": far["categories"], "system": "flipproof"}
    yield (
        f"This method at {far['radius']} additions and {far['radius']} deletions with K = {far['categories']}: "
        f"{far['value']:,} regions, "
        f"{1e3 * mean(rows, measure='seconds', **case):.2f} ms, whatever the dimension."
    )


SECTIONS: dict[str, Callable[[Rows], Iterator[str]]] = {
    "table-1": _table_1,
    "table-2": _table_2,
    "heatmap": _heatmap,
    "tradeoffs": _then(_radii("noise"), _tradeoffs),
    "models-attributes": _then(_radii("model"), _says(f"The paper: GAT above GCN and APPNP. {_NO_NUMBERS}")),
    "models-structure": _then(
        _radii("model"),
        _says(f"The paper: APPNP above GCN above GAT, and added edges are the hardest to certify. {_NO_NUMBERS}"),
    ),
    "models-deletion": _then(
        _radii("model"), _says(f"The paper: noise that only deletes certifies many more deletions. {_NO_NUMBERS}")
    ),
    "joint": _then(
        _radii("noise"),
        _says(
            "The paper: slightly worse certificates than with noise on one part alone, and additions are "
            "especially hard."
        ),
    ),
    "joint-pairs": _joint_pairs,
    "pubmed": _then(_radii("dataset"), _says(_NO_NUMBERS)),
    "mnist": _mnist,
    "mutag": _then(_radii("dataset"), _says(f"Test graphs only, a tenth of all in every split. {_NO_NUMBERS}")),
    "training": _then(_radii("noisy_samples"), _training),
    "clean-accuracy": _accuracies,
    "rules": _rules,
    "compare-gcn": _compared,
    "compare-ppnp": _compared,
    "efficiency": _efficiency,
}
"""By the name of the experiment, in the order of the page."""
