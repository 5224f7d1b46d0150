"""Why a classifier may have two answers to one noisy input, guessed from how they came about and from its parts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

_RANDOM = ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_edge",
           "dropout_node", "dropout_path", "dropout_adj", "rand", "randn", "rand_like", "randn_like", "randint",
           "randperm", "bernoulli", "multinomial")  # fmt: skip
"""Functions that give something else each time they are called."""


class Way(Enum):
    """In which two ways a noisy input was evaluated."""

    TWICE = "a second time"
    ALONE = "alone instead of among others"
    ELSEWHERE = "among others in another order"
    WHOLE = "on the whole graph instead of the neighbourhood of the targets"
    BY_TORCH = "by the torch module instead of the fused engine"
    AGAIN = "again at the end"


def likely_cause(way: Way, classifier: Any) -> str:
    """What has probably gone wrong, and what to do about it."""
    if way is Way.BY_TORCH:
        return "the fused engine does not compute what the module does: use engine='torch', and please report it"
    if way is Way.WHOLE:
        norm = next(_batch_norms(classifier), None)
        beside = "" if norm is None else f", or {norm} uses statistics of all nodes"
        return f"hops={classifier.hops} is too few for what labels depend on{beside}: raise hops, or leave it out"
    if way in (Way.ALONE, Way.ELSEWHERE):
        return _of_neighbours(classifier)
    call = next(_random_calls(classifier), None)
    if call is not None:
        return f"{call} is random whatever self.training says: F.dropout needs training=self.training"
    return "it is random, or changes as it is used: switch randomness off, and keep nothing from call to call"


def _of_neighbours(classifier: Any) -> str:
    """Why the answer may depend on what else is evaluated."""
    if hasattr(classifier, "module") and hasattr(classifier, "hops"):  # graphs are given to the module one by one
        return "it changes tensors in place that noisy copies share (x.data, x.numpy()): let it work on a clone"
    norm = next(_batch_norms(classifier), None)
    if norm is not None:
        return f"{norm} uses statistics of the batch: train it with track_running_stats=True"
    return (
        "its answer depends on the rest of the batch (batch statistics, a norm that is not given `batch`), or it "
        "changes in place what noisy copies share: let it look at every input by itself"
    )


def _parts(classifier: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a torch module, by name."""
    module: Any = getattr(classifier, "module", None)
    if callable(getattr(module, "named_modules", None)):
        yield from module.named_modules()


def _batch_norms(classifier: Any) -> Iterator[str]:
    """Layers that normalise by the batch, because they have no running statistics."""
    for name, part in _parts(classifier):
        kinds = {kind.__name__ for kind in type(part).__mro__}
        if "_BatchNorm" in kinds and getattr(part, "running_mean", None) is None:
            yield f"{type(part).__name__} {name!r}"


def _random_calls(classifier: Any) -> Iterator[str]:
    """Calls of random functions in the user's own forward methods; those of torch and its friends mind the flag."""
    for _, part in _parts(classifier):
        kind = type(part)
        if kind.__module__.split(".")[0] in ("torch", "torch_geometric", "flipproof"):
            continue
        names = getattr(getattr(kind.forward, "__code__", None), "co_names", ())
        yield from (f"{name}() in {kind.__name__}.forward" for name in names if name in _RANDOM)
