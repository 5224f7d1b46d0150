"""One sentence per input that anybody understands, made from the claim about it and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flipproof.base.values import IntArray
from flipproof.noise.spaces.words import EXCHANGE
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs, joined, singular
from flipproof.report.page.packing import packed
from flipproof.report.words.verdict import any_change_words, any_entries
from flipproof.theory.claim import Budget, Claim
from flipproof.theory.radii import UNBOUNDED

_FUNCTION = "the classifier always gives the same label to the same noisy input"
_VERBS = {"add": "adds", "delete": "deletes", "change": "changes"}


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """The sentences of all inputs. Those that end without a full stop go on with "from ... to ..." and class names.

    Attributes:
        heads: all different ones.
        index: which one each input has.
    """

    heads: tuple[str, ...]
    index: IntArray

    @classmethod
    def of(cls, certified: CertifiedInputs) -> Sentences:
        """Those of the leading claims."""
        return cls(tuple(head(claim, certified) for claim in certified.claims.distinct), certified.claims.index)

    def content(self) -> dict[str, Any]:
        """As a page has them."""
        return {"heads": list(self.heads), "index": packed(self.index, "u4")}


def head(claim: Claim, certified: CertifiedInputs) -> str:
    """What a claim says of an input, up to the names of classes."""
    described = certified.described
    if claim.abstains:
        return f"The smoothed classifier abstains from this {described.unit}: nothing is certified."
    if not any(budget.room for budget in claim.budgets):
        return f"Nothing in this {described.unit} gets noise: there is no change to withstand."
    if not claim.withstands_a_change:
        entry = singular(any_entries(certified))
        return f"No robustness proven: even one changed {entry} might change the prediction for this {described.unit}."
    proved = f"o attacker who {_attack(claim, certified)} can change the prediction for this {described.unit}"
    return f"If {_FUNCTION}, which was not checked, n{proved}" if claim.checked is False else f"N{proved}"


def claimed(claim: Claim, described: DescribedInputs) -> str:
    """What a claim says of an input, as a whole sentence, whoever made it."""
    if claim.abstains:
        return f"Nothing is certified for this {described.unit}."
    if not claim.withstands_a_change:
        return f"No robustness proven: even one change might change the prediction for this {described.unit}."
    if claim.threat:
        return f"The {claim.whose} keeps its prediction for this {described.unit} whenever {claim.threat}."
    attack = _attack_on_part(claim.budgets, described)
    return f"No attacker who {attack} can change the prediction for this {described.unit}."


def unchecked_words(certified: CertifiedInputs) -> list[str]:
    """What everything depends on where nobody checked it; nothing where it was, or the votes came from elsewhere."""
    if certified.checked is not False:
        return []
    return [
        f"The certificates hold only if {_FUNCTION}. That was not checked: the votes were drawn with --no-check "
        "(check=False), or by an earlier version."
    ]


def _attack(claim: Claim, certified: CertifiedInputs) -> str:
    """What is done, and what is left alone."""
    done = _done(claim, certified)
    if claim.fixed == ():
        return done
    kept = "leaves alone what gets no noise" if claim.fixed is None else f"leaves {joined(claim.fixed)} alone"
    return f"{done}{' ' if done.endswith(',') else ', '}and {kept},"


def _done(claim: Claim, certified: CertifiedInputs) -> str:
    described = certified.described
    first, *others = claim.budgets
    if not others:
        done = any_change_words(certified).does.format(_up_to(first, any_entries(certified)))
        return done.removesuffix(" in all") if _endless(first) else done
    if EXCHANGE in described.changes and first.count == others[0].count:
        return described.changes[EXCHANGE].does.format(_up_to(others[0], described.entries_of(None)))
    spent = [budget for budget in claim.budgets if budget.count]
    if len(claim.budgets) > 4:
        return f"{_does(spent[0], described)} and changes nothing else"
    parts = dict.fromkeys(budget.axes[0].part for budget in claim.budgets)
    changes = [
        _attack_on_part([each for each in claim.budgets if each.axes[0].part == part], described) for part in parts
    ]
    return ", and ".join(changes) + ("," if len(changes) > 1 else "")


def _attack_on_part(budgets: Sequence[Budget], described: DescribedInputs) -> str:
    """What is done to one part, what is done first; the entries are named once if the verbs are plain."""
    first, *others = sorted(budgets, key=lambda budget: budget.count == 0)
    if not others:
        return _does(first, described)
    if any(described.change_along(budget.axes[0]) is not None for budget in budgets):
        *middle, last = (_does(budget, described) for budget in (first, *others))
    else:
        *middle, last = (
            _does(first, described),
            *(f"{_VERBS[budget.axes[0].kind]} {_number(budget)}" for budget in others),
        )
    return f"{', '.join(middle)} and {last}"


def _does(budget: Budget, described: DescribedInputs) -> str:
    (axis,) = budget.axes
    entries, words = described.entries_of(axis.part), described.change_along(axis)
    what = _up_to(budget, entries) if budget.count else f"no {entries}"
    return f"{_VERBS[axis.kind]} {what}" if words is None else words.does.format(what)


def _up_to(budget: Budget, entries: str) -> str:
    """How many of them, with their name; what can be lost is counted, what can be gained has no end to speak of."""
    if _endless(budget):
        return f"any number of {entries}"
    if budget.exhaustive and budget.count > 1:
        return f"any or all {budget.count:,} {entries}"
    return f"up to {budget.count:,} {singular(entries) if budget.count == 1 else entries}"


def _number(budget: Budget) -> str:
    """How many of them, where their name has been said."""
    if not budget.count:
        return "none"
    if _endless(budget):
        return "any number"
    return f"any or all {budget.count:,}" if budget.exhaustive and budget.count > 1 else f"up to {budget.count:,}"


def _endless(budget: Budget) -> bool:
    kinds = {axis.kind for axis in budget.axes}
    gained = "add" in kinds and "change" not in kinds
    return budget.count == UNBOUNDED or (budget.exhaustive and budget.count > 1 and gained)
