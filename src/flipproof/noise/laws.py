"""All laws under which votes can be drawn, and the samplers that draw them."""

from __future__ import annotations

from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.noise.ablation import AblationNoise, ablation_sampler
from flipproof.noise.gaussian import GaussianNoise, GaussianSampler, RealRows
from flipproof.noise.sampling.samplers import Sampler, Stream
from flipproof.noise.spaces.recognition import space_of
from flipproof.noise.spaces.space import Space
from flipproof.theory.law import Noise, without_flips
from flipproof.theory.scope import Scope

OtherNoise = AblationNoise | GaussianNoise
"""Laws with certificates of their own, in `flipproof.baselines`."""

AnyNoise = Noise | OtherNoise


def space_for(inputs: Any, noise: AnyNoise) -> Space:
    """The space of some data, which depends on the noise: only Gaussian noise takes numbers as they are."""
    if isinstance(noise, GaussianNoise) and not isinstance(inputs, Space):
        return RealRows(inputs)
    return space_of(inputs)


def without_noise(noise: AnyNoise) -> AnyNoise:
    """The law of the same kind that leaves inputs as they are.

    Example:
        >>> without_noise(AblationNoise(entries=10, kept=2))
        AblationNoise(entries=10, kept=10)
    """
    if isinstance(noise, AblationNoise):
        return AblationNoise(noise.entries, noise.entries)
    if isinstance(noise, GaussianNoise):
        return GaussianNoise(1e-300)  # which no float32 number shows
    return without_flips(noise)


def scope_of(space: Space, noise: AnyNoise) -> Scope | None:
    """What noise can touch in every input; None where flips are not counted, or the space does not say.

    Example:
        >>> from flipproof import DenseRows, FlipNoise
        >>> scope_of(DenseRows([[0, 1, 1], [1, 0, 0]]), FlipNoise(0.1, 0.2)).nonzeros.tolist()
        [[2], [1]]
    """
    own = getattr(space, "scope", None)
    if isinstance(noise, OtherNoise) or own is None:
        return None
    scope: Scope = own(noise)
    return scope


def sampler_of(space: Space, noise: AnyNoise, seed: int) -> Sampler:
    """Draws noisy copies of a space under any law.

    Example:
        >>> sampler_of(RealRows([[0.5, 1.0]]), GaussianNoise(0.1), seed=0).rows
        1
    """
    if isinstance(noise, AblationNoise):
        return ablation_sampler(space, noise, seed)
    if isinstance(noise, GaussianNoise):
        if not isinstance(space, RealRows):
            raise InvalidInputError(f"expected RealRows for Gaussian noise, got {type(space).__name__}")
        return GaussianSampler(space.values, noise, Stream(seed))
    return space.sampler(noise, seed)
