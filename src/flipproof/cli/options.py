"""Options that several commands share."""

from typing import Annotated

import typer

Alpha = Annotated[float, typer.Option(help="Probability that a certificate is wrong.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MaxAdd = Annotated[int | None, typer.Option("--add", min=0, help="Largest number of additions in the table.")]
MaxDelete = Annotated[int | None, typer.Option("--delete", min=0, help="Largest number of deletions in the table.")]
Change = Annotated[int, typer.Option(min=0, help="Number of changes in the table (more than 2 categories).")]
