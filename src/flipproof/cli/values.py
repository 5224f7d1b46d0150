"""From flags to the values that the library takes: task, promise and machine. Defaults suit the data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from flipproof.cli.run_options import CheckOption, MachineOptions, PromiseOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.errors import InvalidInputError, not_among
from flipproof.pipeline.kinds.kind import Kind, checked_task, kind_of, lasting_name, readers_of
from flipproof.pipeline.machine import Machine
from flipproof.pipeline.models import ESTIMATORS
from flipproof.run_folder.task import ModelSpec, PerClass, Reading, Shares, Task
from flipproof.smoothing.certify import PromiseSettings
from flipproof.theory.law import FlipNoise, JointNoise, Noise
from flipproof.theory.radii import has_parts


def promise_of(flags: PromiseOptions) -> PromiseSettings:
    """What the certificates promise."""
    return PromiseSettings(flags.alpha, flags.rule, flags.simultaneous)


def machine_of(flags: MachineOptions, check_flags: CheckOption | None = None) -> Machine:
    """What the command may use, and whether votes are checked."""
    if flags.executor not in ("local", "ray"):
        raise not_among("--executor", ("local", "ray"), flags.executor)
    check = check_flags is None or not check_flags.no_check
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
        training=replace(defaults.training, **_given(flags, asdict(defaults.training))),
        split=_split(flags, kind, defaults.split),
        reading=_reading(flags, kind),
        inputs=defaults.inputs if flags.inputs is None else flags.inputs or None,
        seed=flags.seed,
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


def _given(flags: TaskOptions, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(flags, name) for name in names if getattr(flags, name) is not None}


def _split(flags: TaskOptions, kind: Kind, defaults: PerClass | Shares) -> PerClass | Shares:
    other = "share" if defaults.flag == "per_class" else "per_class"
    for name in ("train", "validation", "test"):
        if getattr(flags, f"{name}_{other}", None) is not None:
            raise InvalidInputError(f"{_flag(f'{name}_{other}')} does not apply to {kind.name}; leave it out")
    given = {name: getattr(flags, f"{name}_{defaults.flag}") for name in asdict(defaults)}
    return replace(defaults, **{name: value for name, value in given.items() if value is not None})


def _reading(flags: TaskOptions, kind: Kind) -> Reading:
    for name, given in (("threshold", flags.threshold is not None), ("one_hot", flags.one_hot)):
        if given and name not in kind.reading:
            raise InvalidInputError(f"{_flag(name)} is only for {readers_of(name)}, but this dataset has {kind.name}")
    return Reading(flags.threshold, flags.one_hot)


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
