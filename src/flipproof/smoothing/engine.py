"""How labels come about: the classifier is given noisy inputs, or draws them itself while it evaluates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from flipproof.errors import InvalidInputError, not_among
from flipproof.noise.sampling import Role, Sampler
from flipproof.theory.arrays import IntArray

FUSED, TORCH = "fused", "torch"


class FusedLabels(Protocol):
    """Labels of noisy samples that are never made as a whole."""

    @property
    def bytes_per_sample(self) -> int:
        """About how much memory a sample of a chunk takes."""

    def __call__(self, role: Role, samples: range) -> IntArray:
        """Labels [samples, outputs]; those of the noisy inputs that the sampler draws."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What evaluates a chunk.

    Attributes:
        name: "fused", "torch", or None for a classifier that needs no torch.
        fused: gives the labels, if the engine is fused.
    """

    name: str | None = None
    fused: FusedLabels | None = None


def check_engine(name: str | None) -> None:
    """Refuses an engine that there is not."""
    if name not in (None, FUSED, TORCH):
        raise not_among("engine", (FUSED, TORCH), name)


def engine_for(classifier: Any, sampler: Sampler, asked: str | None) -> Engine:
    """The engine that was asked for, or the fastest one.

    A classifier may have an attribute `engine`, the name of the one it uses by itself, and a method `fused` that
    gives the `FusedLabels` of a sampler, or the reason why there are none.
    """
    check_engine(asked)
    own, name = getattr(classifier, "engine", None), type(classifier).__name__
    if asked == TORCH and own != TORCH:
        raise InvalidInputError(f"expected a classifier that is a torch module for engine='torch', got {name}")
    offer = classifier.fused(sampler) if hasattr(classifier, "fused") and asked != TORCH else f"of {name} there is none"
    if not isinstance(offer, str):
        return Engine(FUSED, offer)
    if asked == FUSED:
        raise InvalidInputError(f"expected a classifier with fused evaluation for engine='fused', got none: {offer}")
    return Engine(own)
