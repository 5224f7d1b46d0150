"""A kind of data of one's own: rows of dials with four positions each, in files that end in .dial."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flipproof import DenseRows, FlipNoise, TorchClassifier, TrainingSettings
from flipproof.datasets.loading import register_reader
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults, register_kind
from flipproof.pipeline.models import TorchModel
from flipproof.pipeline.prepared import LabelledInputs, PreparedTask, fitted_noise, split_of, tested
from flipproof.run_folder.data_record import DataRecord
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

POSITIONS = 4


@dataclass(frozen=True)
class Dials:
    """Positions [rows, dials] from 0 to 3, and labels."""

    name: str
    positions: np.ndarray
    labels: np.ndarray


def read_dials(path):
    """A label and then positions in every line."""
    numbers = np.loadtxt(path, dtype=np.int64, ndmin=2)
    return Dials(Path(path).stem, numbers[:, 1:].astype(np.uint8), numbers[:, 0])


def _prepared(task, data):
    split = split_of(task, data.labels)
    test, classes, dials = tested(task, split.test), int(data.labels.max()) + 1, data.positions.shape[1]
    return PreparedTask(
        task=task,
        record=DataRecord(
            data.name, {"panels": len(data.labels), "dials": dials}, classes, fingerprint((data.positions, data.labels))
        ),
        noise=fitted_noise(task.noise, {"values": POSITIONS}),
        learned=LabelledInputs(DenseRows(data.positions), data.labels, split),
        certified=LabelledInputs.to_test(DenseRows(data.positions[test]), data.labels[test]),
        class_names=tuple(map(str, range(classes))),
        model=TorchModel(
            task, {"features": dials, "classes": classes}, lambda module: TorchClassifier(module, classes=classes)
        ),
    )


DIALS = Kind(
    name="panels",
    unit="panel",
    noises={"dials": NoiseDefaults(FlipNoise(0.05, 0.05), ("dial-net",), TrainingSettings(epochs=30, patience=30))},
    dataset=Dials,
    prepare=_prepared,
    change_words=lambda task, data, noise: {"entries": {"": "dials"}, "where": "the dials of the observed panel"},
    n_estimate=300,
)


def register():
    """The registrations: of the kind, and of its files."""
    register_kind(DIALS)
    register_reader(".dial", DIALS.name, read_dials)
