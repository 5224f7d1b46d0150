"""`flipproof train`, `vote` and `run`: the steps on a run folder."""

from __future__ import annotations

import json
import shlex

import typer

from flipproof.cli.output import interruptible
from flipproof.cli.report import offer_run_page
from flipproof.cli.run_options import (
    CheckOption,
    ForceOption,
    MachineOptions,
    MemoryOption,
    ModelOption,
    OutputOptions,
    PageOption,
    PromiseOptions,
    RunArgument,
    VoteOptions,
)
from flipproof.cli.summary import duration, print_summary, summary_facts, training_words
from flipproof.cli.task_options import TaskOptions
from flipproof.cli.values import machine_of, promise_of, samples_of, task_of
from flipproof.pipeline.kinds.kind import task_in
from flipproof.pipeline.machine import Machine
from flipproof.pipeline.steps import run as run_task
from flipproof.pipeline.steps import train_run, vote_run
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.records import NOT_REPORTED, TrainingRecord, read_section

RESUME = "run the same command again, without --force, to continue"


def train(asked: TaskOptions, machine: MemoryOption, forced: ForceOption) -> None:
    """Trains a model with noise and saves it in a run folder."""
    task = task_of(asked)
    with interruptible("nothing was written; run the same command again to train"):
        folder = train_run(asked.out, task, Machine(memory_limit=machine.memory), asked.weights, forced.force)
    training = read_section(folder, "training", TrainingRecord, "flipproof train")
    how = training_words(training.epochs, training.seconds)
    accuracy = NOT_REPORTED if training.base_accuracy is None else f"{training.base_accuracy:.3f}"
    typer.echo(f"trained   {task.model.name} on {asked.dataset}: {how}, base accuracy {accuracy}")
    typer.echo(f"next      flipproof vote {shlex.quote(str(asked.out))}")


def vote(
    asked: RunArgument,
    wanted: VoteOptions,
    checked: CheckOption,
    machine: MachineOptions,
    chosen: ModelOption,
    forced: ForceOption,
) -> None:
    """Draws votes for a trained run; continues an interrupted one, or adds samples."""
    run = asked.run
    task = task_in(RunFolder.open(run).record())
    with interruptible(RESUME):
        samples, use = samples_of(wanted, task.kind, run, forced.force), machine_of(machine, checked)
        votes = vote_run(run, samples, use, chosen.model, forced.force)
    drawn = "all there already"
    if votes.run is not None and votes.run.drawn:
        engine = f", {votes.run.engine} engine" if votes.run.engine else ""
        speed = f"{votes.run.samples_per_second:,.0f} per s{engine}"
        drawn = f"{votes.run.drawn:,} drawn in {duration(votes.run.seconds)}, {speed}"
    typer.echo(f"voted     {votes.n_select:,} + {votes.n_estimate:,} samples; {drawn}")
    typer.echo(f"next      flipproof certify {shlex.quote(str(run))}")


def run(
    asked: TaskOptions,
    wanted: VoteOptions,
    checked: CheckOption,
    promised: PromiseOptions,
    machine: MachineOptions,
    drawn: PageOption,
    output: OutputOptions,
    forced: ForceOption,
) -> None:
    """Trains, votes and certifies. Finished steps are not repeated."""
    task, promise = task_of(asked), promise_of(promised)
    samples = samples_of(wanted, task.kind, asked.out, forced.force)
    with interruptible(RESUME):
        use = machine_of(machine, checked)
        finished = run_task(asked.out, task, samples, promise, use, asked.weights, forced.force)
    if output.as_json:
        typer.echo(json.dumps(summary_facts(finished)))
    else:
        print_summary(finished)
        typer.echo(f"\nEverything is in {asked.out}.")
    if drawn.report:
        offer_run_page(finished, quiet=output.as_json)
