"""What is promised in words, of one input and of all, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.words import EXCHANGE
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs, joined, singular
from flipproof.report.words.verdict import (
    FUNCTION,
    PAST_VERBS,
    any_change_words,
    any_entries,
    headline,
    unchecked_words,
)
from flipproof.theory.claims import Budget, Claim, Lead
from flipproof.theory.radii import UNBOUNDED, AnyRadii, point_of

_VERBS = {"add": "adds", "delete": "deletes", "change": "changes"}


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """The sentences of all inputs. One without a full stop goes on with "from ... to ..." and names of classes.

    Attributes:
        heads: the different sentences.
        index: the number of each input's sentence.
    """

    heads: tuple[str, ...]
    index: IntArray

    @classmethod
    def of(cls, certified: CertifiedInputs) -> Sentences:
        """The sentences of the leading claims."""
        return cls(
            tuple(sentence_start(claim, certified) for claim in certified.claims.distinct), certified.claims.index
        )


def sentence_start(claim: Claim, certified: CertifiedInputs) -> str:
    """The sentence of a claim about smoothed predictions, up to the names of classes."""
    described = certified.described
    if claim.abstains:
        return f"The smoothed classifier abstains from this {described.unit}: nothing is certified."
    if not any(budget.room for budget in claim.budgets):
        return f"Nothing in this {described.unit} gets noise: there is no change to withstand."
    if not claim.withstands_a_change:
        entry = singular(any_entries(certified))
        return f"No robustness proven: even one changed {entry} might change the prediction for this {described.unit}."
    proved = f"o attacker who {_attack(claim, certified)} can change the prediction for this {described.unit}"
    return f"If {FUNCTION}, which was not checked, n{proved}" if claim.checked is False else f"N{proved}"


def claim_words(claim: Claim, described: DescribedInputs) -> str:
    """The sentence of a claim of any `Certificate`."""
    if claim.abstains:
        return f"Nothing is certified for this {described.unit}."
    if not claim.withstands_a_change:
        return f"No robustness proven: even one change might change the prediction for this {described.unit}."
    if claim.threat:
        proved = (
            f"the {claim.whose} keeps its prediction for this {described.unit} under this attack and any weaker one, "
            f"if nothing else changes: {claim.threat}."
        )
    else:
        attack = _attack_on_part(claim.budgets, described)
        proved = f"no attacker who {attack} can change the prediction for this {described.unit}."
    if claim.checked is False:
        return f"If {FUNCTION}, which was not checked, {proved}"
    return proved[0].upper() + proved[1:]


def _attack(claim: Claim, certified: CertifiedInputs) -> str:
    """What the attacker does and leaves alone."""
    done = _changes_words(claim, certified)
    if claim.fixed == ():
        return done
    kept = "leaves alone what gets no noise" if claim.fixed is None else f"leaves {joined(claim.fixed)} alone"
    return f"{done}{' ' if done.endswith(',') else ', '}and {kept},"


def _changes_words(claim: Claim, certified: CertifiedInputs) -> str:
    described = certified.described
    first, *others = claim.budgets
    if not others:
        done = any_change_words(certified).does.format(_counted_entries(first, any_entries(certified)))
        return done.removesuffix(" in all") if _is_unlimited(first) else done
    if EXCHANGE in described.changes and first.count == others[0].count:
        return described.changes[EXCHANGE].does.format(_counted_entries(others[0], described.entries_of(None)))
    spent = [budget for budget in claim.budgets if budget.count]
    if len(claim.budgets) > 4:
        return f"{_change_words(spent[0], described)} and changes nothing else"
    changes = _attacks_on_parts(claim.budgets, described)
    return ", and ".join(changes) + ("," if len(changes) > 1 else "")


def attack_words(certified: CertifiedInputs, radii: AnyRadii) -> str:
    """What an attacker does who stays within some radii: "adds up to 1 edge and deletes up to 2"."""
    counts = zip(certified.axes.values(), point_of(certified.noise, radii), strict=True)
    budgets = [Budget((axis,), count) for axis, count in counts if count]
    return ", and ".join(_attacks_on_parts(budgets, certified.described)).removesuffix(",") or "changes nothing"


def _attacks_on_parts(budgets: Sequence[Budget], described: DescribedInputs) -> list[str]:
    """What the attacker does to each part."""
    parts = dict.fromkeys(budget.axes[0].part for budget in budgets)
    return [_attack_on_part([each for each in budgets if each.axes[0].part == part], described) for part in parts]


def _attack_on_part(budgets: Sequence[Budget], described: DescribedInputs) -> str:
    """What the attacker does to one part. The entries are named once if the verbs are plain."""
    first, *others = sorted(budgets, key=lambda budget: budget.count == 0)
    if not others:
        return _change_words(first, described)
    if any(described.change_along(budget.axes[0]) is not None for budget in budgets):
        *middle, last = (_change_words(budget, described) for budget in (first, *others))
    else:
        *middle, last = (
            _change_words(first, described),
            *(f"{_VERBS[budget.axes[0].kind]} {_count_words(budget)}" for budget in others),
        )
    return f"{', '.join(middle)} and {last}"


def _change_words(budget: Budget, described: DescribedInputs) -> str:
    (axis,) = budget.axes
    entries, words = described.entries_of(axis.part), described.change_along(axis)
    what = _counted_entries(budget, entries) if budget.count else f"no {entries}"
    return f"{_VERBS[axis.kind]} {what}" if words is None else words.does.format(what)


def _counted_entries(budget: Budget, entries: str) -> str:
    """A count of entries with their name. If all may be deleted the count is given; if all may be added it is not."""
    if _is_unlimited(budget):
        return f"any number of {entries}"
    if budget.exhaustive and budget.count > 1:
        return f"any or all {budget.count:,} {entries}"
    return f"up to {budget.count:,} {singular(entries) if budget.count == 1 else entries}"


def _count_words(budget: Budget) -> str:
    """A count of entries whose name has been said."""
    if not budget.count:
        return "none"
    if _is_unlimited(budget):
        return "any number"
    return f"any or all {budget.count:,}" if budget.exhaustive and budget.count > 1 else f"up to {budget.count:,}"


def _is_unlimited(budget: Budget) -> bool:
    kinds = {axis.kind for axis in budget.axes}
    gained = "add" in kinds and "change" not in kinds
    return budget.count == UNBOUNDED or (budget.exhaustive and budget.count > 1 and gained)


def axis_words(axis: str, certified: CertifiedInputs) -> str:
    """What is counted along an axis: "edges deleted"."""
    words, (part, kind) = certified.described.changes.get(axis), certified.axes[axis]
    return f"{certified.described.entries_of(part)} {PAST_VERBS.get(kind, 'changed')}" if words is None else words.done


def plain_words(certified: CertifiedInputs, index: int) -> str:
    """What is proved about one input, as one sentence that holds with the probability of the certificates.

    It names the certified combination of changes that contains the most smaller ones, or the number of changes of any
    kind if all kinds are alike or there are many.

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
        return claim_words(claim, described)
    start = sentence_start(claim, certified)
    if claim.label is None or start.endswith("."):
        return start
    other = described.class_name(1 - claim.label) if certified.classes == 2 else "anything else"
    return f"{start} from {described.class_name(claim.label)} to {other}."


def promise(certified: CertifiedInputs) -> list[str]:
    """The guarantee in sentences, the answer first: what is certified, against which changes, how surely."""
    inputs, abstained, described = certified.inputs, int(certified.abstained.sum()), certified.described
    if not inputs:
        return ["There are no inputs: nothing is certified."]
    if abstained == inputs:
        return [f"Nothing is certified: the smoothed classifier abstains from all of {described.count(inputs)}."]
    return [
        headline(certified),
        f"The smoothed classifier gives {described.count(inputs - abstained)} a label and abstains from {abstained:,}. "
        f"No attacker who stays within the certified radius of {described.one}, changes only {described.where}"
        f"{described.within} and {_left_alone(certified)}, can change its prediction, however the attack is found and "
        "whatever the attacker knows.",
        _radius_words(certified),
        _guarantee(certified),
        *unchecked_words(certified),
    ]


def _left_alone(certified: CertifiedInputs) -> str:
    if certified.fixed is None:
        return "leaves alone what gets no noise"
    return f"leaves {joined(certified.fixed)} alone" if certified.fixed else "leaves the model alone"


def _radius_words(certified: CertifiedInputs) -> str:
    if certified.lead is Lead.TOGETHER:
        return "A radius counts changes of all kinds together; radii of single kinds are details."
    kinds = f"A radius of one kind counts {_kinds(certified)} and holds if nothing of another kind changes"
    return f"{kinds}; the frontier and the heatmaps show which combinations are certified."


def _guarantee(certified: CertifiedInputs) -> str:
    alpha = certified.certificates.budget.alpha  # with all its digits: a rounded one would promise more
    sure = f"{(100 - 100 * Decimal(repr(alpha))).normalize():f} %" if alpha >= 1e-6 else f"1 - {alpha!r}"
    alone = f"Each {certified.described.unit}'s certificate is"
    whose = "All certificates together are" if certified.certificates.simultaneous else alone
    return f"{whose} correct with at least {sure} probability over the random sampling."


def not_promised(certified: CertifiedInputs) -> list[str]:
    """What a reader must not take for granted."""
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
        "The votes were counted elsewhere. It was not checked that one classifier cast them on independent noisy "
        "copies of these inputs."
    ]


def _not_together(certified: CertifiedInputs) -> list[str]:
    if certified.certificates.simultaneous:
        return []
    inputs, alpha = certified.inputs, certified.certificates.budget.alpha
    return [
        f"The guarantee is for each certificate alone: of {inputs:,}, expect at most about {alpha * inputs:,.4g} to be "
        "wrong. --simultaneous (simultaneous=True) covers all at once."
    ]
