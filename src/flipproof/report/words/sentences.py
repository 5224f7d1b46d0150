"""One sentence per input that anybody understands, made from the claim about it and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flipproof.base.arrays import IntArray
from flipproof.noise.spaces.words import ANY, EXCHANGE
from flipproof.report.described_inputs import Subject, joined, singular
from flipproof.report.page.packing import packed
from flipproof.report.words.any_changes import any_deed, any_entries
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.claims import Claims, Lead, usual_lead
from flipproof.smoothing.stairs import Stairs
from flipproof.theory.claim import Budget, Claim
from flipproof.theory.law import Noise
from flipproof.theory.radii import UNBOUNDED

_FUNCTION = "the classifier always gives the same label to the same noisy input"
_VERBS = {"add": "adds", "delete": "deletes", "change": "changes"}


def lead_of(noise: Noise, subject: Subject) -> Lead:
    """What the sentences about these inputs speak of first."""
    if EXCHANGE in subject.deeds:
        return Lead.EXCHANGES
    return Lead.TOGETHER if ANY in subject.deeds else usual_lead(noise)


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
    def of(cls, certificates: Certificates, subject: Subject, stairs: Stairs | None = None) -> Sentences:
        """Those of the leading claims."""
        claims = Claims.leading(certificates, lead_of(certificates.noise, subject), stairs)
        return cls(tuple(head(claim, certificates.noise, subject) for claim in claims.distinct), claims.index)

    def content(self) -> dict[str, Any]:
        """As a page has them."""
        return {"heads": list(self.heads), "index": packed(self.index, "u4")}


def head(claim: Claim, noise: Noise, subject: Subject) -> str:
    """What a claim says of an input, up to the names of classes."""
    if claim.abstains:
        return f"The smoothed classifier abstains from this {subject.unit}: nothing is certified."
    if not any(budget.room for budget in claim.budgets):
        return f"Nothing in this {subject.unit} gets noise: there is no change to withstand."
    if not claim.withstands_a_change:
        entry = singular(any_entries(noise, subject))
        return f"No robustness proven: even one changed {entry} might change the prediction for this {subject.unit}."
    proved = f"o attacker who {_attack(claim, noise, subject)} can change the prediction for this {subject.unit}"
    return f"If {_FUNCTION}, which was not checked, n{proved}" if claim.checked is False else f"N{proved}"


def unchecked_words(certificates: Certificates) -> list[str]:
    """What everything depends on where nobody checked it; nothing where it was, or the votes came from elsewhere."""
    if certificates.votes.checked is not False:
        return []
    return [
        f"The certificates hold only if {_FUNCTION}. That was not checked: the votes were drawn with --no-check "
        "(check=False), or by an earlier version."
    ]


def _attack(claim: Claim, noise: Noise, subject: Subject) -> str:
    """What is done, and what is left alone."""
    done = _done(claim, noise, subject)
    if claim.fixed == ():
        return done
    kept = "leaves alone what gets no noise" if claim.fixed is None else f"leaves {joined(claim.fixed)} alone"
    return f"{done}{' ' if done.endswith(',') else ', '}and {kept},"


def _done(claim: Claim, noise: Noise, subject: Subject) -> str:
    first, *others = claim.budgets
    if not others:
        done = any_deed(noise, subject).does.format(_up_to(first, any_entries(noise, subject)))
        return done.removesuffix(" in all") if _endless(first) else done
    if EXCHANGE in subject.deeds and first.count == others[0].count:
        return subject.deeds[EXCHANGE].does.format(_up_to(others[0], subject.entries_of(None)))
    spent = [budget for budget in claim.budgets if budget.count]
    if len(claim.budgets) > 4:
        return f"{_does(spent[0], subject)} and changes nothing else"
    parts = dict.fromkeys(budget.axes[0].part for budget in claim.budgets)
    deeds = [_deeds([each for each in claim.budgets if each.axes[0].part == part], subject) for part in parts]
    return ", and ".join(deeds) + ("," if len(deeds) > 1 else "")


def _deeds(budgets: Sequence[Budget], subject: Subject) -> str:
    """What is done to one part, what is done first; the entries are named once if the verbs are plain."""
    first, *others = sorted(budgets, key=lambda budget: budget.count == 0)
    if any(str(budget.axes[0]) in subject.deeds for budget in budgets):
        *middle, last = (_does(budget, subject) for budget in (first, *others))
    else:
        *middle, last = (
            _does(first, subject),
            *(f"{_VERBS[budget.axes[0].kind]} {_number(budget)}" for budget in others),
        )
    return f"{', '.join(middle)} and {last}"


def _does(budget: Budget, subject: Subject) -> str:
    (axis,) = budget.axes
    entries, deed = subject.entries_of(axis.part), subject.deeds.get(str(axis))
    what = _up_to(budget, entries) if budget.count else f"no {entries}"
    return f"{_VERBS[axis.kind]} {what}" if deed is None else deed.does.format(what)


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
