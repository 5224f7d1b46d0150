"""The noise that data get if nobody names one: the one place that has these numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError
from flipproof.noise.laws import law_for, scope_of, space_for
from flipproof.noise.spaces.graph import ATTRIBUTES, STRUCTURE, Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.images import Images
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.texts import Texts
from flipproof.noise.spaces.tokens import CLOSED, Tokens
from flipproof.theory.law import FlipNoise, JointNoise, Law, Noise
from flipproof.theory.scope import Scope

NODES: Mapping[str, FlipNoise | JointNoise] = {  # as in the figures of the paper
    "attributes": FlipNoise(0.01, 0.6),
    "structure": FlipNoise(0.001, 0.4),
    "both": JointNoise(structure=FlipNoise(2e-5, 0.4), attributes=FlipNoise(2e-5, 0.6)),
}
"""One graph whose nodes are classified, by what gets noise."""
GRAPHS: Mapping[str, FlipNoise | JointNoise] = {
    "structure": FlipNoise(0.2, 0.4),  # as in the figures of the paper
    "attributes": FlipNoise(0.2, 0.2),
    "both": JointNoise(structure=FlipNoise(0.1, 0.3), attributes=FlipNoise(0.1, 0.1)),
}
"""Many small graphs, by what gets noise."""
PIXELS, LEVELS = FlipNoise(0.1, 0.2), FlipNoise(0.8, 0.8)
"""Images in black and white, and numbers that have many values."""
CELLS = FlipNoise(0.2, 0.2)
"""Categories and numbers that have few values."""
WORDS, SUBSTITUTION = FlipNoise(0.0, 0.85), FlipNoise(0.75, 0.75)
"""Words that disappear, from bags or from sequences, and words that are replaced by others."""

_FEW_VALUES = 32
"""With more values, `CELLS` would need more samples than are usual before it certifies anything."""
DROWNED = 3.0
"""Noise drowns an input if it adds more than this many ones for each observed one."""


@dataclass(frozen=True, slots=True)
class UsualNoise:
    """A law that was chosen for data.

    Attributes:
        law: the law.
        words: what it is usual for, and how it was adapted to the data.
        limits: a sentence about values that no certificate covers since the data lack them; empty if there are none.
    """

    law: Noise
    words: str
    limits: str = ""


def usual_space(data: Any, tokenizer: Callable[[str], Sequence[str]] | None = None) -> Space:
    """The space of data whose noise nobody has named. Only edges get noise where attributes can get none."""
    return space_for(data, JointNoise(**{STRUCTURE: NODES[STRUCTURE]}), tokenizer)  # type: ignore[arg-type]


def usual_noise(space: Space) -> UsualNoise:
    """The usual noise of data, adapted to them: noise on bits does not drown them.

    Example:
        >>> usual_noise(DenseRows([[0, 1, 1], [1, 0, 0]]))
        UsualNoise(law=FlipNoise(p_plus=0.1, p_minus=0.2, categories=2), words='zeros and ones', limits='')
        >>> usual_noise(DenseRows(np.eye(50, dtype=int))).words
        'zeros and ones; p_plus is 0, since 0.1 would add 4.9 others for each observed one'
    """
    usual = _usual(space)
    if law_for(space, usual.law) is not usual.law:  # such as a table, whose columns differ
        return usual
    drowned = {name: ones for name, _, ones in drowned_parts(usual.law, scope_of(space, usual.law))}
    if not drowned:
        return usual
    before = ", ".join(f"{dict(usual.law.flips)[name].p_plus:g}" for name in drowned)
    ones = f"{max(drowned.values()):,.1f}"
    words = f"{usual.words}; p_plus is 0, since {before} would add {ones} others for each observed one"
    return replace(usual, law=_without_additions(usual.law, [*drowned]), words=words)


def drowned_parts(law: Law, scope: Scope | None) -> Iterator[tuple[str | None, FlipNoise, float]]:
    """The parts of bits that noise drowns: their names, their laws, and how many ones it adds for each observed one.

    No value of a category stands for absence, so categories are never drowned.
    """
    if scope is None or not isinstance(law, Noise):
        return
    for number, (name, part) in enumerate(law.flips):
        ones, zeros = int(scope.nonzeros[:, number].sum()), float(scope.zeros[:, number].sum())
        if part.categories == 2 and part.p_plus * zeros > DROWNED * max(ones, 1):
            yield name, part, part.p_plus * zeros / max(ones, 1)


def _without_additions(law: Noise, names: Sequence[str | None]) -> Noise:
    """The law with p_plus = 0 in some of its parts."""
    parts = {name: replace(part, p_plus=0.0) if name in names else part for name, part in law.flips}
    return parts[None] if None in parts else JointNoise(**{str(name): part for name, part in parts.items()})


@singledispatch
def _usual(space: Space) -> UsualNoise:
    raise InvalidInputError(
        f"expected a noise for {type(space).__name__}, for which none is usual, got none; give noise="
    )


@_usual.register
def _(space: DenseRows) -> UsualNoise:
    return _of_values(space.values)


@_usual.register
def _(space: Images) -> UsualNoise:
    return _of_categories(space.levels, "images in black and white" if space.levels == 2 else "images")


@_usual.register
def _(space: SparseRows) -> UsualNoise:
    return UsualNoise(WORDS, "sparse rows: noise only deletes")


@_usual.register
def _(space: Texts) -> UsualNoise:
    if space.vocabulary is not None:
        return UsualNoise(replace(SUBSTITUTION, categories=space.categories), "texts with a vocabulary")
    return UsualNoise(WORDS, "texts: noise hides words" if space.mask is not None else "texts: noise deletes words")


@_usual.register
def _(space: Tokens) -> UsualNoise:
    if space.mask is not None or space.gaps == CLOSED:
        return UsualNoise(WORDS, "sequences: noise deletes tokens")
    categories = max(2, int(np.where(space.is_padding, 0, space.values).max(initial=0)) + 1)
    law = replace(SUBSTITUTION, categories=categories)
    return UsualNoise(law, "sequences: noise replaces tokens", _limits("tokens", categories))


@_usual.register
def _(space: Table) -> UsualNoise:
    return UsualNoise(CELLS, "the cells of a table")


@_usual.register
def _(space: Graph) -> UsualNoise:
    return _of_graph(space, NODES[space.noisy], "a graph whose nodes are classified")


@_usual.register
def _(space: Graphs) -> UsualNoise:
    return _of_graph(space, GRAPHS[space.graphs[0].noisy], "small graphs")


def _of_graph(space: Graph | Graphs, law: Noise, words: str) -> UsualNoise:
    """The law for the parts that get noise, with the categories of attributes, and without what edges cannot bear.

    It names the edges if there are attributes too: then it says the same to a graph that is given as it is.
    """
    parts, limits = {name or space.parts[0]: part for name, part in law.flips}, ""
    if ATTRIBUTES in parts and isinstance(space.attributes, DenseRows):
        categories = max(2, int(space.attributes.values.max(initial=0)) + 1)
        parts[ATTRIBUTES] = replace(parts[ATTRIBUTES], categories=categories)
        limits = _limits("attributes", categories)
    carried = space.edge_features
    if STRUCTURE in parts and carried is not None and carried.are_stored:
        parts[STRUCTURE] = replace(parts[STRUCTURE], p_plus=0.0)
        words = f"{words}; no edges are added, since edges carry {carried.name}"
    alone = len(parts) == 1 and (ATTRIBUTES in parts or space.attributes is None)
    return UsualNoise(next(iter(parts.values())) if alone else JointNoise(**parts), words, limits)


def _of_values(values: NDArray[Any]) -> UsualNoise:
    """The law for numbers 0, 1, ... of which the largest is known."""
    categories = max(2, int(values.max(initial=0)) + 1)
    words = "zeros and ones" if categories == 2 else f"numbers with {categories} values"
    return replace(_of_categories(categories, words), limits=_limits("numbers", categories))


def _of_categories(categories: int, words: str) -> UsualNoise:
    law = PIXELS if categories == 2 else CELLS if categories <= _FEW_VALUES else LEVELS
    return UsualNoise(replace(law, categories=categories), words)


def _limits(values: str, categories: int) -> str:
    """What is covered of numbers whose largest one is taken from the data; bits have no others."""
    if categories == 2:
        return ""
    return f"Only changes to {values} from 0 to {categories - 1:,} are covered: the data have no others."
