"""The page's sections on the two tables of the paper and on efficiency."""

from __future__ import annotations

from collections.abc import Iterator

from flipproof.reproduction.pages.rows import (
    Rows,
    distinct,
    matching,
    mean,
    number,
    prose,
    summarised,
    table,
    values,
    with_spread,
)

_TWO_CLASS = "two-class"


def table_1(rows: Rows) -> Iterator[str]:
    """Mean radii under several noises."""
    yield "Largest certified radius of a GCN on Cora-ML, attributes, mean over nodes. The paper has 1,000,000 samples."
    radii = [row for row in matching(rows, measure="mean radius") if row["rule"] != _TWO_CLASS]
    lines = []
    for case in distinct(radii, "noise", "samples", "along"):
        found = matching(radii, **case)
        (ours,) = summarised(matching(found, among="all"))
        known, test = ours["published"], number(found, among="test")
        measured = (str(ours["of"]), with_spread(ours), test, f"{known:g}", f"{ours['value'] - known:+.2f}")
        lines.append((case["noise"], case["along"], f"{case['samples']:,}", *measured))
    yield table(("noise", "along", "samples", "seeds", "all nodes", "test nodes", "published", "difference"), lines)
    yield from _causes(rows)


def _causes(rows: Rows) -> Iterator[str]:
    """Why our numbers differ: the measured effect of each possible cause."""
    yield prose(
        """What moves these means, measured for deletions one by one. The paper averages over all nodes, too. Its
        splits are not published; its multi-class rule divides alpha by the number of classes, ours gives a tenth of
        it to all other classes together; the sampler in its published code draws a fixed number of additions, ours
        the exact law."""
    )
    radii = matching(rows, measure="mean radius", along="delete")
    few = min(row["samples"] for row in radii)
    lines = []
    for case in distinct(matching(radii, samples=few), "noise"):
        found = matching(radii, samples=few, among="all", **case)
        ours = [row for row in found if row["rule"] != _TWO_CLASS]
        other = values(found, rule=_TWO_CLASS)
        rule = f"{sum(other) / len(other) - mean(ours):+.2f}" if other else "-"
        stopped = values(rows, measure="epochs", samples=few, **case)
        lines.append((case["noise"], rule, _range(values(ours)), _range(stopped, 0)))
    yield table(("noise", "two-class rule", "over seeds", "epochs until early stopping"), lines)
    yield from _more_samples(matching(radii, among="all", rule="multi-class", noise="(0.01, 0.6)"))
    yield from _patience(matching(rows, measure="mean radius by patience"))
    yield from _unexplained(matching(radii, among="all"), few)


def _patience(rows: Rows) -> Iterator[str]:
    """Whether it matters when training stops."""
    for case in distinct(rows, "noise", "samples", "seed"):
        words = [
            f"{row['value']:.2f} with {row['patience']} ({row['epochs']} epochs)"
            for row in matching(rows, noise=case["noise"])
        ]
        yield prose(
            f"""Early stopping, with a patience of 50 epochs in the paper; deletions at {case["noise"]},
            {case["samples"]:,} samples, seed {case["seed"]}: {", ".join(words)}. The weights with the lowest
            validation loss are taken in any case."""
        )


def _unexplained(rows: Rows, few: int) -> Iterator[str]:
    """The differences that the rule and other seeds do not explain."""
    found = []
    for case in distinct(rows, "noise", "samples"):
        ours = [row for row in matching(rows, **case) if row["rule"] != _TWO_CLASS]
        alike = [row for row in matching(rows, samples=few, noise=case["noise"]) if row["rule"] != _TWO_CLASS]
        seeds = values(alike)
        two = values(rows, samples=few, noise=case["noise"], rule=_TWO_CLASS)
        known = max(seeds) - min(seeds) + (abs(sum(two) / len(two) - mean(alike)) if two else 0.0)
        difference = mean(ours) - ours[0]["published"]
        if abs(difference) > known:
            found.append(f"{case['noise']} with {case['samples']:,} samples ({difference:+.2f})")
    if found:
        yield prose(
            f"""More than the rule and the range over seeds explain: {"; ".join(found)}. The cause is not known;
            models and noise of the authors are not at hand."""
        )


def _more_samples(rows: Rows) -> Iterator[str]:
    """The effect of more samples, for the seeds that have both numbers of samples."""
    counts = [row["samples"] for row in rows]
    few, many = min(counts), max(counts)
    for row in matching(rows, samples=many):
        if few != many:
            before = mean(rows, samples=few, seed=row["seed"])
            yield prose(
                f"""{many:,} instead of {few:,} samples are worth {row["value"] - before:+.2f} deletions at (0.01,
                0.6), seed {row["seed"]}: {before:.2f} and {row["value"]:.2f}."""
            )


def _range(found: list[float], digits: int = 2) -> str:
    """The range from the smallest to the largest number."""
    return f"{min(found):.{digits}f} to {max(found):.{digits}f}" if len(found) > 1 else "one seed"


def table_2(rows: Rows) -> Iterator[str]:
    """Certified accuracies of images with 256 levels."""
    yield prose(
        """256 levels, of which a pixel keeps its own with probability 0.2: what p_lower must exceed, and the time
        to find that out. None of it depends on the number of pixels, but for Lee's own algorithm. The paper has 2.5
        ms for this method, 28 ms for the f-divergences of Dvijotham et al. and four days for Lee's algorithm on
        ImageNet."""
    )
    found = [row for row in matching(rows, measure="critical probability") if "entries" not in row]
    systems = [case["system"] for case in distinct(found, "system")]
    lines = []
    for case in distinct(found, "radius"):
        cells = [str(case["radius"])]
        for system in systems:
            one = {"system": system, **case}
            milliseconds = 1e3 * min(values([row for row in rows if "entries" not in row], measure="seconds", **one))
            cells += [f"{mean(found, **one):.6f}", f"{milliseconds:.3f}"]
        lines.append(cells)
    yield table(("radius", *(cell for system in systems for cell in (system, "ms"))), lines)
    yield prose(
        """The hockey-stick divergence is nearly tight here, as the regions of constant likelihood ratio are what it
        is computed from; the numbers that the paper quotes for Dvijotham et al. fit Rényi's divergence, which needs
        no regions."""
    )
    yield from _lee(rows)
    yield prose(
        """Certified accuracy on CIFAR-10, which is at hand, in place of ImageNet, which is not: these cannot be the
        numbers of the paper, and stand beside them for the shape alone."""
    )
    accuracies = matching(rows, measure="certified accuracy")
    table_rows = []
    for case in distinct(accuracies, "system", "radius"):
        (row,) = summarised(matching(accuracies, **case))
        table_rows.append((case["system"], str(case["radius"]), f"{row['value']:.2f}", f"{row['published']:g}"))
    yield table(("certificate", "radius", "CIFAR-10, here", "ImageNet, published"), table_rows)
    (facts,) = distinct(matching(rows, measure="smoothed accuracy"), "samples", "inputs")
    yield prose(
        f"""{facts["inputs"]} test photos, {facts["samples"]:,} samples; smoothed accuracy of a small CNN
        {mean(rows, measure="smoothed accuracy"):.2f}."""
    )


def lee_dimensions(rows: Rows) -> Rows:
    """The rows with the times of Lee's algorithm by dimension, which also hold its critical probabilities."""
    (task,) = distinct(matching(rows, system="lee", measure="critical probability"), "noise", "radius", "categories")
    return matching(rows, system="lee", measure="seconds", **task)


def _lee(rows: Rows) -> Iterator[str]:
    """How far the algorithm of Lee et al. gets."""
    last = max(lee_dimensions(rows), key=lambda row: row["entries"])
    case = {"measure": "critical probability", "radius": last["radius"]}
    theirs, ours = values(rows, system="lee", **case), values(rows, system="flipproof", **case)
    yield prose(
        f"""Lee's own algorithm with integers of any size, radius {last["radius"]}: {last["value"]:.1f} s for d =
        {last["entries"]}, the largest power of two that it was given time for; its time grew as
        d^{mean(rows, system="lee", measure="exponent of the time in entries"):.1f} at the end. Its critical
        probability and ours are at most {max(abs(each - ours[0]) for each in theirs):.0e} apart. A photo of
        ImageNet has d = 150,528."""
    )


def efficiency(rows: Rows) -> Iterator[str]:
    """Regions and time."""
    yield from _lee(rows)
    counted = matching(rows, system="flipproof", measure="regions", noise="(0.2, 0.4)")
    far = max(counted, key=lambda row: (row["radius"], row["categories"]))
    case = {name: far[name] for name in ("radius", "categories", "noise", "system")}
    yield prose(
        f"""This method, noise {far["noise"]}, at {far["radius"]} additions and {far["radius"]} deletions with K =
        {far["categories"]}: {far["value"]:,} regions, {1e3 * mean(rows, measure="seconds", **case):.1f} ms,
        whatever the dimension."""
    )
    small = [row for row in matching(rows, measure="regions") if "entries" in row]
    lines = []
    for task in distinct(small, "entries", "categories", "radius", "noise"):
        cells = [
            cell
            for system in ("flipproof", "lee")
            for cell in (
                f"{mean(rows, measure='regions', system=system, **task):.0f}",
                f"{1e3 * mean(rows, measure='seconds', system=system, **task):.2f}",
            )
        ]
        lines.append((*(str(task[name]) for name in ("categories", "radius")), *cells))
    yield f"The same task by both algorithms, d = {small[0]['entries']}, every value flips with probability 0.2:"
    yield table(("K", "radius", "regions, this method", "ms", "regions, Lee et al.", "ms"), lines)
