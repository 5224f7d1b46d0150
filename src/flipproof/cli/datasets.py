"""`flipproof datasets`: what data there is, where it comes from, and whether it is here."""

from __future__ import annotations

import json
from textwrap import shorten, wrap
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from flipproof.cli.command_options import DatasetsOptions
from flipproof.datasets import card as card_of
from flipproof.datasets import cards as all_cards
from flipproof.datasets import load
from flipproof.datasets.cards.catalogue import Card
from flipproof.datasets.fetching.data_file import DataFile, find
from flipproof.datasets.loading import found_form
from flipproof.errors import InvalidInputError

_WIDTH = 80


def datasets(flags: DatasetsOptions) -> None:
    """Lists the datasets, or shows the card of one."""
    if flags.name is None:
        if flags.download:
            raise InvalidInputError("--download needs the name of a dataset; flipproof datasets lists them")
        if flags.as_json:
            typer.echo(json.dumps([_facts(each) for each in all_cards()]))
        else:
            _print_table(all_cards())
        return
    chosen = card_of(flags.name)
    if flags.download:
        load(chosen.name)
    if flags.as_json:
        typer.echo(json.dumps(_facts(chosen)))
    else:
        _print_card(chosen)


def _print_table(cards: tuple[Card, ...]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    for column in ("inputs", "edges", "features", "classes", "ones"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("where", no_wrap=True)
    for card in cards:
        counts = (card.inputs, card.edges, card.features, card.classes)
        table.add_row(card.name, card.kind, *map(_count, counts), _share(card), _where(card))
    Console(highlight=False, width=_WIDTH).print(table)
    typer.echo("\nones: the share of ones among binary attributes or pixels.\n")
    for card in cards:
        typer.echo(f"{card.name:<14}" + shorten(f"{card.licence}; {card.origin}", _WIDTH - 14))
    typer.echo("\nflipproof datasets NAME shows the whole card.")


def _print_card(card: Card) -> None:
    counts = {"inputs": card.inputs, "nodes": card.nodes, "edges": card.edges, "features": card.features}
    lines = [("dataset", f"{card.name}: {card.what}")]
    lines += [(name, _count(count)) for name, count in counts.items() if count is not None]
    lines.append(("classes", str(card.classes)))
    if card.ones is not None:
        lines.append(("ones", f"{_count(card.ones)} ({_share(card)}; {card.binary})"))
    lines += [("licence", card.licence), ("origin", card.origin), ("citation", card.citation)]
    lines.append(("where", _where(card)))
    for title, text in lines:
        typer.echo("\n".join(wrap(text, _WIDTH, initial_indent=f"{title:<10}", subsequent_indent=" " * 10)))
    for i, form in enumerate(card.forms):
        for file in form.files:
            _print_file(file, "file" if i == 0 else "or file")


def _print_file(file: DataFile, title: str) -> None:
    """Paths, addresses and hashes stay on one line, so that they can be copied."""
    path = find(file.name)
    typer.echo(f"{title:<10}{file.name if path is None else path}")
    if file.sha256 is not None:
        typer.echo(f"  sha256  {file.sha256}")
    for member in file.members:
        typer.echo(f"  inside  {member.name}\n          {member.sha256}")
    for url in file.urls:
        typer.echo(f"  home    {url}")


def _facts(card: Card) -> dict[str, Any]:
    names = ("name", "kind", "what", "inputs", "nodes", "edges", "features", "classes", "ones", "density", "binary")
    texts = ("licence", "origin", "citation", "built_in")
    facts: dict[str, Any] = {key: getattr(card, key) for key in names + texts}
    facts["here"] = found_form(card) is not None
    facts["forms"] = [
        [
            {
                "name": file.name,
                "size": file.size,
                "sha256": file.sha256,
                "members": {member.name: member.sha256 for member in file.members},
                "urls": file.urls,
                "path": None if find(file.name) is None else str(find(file.name)),
            }
            for file in form.files
        ]
        for form in card.forms
    ]
    return facts


def _where(card: Card) -> str:
    if card.built_in:
        return "built in"
    if found_form(card) is not None:
        return "here"
    size = card.home.size / 1e6
    return f"fetch {size:.1f} MB" if size < 10 else f"fetch {size:.0f} MB"


def _count(count: int | None) -> str:
    return "-" if count is None else str(count)


def _share(card: Card) -> str:
    return "-" if card.density is None else f"{card.density:.2%}"
