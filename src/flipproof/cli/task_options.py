"""The flags that say what to train, and the task that they stand for. What is not said suits the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flipproof.errors import InvalidInputError, not_among

if TYPE_CHECKING:
    from flipproof.pipeline.kinds.kind import Kind
    from flipproof.run_folder.task import PerClass, Reading, Shares, Task
    from flipproof.theory.law import Noise

_TRAINING, _MODEL, _NOISE, _SPLIT = "Training", "Model and data", "Noise", "Which inputs are for what"
_PAIR = "P_PLUS P_MINUS"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What to train."""

    dataset: Annotated[
        str,
        typer.Option(
            help="See flipproof datasets; or your own: a table NAME.csv, messages NAME.tsv, a saved NAME.npz.",
            rich_help_panel=_MODEL,
        ),
    ]
    out: Annotated[Path, typer.Option(help="The run folder to make.", rich_help_panel=_MODEL)]
    model: Annotated[
        str | None,
        typer.Option(
            help="For nodes gcn, gat, appnp; for graphs gin; for images cnn; for text logistic, forest, or embedding "
            "for sequences; for tables forest; or your own as FILE.py:NAME.",
            rich_help_panel=_MODEL,
        ),
    ] = None
    hidden: Annotated[
        int | None, typer.Option(help="Size of the hidden layer, for gat of each head.", rich_help_panel=_MODEL)
    ] = None
    dropout: Annotated[float | None, typer.Option(help="Dropout in training.", rich_help_panel=_MODEL)] = None
    weights: Annotated[
        Path | None, typer.Option(help="Weights trained elsewhere, instead of training.", rich_help_panel=_MODEL)
    ] = None
    threshold: Annotated[
        int | None, typer.Option(help="Of images: pixels above it become ones.", rich_help_panel=_MODEL)
    ] = None
    one_hot: Annotated[
        bool,
        typer.Option(
            "--one-hot", help="Of graphs: read kinds of nodes as bits, not as categories.", rich_help_panel=_MODEL
        ),
    ] = False
    noise: Annotated[
        str | None,
        typer.Option(
            help="For nodes and graphs on attributes, structure or both; for images on pixels (black and white) or "
            "levels; for text on words (a bag), or on sequences by substitution or masking; for tables on cells.",
            rich_help_panel=_NOISE,
        ),
    ] = None
    p_plus: Annotated[float | None, typer.Option(help="Probability that a zero flips.", rich_help_panel=_NOISE)] = None
    p_minus: Annotated[
        float | None, typer.Option(help="Probability that a non-zero flips.", rich_help_panel=_NOISE)
    ] = None
    structure_noise: Annotated[
        tuple[float, float] | None, typer.Option(metavar=_PAIR, help="For --noise both.", rich_help_panel=_NOISE)
    ] = None
    attributes_noise: Annotated[
        tuple[float, float] | None, typer.Option(metavar=_PAIR, help="For --noise both.", rich_help_panel=_NOISE)
    ] = None
    noisy_samples: Annotated[
        int | None, typer.Option(help="Noisy copies per training step; 0: without noise.", rich_help_panel=_TRAINING)
    ] = None
    average: Annotated[
        str | None, typer.Option(help="Average log-softmax or softmax over them.", rich_help_panel=_TRAINING)
    ] = None
    learning_rate: Annotated[float | None, typer.Option(help="Of Adam.", rich_help_panel=_TRAINING)] = None
    weight_decay: Annotated[float | None, typer.Option(help="Of Adam.", rich_help_panel=_TRAINING)] = None
    epochs: Annotated[int | None, typer.Option(help="At most.", rich_help_panel=_TRAINING)] = None
    patience: Annotated[
        int | None,
        typer.Option(help="Epochs without a lower validation loss before training stops.", rich_help_panel=_TRAINING),
    ] = None
    batch_size: Annotated[
        int | None, typer.Option(help="Inputs per training step; not for nodes.", rich_help_panel=_TRAINING)
    ] = None
    balanced: Annotated[
        bool | None,
        typer.Option("--balanced/--not-balanced", help="Let rare classes count as much.", rich_help_panel=_TRAINING),
    ] = None
    train_per_class: Annotated[
        int | None, typer.Option(help="Training nodes of every class.", rich_help_panel=_SPLIT)
    ] = None
    validation_per_class: Annotated[
        int | None, typer.Option(help="Validation nodes of every class.", rich_help_panel=_SPLIT)
    ] = None
    test_share: Annotated[
        float | None, typer.Option(help="Share of graphs, messages or rows to test on.", rich_help_panel=_SPLIT)
    ] = None
    validation_share: Annotated[
        float | None, typer.Option(help="Share of inputs to validate on; not for nodes.", rich_help_panel=_SPLIT)
    ] = None
    inputs: Annotated[
        int | None,
        typer.Option(help="Certify so many test inputs; 0: all. Of nodes always all.", rich_help_panel=_SPLIT),
    ] = None
    seed: Annotated[int, typer.Option(help="Of split, weights and all noise.", rich_help_panel=_TRAINING)] = 0

    def task(self) -> Task:
        """The value that the flags stand for."""
        from flipproof.datasets.readers.own_files import is_own
        from flipproof.pipeline.kinds.kind import checked_task, kind_of
        from flipproof.run_folder.task import ModelSpec, Task

        kind = kind_of(self.dataset)
        noisy = self.noise or kind.usual_noise(self.dataset)
        if noisy not in kind.noises:
            raise not_among("--noise", kind.noises, noisy)
        suits = kind.defaults(noisy, self.dataset)
        model = self.model or suits.models[0]
        self._check_of_use(kind, model)
        own = is_own(self.dataset)  # known by its whole path, so that later steps find it from anywhere
        task = Task(
            kind=kind.name,
            dataset=str(Path(self.dataset).resolve()) if own else self.dataset,
            model=ModelSpec(model, self.hidden, self.dropout),
            noisy=noisy,
            noise=self._noise(noisy, suits.noise),
            training=replace(suits.training, **self._given(asdict(suits.training))),
            split=self._split(kind, suits.split),
            reading=self._reading(kind),
            inputs=suits.inputs if self.inputs is None else self.inputs or None,
            seed=self.seed,
        )
        return checked_task(task)

    def _check_of_use(self, kind: Kind, model: str) -> None:
        """Refuses flags that would change nothing."""
        from flipproof.pipeline.models import ESTIMATORS

        of_no_use, fitted = kind.useless, model in ESTIMATORS
        if fitted:
            of_no_use += ("average", "learning_rate", "weight_decay", "epochs", "patience", "batch_size")
        for name in of_no_use:
            if getattr(self, name) is not None:
                what, flag = model if fitted else kind.name, f"--{name.replace('_', '-')}"
                raise InvalidInputError(f"expected flags of {what}, got {flag}, which is not for them")

    def _given(self, names: dict[str, Any]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _split(self, kind: Kind, suits: PerClass | Shares) -> PerClass | Shares:
        other = "share" if suits.flag == "per_class" else "per_class"
        for name in ("train", "validation", "test"):
            if getattr(self, f"{name}_{other}", None) is not None:
                flag = f"--{name}-{other.replace('_', '-')}"
                raise InvalidInputError(f"expected flags of {kind.name}, got {flag}, which is not for them")
        given = {name: getattr(self, f"{name}_{suits.flag}") for name in asdict(suits)}
        return replace(suits, **{name: value for name, value in given.items() if value is not None})

    def _reading(self, kind: Kind) -> Reading:
        from flipproof.pipeline.kinds.kind import readers_of
        from flipproof.run_folder.task import Reading

        for name, given in (("threshold", self.threshold is not None), ("one_hot", self.one_hot)):
            if given and name not in kind.reading:
                flag = f"--{name.replace('_', '-')}"
                raise InvalidInputError(f"expected {flag} for {readers_of(name)} only, got it for {kind.name}")
        return Reading(self.threshold, self.one_hot)

    def _noise(self, noisy: str, suits: Noise) -> Noise:
        from flipproof.theory.law import FlipNoise, JointNoise
        from flipproof.theory.radii import has_parts

        pairs = {"structure": self.structure_noise, "attributes": self.attributes_noise}
        if has_parts(suits):
            if (self.p_plus, self.p_minus) != (None, None):
                raise InvalidInputError(
                    "expected --structure-noise and --attributes-noise for --noise both, got --p-plus or --p-minus"
                )
            parts = ((part, pairs.get(part), law) for part, law in suits.flips if part is not None)
            return JointNoise(**{part: law if pair is None else FlipNoise(*pair) for part, pair, law in parts})
        if any(pairs.values()):
            raise InvalidInputError(
                f"expected --p-plus and --p-minus for --noise {noisy}, got the flags of --noise both"
            )
        if self.p_plus is None and self.p_minus is None:
            return suits
        if self.p_plus is None or self.p_minus is None:
            raise InvalidInputError("expected --p-plus and --p-minus, got only one of them")
        return FlipNoise(self.p_plus, self.p_minus)
