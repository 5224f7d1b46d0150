"""A noise as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipproof.noise.ablation import AblationNoise
from flipproof.noise.gaussian import GaussianNoise
from flipproof.noise.laws import AnyNoise
from flipproof.theory.law import FlipNoise, JointNoise, Noise


def noise_record(noise: AnyNoise) -> dict[str, Any]:
    """The noise as JSON values; floats keep all their digits."""
    if isinstance(noise, AblationNoise):
        return {"ablation": {"entries": noise.entries, "kept": noise.kept}}
    if isinstance(noise, GaussianNoise):
        return {"gaussian": {"sigma": noise.sigma}}
    if isinstance(noise, JointNoise):
        return {"parts": {name: noise_record(part) for name, part in noise}}
    return {"p_plus": noise.p_plus, "p_minus": noise.p_minus, "categories": noise.categories}


def any_noise_from_record(record: Mapping[str, Any]) -> AnyNoise:
    """The inverse of `noise_record`."""
    if "ablation" in record:
        return AblationNoise(**record["ablation"])
    return GaussianNoise(**record["gaussian"]) if "gaussian" in record else noise_from_record(record)


def noise_from_record(record: Mapping[str, Any]) -> Noise:
    """Reads the record of a noise that flips every entry by itself."""
    if "parts" in record:
        return JointNoise(**{name: FlipNoise(**part) for name, part in record["parts"].items()})
    return FlipNoise(**record)
