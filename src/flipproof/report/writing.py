"""The two verbs of this room for users: `write_report` writes a page, `in_words` says what is proved of one input."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from flipproof.base.values import checked_count, checked_flag, checked_items, checked_kind, checked_texts
from flipproof.noise.laws import scope_of_outputs, space_of
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.words import edit_words, image_words
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.report_files import write_page
from flipproof.report.section import section_of
from flipproof.report.words.known_inputs import known_words, unit_of
from flipproof.report.words.promises import plain_words
from flipproof.run_folder.split import Split, checked_labels
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.certificate import Certificate, checked_certificate


def write_report(
    path: str | os.PathLike[str],
    certificates: Certificate,
    *,
    name: str = "certificates",
    labels: ArrayLike | None = None,
    class_names: Sequence[str] = (),
    inputs: Any = None,
    names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    image_shape: tuple[int, ...] | None = None,
    vocabulary: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    value_names: Sequence[Sequence[str]] | None = None,
    node_names: Sequence[str] | None = None,
    split: Split | None = None,
    unit: str = "input",
    entries: str | None = None,
    force: bool = False,
) -> None:
    """Writes certificates as one HTML file that can be opened anywhere, without a network.

    Args:
        path: of the file.
        certificates: what `certify` gave, the proofs of a baseline, or any other `Certificate`.
        name: what to call the run.
        labels: true labels, for accuracies.
        class_names: one per class; by default those of the votes.
        inputs: the data that were voted on, to be drawn.
        names: of the inputs; by default those of the votes, or of the rows of a data frame.
        texts: the messages, if inputs are messages.
        image_shape: (height, width) or (height, width, channels), if inputs are images.
        vocabulary: the words of token numbers, or of the columns of bags of words.
        value_names: of a table, the names of the categories of each column; by default those of a data frame.
        column_names: of the columns of a table; by default those of a data frame.
        node_names: of the kinds of nodes of small graphs.
        split: which inputs were for training, validation and testing; accuracies are about the last.
        unit: what one input is.
        entries: what the attacker adds and deletes, in the plural: "pixels", "words".
        force: whether a file that is no report is replaced.
    """
    checked_certificate(certificates)
    space = None if inputs is None else space_of(inputs)
    described = DescribedInputs(
        unit=unit,
        class_names=_class_names(certificates, class_names),
        labels=None if labels is None else checked_labels(labels, len(certificates)),
        split=None if split is None else checked_kind(split, Split, "split"),
        names=_input_names(certificates, space) if names is None else _texts(names, "names"),
        texts=_texts(texts, "texts"),
        space=space,
        image_shape=image_shape,
        vocabulary=_texts(vocabulary, "vocabulary"),
        column_names=_own(space, "column_names") if column_names is None else _texts(column_names, "column_names"),
        value_names=_own(space, "value_names") if value_names is None else _lists_of_texts(value_names, "value_names"),
        node_names=_texts(node_names, "node_names"),
        **change_words(certificates, space, entries, image_shape),
    )
    CertifiedInputs(certificates, described).check()
    write_page(path, [section_of(_in_scope(certificates, space), name, described)], checked_flag(force, "force"))


def in_words(
    certificates: Certificate,
    index: int,
    *,
    unit: str | None = None,
    entries: str | None = None,
    class_names: Sequence[str] | None = None,
    inputs: Any = None,
) -> str:
    """What is proved about one input, as a sentence that holds with the probability of the certificates.

    It names one combination of changes that is certified as a whole, never separate maxima.

    Args:
        certificates: what `certify` gave, the proofs of a baseline, or any other `Certificate`.
        index: the number of the input.
        unit: what one input is; by default the votes know: "node", "text", "row" and the like.
        entries: what the attacker adds and deletes, in the plural: "pixels", "words"; by default the votes know.
        class_names: one per class; by default those of the votes, else numbers.
        inputs: the data that were voted on: words of a sequence, for example, are not deleted but blanked.

    Example:
        >>> from flipproof import FlipNoise, Votes, certify
        >>> noise, bag = FlipNoise(p_plus=0.01, p_minus=0.6), [[0, 1, 1, 0, 1, 0, 1, 1, 1]]
        >>> votes = Votes.from_counts(selection=[[2, 98]], estimation=[[10, 990]], noise=noise, inputs=bag)
        >>> print(in_words(certify(votes), 0, unit="message", entries="words"))
        No attacker who adds up to 1 word and deletes up to 4 can change the prediction for this message from 1 to 0.
    """
    checked_certificate(certificates)
    checked_count(index, "index")
    space = None if inputs is None else space_of(inputs)
    described = DescribedInputs(
        unit=unit_of(certificates, space) if unit is None else unit,
        class_names=_class_names(certificates, class_names),
        space=space,
        **change_words(certificates, space, entries),
    )
    CertifiedInputs(certificates, described).check()
    return plain_words(CertifiedInputs(_in_scope(certificates, space), described), index)


def _in_scope(certificates: Certificate, space: Space | None) -> Certificate:
    """The certificates, limited to what their inputs can suffer if the data show it and the votes do not."""
    if not isinstance(certificates, Certificates):
        return certificates
    votes = certificates.votes
    if space is None or votes.scope is not None or votes.on_some:
        return certificates
    scope = scope_of_outputs(space, votes.noise, len(votes))
    if scope is None or not scope.fits(certificates.noise, len(votes)):
        return certificates
    return replace(certificates, votes=replace(votes, scope=scope))


def change_words(
    certificates: Certificate, space: Space | None, entries: str | None, image_shape: tuple[int, ...] | None = None
) -> dict[str, Any]:
    """What an attacker changes, in the words of the data or of the caller, as fields of `DescribedInputs`."""
    if not isinstance(certificates, Certificates):
        return {} if entries is None else {"entries": {axis.part or "": entries for axis in certificates.axes}}
    space_words = getattr(space, "words", None)
    words: dict[str, Any] | None = None if space_words is None else space_words(certificates.noise, entries)
    if words is not None:
        return words
    scope = certificates.votes.scope
    if scope is not None and scope.closes_gaps and (entries is not None or not known_words(certificates)):
        return edit_words(entries or "entries")
    if entries is not None:
        parts = [name for name in certificates.noise.part_names if name is not None]
        return {"entries": {"": entries} | {name: f"{entries} of part {name}" for name in parts}}
    if image_shape is None:
        return known_words(certificates) if space is None else {}
    return image_words(colours=isinstance(image_shape, tuple) and image_shape[2:] not in ((), (1,)))


def _own(space: Space | None, name: str) -> Any:
    """Names that the data themselves have, or None."""
    return getattr(space, name, None)


def _input_names(certificates: Certificate, space: Space | None) -> tuple[str, ...] | None:
    """The names of the inputs that were voted on, if the votes or the data have any."""
    if not isinstance(certificates, Certificates):
        return None
    votes, names = certificates.votes, _own(space, "input_names")
    if votes.input_names is not None or names is None:
        return votes.input_names
    return tuple(names[number] for number in votes.ids) if votes.ids.max(initial=-1) < len(names) else None


def _class_names(certificates: Certificate, given: Sequence[str] | None) -> tuple[str, ...]:
    """The names of classes that the caller gives or, without any, the votes have."""
    own = certificates.votes.class_names if isinstance(certificates, Certificates) else None
    return _texts(given, "class_names") or own or ()


def _texts(given: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    return None if given is None else checked_texts(given, name)


def _lists_of_texts(given: Any, name: str) -> tuple[tuple[str, ...], ...]:
    return tuple(checked_texts(texts, name) for texts in checked_items(given, name, "lists of texts"))
