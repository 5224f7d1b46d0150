"""The flags that say what to train. Their defaults suit the data; `values` turns them into a task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_model = partial(typer.Option, rich_help_panel="Model and data")
_table = partial(typer.Option, rich_help_panel="Your own table")
_noise = partial(typer.Option, rich_help_panel="Noise")
_training = partial(typer.Option, rich_help_panel="Training")
_split = partial(typer.Option, rich_help_panel="Which inputs are for what")
_PAIR = "P_PLUS P_MINUS"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What to train."""

    dataset: Annotated[
        str,
        _model(
            help="A name from flipproof datasets, or your file: a table NAME.csv or NAME.parquet, messages NAME.tsv, a "
            "saved NAME.npz."
        ),
    ]
    out: Annotated[Path, _model(help="Run folder to create.")]
    model: Annotated[
        str | None,
        _model(
            help="Nodes: gcn, gat, appnp. Graphs: gin. Images: cnn. Text: logistic, forest; embedding for sequences. "
            "Tables: forest. Or your own, as FILE.py:NAME: a torch module, or for words and tables any estimator, "
            "fitted or not."
        ),
    ] = None
    hidden: Annotated[int | None, _model(help="Width of the hidden layer; for gat, of each head.")] = None
    dropout: Annotated[float | None, _model(help="Dropout probability in training.")] = None
    weights: Annotated[Path | None, _model(help="Load these weights instead of training.")] = None
    threshold: Annotated[int | None, _model(help="Images only: pixels above this value become ones.")] = None
    one_hot: Annotated[bool, _model("--one-hot", help="Graphs only: read node kinds as bits, not as categories.")] = (
        False
    )
    label: Annotated[
        str | None, _table(help="Column of the labels; by default the one called label.", metavar="NAME")
    ] = None
    drop: Annotated[
        list[str] | None,
        _table(help="Leave this column out, such as an id; may be given several times.", metavar="NAME"),
    ] = None
    fixed: Annotated[
        list[str] | None,
        _table(
            help="Give this column no noise: attackers must leave it alone. May be given several times.", metavar="NAME"
        ),
    ] = None
    bins: Annotated[
        list[str] | None,
        _table(
            help="Cut a column of numbers into this many bins, or at edges: age=18,30,65. May be given several times.",
            metavar="NAME=COUNT",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _table("--header/--no-header", help="Whether the first line of a csv file has the names of the columns."),
    ] = None
    separator: Annotated[
        str | None, _table(help="Character between cells of a csv file; by default the one that divides its lines.")
    ] = None
    noise: Annotated[
        str | None,
        _noise(
            help="What the noise changes. Nodes and graphs: attributes, structure or both. Images: pixels (black and "
            "white) or levels. Text: words (a bag), or substitution or masking (sequences). Tables: cells."
        ),
    ] = None
    p_plus: Annotated[float | None, _noise(help="Probability that a zero flips.")] = None
    p_minus: Annotated[float | None, _noise(help="Probability that a non-zero flips.")] = None
    structure_noise: Annotated[
        tuple[float, float] | None, _noise(metavar=_PAIR, help="Noise on the structure, for --noise both.")
    ] = None
    attributes_noise: Annotated[
        tuple[float, float] | None, _noise(metavar=_PAIR, help="Noise on the attributes, for --noise both.")
    ] = None
    noisy_samples: Annotated[int | None, _training(help="Noisy copies per training step; 0: train without noise.")] = (
        None
    )
    average: Annotated[str | None, _training(help="What to average over the noisy copies: log-softmax or softmax.")] = (
        None
    )
    learning_rate: Annotated[float | None, _training(help="Learning rate of Adam.")] = None
    weight_decay: Annotated[float | None, _training(help="Weight decay of Adam.")] = None
    epochs: Annotated[int | None, _training(help="Stop after this many epochs (early stopping may stop sooner).")] = (
        None
    )
    patience: Annotated[int | None, _training(help="Stop after this many epochs without a lower validation loss.")] = (
        None
    )
    batch_size: Annotated[int | None, _training(help="Inputs per training step; not for nodes.")] = None
    balanced: Annotated[
        bool | None, _training("--balanced/--not-balanced", help="Give rare classes as much weight as frequent ones.")
    ] = None
    train_per_class: Annotated[int | None, _split(help="Training nodes per class.")] = None
    validation_per_class: Annotated[int | None, _split(help="Validation nodes per class.")] = None
    test_share: Annotated[float | None, _split(help="Share of graphs, messages or rows to test on.")] = None
    validation_share: Annotated[float | None, _split(help="Share of inputs to validate on; not for nodes.")] = None
    inputs: Annotated[
        int | None, _split(help="Number of test inputs to certify; 0: all. Of nodes, all are certified.")
    ] = None
    targets: Annotated[
        str | None,
        _split(
            help="Certify these inputs, by number: 3,17,40-60, or a file with a number per line. Not for text.",
            metavar="NUMBERS",
        ),
    ] = None
    split: Annotated[
        Path | None,
        _split(help="A file with a line per row, node or graph: train, validation, test, or - for neither."),
    ] = None
    seed: Annotated[int, _training(help="Seed of the split, the weights and all noise.")] = 0
