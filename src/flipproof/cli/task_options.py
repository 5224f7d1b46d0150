"""The flags that say what to train. Their defaults suit the data; `values` turns them into a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

_TRAINING, _MODEL, _NOISE, _SPLIT = "Training", "Model and data", "Noise", "Which inputs are for what"
_PAIR = "P_PLUS P_MINUS"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What to train."""

    dataset: Annotated[
        str,
        typer.Option(
            help="A name from flipproof datasets, or your file: a table NAME.csv, messages NAME.tsv, a saved NAME.npz.",
            rich_help_panel=_MODEL,
        ),
    ]
    out: Annotated[Path, typer.Option(help="Run folder to create.", rich_help_panel=_MODEL)]
    model: Annotated[
        str | None,
        typer.Option(
            help="Nodes: gcn, gat, appnp. Graphs: gin. Images: cnn. Text: logistic, forest; embedding for sequences. "
            "Tables: forest. Or your own, as FILE.py:NAME.",
            rich_help_panel=_MODEL,
        ),
    ] = None
    hidden: Annotated[
        int | None, typer.Option(help="Width of the hidden layer; for gat, of each head.", rich_help_panel=_MODEL)
    ] = None
    dropout: Annotated[float | None, typer.Option(help="Dropout probability in training.", rich_help_panel=_MODEL)] = (
        None
    )
    weights: Annotated[
        Path | None, typer.Option(help="Load these weights instead of training.", rich_help_panel=_MODEL)
    ] = None
    threshold: Annotated[
        int | None, typer.Option(help="Images only: pixels above this value become ones.", rich_help_panel=_MODEL)
    ] = None
    one_hot: Annotated[
        bool,
        typer.Option(
            "--one-hot", help="Graphs only: read node kinds as bits, not as categories.", rich_help_panel=_MODEL
        ),
    ] = False
    noise: Annotated[
        str | None,
        typer.Option(
            help="What the noise changes. Nodes and graphs: attributes, structure or both. Images: pixels (black and "
            "white) or levels. Text: words (a bag), or substitution or masking (sequences). Tables: cells.",
            rich_help_panel=_NOISE,
        ),
    ] = None
    p_plus: Annotated[float | None, typer.Option(help="Probability that a zero flips.", rich_help_panel=_NOISE)] = None
    p_minus: Annotated[
        float | None, typer.Option(help="Probability that a non-zero flips.", rich_help_panel=_NOISE)
    ] = None
    structure_noise: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar=_PAIR, help="Noise on the structure, for --noise both.", rich_help_panel=_NOISE),
    ] = None
    attributes_noise: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar=_PAIR, help="Noise on the attributes, for --noise both.", rich_help_panel=_NOISE),
    ] = None
    noisy_samples: Annotated[
        int | None,
        typer.Option(help="Noisy copies per training step; 0: train without noise.", rich_help_panel=_TRAINING),
    ] = None
    average: Annotated[
        str | None,
        typer.Option(help="What to average over the noisy copies: log-softmax or softmax.", rich_help_panel=_TRAINING),
    ] = None
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate of Adam.", rich_help_panel=_TRAINING)] = (
        None
    )
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of Adam.", rich_help_panel=_TRAINING)] = None
    epochs: Annotated[
        int | None,
        typer.Option(help="Stop after this many epochs (early stopping may stop sooner).", rich_help_panel=_TRAINING),
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after this many epochs without a lower validation loss.", rich_help_panel=_TRAINING),
    ] = None
    batch_size: Annotated[
        int | None, typer.Option(help="Inputs per training step; not for nodes.", rich_help_panel=_TRAINING)
    ] = None
    balanced: Annotated[
        bool | None,
        typer.Option(
            "--balanced/--not-balanced",
            help="Give rare classes as much weight as frequent ones.",
            rich_help_panel=_TRAINING,
        ),
    ] = None
    train_per_class: Annotated[int | None, typer.Option(help="Training nodes per class.", rich_help_panel=_SPLIT)] = (
        None
    )
    validation_per_class: Annotated[
        int | None, typer.Option(help="Validation nodes per class.", rich_help_panel=_SPLIT)
    ] = None
    test_share: Annotated[
        float | None, typer.Option(help="Share of graphs, messages or rows to test on.", rich_help_panel=_SPLIT)
    ] = None
    validation_share: Annotated[
        float | None, typer.Option(help="Share of inputs to validate on; not for nodes.", rich_help_panel=_SPLIT)
    ] = None
    inputs: Annotated[
        int | None,
        typer.Option(
            help="Number of test inputs to certify; 0: all. Nodes are always certified all.", rich_help_panel=_SPLIT
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(help="Seed of the split, the weights and all noise.", rich_help_panel=_TRAINING)
    ] = 0
