"""`flipproof train`, `vote` and `run`: the steps on a run folder."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import (
    CheckOption,
    ForceOption,
    MachineOptions,
    MemoryOption,
    ModelOption,
    OutputOptions,
    PromiseOptions,
    ReportOption,
    VoteOptions,
)
from flipproof.cli.task_options import TaskOptions

_RESUME = "the same command (without --force) goes on where it stopped"
_Run = Annotated[Path, typer.Argument(help="A run folder, made by flipproof train.", show_default=False)]


@takes(TaskOptions, MemoryOption, ForceOption)
def train(asked: TaskOptions, machine: MemoryOption, forced: ForceOption) -> None:
    """Train a model with noise and leave it in a run folder."""
    from flipproof.cli.summary import training_words
    from flipproof.pipeline.steps import train_run
    from flipproof.run_folder.records import NOT_REPORTED, TrainingRecord, read_section

    task = asked.task()
    with interruptible("nothing was written; the same command trains again"):
        folder = train_run(asked.out, task, machine.machine(), asked.weights, forced.force)
    training = read_section(folder, "training", TrainingRecord, "flipproof train")
    how = training_words(training.epochs, training.seconds)
    accuracy = NOT_REPORTED if training.base_accuracy is None else f"{training.base_accuracy:.3f}"
    typer.echo(f"trained   {task.model.name} on {asked.dataset}: {how}, base accuracy {accuracy}")
    typer.echo(f"next      flipproof vote {shlex.quote(str(asked.out))}")


@takes(VoteOptions, CheckOption, MachineOptions, ModelOption, ForceOption)
def vote(
    run: _Run,
    wanted: VoteOptions,
    checked: CheckOption,
    machine: MachineOptions,
    chosen: ModelOption,
    forced: ForceOption,
) -> None:
    """Draw votes for a trained run; go on where it was interrupted, or add samples."""
    from flipproof.cli.summary import duration
    from flipproof.pipeline.kinds.kind import task_in
    from flipproof.pipeline.steps import vote_run
    from flipproof.run_folder.folder import RunFolder

    task = task_in(RunFolder.open(run).record())
    with interruptible(_RESUME):
        samples, use = wanted.values(task.kind, run, forced.force), checked.applied_to(machine.machine())
        votes = vote_run(run, samples, use, chosen.model, forced.force)
    drawn = "all there already"
    if votes.run is not None and votes.run.drawn:
        engine = f", {votes.run.engine} engine" if votes.run.engine else ""
        speed = f"{votes.run.samples_per_second:,.0f} per s{engine}"
        drawn = f"{votes.run.drawn:,} drawn in {duration(votes.run.seconds)}, {speed}"
    typer.echo(f"voted     {votes.n_select:,} + {votes.n_estimate:,} samples; {drawn}")
    typer.echo(f"next      flipproof certify {shlex.quote(str(run))}")


@takes(TaskOptions, VoteOptions, CheckOption, PromiseOptions, MachineOptions, ReportOption, OutputOptions, ForceOption)
def run(
    asked: TaskOptions,
    wanted: VoteOptions,
    checked: CheckOption,
    promised: PromiseOptions,
    machine: MachineOptions,
    drawn: ReportOption,
    output: OutputOptions,
    forced: ForceOption,
) -> None:
    """Train, vote and certify. Steps that are done are not repeated."""
    from flipproof.cli.report import offer_run_page
    from flipproof.cli.summary import print_summary, summary_facts
    from flipproof.pipeline.steps import run as run_task

    task, promise = asked.task(), promised.promise()
    samples = wanted.values(task.kind, asked.out, forced.force)
    with interruptible(_RESUME):
        use = checked.applied_to(machine.machine())
        finished = run_task(asked.out, task, samples, promise, use, asked.weights, forced.force)
    if output.as_json:
        typer.echo(json.dumps(summary_facts(finished)))
    else:
        print_summary(finished)
        typer.echo(f"\nEverything is in {asked.out}.")
    if drawn.report:
        offer_run_page(finished, quiet=output.as_json)


@contextlib.contextmanager
def interruptible(then: str = _RESUME) -> Iterator[None]:
    """After Ctrl-C inside, says what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nflipproof: interrupted; {then}", err=True)
        raise
