"""`flipproof train`, `vote` and `run`: the steps on a run folder, and the page at their end."""

from __future__ import annotations

import json
import shlex

import typer

from flipproof.cli.output import interruptible
from flipproof.cli.run_options import (
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
from flipproof.cli.task_options import TaskOptions
from flipproof.cli.values import machine_of, promise_of, repeating, task_of
from flipproof.errors import FlipproofError
from flipproof.pipeline.kinds.kind import task_in
from flipproof.pipeline.steps import Machine, train_run, vote_run, wanted_samples, with_data
from flipproof.pipeline.steps import run as run_task
from flipproof.report.report_files import write_run_report
from flipproof.report.shares import duration
from flipproof.report.summary import summary_lines, summary_record, training_words
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import NOT_REPORTED

RESUME = "run the same command again, without --force, to continue"


def train(task_flags: TaskOptions, memory_flags: MemoryOption, force_flags: ForceOption) -> None:
    """Trains a model with noise and saves it in a run folder."""
    task, out = task_of(task_flags), task_flags.out
    with interruptible("nothing was written; run the same command again to train"):
        machine = Machine(memory_limit=memory_flags.memory)
        folder = train_run(out, task, machine, task_flags.weights, force_flags.force)
    training = folder.read(TrainingRecord)
    how = training_words(training.epochs, training.seconds)
    accuracy = NOT_REPORTED if training.base_accuracy is None else f"{training.base_accuracy:.3f}"
    typer.echo(f"trained   {task.model.name} on {task_flags.dataset}: {how}, base accuracy {accuracy}")
    typer.echo(f"next      flipproof vote {shlex.quote(str(out))}")


def vote(
    argument: RunArgument,
    vote_flags: VoteOptions,
    machine_flags: MachineOptions,
    model_flags: ModelOption,
    force_flags: ForceOption,
) -> None:
    """Draws votes for a trained run; continues an interrupted one, or adds samples."""
    run, force = argument.run, force_flags.force
    task = task_in(RunFolder.open(run).record())
    with interruptible(RESUME):
        samples = wanted_samples(run, task.kind, vote_flags.select_samples, vote_flags.samples, force)
        votes = vote_run(run, samples, machine_of(machine_flags, not vote_flags.no_check), model_flags.model, force)
    drawn = "all there already"
    if votes.run is not None and votes.run.drawn:
        engine = f", {votes.run.engine} engine" if votes.run.engine else ""
        speed = f"{votes.run.samples_per_second:,.0f} per s{engine}"
        drawn = f"{votes.run.drawn:,} drawn in {duration(votes.run.seconds)}, {speed}"
    typer.echo(f"voted     {votes.n_select:,} + {votes.n_estimate:,} samples; {drawn}")
    typer.echo(f"next      flipproof certify {shlex.quote(str(run))}")


def run(
    task_flags: TaskOptions,
    vote_flags: VoteOptions,
    promise_flags: PromiseOptions,
    machine_flags: MachineOptions,
    page_flags: PageOption,
    output_flags: OutputOptions,
    force_flags: ForceOption,
) -> None:
    """Trains, votes and certifies. Finished steps are not repeated."""
    task, promise, out, force = task_of(task_flags), promise_of(promise_flags), task_flags.out, force_flags.force
    samples = wanted_samples(out, task.kind, vote_flags.select_samples, vote_flags.samples, force)
    with interruptible(RESUME):
        machine = machine_of(machine_flags, not vote_flags.no_check)
        finished = run_task(out, task, samples, promise, machine, task_flags.weights, force)
    if output_flags.as_json:
        typer.echo(json.dumps(summary_record(finished)))
    else:
        typer.echo("\n".join(summary_lines(finished)))
        typer.echo(f"\nEverything is in {out}.")
    if page_flags.report:
        offer_run_page(finished, quiet=output_flags.as_json)


def offer_run_page(run: FinishedRun, quiet: bool = False) -> None:
    """Writes the report of a run at the end of another command. If that fails, says why: the command is done."""
    try:
        shown = with_data(run) if run.shown is None else run
        written = write_run_report(shown, repeating(shown))
    except FlipproofError as error:
        typer.echo(f"flipproof: no report: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"\nreport    {written}")
