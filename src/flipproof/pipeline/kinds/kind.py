"""The seam for kinds of data: a `Kind` is one value, and nothing else in the package asks which kind it has.

Whoever adds a kind writes one file with one `Kind` and calls `register_kind`; see docs/extending.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flipproof.datasets.loading import is_user_file, kind_of_data, load
from flipproof.errors import FileFormatError, InvalidInputError, not_among
from flipproof.noise.laws import Law
from flipproof.pipeline.models import ESTIMATORS
from flipproof.pipeline.prepared import PreparedTask
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.task import PerClass, Shares, SplitFile, Task, TrainingSettings
from flipproof.theory.law import Noise


@dataclass(frozen=True, slots=True)
class NoiseDefaults:
    """Default settings for one way to add noise to data of a kind.

    Attributes:
        noise: the law.
        models: the models that ship for it; the first is the usual one.
        training: how they are trained.
        split: which inputs are for what; its class says how a split is asked for.
        inputs: how many test inputs are certified; None: all.
        words: what gets noise, or how, if "on NAME" does not say it.
    """

    noise: Noise
    models: tuple[str, ...]
    training: TrainingSettings = field(default_factory=TrainingSettings)
    split: PerClass | Shares = field(default_factory=Shares)
    inputs: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of data: what an input is, what may get noise, and how a task becomes something to train and certify.

    Attributes:
        name: of the kind, in the plural: "nodes", "images".
        unit: what one input is.
        noises: what may get noise, with what suits it; the first is the usual one.
        dataset: the class of its datasets, or several.
        prepare: makes a task with its data ready to be trained and certified.
        change_words: what an attacker changes, from the task, the record of the data and the law: fields of a report's
            `DescribedInputs`. The data need not be at hand.
        n_estimate: how many samples bound a probability.
        reading: the fields of `Reading` that are for it.
        chosen: which of "targets" and "split" a user may choose.
        useless: flags of `flipproof train` that would change nothing, as fields of its options.
        suited_to: adapts the defaults of a noise to one dataset.
        first_noise: what gets noise by default, if that depends on the dataset.
        check: refuses tasks for further reasons.
    """

    name: str
    unit: str
    noises: Mapping[str, NoiseDefaults]
    dataset: type | tuple[type, ...]
    prepare: Callable[[Task, Any], PreparedTask]
    change_words: Callable[[Task, DataRecord, Law], Mapping[str, Any]]
    n_estimate: int = 10_000
    reading: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    useless: tuple[str, ...] = ()
    suited_to: Callable[[str, NoiseDefaults, str], NoiseDefaults] = lambda noisy, defaults, dataset: defaults
    first_noise: Callable[[str], str] | None = None
    check: Callable[[Task], None] = lambda task: None

    def defaults(self, noisy: str, dataset: str | None = None) -> NoiseDefaults:
        """The default settings for noise on something: for one dataset, or without one, for data of this kind."""
        if noisy not in self.noises:
            raise not_among("noise", self.noises, noisy)
        found = self.noises[noisy]
        return found if dataset is None else self.suited_to(noisy, found, dataset)

    def usual_noise(self, dataset: str) -> str:
        """What gets noise in a dataset by default."""
        return next(iter(self.noises)) if self.first_noise is None else self.first_noise(dataset)

    def noise_words(self, noisy: str) -> str:
        """What gets noise, or how: "on pixels", "by masking words"."""
        return self.noises[noisy].words or f"on {noisy}"


_KINDS: dict[str, Kind] = {}


def register_kind(kind: Kind) -> None:
    """Makes a kind known to tasks, by its name."""
    _KINDS[kind.name] = kind


def kind_named(name: str) -> Kind:
    """The kind with this name.

    Example:
        >>> kind_named("tables").unit
        'row'
    """
    if name not in _KINDS:
        raise not_among("kind", _KINDS, name)
    return _KINDS[name]


def kinds() -> tuple[Kind, ...]:
    """All kinds that are known."""
    return tuple(_KINDS.values())


def kind_of(dataset: str) -> Kind:
    """The kind of a dataset, by its name or path. Of a file, little is read.

    Example:
        >>> kind_of("mnist").name
        'images'
    """
    return kind_named(kind_of_data(dataset))


def lasting_name(dataset: str) -> str:
    """A dataset as a task keeps it: a name, or the whole path of a file, so that later steps find it from anywhere.

    Example:
        >>> lasting_name("mnist")
        'mnist'
    """
    return str(Path(dataset).resolve()) if is_user_file(dataset) else dataset


def checked_task(task: Task) -> Task:
    """Returns a task that its kind of data can have, or raises.

    Example:
        >>> from flipproof import FlipNoise
        >>> from flipproof.run_folder.task import ModelSpec
        >>> checked_task(Task("nodes", "cora_ml", ModelSpec("gnc"), "structure", FlipNoise(0.1, 0.1)))
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected model to be one of gcn, gat, appnp, FILE.py:NAME, got 'gnc'; did \
you mean gcn?
    """
    kind, model = kind_named(task.kind), task.model
    defaults = kind.defaults(task.noisy)
    if model.name not in defaults.models and not model.own:
        raise not_among("model", (*defaults.models, "FILE.py:NAME"), model.name)
    if model.name in ESTIMATORS and (model.hidden, model.dropout) != (None, None):
        raise InvalidInputError(f"expected no hidden and no dropout for {model.name}, which has neither, got some")
    for name, given in (("targets", task.targets is not None), ("split", isinstance(task.split, SplitFile))):
        if given and name not in kind.chosen:
            having = ", ".join(each.name for each in kinds() if name in each.chosen)
            raise InvalidInputError(f"expected {name} for {having} only, got it for {kind.name}")
    if not isinstance(task.split, type(defaults.split) | SplitFile):
        raise InvalidInputError(f"expected {type(defaults.split).__name__} for {kind.name}, got {task.split!r}")
    for name in task.reading.given:
        if name not in kind.reading:
            raise InvalidInputError(f"expected {name} for {readers_of(name)} only, got it for {kind.name}")
    kind.check(task)
    return task


def readers_of(name: str) -> str:
    """The kinds of data for which a field of `Reading` is there.

    Example:
        >>> readers_of("one_hot")
        'graphs'
    """
    return ", ".join(kind.name for kind in kinds() if name in kind.reading)


def task_in(record: Mapping[str, Any]) -> Task:
    """The task in the sections of a `run.json`, which is not trusted: it may come from anywhere."""
    task = Task.from_record(record["task"])
    try:
        return checked_task(task)
    except (TypeError, AttributeError, InvalidInputError) as error:
        raise FileFormatError(
            f"expected a run.json written by flipproof, got a task that makes no sense: {error}"
        ) from error


def prepared_task(task: Task, download: bool = True) -> PreparedTask:
    """Loads the data of a task and checks that they fit it."""
    kind = kind_named(checked_task(task).kind)
    data: Any = load(task.dataset, download=download, reading=task.reading)
    if not isinstance(data, kind.dataset):
        raise InvalidInputError(f"expected {task.kind}, got {task.dataset}, which is something else")
    return kind.prepare(task, data)
