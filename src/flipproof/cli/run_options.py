"""The flags of `vote`, `certify` and `run`, and the values they stand for; see task_options for those of `train`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from flipproof.pipeline.machine import Machine, Samples
    from flipproof.run_folder.certified import PromiseSettings

DEFAULT_TIMEOUT = 3600.0
"""As `vote` has it; to import that takes a while."""

_MODEL, _MACHINE, _VOTES, _PROMISE = "Model and data", "Machine", "Votes", "Promise"


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """How many votes."""

    samples: Annotated[
        int | None,
        typer.Option(
            help="Samples that bound the probability; by default 100,000 for nodes, 10,000 else.",
            rich_help_panel=_VOTES,
        ),
    ] = None
    select_samples: Annotated[
        int | None,
        typer.Option(
            help="Samples that choose the label; by default as many as the run has, or 1,000.", rich_help_panel=_VOTES
        ),
    ] = None

    def values(self, kind: str, run: Path, force: bool) -> Samples:
        """The value that the flags stand for, for a run folder, new or old, with data of a kind."""
        from flipproof.pipeline.kinds.kind import kind_named
        from flipproof.pipeline.steps import wanted_samples

        n_estimate = kind_named(kind).n_estimate if self.samples is None else self.samples
        return wanted_samples(run, self.select_samples, n_estimate, force)


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

    def promise(self) -> PromiseSettings:
        """The value that the flags stand for."""
        from flipproof.run_folder.certified import PromiseSettings

        return PromiseSettings(self.alpha, self.rule, self.simultaneous)


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
        from flipproof.pipeline.machine import Machine

        return Machine(memory_limit=self.memory)


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """What a command may use."""

    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes that vote, one thread each; 0: one per core; by default 1.", rich_help_panel=_MACHINE
        ),
    ] = None
    executor: Annotated[
        str, typer.Option(help='"local": on this machine; "ray": on a Ray cluster.', rich_help_panel=_MACHINE)
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(
            help='Of the Ray cluster: HOST:PORT or "auto"; by default one is started here.', rich_help_panel=_MACHINE
        ),
    ] = None
    device: Annotated[
        str, typer.Option(help='Where torch modules vote: "cpu", "cuda", "cuda:1".', rich_help_panel=_MACHINE)
    ] = "cpu"
    engine: Annotated[
        str | None,
        typer.Option(
            help='"fused": draw and evaluate at once; "torch": any module; by default the fastest that there is.',
            rich_help_panel=_MACHINE,
        ),
    ] = None
    memory: Annotated[
        str, typer.Option(help="What noisy samples may take, for each worker.", rich_help_panel=_MACHINE)
    ] = "2GB"
    timeout: Annotated[
        float,
        typer.Option(
            help="What a chunk of samples may take in a worker process; 0: no limit.",
            metavar="SECONDS",
            rich_help_panel=_MACHINE,
        ),
    ] = DEFAULT_TIMEOUT

    def machine(self) -> Machine:
        """The value that the flags stand for."""
        from flipproof.errors import InvalidInputError, not_among
        from flipproof.pipeline.machine import Machine

        if self.executor not in ("local", "ray"):
            raise not_among("--executor", ("local", "ray"), self.executor)
        use: dict[str, Any] = {"device": self.device, "engine": self.engine, "timeout": self.timeout or None}
        if self.executor == "local":
            if self.address is not None:
                raise InvalidInputError(f"expected --address only together with --executor ray, got {self.address}")
            return Machine(self._processes(), self.memory, **use)
        if self.workers is not None:
            raise InvalidInputError(
                f"expected no --workers together with --executor ray, which uses all CPUs, got {self.workers}"
            )
        return Machine("ray", self.memory, address=self.address, **use)

    def _processes(self) -> int:
        import os

        if self.workers is None:
            return 1
        return self.workers or os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class CheckOption:
    """Whether votes are checked."""

    no_check: Annotated[
        bool,
        typer.Option(
            "--no-check",
            help="Do not check that the classifier gives one label to one noisy input; certificates then say so.",
            rich_help_panel=_VOTES,
        ),
    ] = False

    def applied_to(self, machine: Machine) -> Machine:
        """What a command may use, with or without the check."""
        import dataclasses

        return dataclasses.replace(machine, check=not self.no_check)


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
