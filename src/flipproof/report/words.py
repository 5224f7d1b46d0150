"""What is promised, and what is not, in words."""

from __future__ import annotations

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.report.any_changes import any_radii
from flipproof.report.sentences import Sentences, has_boxes, page_counts
from flipproof.report.shares import staircases
from flipproof.report.subject import Subject
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.radii import Axis, axes_of, parts_of

_DONE = {"add": "added", "delete": "deleted", "change": "changed"}
_BINARY = {"add": "a zero becomes a one", "delete": "a one becomes a zero"}
_LEVELS = {
    "add": "a zero becomes another value",
    "delete": "another value becomes zero",
    "change": "a value that is not zero becomes another one that is not zero",
}


def share_words(share: float) -> str:
    """A share to three digits; one that is not whole never looks whole.

    Example:
        >>> share_words(0.9999), share_words(0.8397), share_words(1.0)
        ('0.999', '0.840', '1.000')
    """
    return f"{share if share >= 1.0 else min(share, 0.999):.3f}"


def axis_words(axis: Axis, subject: Subject) -> str:
    """What is counted along an axis.

    Example:
        >>> axis_words(Axis("structure", "delete"), Subject(entries={"structure": "edges"}))
        'edges deleted'
    """
    deed = subject.deeds.get(str(axis))
    return f"{subject.entries_of(axis.part)} {_DONE[axis.kind]}" if deed is None else deed.done


def plain_words(certificates: Certificates, index: int, subject: Subject) -> str:
    """What is proved about one input, as one sentence: true with the probability that the certificates have.

    It names one certified combination of changes, that with the most smaller combinations in it; or the number of
    changes of any kinds, where all kinds are alike or there are many.

    Example:
        >>> from flipproof import FlipNoise, Votes, certify
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise)
        >>> subject = Subject(unit="message", entries={"": "words"}, class_names=("ham", "spam"))
        >>> print(plain_words(certify(votes), 0, subject))
        No attacker who adds up to 1 word and deletes up to 4 can turn the prediction for this message from spam to ham.
    """
    if not isinstance(index, int | np.integer) or not 0 <= index < len(certificates):
        raise InvalidInputError(f"expected the number of an input in [0, {len(certificates)}), got {index!r}")
    one = certificates.selected(np.array([index]))
    stairs = staircases(one, page_counts(certificates)) if has_boxes(certificates.noise) else None
    (head,) = Sentences.of(one, subject, any_radii(one), stairs).heads
    if head.endswith("."):
        return head
    label = int(one.label[0])
    other = subject.class_name(1 - label) if one.votes.classes == 2 else "anything else"
    return f"{head} from {subject.class_name(label)} to {other}."


def promise(certificates: Certificates, subject: Subject) -> list[str]:
    """What was certified, against which changes, and how sure that is."""
    inputs, abstained = len(certificates), int(certificates.abstained.sum())
    sure = f"With probability at least 1 - {certificates.alpha!r} over the random samples"
    if not inputs:
        return ["There are no inputs: nothing is certified."]
    if abstained == inputs:
        return [f"Nothing is certified: the smoothed classifier abstains from all of {subject.count(inputs)}."]
    rest = f" It abstains from the other {abstained:,}: nothing is claimed about them." if abstained else ""
    return [
        f"The predictions of the smoothed classifier for {inputs - abstained:,} of {subject.count(inputs)} are "
        f"certified: no attacker who changes {subject.where} as far as is certified can turn them.{rest}",
        f"A radius counts changes of one kind: {_kinds(certificates, subject)}. {_at_least_one(certificates, subject)}",
        "The largest radius of one kind holds when nothing of another kind is changed. Several kinds at once are "
        "covered in the combinations that the frontier and the heatmaps show. A certificate holds for every such "
        "attack, however it is found and whatever the attacker knows.",
        f"{sure}, this is true of all {subject.units} at once."
        if certificates.simultaneous
        else f"{sure}, this is true of each {subject.unit} by itself.",
    ]


def not_promised(certificates: Certificates, subject: Subject) -> list[str]:
    """What a reader might take for granted, and must not."""
    stays = f"{subject.fixed}, the model and all else" if subject.fixed else "The model and all else"
    return [
        f"Only these changes are covered. {stays} that noise does not touch must stay as it is.",
        f"Changes are counted from {subject.where}, as it was given to the program. If an attacker had already changed "
        "it, a clean version may lie outside the radii.",
        "Attacks on the trained classifier (evasion) are covered; attacks on the data that it learns from (poisoning) "
        "are not.",
        "It is the smoothed classifier that is certified, which answers with the label that most noisy copies get. The "
        "base classifier by itself may well be turned.",
        "A certified prediction is one that stays, not one that is right: see certified accuracy.",
        *_not_together(certificates),
        "The probability is over the samples of this run, whose number was fixed before. Who draws others or more of "
        "them until the certificates please has no such promise.",
    ]


def _kinds(certificates: Certificates, subject: Subject) -> str:
    categories = {name: part.categories for name, part in parts_of(certificates.noise)}
    meanings = {
        axis: (_BINARY if categories[axis.part] == 2 else _LEVELS)[axis.kind] for axis in axes_of(certificates.noise)
    }
    return ", ".join(
        f"{axis} ({axis_words(axis, subject)}{'' if str(axis) in subject.deeds else f': {meaning}'})"
        for axis, meaning in meanings.items()
    )


def _at_least_one(certificates: Certificates, subject: Subject) -> str:
    """How many have a radius that is not zero: a certificate at radius 0 says little."""
    found = ", ".join(
        f"{int((certificates.max_radius(str(axis), limit=1) > 0).sum()):,} for {axis_words(axis, subject)}"
        for axis in axes_of(certificates.noise)
    )
    return f"It is at least 1 for so many {subject.units}: {found}."


def _not_together(certificates: Certificates) -> list[str]:
    if certificates.simultaneous:
        return []
    inputs = len(certificates)
    return [
        "It is not promised that all certificates hold together: of "
        f"{inputs:,}, up to {certificates.alpha * inputs:,.4g} may be wrong on average. A promise for all at once is "
        "made with --simultaneous (simultaneous=True)."
    ]
