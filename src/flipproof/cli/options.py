"""Options that several commands share."""

from typing import Annotated

import typer

Alpha = Annotated[float, typer.Option(help="Probability that a certificate is wrong.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MaxAdd = Annotated[int | None, typer.Option("--add", help="Largest number of additions in the table.")]
MaxDelete = Annotated[int | None, typer.Option("--delete", help="Largest number of deletions in the table.")]
Change = Annotated[int, typer.Option(help="Number of changes in the table (more than 2 categories).")]


def up_to(count: int, name: str) -> range:
    """The counts from 0 to the one given on the command line."""
    from flipproof.base.arguments import checked_count

    return range(1 + checked_count(count, name))
