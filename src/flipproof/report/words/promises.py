"""What is promised, and what is not, in words."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.report.described_inputs import joined
from flipproof.report.findings import Findings
from flipproof.report.words.sentences import claimed, head, unchecked_words
from flipproof.report.words.verdict import headline
from flipproof.theory.claims import Lead

_DONE = {"add": "added", "delete": "deleted", "change": "changed"}


def share_words(share: float) -> str:
    """A share to three digits; one that is not whole never looks whole.

    Example:
        >>> share_words(0.9999), share_words(0.8397), share_words(1.0)
        ('0.999', '0.840', '1.000')
    """
    return f"{share if share >= 1.0 else min(share, 0.999):.3f}"


def known_share(share: float | None) -> str:
    """A share in words, or the dash of one that nobody can know."""
    return "-" if share is None else share_words(share)


def axis_words(axis: str, found: Findings) -> str:
    """What is counted along an axis: "edges deleted"."""
    words, (part, kind) = found.described.changes.get(axis), found.axes[axis]
    return f"{found.described.entries_of(part)} {_DONE.get(kind, 'changed')}" if words is None else words.done


def plain_words(found: Findings, index: int) -> str:
    """What is proved about one input, as one sentence: true with the probability that the certificates have.

    It names one certified combination of changes, that with the most smaller combinations in it; or the number of
    changes of any kinds, where all kinds are alike or there are many.

    Example:
        >>> import flipproof as fp
        >>> from flipproof.report.described_inputs import DescribedInputs
        >>> noise, words = fp.FlipNoise(p_plus=0.01, p_minus=0.6), [[0, 1, 1, 0, 1, 0, 1, 1, 1]]
        >>> votes = fp.Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise, inputs=words)
        >>> described = DescribedInputs(unit="message", entries={"": "words"}, class_names=("ham", "spam"))
        >>> print(plain_words(Findings(fp.certify(votes), described), 0))  # doctest: +NORMALIZE_WHITESPACE
        No attacker who adds up to 1 word and deletes up to 4 can change the prediction for this message from spam to
        ham.
    """
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < found.inputs:
        raise InvalidInputError(f"expected the number of an input in [0, {found.inputs}), got {index!r}")
    claim, described = found.claim(int(index)), found.described
    if not found.is_smoothed:
        return claimed(claim, described)
    begun = head(claim, found)
    if claim.label is None or begun.endswith("."):
        return begun
    other = described.class_name(1 - claim.label) if found.classes == 2 else "anything else"
    return f"{begun} from {described.class_name(claim.label)} to {other}."


def promise(found: Findings) -> list[str]:
    """What was certified, against which changes, and how sure that is: the answer first."""
    inputs, abstained, described = found.inputs, int(found.abstained.sum()), found.described
    if not inputs:
        return ["There are no inputs: nothing is certified."]
    if abstained == inputs:
        return [f"Nothing is certified: the smoothed classifier abstains from all of {described.count(inputs)}."]
    return [
        headline(found),
        f"The smoothed classifier gives {described.count(inputs - abstained)} a label and abstains from {abstained:,}. "
        f"No attacker who stays within the certified radius of {described.one}, changes only {described.where} and "
        f"{_left_alone(found)}, can change its prediction, however the attack is found and whatever the "
        "attacker knows.",
        _radius_words(found),
        _sure(found),
        *unchecked_words(found),
    ]


def _left_alone(found: Findings) -> str:
    if found.fixed is None:
        return "leaves alone what gets no noise"
    return f"leaves {joined(found.fixed)} alone" if found.fixed else "leaves the model alone"


def _radius_words(found: Findings) -> str:
    if found.lead is Lead.TOGETHER:
        return "A radius counts changes of all kinds together; radii of one kind alone are details."
    kinds = f"A radius of one kind counts {_kinds(found)}, nothing of another kind being changed"
    return f"{kinds}; the frontier and the heatmaps show which combinations are certified."


def _sure(found: Findings) -> str:
    alpha = found.certificates.budget.alpha  # with all its digits: a rounded one would promise more
    sure = f"{(100 - 100 * Decimal(repr(alpha))).normalize():f} %" if alpha >= 1e-6 else f"1 - {alpha!r}"
    alone = f"Each {found.described.unit}'s certificate is"
    whose = "All certificates together are" if found.certificates.simultaneous else alone
    return f"{whose} correct with at least {sure} probability over the random sampling."


def not_promised(found: Findings) -> list[str]:
    """What a reader might take for granted, and must not."""
    described = found.described
    fixed = "whatever gets no noise" if found.fixed is None else joined([*found.fixed, "the model"])
    return [
        f"Only these changes are covered; {fixed} must stay the same. {described.caution}".rstrip(),
        f"Changes are counted from {described.where}, as the program was given it. If an attacker had already changed "
        "it, a clean version may lie outside the radii.",
        "Attacks on the trained classifier (evasion) are covered; attacks on the data that it learns from (poisoning) "
        "are not.",
        "The certificates are about the smoothed classifier, which answers with the label that most noisy copies get. "
        "The base classifier alone may be easy to fool.",
        "A certified prediction is stable, not necessarily right: see certified accuracy.",
        *_from_elsewhere(found),
        *_not_together(found),
        "The number of samples was fixed before sampling. Resampling until you like the result voids the guarantee.",
    ]


def _kinds(found: Findings) -> str:
    return ", ".join(
        f"{axis} ({axis_words(axis, found)}{'' if axis in found.described.changes else f': {meaning}'})"
        for axis, meaning in found.meanings.items()
    )


def _from_elsewhere(found: Findings) -> list[str]:
    if found.checked is not None:
        return []
    return [
        "The votes were counted elsewhere. That one classifier gave them to independent noisy copies of these inputs "
        "is taken on trust."
    ]


def _not_together(found: Findings) -> list[str]:
    if found.certificates.simultaneous:
        return []
    wrong = found.certificates.budget.alpha * found.inputs
    return [
        f"The guarantee is for each certificate alone: of {found.inputs:,}, expect at most about {wrong:,.4g} to be "
        "wrong. --simultaneous (simultaneous=True) covers all at once."
    ]
