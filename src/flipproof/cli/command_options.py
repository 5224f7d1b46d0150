"""Groups of flags that belong to one command each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from flipproof.cli.run_options import DEFAULT_TIMEOUT, AsJson, Change, Force, MaxAdd, MaxDelete, Samples, Timeout

_terms = partial(typer.Option, rich_help_panel="Comparison")


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The flags of `demo`."""

    out: Annotated[Path, typer.Option(help="Folder for the run folders.")] = Path("flipproof-demo")
    samples: Samples = 5_000
    workers: Annotated[int, typer.Option(help="Worker processes; 0: one per core.")] = 0
    timeout: Timeout = DEFAULT_TIMEOUT
    force: Force = False


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What `certify` shows and writes."""

    add: MaxAdd = None
    delete: MaxDelete = None
    change: Change = 0
    csv: Annotated[Path | None, typer.Option(help="Also write one line per input to this file.")] = None

    @property
    def given(self) -> bool:
        """Whether any flag asks for a table."""
        return (self.add, self.delete, self.change) != (None, None, 0)


@dataclass(frozen=True, slots=True)
class VotesArgument:
    """What `certify` certifies."""

    votes: Annotated[
        Path, typer.Argument(help="A run folder, or a votes file written by Votes.save.", show_default=False)
    ]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The flags of `report`."""

    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders or votes files; several are shown side by side.", show_default=False),
    ]
    out: Annotated[Path | None, typer.Option(help="The page to write; by default report.html in the run folder.")] = (
        None
    )
    force: Annotated[bool, typer.Option("--force", help="Replace the file even if it is not a report.")] = False


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What `verify` checks, how thoroughly, and what it draws again."""

    run: Annotated[
        Path,
        typer.Argument(help="A run folder, or a certificates.json with its .npz file beside it.", show_default=False),
    ]
    arithmetic_only: Annotated[
        bool,
        typer.Option(
            "--arithmetic-only",
            help="Only check that bounds and radii follow from the stated counts, as for a file without its run.",
        ),
    ] = False
    minutes: Annotated[
        float,
        typer.Option(help="Time limit for arithmetic and files; what is left unchecked by then is not confirmed."),
    ] = 5.0
    at: Annotated[
        list[str] | None,
        typer.Option(help="Also count the inputs certified against several changes at once: add=1,delete=9."),
    ] = None
    resample: Annotated[int, typer.Option(help="Draw this many portions of samples again and compare their votes.")] = 0
    resample_seed: Annotated[
        int | None, typer.Option(help="Seed that chooses the portions; by default unpredictable.")
    ] = None


@dataclass(frozen=True, slots=True)
class TermsOptions:
    """The terms of `compare`, the same for all systems."""

    system: Annotated[
        list[str] | None, _terms(help="Only this system; may be given several times.", show_default=False)
    ] = None
    nodes: Annotated[int | None, _terms(help="Compare on this many random test nodes; 0: all; by default 50.")] = None
    largest_radius: Annotated[int, _terms(help="Largest radius in the table and the figure.")] = 10
    even_noise: Annotated[
        float | None,
        _terms(help="Flip probability for lee, which treats zeros and ones alike; by default one that suits the data."),
    ] = None
    kept_share: Annotated[float, _terms(help="Share of entries that ablation keeps visible.")] = 0.2
    also: Annotated[
        list[str] | None,
        _terms(
            metavar="P_PLUS,P_MINUS",
            help="Another noise for flipproof; may be given several times.",
            show_default=False,
        ),
    ] = None
    samples: Annotated[int, _terms(help="Samples that bound each probability.")] = 10_000
    select_samples: Annotated[int, _terms(help="Samples that choose the label.")] = 1_000
    alpha: Annotated[float, _terms(help="Highest probability that a proof from samples is wrong.")] = 0.01
    rule: Annotated[str, _terms(help='"multi-class" or "two-class".')] = "multi-class"


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """The flags of `reproduce`: how much work, and where it goes."""

    what: Annotated[
        list[str],
        typer.Argument(
            help="Experiments by name, or all: table-1, table-2, heatmap, tradeoffs, models-attributes, "
            "models-structure, models-deletion, joint, joint-pairs, pubmed, mnist, mutag, training, clean-accuracy, "
            "rules, compare-gcn, compare-ppnp, efficiency. Without a name, figures and page are drawn again from the "
            "existing rows.",
            default_factory=list,
            show_default=False,
        ),
    ]
    scale: Annotated[
        str, typer.Option(help='"quick": minutes; "standard": about two hours; "paper": as many samples as the paper.')
    ] = "quick"
    seeds: Annotated[
        int | None, typer.Option(help="Number of splits and models where spreads matter; by default set by --scale.")
    ] = None
    out: Annotated[Path, typer.Option(help="Folder for rows, figures and runs, with a subfolder per scale.")] = Path(
        "flipproof-paper"
    )
    page: Annotated[
        Path | None, typer.Option(help="The page of all rows to write; by default page.md beside them.")
    ] = None


@dataclass(frozen=True, slots=True)
class DatasetsOptions:
    """The flags of `datasets`."""

    name: Annotated[str | None, typer.Argument(help="Show the whole card of this dataset.", show_default=False)] = None
    download: Annotated[
        bool, typer.Option("--download", help="Download the dataset if it is missing, and check it.")
    ] = False
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class RadiusOptions:
    """The flags of `radius`."""

    p_plus: Annotated[float, typer.Option(help="Probability that a zero flips.")]
    p_minus: Annotated[float, typer.Option(help="Probability that a non-zero flips.")]
    categories: Annotated[int, typer.Option(help="Number of values an entry can have.")] = 2
    p_lower: Annotated[float | None, typer.Option(help="Lower bound on the prediction's probability.")] = None
    p_upper: Annotated[float | None, typer.Option(help="Upper bound on any other label's probability.")] = None
    samples: Annotated[int | None, typer.Option(help="Instead of --p-lower: this many samples that all agree.")] = None
    alpha: Annotated[float, typer.Option(help="Highest probability that a certificate is wrong.")] = 0.01
    add: MaxAdd = None
    delete: MaxDelete = None
    change: Change = 0
    as_json: AsJson = False
