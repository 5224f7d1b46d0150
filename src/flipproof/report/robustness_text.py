"""The text of one call's result: what is certified first, then under which noise, how surely, and shares at radii."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from textwrap import shorten

import numpy as np

from flipproof.base.values import BoolArray, FloatArray
from flipproof.noise.spaces.words import ANY
from flipproof.noise.usual import UsualNoise
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.shares import percent, share_words
from flipproof.report.summary import example, promise_words, votes_words, wrapped
from flipproof.report.words.promises import attack_words
from flipproof.report.words.verdict import cautions, headline, majority, proviso, withstanding
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.radii import AnyRadii
from flipproof.theory.search import SEARCH_LIMIT

_COUNTS = (0, 1, 2, 3, 5, 10, 20, 50)
"""Numbers of changes that shares are shown at, as far as anything is certified."""
_MOST_ROWS = 4
_WIDTH = 70
"""Letters in a line of text, beside its title."""
_LONGEST_NOISE = 150


@dataclass(frozen=True, slots=True)
class ShareRow:
    """The share of inputs that withstand numbers of changes of one kind, and the share that is also right.

    Attributes:
        name: of the axis, or "any change".
        shares: for each number of changes.
        right: for each number of changes; None without labels.
    """

    name: str
    shares: FloatArray
    right: FloatArray | None

    @property
    def cells(self) -> Iterator[tuple[str, FloatArray]]:
        """The lines of a table, each with its title."""
        yield self.name, self.shares
        if self.right is not None:
            yield "  and right", self.right


def robustness_text(
    certified: CertifiedInputs, threat: AnyRadii | None, usual: UsualNoise | None, base_accuracy: float | None
) -> str:
    """The result of one call as a table of at most 80 letters in a line.

    Args:
        certified: the inputs with their certificates.
        threat: the radii that the user cares about, if any.
        usual: the noise that was chosen; None if the user named it.
        base_accuracy: the accuracy of the model without smoothing, if labels are known.
    """
    if not certified.inputs:
        return "There are no inputs: nothing is certified."
    facts = (
        ("threat", "" if threat is None else threat_sentence(certified, threat)),
        ("robust", headline(certified)),
        *(("caution", sentence) for sentence in cautions(certified)),
        ("caution", "" if usual is None else usual.limits),
        ("noise", shorten("; ".join(certified.noise_words), _LONGEST_NOISE) if usual is None else _chosen(usual)),
        ("votes", votes_words(certified)),
        ("promise", promise_words(certified)),
        ("accuracy", _accuracy(certified, base_accuracy)),
        ("abstained", f"{int(certified.abstained.sum()):,} of {certified.described.count(certified.inputs)}"),
        ("example", example(certified)),
    )
    lines = chain.from_iterable(wrapped(title, words, _WIDTH) for title, words in facts if words)
    return "\n".join([*lines, "", *_table(certified)])


def threat_sentence(certified: CertifiedInputs, threat: AnyRadii) -> str:
    """How many inputs withstand everything within the radii that the user cares about."""
    held, of = np.asarray(certified.certificates.certified(threat)), certified.inputs
    count, units = int(held.sum()), certified.described.count(of)
    verb = "withstands" if count == 1 else "withstand"
    attacker = f"any attacker who {attack_words(certified, threat)}{proviso(certified)}"
    start = f"{count:,} of {units} ({percent(count, of)}) {verb} {attacker}"
    right = _right(certified)
    if right is None:
        return f"{start}."
    both = int((held & right).sum())
    return f"{start}; {both:,} ({percent(both, of)}) {'is' if both == 1 else 'are'} also predicted right."


def _right(certified: CertifiedInputs) -> BoolArray | None:
    """Which inputs have a right prediction; None without labels."""
    labels = certified.described.labels
    return None if labels is None else np.equal(certified.label, labels) & ~certified.abstained


def _accuracy(certified: CertifiedInputs, base: float | None) -> str:
    right, blind = _right(certified), majority(certified)
    if right is None or blind is None:
        return ""
    plain = "" if base is None else f"base {base:.3f}, "
    return f"{plain}smoothed {right.mean():.3f}; {blind.accuracy:.3f} by {blind.words}"


def _table(certified: CertifiedInputs) -> Iterator[str]:
    """Shares at a few radii, a line for each kind of change, and another one for those that are right."""
    counts = _counts(certified)
    rows = list(_rows(certified, counts))
    width = max([12, *(len(row.name) for row in rows[:_MOST_ROWS])])
    yield "Share certified, by number of changes:"
    yield f"{'':<{width}}" + "".join(f"{count:>7}" for count in counts)
    for row in rows[:_MOST_ROWS]:
        for title, shares in row.cells:
            yield f"{title:<{width}}" + "".join(f"{share_words(share):>7}" for share in shares)
    if len(rows) > _MOST_ROWS:
        yield f"and {len(rows) - _MOST_ROWS} more kinds of change, such as {rows[_MOST_ROWS].name}"


def _counts(certified: CertifiedInputs) -> list[int]:
    """A few numbers of changes, 0 and 1 among them."""
    every = [*certified.radii.values(), *([] if certified.any_radii is None else [certified.any_radii])]
    most = max(int(radii[radii < SEARCH_LIMIT].max(initial=0)) for radii in every)
    return [count for count in _COUNTS if count <= max(1, most)]


def _rows(certified: CertifiedInputs, counts: list[int]) -> Iterator[ShareRow]:
    """Only changes of all kinds together if the headline counts nothing else, like the summary of a run."""
    together, apart = certified.any_radii, [each.change for each in withstanding(certified)] != [ANY]
    if together is None or apart:
        for axis in certified.axes:
            yield _row(certified, axis, [certified.withstands(axis, count) for count in counts])
    if together is not None and not (apart and len(certified.axes) >= _MOST_ROWS):
        yield _row(certified, "any change", [certified.withstands_any(together, count) for count in counts])


def _row(certified: CertifiedInputs, name: str, held: list[BoolArray]) -> ShareRow:
    right = _right(certified)
    return ShareRow(
        name,
        np.array([each.mean() for each in held]),
        None if right is None else np.array([(each & right).mean() for each in held]),
    )


def _chosen(usual: UsualNoise) -> str:
    """The noise that was chosen, as the argument that names it, with the reason."""
    return f"{noise_argument(usual.law)}, usual for {usual.words}"


def noise_argument(law: Noise) -> str:
    """The argument that names a law of flips.

    Example:
        >>> noise_argument(FlipNoise(0.1, 0.2)), noise_argument(FlipNoise(0.8, 0.8, 256))
        ('noise=fp.FlipNoise(0.1, 0.2)', 'noise=fp.FlipNoise(0.8, 0.8, 256)')
    """
    parts = {name: _flip_call(part) for name, part in law.flips}
    joint = ", ".join(f"{name}={call}" for name, call in parts.items())
    return f"noise={parts.get(None, f'fp.JointNoise({joint})')}"


def _flip_call(part: FlipNoise) -> str:
    kinds = "" if part.categories == 2 else f", {part.categories}"
    return f"fp.FlipNoise({part.p_plus!r}, {part.p_minus!r}{kinds})"
