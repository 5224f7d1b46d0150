"""`flipproof demo`: the main job on data that need no download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flipproof.cli.run_options import DEFAULT_TIMEOUT, MachineOptions
from flipproof.cli.train import interruptible

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates

_NOISES = {"attributes": (0.05, 0.3), "structure": (0.002, 0.4)}
_ENTRIES = {"attributes": "pixels", "structure": "edges"}


def demo(
    out: Annotated[Path, typer.Option(help="Where the run folders go.")] = Path("flipproof-demo"),
    samples: Annotated[int, typer.Option(help="Samples that bound each probability.")] = 5_000,
    workers: Annotated[int, typer.Option(help="Processes; 0: one per core.")] = 0,
    timeout: Annotated[
        float, typer.Option(help="What a chunk may take in a worker process; 0: no limit.", metavar="SECONDS")
    ] = DEFAULT_TIMEOUT,
    force: Annotated[bool, typer.Option("--force", help="Give up what is in the folders and start again.")] = False,
) -> None:
    """Train a graph neural network on built-in data and prove how robust it is: about a minute."""
    from flipproof.cli.report import offer_run_page
    from flipproof.cli.summary import print_summary
    from flipproof.pipeline.machine import Samples
    from flipproof.pipeline.steps import run
    from flipproof.run_folder.task import ModelSpec, Task
    from flipproof.theory.law import FlipNoise

    machine = MachineOptions(workers=workers, timeout=timeout).machine()
    typer.echo("1,797 handwritten digits are the nodes of a graph. Each is joined to those that look")
    typer.echo("most alike; its black pixels are its attributes. A graph neural network learns to read")
    typer.echo("them from 20 examples of every digit.")
    for noisy, probabilities in _NOISES.items():
        typer.echo(f"\n--- Can an attacker change a digit's label by changing {_ENTRIES[noisy]}? ---\n")
        task = Task("nodes", "digits-graph", ModelSpec("gcn"), noisy, FlipNoise(*probabilities))
        with interruptible():
            finished = run(out / noisy, task, Samples(n_estimate=samples), machine=machine, force=force)
        print_summary(finished)
        _read(finished.certificates, _ENTRIES[noisy])
        offer_run_page(finished)
    typer.echo(f"\nEverything is in {out}; open the reports in a browser. For your own graphs, images,")
    typer.echo("texts and tables see flipproof run --help, docs/graphs.md and docs/other-data.md.")


def _read(certificates: Certificates, entries: str) -> None:
    share = certificates.certified_ratio(delete=2)
    typer.echo(f"\nIn other words: {share:.1%} of the digits provably keep their prediction when any two {entries}")
    typer.echo(
        f"are deleted, anywhere in the graph. Each proof is wrong with probability at most {certificates.alpha:g}."
    )
