"""What votes know about their inputs, or the data say: what one input is, and the words for changes without the data.

Votes from elsewhere know nothing; their inputs stay "inputs" with "entries". Words are never wider than what is proved:
where they depend on what only the data can tell, they are left neutral.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from flipproof.base.values import IntArray
from flipproof.noise.spaces.rows import DenseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.texts import Texts
from flipproof.noise.spaces.words import (
    KNOWN_VALUES,
    OCCURRING_VALUES,
    Change,
    edit_words,
    known_cell_words,
    noisy_graph_words,
    sequence_words,
    table_words,
    text_words,
)
from flipproof.smoothing.votes import Votes
from flipproof.theory.certificate import Certificate
from flipproof.theory.law import FlipNoise

_UNITS = {
    "DenseRows": "row",
    "Graph": "node",
    "Graphs": "graph",
    "Images": "image",
    "SparseRows": "row",
    "Table": "row",
    "Texts": "text",
    "Tokens": "sequence",
}
"""What one input is, by the kind of data that a run notes."""


def unit_of(certificates: Certificate, space: Space | None) -> str:
    """What one input is called: as the data say or, without them, as the votes know."""
    return _UNITS.get(_kind_of(certificates), "input") if space is None else _unit_in(space)


def shown_inputs(space: Space, ids: IntArray) -> dict[str, Any]:
    """What data say about how to call and to draw their inputs, as fields of `DescribedInputs`.

    Args:
        space: the data.
        ids: which of their inputs are shown.
    """
    shown: dict[str, Any] = {"unit": _unit_in(space)}
    if isinstance(space, Texts):
        return {**shown, "texts": tuple(space.texts[number] for number in ids)}
    return {**shown, "image_shape": space.values.shape[1:]} if _are_images(space) else shown


def _unit_in(space: Space) -> str:
    if isinstance(space, DenseRows) and space.values.ndim != 2:
        return "image" if _are_images(space) else "input"  # no rows to a reader
    return _UNITS.get(type(space).__name__, "input")


def _are_images(space: Space) -> TypeGuard[DenseRows]:
    """Whether rows of numbers are images with levels of brightness, each of one colour."""
    return isinstance(space, DenseRows) and space.values.ndim == 3 and int(space.values.max(initial=0)) < 256


def known_words(certificates: Certificate) -> dict[str, Any]:
    """The words for changes, as fields of a report's subject; none if the votes do not know enough of the data."""
    votes = _votes_of(certificates)
    words_of = _WORDS.get(_kind_of(certificates))
    if votes is None or votes.scope is None or words_of is None or not _parts(votes):
        return {}
    return words_of(votes)


def _parts(votes: Votes) -> tuple[tuple[str | None, FlipNoise], ...]:
    """The parts of the noise and their laws; none of a noise that is not made of flips."""
    return tuple(getattr(votes.noise, "flips", ()))


def _votes_of(certificates: Certificate) -> Votes | None:
    votes = getattr(certificates, "votes", None)
    return votes if isinstance(votes, Votes) else None


def _kind_of(certificates: Certificate) -> str:
    """The kind of data that was voted on, as the run of the votes notes it; empty if there is no run."""
    votes = _votes_of(certificates)
    kind = None if votes is None or votes.run is None else votes.run.space.get("kind")
    return kind if isinstance(kind, str) else ""


def _graph_words(votes: Votes) -> dict[str, Any]:
    found: Any = {} if votes.run is None else votes.run.space.get("parts")
    noisy = [name for name in ("structure", "attributes") if isinstance(found, Mapping) and name in found]
    return noisy_graph_words("both" if len(noisy) == 2 else noisy[0], _parts(votes)) if noisy else {}


def _graphs_words(votes: Votes) -> dict[str, Any]:
    """Attributes may be kinds of nodes, one for each: only the data tell."""
    return _graph_words(votes) if all(part in (None, "structure") for part, _ in _parts(votes)) else {}


def _token_words(votes: Votes) -> dict[str, Any]:
    scope = votes.scope
    if scope is not None and scope.closes_gaps:
        return edit_words("tokens")
    return sequence_words(scope is not None and scope.makes_room, "tokens", "token 0")


def _text_words(votes: Votes) -> dict[str, Any]:
    scope = votes.scope
    if scope is not None and scope.closes_gaps:
        change = Change.DELETED
    else:
        change = Change.HIDDEN if scope is not None and scope.makes_room else Change.REPLACED
    return text_words(change, "words", "the first word of the vocabulary")


def _table_words(votes: Votes) -> dict[str, Any]:
    parts = _parts(votes)
    kept = () if votes.scope is None else votes.scope.fixed
    if KNOWN_VALUES in kept or OCCURRING_VALUES in kept:  # it was a data frame
        return known_cell_words([name for name, _ in parts])
    return table_words(parts)


def _image_words(votes: Votes) -> dict[str, Any]:
    """A pixel with colours has several values, and only the data tell whether there are colours."""
    return {"entries": {"": "pixel values"}, "where": "the pixel values of the observed image"}


_WORDS: Mapping[str, Callable[[Votes], dict[str, Any]]] = {
    "Graph": _graph_words,
    "Graphs": _graphs_words,
    "Images": _image_words,
    "Table": _table_words,
    "Texts": _text_words,
    "Tokens": _token_words,
}
"""The words for changes, by the kind of data that a run notes."""
