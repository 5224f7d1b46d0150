"""Groups of flags that several commands share: run folder, votes, promise, machine, output."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_TIMEOUT = 3600.0
"""The same number as in `vote`, which takes a while to import."""

_model = partial(typer.Option, rich_help_panel="Model and data")
_machine = partial(typer.Option, rich_help_panel="Machine")
_votes = partial(typer.Option, rich_help_panel="Votes")
_promise = partial(typer.Option, rich_help_panel="Promise")

Samples = Annotated[int, typer.Option(help="Samples that bound each probability.")]
Timeout = Annotated[
    float,
    _machine(help="Longest time for one chunk of samples in a worker process; 0: no limit.", metavar="SECONDS"),
]
Force = Annotated[bool, typer.Option("--force", help="Discard the existing run and start over.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MaxAdd = Annotated[int | None, typer.Option("--add", help="Largest number of additions in the table.")]
MaxDelete = Annotated[int | None, typer.Option("--delete", help="Largest number of deletions in the table.")]
Change = Annotated[int, typer.Option(help="Number of changes in the table (more than 2 categories).")]


@dataclass(frozen=True, slots=True)
class RunArgument:
    """The run folder of a command."""

    run: Annotated[Path, typer.Argument(help="A run folder, made by flipproof train.", show_default=False)]


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """How many samples are drawn, and whether the classifier is checked while it votes."""

    samples: Annotated[
        int | None,
        _votes(help="Samples that bound each probability; by default 100,000 for nodes and 10,000 for other data."),
    ] = None
    select_samples: Annotated[
        int | None, _votes(help="Samples that choose the label; by default as many as the run has, or 1,000.")
    ] = None
    no_check: Annotated[
        bool,
        _votes(
            "--no-check",
            help="Skip the check that the classifier always gives the same noisy input the same label; "
            "certificates then say so.",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class PromiseOptions:
    """What certificates promise."""

    alpha: Annotated[float, _promise(help="Highest probability that a certificate is wrong.")] = 0.01
    rule: Annotated[str, _promise(help='"multi-class" or "two-class".')] = "multi-class"
    simultaneous: Annotated[
        bool, _promise("--simultaneous", help="Let alpha hold for all inputs at once instead of for each one.")
    ] = False


@dataclass(frozen=True, slots=True)
class ModelOption:
    """The model of a run."""

    model: Annotated[str | None, _model(help="If the model is your own: FILE.py:NAME, as in training.")] = None


@dataclass(frozen=True, slots=True)
class MemoryOption:
    """The memory that training may use."""

    memory: Annotated[str, _machine(help="Memory limit of a noisy sample.")] = "2GB"


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """The workers, memory and devices of a command."""

    workers: Annotated[
        int | None, _machine(help="Worker processes, one thread each; 0: one per core; by default 1.")
    ] = None
    executor: Annotated[str, _machine(help='"local": on this machine; "ray": on a Ray cluster.')] = "local"
    address: Annotated[
        str | None, _machine(help='Ray cluster to use: HOST:PORT or "auto"; by default one is started on this machine.')
    ] = None
    device: Annotated[str, _machine(help='Where torch modules vote: "cpu", "cuda", "cuda:1".')] = "cpu"
    engine: Annotated[
        str | None,
        _machine(
            help='"fused": draw and evaluate in one step; "torch": any module; by default the fastest that applies.'
        ),
    ] = None
    memory: Annotated[str, _machine(help="Memory limit of the noisy samples of each worker.")] = "2GB"
    timeout: Timeout = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class ForceOption:
    """Whether to start over."""

    force: Force = False


@dataclass(frozen=True, slots=True)
class PageOption:
    """Whether to write a report."""

    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html and figures at the end.")] = (
        True
    )


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Text or JSON."""

    as_json: AsJson = False
