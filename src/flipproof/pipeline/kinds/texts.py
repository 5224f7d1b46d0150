"""Messages, as bags of words or as sequences of words."""

from __future__ import annotations

from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.datasets.kinds.vocabulary import Vocabulary
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.tokens import Tokens
from flipproof.pipeline.estimator_model import EstimatorModel
from flipproof.pipeline.job import Job, Lot, Model, fitted_noise
from flipproof.pipeline.kinds.row_split import split_of, tested
from flipproof.pipeline.task import Task
from flipproof.pipeline.torch_model import TorchModel
from flipproof.run_folder.records import DataRecord
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

LENGTH = 40
"""So many words of a message are read as a sequence."""


def text_job(task: Task, data: TextDataset) -> Job:
    """Messages of a test set. Each text counts once, so that none is both learned and certified."""
    distinct = data.with_words().distinct()
    split = split_of(task, distinct.labels)
    vocabulary = Vocabulary.learned([distinct.messages[i] for i in split.train], least=2)
    test = tested(task, split.test)
    texts = tuple(distinct.messages[i] for i in test)
    categories = len(vocabulary) if task.noisy == "substitution" else 2
    return Job(
        task=task,
        record=DataRecord(
            data.name,
            {"messages": len(distinct), "words": len(vocabulary)},
            data.classes,
            fingerprint((distinct.messages, distinct.labels)),
        ),
        noise=fitted_noise(task.noise, {"words": categories}),
        learned=Lot(_space(task, vocabulary, distinct.messages), distinct.labels, split),
        certified=Lot.to_test(_space(task, vocabulary, texts), distinct.labels[test]),
        class_names=data.class_names,
        model=_model(task, len(vocabulary), data.classes),
        drawn={"texts": texts, "vocabulary": vocabulary.words},
    )


def _space(task: Task, vocabulary: Vocabulary, messages: tuple[str, ...]) -> Space:
    if task.noisy == "words":
        return SparseRows(vocabulary.bags(messages))
    empty = len(vocabulary)
    values = vocabulary.tokens(messages, LENGTH)
    return Tokens(values, padding=empty, mask=empty if task.noisy == "masking" else None)


def _model(task: Task, words: int, classes: int) -> Model:
    if task.noisy == "words":
        if not task.model.own:
            return EstimatorModel(task, words, classes)
        sizes = {"features": words, "classes": classes}
        return TorchModel(task, sizes, lambda module: TorchClassifier(module, classes=classes))
    sizes = {"vocabulary": words, "classes": classes}
    return TorchModel(task, sizes, lambda module: TorchClassifier(module, classes=classes, dtype="int64"))
