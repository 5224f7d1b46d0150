"""`flipproof demo`: the main job on data that comes with the package."""

from __future__ import annotations

import typer


def demo() -> None:
    """Certify built-in votes of a digit classifier and print the certified-ratio grid."""
    from importlib.resources import as_file, files

    from flipproof.cli.certify import certified_ratio, print_certificates
    from flipproof.cli.text import columns_that_fit
    from flipproof.smoothing.certify import certify
    from flipproof.smoothing.votes import Votes

    typer.echo("A small network read 360 handwritten digits of 8 x 8 black-and-white pixels,")
    typer.echo("11,000 noisy copies of each. Its votes come with the package. What do they prove?\n")
    with as_file(files("flipproof.cli") / "demo_votes.npz") as path:
        certificates = certify(Votes.load(path), alpha=0.01)
    print_certificates(certificates, certified_ratio(certificates, columns_that_fit(5)))
    share = certificates.certified_ratio(delete=1)
    typer.echo(f"Read it so: for {share:.1%} of the digits, no attacker who deletes one pixel")
    typer.echo("changes the prediction.")
