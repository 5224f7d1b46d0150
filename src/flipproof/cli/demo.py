"""`flipproof demo`: the main job on data that need no download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.cli.run_options import ForceOption, MachineOptions, TaskOptions, VoteOptions
from flipproof.cli.train import train_and_vote

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates

_NOISES = {"attributes": (0.05, 0.3), "structure": (0.002, 0.4)}
_ENTRIES = {"attributes": "pixels anywhere", "structure": "edges anywhere"}


def demo(
    out: Annotated[Path, typer.Option(help="Where the run folders go.")] = Path("flipproof-demo"),
    samples: Annotated[int, typer.Option(help="Samples that bound each probability.")] = 5_000,
    workers: Annotated[int, typer.Option(help="Processes; 0: one per core.")] = 0,
) -> None:
    """Train a graph neural network on built-in data and prove how robust it is: about a minute."""
    from flipproof.cli.summary import print_summary
    from flipproof.experiments.steps import certify_run

    typer.echo(
        "1,797 handwritten digits are the nodes of a graph; each is joined to those that look most alike, and its"
    )
    typer.echo("black pixels are its attributes. A graph neural network learns to read them from 20 of each kind.")
    for noise, (p_plus, p_minus) in _NOISES.items():
        folder = out / noise
        asked = TaskOptions(dataset="digits-graph", out=folder, noise=noise, p_plus=p_plus, p_minus=p_minus)
        typer.echo(f"\n--- Can an attacker turn a digit by changing {noise}? ---\n")
        train_and_vote(asked, VoteOptions(samples=samples), MachineOptions(workers=workers), ForceOption())
        certificates = certify_run(folder)
        typer.echo("")
        print_summary(folder, certificates)
        _read(certificates, noise)
    typer.echo(f"\nEverything is in {out}. For your own graph see flipproof run --help and docs/graphs.md.")


def _read(certificates: Certificates, noise: str) -> None:
    share = certificates.certified_ratio(delete=2)
    typer.echo(
        f"\nRead it so: for {share:.1%} of the digits, nobody who deletes two {_ENTRIES[noise]}\n"
        "changes the prediction."
    )
