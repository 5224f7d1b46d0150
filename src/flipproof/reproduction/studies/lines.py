"""Experiments shown as lines: the certified ratio over the radius, for several models, noises or datasets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flipproof.pipeline.kinds.kind import kind_named
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import ATTRIBUTES, STRUCTURE, Row, Trial, node_task
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.run_folder.reading import Reading
from flipproof.run_folder.task import ModelSpec, Shares, Task
from flipproof.theory.law import FlipNoise, JointNoise

_FARTHEST = 60
_MODELS = ("gcn", "gat", "appnp")
_TRADEOFFS = ((0.0, 0.4), (0.0, 0.6), (0.0, 0.8), (0.01, 0.4), (0.01, 0.6), (0.01, 0.8), (0.1, 0.6))
_COPIES = (0, 1, 5, 10)
JOINT = JointNoise(structure=FlipNoise(2e-5, 0.4), attributes=FlipNoise(2e-5, 0.6))

_Tasks = Callable[[Scale, int], list[Task]]
"""Gives the tasks of an experiment for a scale and a seed."""


def line_study(name: str, title: str, tasks: _Tasks, spread: bool = False, all_samples: bool = False) -> Study:
    """Makes an experiment with one line per task; `spread` repeats it with every seed, `all_samples` draws the most."""

    def trials(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
        used = seeds if spread else seeds[:1]
        samples = scale.samples if all_samples else scale.many
        return [Trial(task, samples) for seed in used for task in tasks(scale, seed)]

    return Study(name, title, trials, _rows)


def _rows(scaled: ScaledStudy) -> list[Row]:
    rows: list[Row] = []
    for trial in scaled.trials():
        outcome = scaled.outcome(trial)
        certificates = outcome.certificates()
        rows += outcome.accuracies(certificates)
        rows += outcome.mean_radii(certificates)
        rows += outcome.most(certificates)
        rows += outcome.ratio_lines(certificates, _FARTHEST)
    return rows


def _every_model(noise: FlipNoise, noisy: str) -> _Tasks:
    return lambda scale, seed: [node_task(scale, noise, noisy, model, seed) for model in _MODELS]


def _training_trials(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    """Trials for several numbers of noisy copies; the slow ones, with many copies, use few seeds."""
    chosen = dict.fromkeys(_COPIES, seeds) | dict.fromkeys(scale.slow_copies, seeds[: scale.slow_seeds])
    return [
        Trial(node_task(scale, FlipNoise(0.01, 0.6), seed=seed, noisy_samples=copies), scale.many)
        for copies, used in chosen.items()
        for seed in used
    ]


def _joint(scale: Scale, seed: int) -> list[Task]:
    """Noise on both parts at once, and the same noise on each part alone."""
    single = [node_task(scale, noise, part, seed=seed) for part, noise in JOINT]
    return [node_task(scale, JOINT, "both", seed=seed), *single]


def _mnist(scale: Scale, seed: int) -> list[Task]:
    """The two ways to turn grey levels into black and white that the paper and its code may mean."""
    suits = kind_named("images").defaults("pixels", "mnist")
    training = replace(suits.training, epochs=scale.image_epochs, patience=scale.image_epochs)
    return [
        Task(
            "images", "mnist", ModelSpec("cnn"), "pixels", FlipNoise(*pair), training, Shares(),
            Reading(threshold=threshold), inputs=scale.images, seed=seed,
        )
        for threshold in (127, 0)
        for pair in ((0.1, 0.2), (0.2, 0.2))
    ]  # fmt: skip


def _mutag(scale: Scale, seed: int) -> list[Task]:
    suits = kind_named("graphs").defaults(STRUCTURE)
    training = replace(suits.training, epochs=min(scale.epochs, suits.training.epochs))
    return [Task("graphs", "mutag", ModelSpec("gin"), STRUCTURE, FlipNoise(0.2, 0.4), training, Shares(), seed=seed)]


MODELS_ATTRIBUTES = line_study(
    "models-attributes", "GCN, GAT and APPNP, attributes of Cora-ML",
    _every_model(FlipNoise(0.01, 0.6), ATTRIBUTES), spread=True,
)  # fmt: skip
MODELS_STRUCTURE = line_study(
    "models-structure", "GCN, GAT and APPNP, edges of Cora-ML",
    _every_model(FlipNoise(0.001, 0.4), STRUCTURE), spread=True,
)  # fmt: skip
MODELS_DELETION = line_study(
    "models-deletion", "GCN, GAT and APPNP, deleted edges of Cora-ML",
    _every_model(FlipNoise(0.0, 0.4), STRUCTURE), spread=True,
)  # fmt: skip
TRADEOFFS = line_study(
    "tradeoffs", "Certified ratio of a GCN over noises on attributes",
    lambda scale, seed: [node_task(scale, FlipNoise(*pair), seed=seed) for pair in _TRADEOFFS],
)  # fmt: skip
TRAINING = Study("training", "Noisy copies in training", _training_trials, _rows)
JOINT_LINES = line_study("joint", "Noise on edges and attributes of Cora-ML", _joint, all_samples=True)
PUBMED = line_study(
    "pubmed", "Attributes of PubMed",
    lambda scale, seed: [node_task(scale, FlipNoise(0.01, 0.6), seed=seed, dataset="pubmed")],
)  # fmt: skip
MNIST = line_study("mnist", "Black and white MNIST", _mnist)
MUTAG = line_study("mutag", "Edges of molecules, MUTAG", _mutag, spread=True)
