"""`flipproof train`, `vote` and `run`: the steps on a run folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import (
    ForceOption,
    MachineOptions,
    MemoryOption,
    ModelOption,
    OutputOptions,
    PromiseOptions,
    TaskOptions,
    VoteOptions,
)

Say = Callable[[str], None]
_Run = Annotated[Path, typer.Argument(help="A run folder, made by flipproof train.", show_default=False)]


@takes(TaskOptions, MemoryOption, ForceOption)
def train(asked: TaskOptions, machine: MemoryOption, forced: ForceOption) -> None:
    """Train a model with noise and leave it in a run folder."""
    _train(asked, machine, forced)
    typer.echo(f"next      flipproof vote {asked.out}")


@takes(VoteOptions, MachineOptions, ModelOption, ForceOption)
def vote(run: _Run, wanted: VoteOptions, machine: MachineOptions, chosen: ModelOption, forced: ForceOption) -> None:
    """Draw votes for a trained run; go on where it was interrupted, or add samples."""
    _vote(run, wanted, machine, chosen.model, forced)
    typer.echo(f"next      flipproof certify {run}")


@takes(TaskOptions, VoteOptions, PromiseOptions, MachineOptions, OutputOptions, ForceOption)
def run(
    asked: TaskOptions,
    wanted: VoteOptions,
    promised: PromiseOptions,
    machine: MachineOptions,
    output: OutputOptions,
    forced: ForceOption,
) -> None:
    """Train, vote and certify. Steps that are done are not repeated."""
    from flipproof.cli.summary import print_summary, summary_facts
    from flipproof.experiments.steps import certify_run

    train_and_vote(asked, wanted, machine, forced, _silent if output.as_json else typer.echo)
    certificates = certify_run(asked.out, promised.promise(), forced.force)
    if output.as_json:
        typer.echo(json.dumps(summary_facts(asked.out, certificates)))
        return
    typer.echo("")
    print_summary(asked.out, certificates)
    typer.echo(f"\nEverything is in {asked.out}.")


def _silent(words: str) -> None:
    """Where JSON is all that may be printed."""


def train_and_vote(
    asked: TaskOptions, wanted: VoteOptions, machine: MachineOptions, forced: ForceOption, say: Say = typer.echo
) -> None:
    """The first two steps. What is forced is training, and votes are gone with it."""
    _train(asked, machine, forced, say)
    _vote(asked.out, wanted, machine, asked.model, ForceOption(), say)


def _train(
    asked: TaskOptions, machine: MachineOptions | MemoryOption, forced: ForceOption, say: Say = typer.echo
) -> None:
    from flipproof.cli.summary import duration
    from flipproof.experiments.steps import train_run

    folder = train_run(asked.out, asked.task(), machine.machine(), asked.weights, forced.force)
    training = folder.section("training", "flipproof train")
    say(
        f"trained   {asked.model} on {asked.dataset}: {training['epochs']:,} epochs in "
        f"{duration(training['seconds'])}, base accuracy {training['base_accuracy']:.3f}; in {folder.path}"
    )


def _vote(
    run: Path,
    wanted: VoteOptions,
    machine: MachineOptions,
    model: str | None,
    forced: ForceOption,
    say: Say = typer.echo,
) -> None:
    from flipproof.cli.summary import duration
    from flipproof.experiments.steps import vote_run

    try:
        votes = vote_run(run, wanted.values(), machine.machine(), model, forced.force)
    except KeyboardInterrupt:
        typer.echo("\nflipproof: interrupted; the same command goes on where it stopped", err=True)
        raise
    drawn = "all there already"
    if votes.run is not None and votes.run.drawn:
        speed = f"{votes.run.samples_per_second:,.0f} per s"
        drawn = f"{votes.run.drawn:,} samples in {duration(votes.run.seconds)}, {speed}"
    say(f"voted     {votes.n_select:,} + {votes.n_estimate:,} samples; {drawn}; in {run}")
