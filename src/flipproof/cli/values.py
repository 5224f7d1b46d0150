"""From flags to the values that the library takes: task, samples, promise, machine. What is not said suits the data."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flipproof.cli.run_options import CheckOption, MachineOptions, PromiseOptions, VoteOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.datasets.readers.user_files import is_user_file
from flipproof.errors import InvalidInputError, not_among
from flipproof.pipeline.kinds.kind import Kind, checked_task, kind_named, kind_of, readers_of
from flipproof.pipeline.machine import Machine, Samples
from flipproof.pipeline.models import ESTIMATORS
from flipproof.pipeline.steps import wanted_samples
from flipproof.run_folder.finished_run import PromiseSettings
from flipproof.run_folder.task import ModelSpec, PerClass, Reading, Shares, Task
from flipproof.theory.law import FlipNoise, JointNoise, Noise
from flipproof.theory.radii import has_parts


def samples_of(asked: VoteOptions, kind: str, run: Path, force: bool) -> Samples:
    """How many samples to draw for a run folder, new or old, with data of a kind."""
    n_estimate = kind_named(kind).n_estimate if asked.samples is None else asked.samples
    return wanted_samples(run, asked.select_samples, n_estimate, force)


def promise_of(asked: PromiseOptions) -> PromiseSettings:
    """What the certificates promise."""
    return PromiseSettings(asked.alpha, asked.rule, asked.simultaneous)


def machine_of(asked: MachineOptions, checked: CheckOption | None = None) -> Machine:
    """What the command may use, and whether votes are checked."""
    if asked.executor not in ("local", "ray"):
        raise not_among("--executor", ("local", "ray"), asked.executor)
    check = checked is None or not checked.no_check
    use: dict[str, Any] = {
        "device": asked.device, "engine": asked.engine, "timeout": asked.timeout or None, "check": check,
    }  # fmt: skip
    if asked.executor == "local":
        if asked.address is not None:
            raise InvalidInputError(f"--address {asked.address} is only for --executor ray")
        workers = 1 if asked.workers is None else asked.workers or os.cpu_count() or 1
        return Machine(workers, asked.memory, **use)
    if asked.workers is not None:
        raise InvalidInputError("--executor ray uses all CPUs of the cluster; leave out --workers")
    return Machine("ray", asked.memory, address=asked.address, **use)


def task_of(asked: TaskOptions) -> Task:
    """What to train and certify."""
    kind = kind_of(asked.dataset)
    noisy = asked.noise or kind.usual_noise(asked.dataset)
    if noisy not in kind.noises:
        raise not_among("--noise", kind.noises, noisy)
    suits = kind.defaults(noisy, asked.dataset)
    model = asked.model or suits.models[0]
    _check_of_use(asked, kind, model)
    own = is_user_file(asked.dataset)  # known by its whole path, so that later steps find it from anywhere
    task = Task(
        kind=kind.name,
        dataset=str(Path(asked.dataset).resolve()) if own else asked.dataset,
        model=ModelSpec(model, asked.hidden, asked.dropout),
        noisy=noisy,
        noise=_noise(asked, noisy, suits.noise),
        training=replace(suits.training, **_given(asked, asdict(suits.training))),
        split=_split(asked, kind, suits.split),
        reading=_reading(asked, kind),
        inputs=suits.inputs if asked.inputs is None else asked.inputs or None,
        seed=asked.seed,
    )
    return checked_task(task)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_of_use(asked: TaskOptions, kind: Kind, model: str) -> None:
    """Refuses flags that would change nothing."""
    of_no_use, fitted = kind.useless, model in ESTIMATORS
    if fitted:
        of_no_use += ("average", "learning_rate", "weight_decay", "epochs", "patience", "batch_size")
    for name in of_no_use:
        if getattr(asked, name) is not None:
            raise InvalidInputError(f"{_flag(name)} does not apply to {model if fitted else kind.name}; leave it out")


def _given(asked: TaskOptions, names: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}


def _split(asked: TaskOptions, kind: Kind, suits: PerClass | Shares) -> PerClass | Shares:
    other = "share" if suits.flag == "per_class" else "per_class"
    for name in ("train", "validation", "test"):
        if getattr(asked, f"{name}_{other}", None) is not None:
            raise InvalidInputError(f"{_flag(f'{name}_{other}')} does not apply to {kind.name}; leave it out")
    given = {name: getattr(asked, f"{name}_{suits.flag}") for name in asdict(suits)}
    return replace(suits, **{name: value for name, value in given.items() if value is not None})


def _reading(asked: TaskOptions, kind: Kind) -> Reading:
    for name, given in (("threshold", asked.threshold is not None), ("one_hot", asked.one_hot)):
        if given and name not in kind.reading:
            raise InvalidInputError(f"{_flag(name)} is only for {readers_of(name)}, but this dataset has {kind.name}")
    return Reading(asked.threshold, asked.one_hot)


def _noise(asked: TaskOptions, noisy: str, suits: Noise) -> Noise:
    pairs = {"structure": asked.structure_noise, "attributes": asked.attributes_noise}
    if has_parts(suits):
        if (asked.p_plus, asked.p_minus) != (None, None):
            raise InvalidInputError(
                "--noise both takes --structure-noise and --attributes-noise, not --p-plus or --p-minus"
            )
        parts = ((part, pairs.get(part), law) for part, law in suits.flips if part is not None)
        return JointNoise(**{part: law if pair is None else FlipNoise(*pair) for part, pair, law in parts})
    if any(pairs.values()):
        raise InvalidInputError(
            f"--noise {noisy} takes --p-plus and --p-minus, not --structure-noise or --attributes-noise"
        )
    if asked.p_plus is None and asked.p_minus is None:
        return suits
    if asked.p_plus is None or asked.p_minus is None:
        raise InvalidInputError("expected both --p-plus and --p-minus, got only one of them")
    return FlipNoise(asked.p_plus, asked.p_minus)
