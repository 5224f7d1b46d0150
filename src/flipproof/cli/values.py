"""From flags to the values that the library takes (task, promise, machine), and from a finished task back to flags.

Defaults suit the data.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from flipproof.cli.run_options import MachineOptions, PromiseOptions, VoteOptions
from flipproof.cli.table_values import bins_of, listed, reading_flags, targets_of, targets_words
from flipproof.cli.task_options import TaskOptions
from flipproof.errors import FileFormatError, InvalidInputError, not_among
from flipproof.pipeline.kinds.kind import Kind, checked_task, kind_named, kind_of, lasting_name, readers_of
from flipproof.pipeline.models import ESTIMATORS
from flipproof.pipeline.steps import Machine, Samples
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.reading import Reading
from flipproof.run_folder.task import ModelSpec, PerClass, Shares, SplitFile, Task, TrainingSettings
from flipproof.smoothing.certify import PromiseSettings
from flipproof.theory.law import FlipNoise, JointNoise, Noise
from flipproof.theory.radii import has_parts

_OFF = {"header": "--no-header"}
_Settings = TypeVar("_Settings", bound=TrainingSettings | PerClass | Shares)


def promise_of(flags: PromiseOptions) -> PromiseSettings:
    """What the certificates promise."""
    return PromiseSettings(flags.alpha, flags.rule, flags.simultaneous)


def machine_of(flags: MachineOptions, check: bool = True) -> Machine:
    """What the command may use, and whether votes are checked."""
    if flags.executor not in ("local", "ray"):
        raise not_among("--executor", ("local", "ray"), flags.executor)
    use: dict[str, Any] = {
        "device": flags.device, "engine": flags.engine, "timeout": flags.timeout or None, "check": check,
    }  # fmt: skip
    if flags.executor == "local":
        if flags.address is not None:
            raise InvalidInputError(f"--address {flags.address} is only for --executor ray")
        workers = 1 if flags.workers is None else flags.workers or os.cpu_count() or 1
        return Machine(workers, flags.memory, **use)
    if flags.workers is not None:
        raise InvalidInputError("--executor ray uses all CPUs of the cluster; leave out --workers")
    return Machine("ray", flags.memory, address=flags.address, **use)


def task_of(flags: TaskOptions) -> Task:
    """What to train and certify."""
    kind = kind_of(flags.dataset)
    noisy = flags.noise or kind.usual_noise(flags.dataset)
    if noisy not in kind.noises:
        raise not_among("--noise", kind.noises, noisy)
    defaults = kind.defaults(noisy, flags.dataset)
    model = flags.model or defaults.models[0]
    _check_applicable(flags, kind, model)
    task = Task(
        kind=kind.name,
        dataset=lasting_name(flags.dataset),
        model=ModelSpec(model, flags.hidden, flags.dropout),
        noisy=noisy,
        noise=_noise(flags, noisy, defaults.noise),
        training=_with_given(defaults.training, flags),
        split=_split(flags, kind, defaults.split),
        reading=_reading(flags, kind),
        inputs=(None if flags.targets else defaults.inputs) if flags.inputs is None else flags.inputs or None,
        seed=flags.seed,
        targets=targets_of(flags.targets),
    )
    return checked_task(task)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_applicable(flags: TaskOptions, kind: Kind, model: str) -> None:
    """Refuses flags that would change nothing."""
    inapplicable, fitted = kind.useless, model in ESTIMATORS
    if fitted:
        inapplicable += ("average", "learning_rate", "weight_decay", "epochs", "patience", "batch_size")
    for name in inapplicable:
        if getattr(flags, name) is not None:
            raise InvalidInputError(f"{_flag(name)} does not apply to {model if fitted else kind.name}; leave it out")


def _with_given(defaults: _Settings, flags: TaskOptions, suffix: str = "") -> _Settings:
    """Settings, changed by the flags that are given; a flag has the name of a field and maybe a suffix."""
    given = {name: getattr(flags, f"{name}{suffix}") for name in asdict(defaults)}
    return replace(defaults, **{name: value for name, value in given.items() if value is not None})


def _split(flags: TaskOptions, kind: Kind, defaults: PerClass | Shares) -> PerClass | Shares | SplitFile:
    other = "share" if defaults.flag == "per_class" else "per_class"
    for name in ("train", "validation", "test"):
        if getattr(flags, f"{name}_{other}", None) is not None:
            raise InvalidInputError(f"{_flag(f'{name}_{other}')} does not apply to {kind.name}; leave it out")
    chosen = _with_given(defaults, flags, f"_{defaults.flag}")
    if flags.split is None:
        return chosen
    if chosen != defaults:
        raise InvalidInputError(f"--split {flags.split} says which inputs are for what; leave out shares and numbers")
    return SplitFile(str(flags.split.resolve()))


def _reading(flags: TaskOptions, kind: Kind) -> Reading:
    found = Reading(
        threshold=flags.threshold,
        one_hot=flags.one_hot,
        label=flags.label,
        drop=listed(flags.drop),
        fixed=listed(flags.fixed),
        bins=bins_of(flags.bins),
        header=flags.header,
        separator={"\\t": "\t", "tab": "\t"}.get(flags.separator or "", flags.separator),
    )
    for name in found.given:
        if name not in kind.reading:
            raise InvalidInputError(f"{_flag(name)} is only for {readers_of(name)}, but this dataset has {kind.name}")
    return found


def _noise(flags: TaskOptions, noisy: str, default: Noise) -> Noise:
    pairs = {"structure": flags.structure_noise, "attributes": flags.attributes_noise}
    if not any(pairs.values()) and flags.p_plus is None and flags.p_minus is None:
        return default
    if has_parts(default):
        if (flags.p_plus, flags.p_minus) != (None, None):
            raise InvalidInputError(
                "--noise both takes --structure-noise and --attributes-noise, not --p-plus or --p-minus"
            )
        parts = ((part, pairs.get(part), law) for part, law in default.flips if part is not None)
        return JointNoise(**{part: law if pair is None else FlipNoise(*pair) for part, pair, law in parts})
    if any(pairs.values()):
        raise InvalidInputError(
            f"--noise {noisy} takes --p-plus and --p-minus, not --structure-noise or --attributes-noise"
        )
    if flags.p_plus is None or flags.p_minus is None:
        raise InvalidInputError("expected both --p-plus and --p-minus, got only one of them")
    return FlipNoise(flags.p_plus, flags.p_minus)


def repeating(run: FinishedRun) -> str:
    """The command that makes a finished run again."""
    record = {"task": run.task_record, "votes": asdict(run.votes), "certificates": run.promise}
    return repeating_command(record, run.folder.path.resolve().name)


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
    flags = {
        "dataset": task["dataset"],
        "out": f"{folder}-again",
        "weights": None if task.get("weights") is None else f"{folder}/weights.safetensors",
        **_non_default_flags(task),
        **reading_flags(task.get("reading", {})),
        "targets": targets_words(task.get("targets")),
        "seed": task["seed"],
        "samples": None if votes.get("n_estimate") == kind_named(task["kind"]).n_estimate else votes.get("n_estimate"),
        "select_samples": None if votes.get("n_select") == Samples().n_select else votes.get("n_select"),
        **promise,
    }
    return shlex.join(["flipproof", "run", *_words(flags)])


def _non_default_flags(task: Mapping[str, Any]) -> dict[str, Any]:
    """The flags that differ from the defaults for the data."""
    kind, noisy = kind_named(task["kind"]), task["noisy"]
    try:
        defaults, default_noisy = kind.defaults(noisy, task["dataset"]), kind.usual_noise(task["dataset"])
        training = asdict(defaults.training)
    except FileFormatError:  # the user's own images are gone and so are the defaults for them: name every flag
        defaults, default_noisy, training = kind.defaults(noisy), "", {}
    model, inputs = dict(task.get("model", {})), task.get("inputs", defaults.inputs)
    name = model.pop("name", None)
    return {
        "model": None if name == defaults.models[0] else name,
        **model,
        "noise": None if noisy == default_noisy else noisy,
        **_noise_flags(task["noise"], defaults.noise),
        **_other(task.get("training", {}), training),
        "split": task.get("split", {}).get("file"),
        **{
            f"{part}_{defaults.split.flag}": value
            for part, value in _other(task.get("split", {}), asdict(defaults.split)).items()
        },
        "inputs": None if inputs == defaults.inputs else inputs or 0,
    }


def _other(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value != known.get(name)}


def _noise_flags(noise: Mapping[str, Any], default: Noise) -> dict[str, Any]:
    """Both probabilities of the noise, or of each part of a graph. The parts of a table share one noise."""
    parts = noise.get("parts", {"": noise})
    pairs = {name: (part["p_plus"], part["p_minus"]) for name, part in parts.items()}
    defaults = getattr(default, "parts", {"": default})
    default_pairs = {name: (part.p_plus, part.p_minus) for name, part in defaults.items()}
    if set(pairs) == {"structure", "attributes"}:
        return {f"{name}_noise": pair for name, pair in pairs.items() if pair != default_pairs.get(name)}
    p_plus, p_minus = next(iter(pairs.values()))
    return {} if (p_plus, p_minus) == default_pairs.get("") else {"p_plus": p_plus, "p_minus": p_minus}


def _words(flags: Mapping[str, Any]) -> Iterator[str]:
    for group in (TaskOptions, VoteOptions, PromiseOptions):
        for field in fields(group):
            value = flags.get(field.name)
            if value is None or value == field.default:
                continue
            if isinstance(value, list):  # a flag that may be given several times
                yield from (word for each in value for word in (_flag(field.name), each))
                continue
            yield _flag(field.name) if value is not False else _OFF.get(field.name, f"--not-{field.name}")
            if value is not True and value is not False:
                yield from map(str, value if isinstance(value, tuple) else (value,))
