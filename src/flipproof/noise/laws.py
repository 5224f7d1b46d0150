"""Data and laws together: the space of the data, its counts, what a law can change, and the sampler for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise import ablation as ablation
from flipproof.noise import gaussian as gaussian
from flipproof.noise.sampling.samplers import Form, Role, Sampler, registered_sampler
from flipproof.noise.sampling.samplers import register_sampler as register_sampler
from flipproof.noise.spaces.given_graphs import space_of_graphs
from flipproof.noise.spaces.images import is_dataset, is_loader, space_of_dataset
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.space import PartCounts, Space
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.texts import Texts
from flipproof.noise.spaces.tokenizing import texts_in
from flipproof.theory.base_law import Law as Law
from flipproof.theory.base_law import law_from_record as law_from_record
from flipproof.theory.base_law import register_law as register_law
from flipproof.theory.law import checked_law
from flipproof.theory.scope import Scope

_ROWS_AT_ONCE = 4096


def space_of(inputs: Any, law: Law | None = None) -> Space:
    """The space of inputs: a space, an array or tensor, a sparse matrix, a data frame, texts, graphs, a torch dataset.

    Example:
        >>> space_of([[0, 1], [1, 1]]).parts
        ('values',)
    """
    if isinstance(inputs, Space):
        return inputs
    if sp.issparse(inputs):
        return SparseRows(inputs)
    if (texts := texts_in(inputs)) is not None:
        return Texts(texts)
    if (table := Table.of_frame(inputs)) is not None:
        return table
    if (graphs := space_of_graphs(inputs, law)) is not None:
        return graphs
    if hasattr(inputs, "to_pandas") or (hasattr(inputs, "columns") and hasattr(inputs, "iloc")):
        got = f"{type(inputs).__module__}.{type(inputs).__name__}"
        raise InvalidInputError(f"expected a data frame of pandas or polars, got {got}: call its to_pandas()")
    if is_loader(inputs):
        raise InvalidInputError(f"expected a dataset, got {type(inputs).__name__}: give its dataset, loader.dataset")
    if is_dataset(inputs):
        found = space_of_dataset(inputs, law)
        return space_of(found, law) if isinstance(found, list) else found
    return DenseRows(inputs)


def checked_any_law(law: Any) -> Law:
    """Returns `law` if votes can be drawn under it, or raises."""
    return checked_law(law, Law, "a FlipNoise or a JointNoise")  # type: ignore[type-abstract]  # no value is made of it


def space_for(inputs: Any, law: Law, tokenizer: Callable[[str], Sequence[str]] | None = None) -> Space:
    """The space of the inputs under a law: a law may choose its own space, as Gaussian noise does for real numbers."""
    if tokenizer is not None:
        return _tokenized(inputs, tokenizer)
    if isinstance(inputs, Space):
        return inputs
    found: Space | None = law.space_of(inputs) if isinstance(law, Law) else None
    return space_of(inputs, law) if found is None else found


def _tokenized(inputs: Any, tokenizer: Callable[[str], Sequence[str]]) -> Texts:
    """Texts that are cut by the user's tokenizer."""
    texts = None if isinstance(inputs, Space) else texts_in(inputs)
    if texts is None:
        advice = "; of a data frame, give one column" if hasattr(inputs, "columns") else ""
        advice = "; give it to the space: Texts(texts, tokenizer=...)" if isinstance(inputs, Space) else advice
        raise InvalidInputError(f"expected a tokenizer only with a list of texts, got {type(inputs).__name__}{advice}")
    return Texts(texts, tokenizer)


def law_for(space: Space, law: Law) -> Law:
    """The law itself, or the one that a space makes of it, such as the same noise in columns of any cardinality."""
    fitted = getattr(space, "law_for", None)
    return law if fitted is None else cast("Law", fitted(law))


def scope_of(space: Space, law: Law) -> Scope | None:
    """What noise can change in each input; None if the law does not count changes or the space has no scope.

    Example:
        >>> from flipproof import DenseRows, FlipNoise
        >>> scope_of(DenseRows([[0, 1, 1], [1, 0, 0]]), FlipNoise(0.1, 0.2)).nonzeros.tolist()
        [[2], [1]]
    """
    scope_under = getattr(space, "scope", None)
    if scope_under is None or not checked_any_law(law).axes:
        return None
    scope: Scope = scope_under(law)
    return scope


def is_joint(space: Space) -> bool:
    """Whether the data form one input that receives many predictions."""
    return bool(getattr(space, "joint", False))


def counts_of(space: Space) -> dict[str, Any]:
    """The kind of a space and the counts of its parts, as JSON values; the counts are empty if the space has none.

    Example:
        >>> from flipproof import DenseRows
        >>> counts_of(DenseRows([[0, 1, 1], [1, 0, 0]]))
        {'kind': 'DenseRows', 'parts': {'values': {'entries': 6, 'nonzero': 3}}}
    """
    counting = getattr(space, "counts", None)
    counts: PartCounts = {} if counting is None else counting()
    parts = {name: counts[name] for name in space.parts if name in counts}
    return {
        "kind": type(space).__name__,
        "parts": {name: {"entries": entries, "nonzero": nonzero} for name, (entries, nonzero) in parts.items()},
    }


def sampler_of(space: Space, law: Law, seed: int) -> Sampler:
    """The sampler of a space under a law: the one registered for the pair, or else the space's own.

    Example:
        >>> sampler_of(gaussian.RealRows([[0.5, 1.0]]), gaussian.GaussianNoise(0.1), seed=0).rows
        1
    """
    make = registered_sampler(law, space)
    return space.sampler(law, seed) if make is None else make(space, law, seed)  # type: ignore[arg-type]


def as_given(sampler: Sampler, drawn: Any) -> Any:
    """Noisy copies in the form in which a model gets them."""
    form: Form | None = getattr(sampler, "form", None)
    return drawn if form is None else form(drawn)


def scope_of_outputs(space: Space, noise: Law, outputs: int, targets: IntArray | None = None) -> Scope | None:
    """What noise can change in the input of each output. All outputs of a joint input, such as a graph, share it."""
    scope = scope_of(space, noise)
    if scope is None:
        return None
    if is_joint(space):
        return scope.selected(np.zeros(outputs, dtype=np.int64))
    return scope if targets is None else scope.selected(targets)


def checked_distance(sampler: Sampler) -> Fraction:
    """The sampler's distance from its law. It is charged to alpha: without it, certificates would say too much."""
    distance: Any = sampler.distance
    if not isinstance(distance, Fraction | int | float) or not 0 <= distance < 1:
        raise InvalidInputError(f"expected the sampler's distance from its law to be in [0, 1), got {distance!r}")
    return cast("Fraction", distance)


def drawn_again(space: Space, law: Law, seed: int, samples: range, rows: IntArray) -> Any:
    """The noisy inputs of some estimation samples and rows, as a run with this seed has drawn them."""
    return sampler_of(space, law, seed).draw(Role.ESTIMATE, samples, rows)


def clean_batches(space: Space, law: Law) -> Iterator[Any]:
    """The inputs themselves, given to a model as noisy ones are, a few thousand rows at a time."""
    sampler = sampler_of(space, law.without_noise(), 0)
    for start in range(0, sampler.rows, _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, sampler.rows))
        yield as_given(sampler, sampler.draw(Role.ESTIMATE, range(1), rows))
