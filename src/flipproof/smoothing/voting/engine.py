"""How labels come about: the classifier is given noisy inputs, or draws them itself while it evaluates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from flipproof.base.arguments import one_of
from flipproof.base.arrays import FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role, Sampler

FUSED, TORCH = "fused", "torch"


class FusedLabels(Protocol):
    """Labels of noisy samples that are never made as a whole."""

    @property
    def version(self) -> int:
        """Changes when the same network begins to give another label to the same noisy input."""

    @property
    def bytes_per_sample(self) -> int:
        """About how much memory a sample of a chunk takes."""

    @property
    def working_bytes(self) -> int:
        """About how much memory is needed besides, however many samples there are."""

    def __call__(self, role: Role, samples: range) -> IntArray:
        """Labels [samples, outputs]; those of the noisy inputs that the sampler draws."""

    def scores(self, role: Role, samples: range) -> FloatArray:
        """The numbers [samples, outputs, classes] behind the labels."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What evaluates a chunk.

    Attributes:
        name: "fused", "torch", or None for a classifier that needs no torch.
        fused: gives the labels, if the engine is fused.
    """

    name: str | None = None
    fused: FusedLabels | None = None

    @property
    def version(self) -> int | None:
        """That of fused evaluation; a classifier that is called is known by itself."""
        return None if self.fused is None else self.fused.version


def check_engine(name: str | None) -> None:
    """Refuses an engine that there is not."""
    if name is not None:
        one_of((FUSED, TORCH), name, "engine")


def engine_for(classifier: Any, sampler: Sampler, asked: str | None) -> Engine:
    """The engine that was asked for, or the fastest one.

    A classifier that is a torch module says so by an attribute `engine`, and may have a method `fused` that gives the
    `FusedLabels` of a sampler, or the reason why there are none.
    """
    check_engine(asked)
    own, name = TORCH if getattr(classifier, "engine", None) == TORCH else None, type(classifier).__name__
    if asked == TORCH and own != TORCH:
        raise InvalidInputError(f"expected a classifier that is a torch module for engine='torch', got {name}")
    offer: Any = f"it is for GCN, APPNP and GAT of flipproof, not for {name}"
    if own == TORCH and asked != TORCH and hasattr(classifier, "fused"):
        offer = classifier.fused(sampler)
    if not isinstance(offer, str):
        return Engine(FUSED, offer)
    if asked == FUSED:
        raise InvalidInputError(f"expected a network that the fused engine can evaluate, got another: {offer}")
    return Engine(own)
