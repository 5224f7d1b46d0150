"""What is promised, and what is not, in words."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from flipproof.errors import InvalidInputError
from flipproof.report.described_inputs import DescribedInputs, joined
from flipproof.report.words.sentences import claimed, head, lead_of, unchecked_words
from flipproof.report.words.verdict import headline
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.claims import Claims, Lead
from flipproof.theory.certificate import Certificate
from flipproof.theory.radii import Axis, axes_of

_DONE = {"add": "added", "delete": "deleted", "change": "changed"}


def share_words(share: float) -> str:
    """A share to three digits; one that is not whole never looks whole.

    Example:
        >>> share_words(0.9999), share_words(0.8397), share_words(1.0)
        ('0.999', '0.840', '1.000')
    """
    return f"{share if share >= 1.0 else min(share, 0.999):.3f}"


def axis_words(axis: Axis, described: DescribedInputs) -> str:
    """What is counted along an axis.

    Example:
        >>> axis_words(Axis("structure", "delete"), DescribedInputs(entries={"structure": "edges"}))
        'edges deleted'
    """
    words = described.changes.get(str(axis))
    return f"{described.entries_of(axis.part)} {_DONE.get(axis.kind, 'changed')}" if words is None else words.done


def plain_words(certificates: Certificate, index: int, described: DescribedInputs) -> str:
    """What is proved about one input, as one sentence: true with the probability that the certificates have.

    It names one certified combination of changes, that with the most smaller combinations in it; or the number of
    changes of any kinds, where all kinds are alike or there are many.

    Example:
        >>> import flipproof as fp
        >>> noise, words = fp.FlipNoise(p_plus=0.01, p_minus=0.6), [[0, 1, 1, 0, 1, 0, 1, 1, 1]]
        >>> votes = fp.Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise, inputs=words)
        >>> described = DescribedInputs(unit="message", entries={"": "words"}, class_names=("ham", "spam"))
        >>> print(plain_words(fp.certify(votes), 0, described))  # doctest: +NORMALIZE_WHITESPACE
        No attacker who adds up to 1 word and deletes up to 4 can change the prediction for this message from spam to
        ham.
    """
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < len(certificates):
        raise InvalidInputError(f"expected the number of an input in [0, {len(certificates)}), got {index!r}")
    if not isinstance(certificates, Certificates):
        return claimed(certificates.claim(int(index)), described)
    claim = Claims.of_one(certificates, int(index), lead_of(certificates.noise, described))
    begun = head(claim, certificates.noise, described)
    if claim.label is None or begun.endswith("."):
        return begun
    other = described.class_name(1 - claim.label) if certificates.votes.classes == 2 else "anything else"
    return f"{begun} from {described.class_name(claim.label)} to {other}."


def promise(certificates: Certificates, described: DescribedInputs) -> list[str]:
    """What was certified, against which changes, and how sure that is: the answer first."""
    inputs, abstained = len(certificates), int(certificates.abstained.sum())
    if not inputs:
        return ["There are no inputs: nothing is certified."]
    if abstained == inputs:
        return [f"Nothing is certified: the smoothed classifier abstains from all of {described.count(inputs)}."]
    return [
        headline(certificates, described),
        f"The smoothed classifier gives {described.count(inputs - abstained)} a label and abstains from {abstained:,}. "
        f"No attacker who stays within the certified radius of {described.one}, changes only {described.where} and "
        f"{_left_alone(certificates)}, can change its prediction, however the attack is found and whatever the "
        "attacker knows.",
        _radius_words(certificates, described),
        _sure(certificates, described),
        *unchecked_words(certificates),
    ]


def _left_alone(certificates: Certificates) -> str:
    scope = certificates.votes.scope
    if scope is None:
        return "leaves alone what gets no noise"
    return f"leaves {joined(scope.fixed)} alone" if scope.fixed else "leaves the model alone"


def _radius_words(certificates: Certificates, described: DescribedInputs) -> str:
    if lead_of(certificates.noise, described) is Lead.TOGETHER:
        return "A radius counts changes of all kinds together; radii of one kind alone are details."
    kinds = f"A radius of one kind counts {_kinds(certificates, described)}, nothing of another kind being changed"
    return f"{kinds}; the frontier and the heatmaps show which combinations are certified."


def _sure(certificates: Certificates, described: DescribedInputs) -> str:
    # All digits: a rounded one would promise more.
    alpha = certificates.alpha
    sure = f"{(100 - 100 * Decimal(repr(alpha))).normalize():f} %" if alpha >= 1e-6 else f"1 - {alpha!r}"
    if certificates.simultaneous:
        return f"All certificates together are correct with at least {sure} probability over the random sampling."
    return f"Each {described.unit}'s certificate is correct with at least {sure} probability over the random sampling."


def not_promised(certificates: Certificates, described: DescribedInputs) -> list[str]:
    """What a reader might take for granted, and must not."""
    scope = certificates.votes.scope
    fixed = "whatever gets no noise" if scope is None else joined([*scope.fixed, "the model"])
    return [
        f"Only these changes are covered; {fixed} must stay the same. {described.caution}".rstrip(),
        f"Changes are counted from {described.where}, as the program was given it. If an attacker had already changed "
        "it, a clean version may lie outside the radii.",
        "Attacks on the trained classifier (evasion) are covered; attacks on the data that it learns from (poisoning) "
        "are not.",
        "The certificates are about the smoothed classifier, which answers with the label that most noisy copies get. "
        "The base classifier alone may be easy to fool.",
        "A certified prediction is stable, not necessarily right: see certified accuracy.",
        *_from_elsewhere(certificates),
        *_not_together(certificates),
        "The number of samples was fixed before sampling. Resampling until you like the result voids the guarantee.",
    ]


def _kinds(certificates: Certificates, described: DescribedInputs) -> str:
    meanings = {axis: certificates.noise.meaning(axis) for axis in axes_of(certificates.noise)}
    return ", ".join(
        f"{axis} ({axis_words(axis, described)}{'' if str(axis) in described.changes else f': {meaning}'})"
        for axis, meaning in meanings.items()
    )


def _from_elsewhere(certificates: Certificates) -> list[str]:
    if certificates.votes.checked is not None:
        return []
    return [
        "The votes were counted elsewhere. That one classifier gave them to independent noisy copies of these inputs "
        "is taken on trust."
    ]


def _not_together(certificates: Certificates) -> list[str]:
    if certificates.simultaneous:
        return []
    inputs = len(certificates)
    return [
        f"The guarantee is for each certificate alone: of {inputs:,}, expect at most about "
        f"{certificates.alpha * inputs:,.4g} to be wrong. --simultaneous (simultaneous=True) covers all at once."
    ]
