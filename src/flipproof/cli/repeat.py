"""The command that repeats a run."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from flipproof.cli.run_options import PromiseOptions, TaskOptions, VoteOptions


def repeating_command(record: Mapping[str, Any], folder: str) -> str:
    """`flipproof run` with the flags that make the run of this `run.json` again, in a new folder beside it.

    Flags at their defaults are left out.

    Example:
        >>> task = {"dataset": "cora_ml", "noisy": "attributes", "seed": 3,
        ...         "noise": {"p_plus": 0.01, "p_minus": 0.6, "categories": 2}}
        >>> repeating_command({"task": task}, "run")
        'flipproof run --dataset cora_ml --out run-again --p-plus 0.01 --p-minus 0.6 --seed 3'
    """
    task, votes, promise = record["task"], record.get("votes", {}), record.get("certificates", {})
    asked = {
        "dataset": task["dataset"],
        "out": f"{folder}-again",
        "weights": None if task.get("weights") is None else f"{folder}/weights.safetensors",
        "noise": task["noisy"],
        **_noise_flags(task["noise"]),
        **_model_flags(task.get("model", {})),
        **task.get("training", {}),
        **{f"{part}_per_class": count for part, count in task.get("per_class", {}).items()},
        "seed": task["seed"],
        "samples": votes.get("n_estimate"),
        "select_samples": votes.get("n_select"),
        **promise,
    }
    return shlex.join(["flipproof", "run", *_words(asked)])


def _noise_flags(noise: Mapping[str, Any]) -> dict[str, Any]:
    if "parts" in noise:
        return {f"{name}_noise": (part["p_plus"], part["p_minus"]) for name, part in noise["parts"].items()}
    return {"p_plus": noise["p_plus"], "p_minus": noise["p_minus"]}


def _model_flags(model: Mapping[str, Any]) -> dict[str, Any]:
    return {"model" if name == "name" else name: value for name, value in model.items()}


def _words(asked: Mapping[str, Any]) -> Iterator[str]:
    for group in (TaskOptions, VoteOptions, PromiseOptions):
        for field in dataclasses.fields(group):
            value = asked.get(field.name)
            if value is None or value == field.default:
                continue
            yield f"--{field.name.replace('_', '-')}"
            if value is not True:
                yield from map(str, value if isinstance(value, tuple) else (value,))
