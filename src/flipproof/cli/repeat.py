"""The command that repeats a run."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from flipproof.cli.run_options import PromiseOptions, VoteOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.errors import FileFormatError
from flipproof.pipeline.kinds.kind import kind_named
from flipproof.pipeline.machine import Samples


def repeating_command(record: Mapping[str, Any], folder: str) -> str:
    """`flipproof run` with the flags that make the run of this `run.json` again, in a new folder beside it.

    Flags at their defaults are left out.

    Example:
        >>> task = {"kind": "nodes", "dataset": "cora_ml", "noisy": "attributes", "seed": 3,
        ...         "noise": {"p_plus": 0.02, "p_minus": 0.6, "categories": 2}}
        >>> repeating_command({"task": task}, "run")
        'flipproof run --dataset cora_ml --out run-again --p-plus 0.02 --p-minus 0.6 --seed 3'
    """
    task, votes, promise = record["task"], record.get("votes", {}), record.get("certificates", {})
    asked = {
        "dataset": task["dataset"],
        "out": f"{folder}-again",
        "weights": None if task.get("weights") is None else f"{folder}/weights.safetensors",
        **_unusual(task),
        **task.get("reading", {}),
        "seed": task["seed"],
        "samples": None if votes.get("n_estimate") == kind_named(task["kind"]).n_estimate else votes.get("n_estimate"),
        "select_samples": None if votes.get("n_select") == Samples().n_select else votes.get("n_select"),
        **promise,
    }
    return shlex.join(["flipproof", "run", *_words(asked)])


def _unusual(task: Mapping[str, Any]) -> dict[str, Any]:
    """The flags of what differs from what suits the data."""
    kind, noisy = kind_named(task["kind"]), task["noisy"]
    try:
        suits, suits_noise = kind.defaults(noisy, task["dataset"]), kind.usual_noise(task["dataset"])
        training = dataclasses.asdict(suits.training)
    except FileFormatError:  # images of the user's own that are gone: what suited them is unknown, so all is said
        suits, suits_noise, training = kind.defaults(noisy), "", {}
    model, inputs = dict(task.get("model", {})), task.get("inputs", suits.inputs)
    name = model.pop("name", None)
    return {
        "model": None if name == suits.models[0] else name,
        **model,
        "noise": None if noisy == suits_noise else noisy,
        **_noise_flags(task["noise"], suits.noise),
        **_other(task.get("training", {}), training),
        **{
            f"{part}_{suits.split.flag}": value
            for part, value in _other(task.get("split", {}), dataclasses.asdict(suits.split)).items()
        },
        "inputs": None if inputs == suits.inputs else inputs or 0,
    }


def _other(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value != known.get(name)}


def _noise_flags(noise: Mapping[str, Any], suits: Any) -> dict[str, Any]:
    """Both probabilities of a single law, or of every part of a graph. The parts of a table share one law."""
    parts = noise.get("parts", {"": noise})
    pairs = {name: (part["p_plus"], part["p_minus"]) for name, part in parts.items()}
    usual = {name: (part.p_plus, part.p_minus) for name, part in getattr(suits, "parts", {"": suits}).items()}
    if set(pairs) == {"structure", "attributes"}:
        return {f"{name}_noise": pair for name, pair in pairs.items() if pair != usual.get(name)}
    p_plus, p_minus = next(iter(pairs.values()))
    return {} if (p_plus, p_minus) == usual.get("") else {"p_plus": p_plus, "p_minus": p_minus}


def _words(asked: Mapping[str, Any]) -> Iterator[str]:
    for group in (TaskOptions, VoteOptions, PromiseOptions):
        for field in dataclasses.fields(group):
            value = asked.get(field.name)
            if value is None or value == field.default:
                continue
            yield f"--{field.name.replace('_', '-')}" if value is not False else f"--not-{field.name}"
            if value is not True and value is not False:
                yield from map(str, value if isinstance(value, tuple) else (value,))
