"""What is promised, and what is not, in words."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import joined
from flipproof.report.words.sentences import claimed, head, unchecked_words
from flipproof.report.words.verdict import headline
from flipproof.smoothing.claims import Lead

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


def axis_words(axis: str, certified: CertifiedInputs) -> str:
    """What is counted along an axis: "edges deleted"."""
    words, (part, kind) = certified.described.changes.get(axis), certified.axes[axis]
    return f"{certified.described.entries_of(part)} {_DONE.get(kind, 'changed')}" if words is None else words.done


def plain_words(certified: CertifiedInputs, index: int) -> str:
    """What is proved about one input, as one sentence: true with the probability that the certificates have.

    It names one certified combination of changes, that with the most smaller combinations in it; or the number of
    changes of any kinds, where all kinds are alike or there are many.

    Example:
        >>> import flipproof as fp
        >>> from flipproof.report.described_inputs import DescribedInputs
        >>> noise, words = fp.FlipNoise(p_plus=0.01, p_minus=0.6), [[0, 1, 1, 0, 1, 0, 1, 1, 1]]
        >>> votes = fp.Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise, inputs=words)
        >>> described = DescribedInputs(unit="message", entries={"": "words"}, class_names=("ham", "spam"))
        >>> print(plain_words(CertifiedInputs(fp.certify(votes), described), 0))  # doctest: +NORMALIZE_WHITESPACE
        No attacker who adds up to 1 word and deletes up to 4 can change the prediction for this message from spam to
        ham.
    """
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < certified.inputs:
        raise InvalidInputError(f"expected the number of an input in [0, {certified.inputs}), got {index!r}")
    claim, described = certified.claim(int(index)), certified.described
    if not certified.is_smoothed:
        return claimed(claim, described)
    begun = head(claim, certified)
    if claim.label is None or begun.endswith("."):
        return begun
    other = described.class_name(1 - claim.label) if certified.classes == 2 else "anything else"
    return f"{begun} from {described.class_name(claim.label)} to {other}."


def promise(certified: CertifiedInputs) -> list[str]:
    """What was certified, against which changes, and how sure that is: the answer first."""
    inputs, abstained, described = certified.inputs, int(certified.abstained.sum()), certified.described
    if not inputs:
        return ["There are no inputs: nothing is certified."]
    if abstained == inputs:
        return [f"Nothing is certified: the smoothed classifier abstains from all of {described.count(inputs)}."]
    return [
        headline(certified),
        f"The smoothed classifier gives {described.count(inputs - abstained)} a label and abstains from {abstained:,}. "
        f"No attacker who stays within the certified radius of {described.one}, changes only {described.where} and "
        f"{_left_alone(certified)}, can change its prediction, however the attack is found and whatever the "
        "attacker knows.",
        _radius_words(certified),
        _sure(certified),
        *unchecked_words(certified),
    ]


def _left_alone(certified: CertifiedInputs) -> str:
    if certified.fixed is None:
        return "leaves alone what gets no noise"
    return f"leaves {joined(certified.fixed)} alone" if certified.fixed else "leaves the model alone"


def _radius_words(certified: CertifiedInputs) -> str:
    if certified.lead is Lead.TOGETHER:
        return "A radius counts changes of all kinds together; radii of one kind alone are details."
    kinds = f"A radius of one kind counts {_kinds(certified)}, nothing of another kind being changed"
    return f"{kinds}; the frontier and the heatmaps show which combinations are certified."


def _sure(certified: CertifiedInputs) -> str:
    alpha = certified.certificates.budget.alpha  # with all its digits: a rounded one would promise more
    sure = f"{(100 - 100 * Decimal(repr(alpha))).normalize():f} %" if alpha >= 1e-6 else f"1 - {alpha!r}"
    alone = f"Each {certified.described.unit}'s certificate is"
    whose = "All certificates together are" if certified.certificates.simultaneous else alone
    return f"{whose} correct with at least {sure} probability over the random sampling."


def not_promised(certified: CertifiedInputs) -> list[str]:
    """What a reader might take for granted, and must not."""
    described = certified.described
    fixed = "whatever gets no noise" if certified.fixed is None else joined([*certified.fixed, "the model"])
    return [
        f"Only these changes are covered; {fixed} must stay the same. {described.caution}".rstrip(),
        f"Changes are counted from {described.where}, as the program was given it. If an attacker had already changed "
        "it, a clean version may lie outside the radii.",
        "Attacks on the trained classifier (evasion) are covered; attacks on the data that it learns from (poisoning) "
        "are not.",
        "The certificates are about the smoothed classifier, which answers with the label that most noisy copies get. "
        "The base classifier alone may be easy to fool.",
        "A certified prediction is stable, not necessarily right: see certified accuracy.",
        *_from_elsewhere(certified),
        *_not_together(certified),
        "The number of samples was fixed before sampling. Resampling until you like the result voids the guarantee.",
    ]


def _kinds(certified: CertifiedInputs) -> str:
    return ", ".join(
        f"{axis} ({axis_words(axis, certified)}{'' if axis in certified.described.changes else f': {meaning}'})"
        for axis, meaning in certified.meanings.items()
    )


def _from_elsewhere(certified: CertifiedInputs) -> list[str]:
    if certified.checked is not None:
        return []
    return [
        "The votes were counted elsewhere. That one classifier gave them to independent noisy copies of these inputs "
        "is taken on trust."
    ]


def _not_together(certified: CertifiedInputs) -> list[str]:
    if certified.certificates.simultaneous:
        return []
    inputs, alpha = certified.inputs, certified.certificates.budget.alpha
    return [
        f"The guarantee is for each certificate alone: of {inputs:,}, expect at most about {alpha * inputs:,.4g} to be "
        "wrong. --simultaneous (simultaneous=True) covers all at once."
    ]
