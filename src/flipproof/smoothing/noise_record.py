"""A noise as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipproof.theory.law import FlipNoise, JointNoise, Noise


def noise_record(noise: Noise) -> dict[str, Any]:
    """The noise as JSON values; floats keep all their digits."""
    if isinstance(noise, JointNoise):
        return {"parts": {name: noise_record(part) for name, part in noise}}
    return {"p_plus": noise.p_plus, "p_minus": noise.p_minus, "categories": noise.categories}


def noise_from_record(record: Mapping[str, Any]) -> Noise:
    """The inverse of `noise_record`."""
    if "parts" in record:
        return JointNoise(**{name: FlipNoise(**part) for name, part in record["parts"].items()})
    return FlipNoise(**record)
