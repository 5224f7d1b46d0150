"""What is promised, and what is not, in words."""

from __future__ import annotations

from flipproof.report.subject import Subject
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.radii import Axis, axes_of

_DONE = {"add": "added", "delete": "deleted", "change": "changed"}


def axis_words(axis: Axis, subject: Subject) -> str:
    """What is counted along an axis.

    Example:
        >>> axis_words(Axis("structure", "delete"), Subject(entries={"structure": "edges"}))
        'edges deleted'
    """
    return f"{subject.entries_of(axis.part)} {_DONE[axis.kind]}"


def promise(certificates: Certificates, subject: Subject) -> list[str]:
    """What was certified, against which changes, and how sure that is."""
    inputs, alpha = len(certificates), certificates.alpha
    counted = ", ".join(f"{axis} ({axis_words(axis, subject)})" for axis in axes_of(certificates.noise))
    certified = int((~certificates.abstained).sum())
    sure = f"With probability at least {1 - alpha:.10g} over the random samples"
    return [
        f"The predictions of the smoothed classifier for {certified:,} of {inputs:,} {subject.units} are certified: no "
        f"attacker who changes {subject.where} within the certified radii can turn them. The other "
        f"{inputs - certified:,} are abstentions: nothing is claimed about them.",
        f"Radii count changes: {counted}. A certificate holds for every attack that stays within all of its radii at "
        "the same time, however it is found and whatever the attacker knows.",
        f"{sure}, this is true of all {subject.units} at once."
        if certificates.simultaneous
        else f"{sure}, this is true of a {subject.unit}; the promise is for each by itself.",
    ]


def not_promised(certificates: Certificates, subject: Subject) -> list[str]:
    """What a reader might take for granted, and must not."""
    alpha, inputs = certificates.alpha, len(certificates)
    each = (
        "The probability is over the samples of this run. Certificates that are made again from other samples, until "
        "one pleases, are not covered."
        if certificates.simultaneous
        else "It is not promised that all certificates hold together: "
        f"of {inputs:,}, up to {alpha * inputs:,.4g} may be wrong on average. A promise for all at once is made with "
        "--simultaneous (simultaneous=True)."
    )
    return [
        f"Changes are counted from {subject.where}, as it was given to the program. If an attacker had already changed "
        "it, a clean version may lie outside the radii.",
        "Attacks on the trained classifier (evasion) are covered; attacks on the data that it learns from (poisoning) "
        "are not.",
        "It is the smoothed classifier that is certified, which answers with the label that most noisy copies get. The "
        "base classifier by itself may well be turned.",
        "A certified prediction is one that stays, not one that is right: see certified accuracy.",
        each,
    ]
