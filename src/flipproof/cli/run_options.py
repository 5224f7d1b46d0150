"""The flags of `train`, `vote`, `certify` and `run`, and the values they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.errors import InvalidInputError

if TYPE_CHECKING:
    from flipproof.experiments.node_task import NodeTask
    from flipproof.experiments.steps import Machine, Samples
    from flipproof.smoothing.run_certificates import Promise
    from flipproof.theory.law import FlipNoise, Noise

_USUAL = {"attributes": (0.01, 0.6), "structure": (0.001, 0.4)}
_USUAL_BOTH = {"attributes": (2e-5, 0.6), "structure": (2e-5, 0.4)}
"""The settings of the paper's figures."""
_TRAINING, _MODEL, _NOISE, _MACHINE = "Training", "Model and data", "Noise", "Machine"
_VOTES, _PROMISE = "Votes", "Promise"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What to train."""

    dataset: Annotated[str, typer.Option(help="See flipproof datasets; or a saved NAME.npz.", rich_help_panel=_MODEL)]
    out: Annotated[Path, typer.Option(help="The run folder to make.", rich_help_panel=_MODEL)]
    model: Annotated[
        str, typer.Option(help="gcn, gat, appnp, or your own as FILE.py:NAME.", rich_help_panel=_MODEL)
    ] = "gcn"
    hidden: Annotated[
        int | None, typer.Option(help="Size of the hidden layer, for gat of each head.", rich_help_panel=_MODEL)
    ] = None
    dropout: Annotated[float | None, typer.Option(help="Dropout in training.", rich_help_panel=_MODEL)] = None
    weights: Annotated[
        Path | None, typer.Option(help="Weights trained elsewhere, instead of training.", rich_help_panel=_MODEL)
    ] = None
    noise: Annotated[str, typer.Option(help="On attributes, structure or both.", rich_help_panel=_NOISE)] = "attributes"
    p_plus: Annotated[float | None, typer.Option(help="Probability that a zero flips.", rich_help_panel=_NOISE)] = None
    p_minus: Annotated[float | None, typer.Option(help="Probability that a one flips.", rich_help_panel=_NOISE)] = None
    structure_noise: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="P_PLUS P_MINUS", help="For --noise both.", rich_help_panel=_NOISE),
    ] = None
    attributes_noise: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="P_PLUS P_MINUS", help="For --noise both.", rich_help_panel=_NOISE),
    ] = None
    noisy_samples: Annotated[
        int, typer.Option(help="Noisy graphs per training step; 0 trains without noise.", rich_help_panel=_TRAINING)
    ] = 1
    average: Annotated[
        str, typer.Option(help="Average log-softmax or softmax over them.", rich_help_panel=_TRAINING)
    ] = "log-softmax"
    learning_rate: Annotated[float, typer.Option(help="Of Adam.", rich_help_panel=_TRAINING)] = 1e-3
    weight_decay: Annotated[float, typer.Option(help="Of Adam.", rich_help_panel=_TRAINING)] = 1e-3
    epochs: Annotated[int, typer.Option(help="At most.", rich_help_panel=_TRAINING)] = 3000
    patience: Annotated[
        int,
        typer.Option(help="Epochs without a lower validation loss before training stops.", rich_help_panel=_TRAINING),
    ] = 50
    train_per_class: Annotated[int, typer.Option(help="Training nodes of every class.", rich_help_panel=_TRAINING)] = 20
    validation_per_class: Annotated[
        int, typer.Option(help="Validation nodes of every class.", rich_help_panel=_TRAINING)
    ] = 20
    seed: Annotated[int, typer.Option(help="Of split, weights and all noise.", rich_help_panel=_TRAINING)] = 0

    def task(self) -> NodeTask:
        """The value that the flags stand for."""
        from flipproof.experiments.model_spec import ModelSpec
        from flipproof.experiments.node_task import NodeTask, PerClass
        from flipproof.models.training_settings import TrainingSettings

        own = self.dataset.endswith(".npz")  # known by its whole path, so that later steps find it from anywhere
        return NodeTask(
            dataset=str(Path(self.dataset).resolve()) if own else self.dataset,
            model=ModelSpec(self.model, self.hidden, self.dropout),
            noisy=self.noise,
            noise=self._noise(),
            training=TrainingSettings(
                self.noisy_samples, self.average, self.learning_rate, self.weight_decay, self.epochs, self.patience
            ),
            per_class=PerClass(self.train_per_class, self.validation_per_class),
            seed=self.seed,
        )

    def _noise(self) -> Noise:
        from flipproof.theory.law import FlipNoise, JointNoise

        single = (self.p_plus, self.p_minus) != (None, None)
        pairs = {"structure": self.structure_noise, "attributes": self.attributes_noise}
        if self.noise == "both":
            if single:
                raise InvalidInputError(
                    "expected --structure-noise and --attributes-noise for --noise both, got --p-plus or --p-minus"
                )
            return JointNoise(**{part: FlipNoise(*(pair or _USUAL_BOTH[part])) for part, pair in pairs.items()})
        if any(pairs.values()):
            raise InvalidInputError(
                f"expected --p-plus and --p-minus for --noise {self.noise}, got the flags of --noise both"
            )
        if self.noise not in _USUAL:
            raise InvalidInputError(f"expected --noise to be attributes, structure or both, got {self.noise!r}")
        return self._single(*_USUAL[self.noise])

    def _single(self, p_plus: float, p_minus: float) -> FlipNoise:
        from flipproof.theory.law import FlipNoise

        if (self.p_plus is None) != (self.p_minus is None):
            raise InvalidInputError("expected --p-plus and --p-minus, got only one of them")
        return FlipNoise(
            p_plus if self.p_plus is None else self.p_plus, p_minus if self.p_minus is None else self.p_minus
        )


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """How many votes."""

    samples: Annotated[int, typer.Option(help="Samples that bound the probability.", rich_help_panel=_VOTES)] = 100_000
    select_samples: Annotated[int, typer.Option(help="Samples that choose the label.", rich_help_panel=_VOTES)] = 1_000

    def values(self) -> Samples:
        """The value that the flags stand for."""
        from flipproof.experiments.steps import Samples

        return Samples(self.select_samples, self.samples)


@dataclass(frozen=True, slots=True)
class PromiseOptions:
    """What certificates promise."""

    alpha: Annotated[float, typer.Option(help="Probability that a certificate is wrong.", rich_help_panel=_PROMISE)] = (
        0.01
    )
    rule: Annotated[str, typer.Option(help='"multi-class" or "two-class".', rich_help_panel=_PROMISE)] = "multi-class"
    simultaneous: Annotated[
        bool,
        typer.Option("--simultaneous", help="Promise for all inputs at once, not for each.", rich_help_panel=_PROMISE),
    ] = False

    def promise(self) -> Promise:
        """The value that the flags stand for."""
        from flipproof.smoothing.run_certificates import Promise

        return Promise(self.alpha, self.rule, self.simultaneous)


@dataclass(frozen=True, slots=True)
class ModelOption:
    """Which model a run has."""

    model: Annotated[
        str | None, typer.Option(help="FILE.py:NAME again, if the model is your own.", rich_help_panel=_MODEL)
    ] = None


@dataclass(frozen=True, slots=True)
class MemoryOption:
    """What a command may use of the memory."""

    memory: Annotated[str, typer.Option(help="What a noisy sample may take.", rich_help_panel=_MACHINE)] = "2GB"

    def machine(self) -> Machine:
        """The value that the flags stand for."""
        from flipproof.experiments.steps import Machine

        return Machine(memory_limit=self.memory)


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """What a command may use."""

    workers: Annotated[
        int, typer.Option(help="Processes that vote, one thread each; 0: one per core.", rich_help_panel=_MACHINE)
    ] = 1
    memory: Annotated[
        str, typer.Option(help="What noisy samples may take, for each worker.", rich_help_panel=_MACHINE)
    ] = "2GB"

    def machine(self) -> Machine:
        """The value that the flags stand for."""
        import os

        from flipproof.experiments.steps import Machine

        return Machine(self.workers or os.cpu_count() or 1, self.memory)


@dataclass(frozen=True, slots=True)
class ForceOption:
    """Whether to overwrite."""

    force: Annotated[bool, typer.Option("--force", help="Give up what is in the folder and start again.")] = False


@dataclass(frozen=True, slots=True)
class ReportOption:
    """Whether to draw."""

    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html and figures at the end.")] = (
        True
    )


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How to answer."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False
