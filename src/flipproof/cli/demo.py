"""`flipproof demo`: the main job on data that need no download."""

from __future__ import annotations

import typer

from flipproof.cli.command_options import DemoOptions
from flipproof.cli.output import interruptible
from flipproof.cli.run_options import MachineOptions
from flipproof.cli.train import RESUME, offer_run_page
from flipproof.cli.values import machine_of
from flipproof.pipeline.steps import Samples, run
from flipproof.report.summary import summary_lines
from flipproof.run_folder.task import ModelSpec, Task
from flipproof.smoothing.certificates import Certificates
from flipproof.theory.law import FlipNoise

_NOISES = {"attributes": (0.05, 0.3), "structure": (0.002, 0.4)}
_ENTRIES = {"attributes": "pixels", "structure": "edges"}


def demo(flags: DemoOptions) -> None:
    """Trains a graph neural network on built-in data and certifies it, once for pixels and once for edges."""
    machine = machine_of(MachineOptions(workers=flags.workers, timeout=flags.timeout))
    typer.echo("1,797 handwritten digits are the nodes of a graph. Each is joined to those that look")
    typer.echo("most alike; its black pixels are its attributes. A graph neural network learns to read")
    typer.echo("them from 20 examples of every digit.")
    for noisy, probabilities in _NOISES.items():
        typer.echo(f"\n--- Can an attacker change a digit's label by changing {_ENTRIES[noisy]}? ---\n")
        task = Task("nodes", "digits-graph", ModelSpec("gcn"), noisy, FlipNoise(*probabilities))
        with interruptible(RESUME):
            samples = Samples(n_estimate=flags.samples)
            finished = run(flags.out / noisy, task, samples, machine=machine, force=flags.force)
        typer.echo("\n".join(summary_lines(finished)))
        _print_share(finished.certificates, _ENTRIES[noisy])
        offer_run_page(finished)
    typer.echo(f"\nEverything is in {flags.out}; open the reports in a browser. For your own graphs, images,")
    typer.echo("texts and tables see flipproof run --help, docs/graphs.md and docs/other-data.md.")


def _print_share(certificates: Certificates, entries: str) -> None:
    share = certificates.certified_ratio(delete=2)
    typer.echo(f"\nIn other words: {share:.1%} of the digits provably keep their prediction when any two {entries}")
    typer.echo(
        f"are deleted, anywhere in the graph. Each proof is wrong with probability at most {certificates.alpha:g}."
    )
