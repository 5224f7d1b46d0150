"""Messages, as bags of words or as sequences of words."""

from __future__ import annotations

from typing import Any

from flipproof.datasets import TextDataset, Vocabulary
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.tokens import Tokens
from flipproof.noise.spaces.words import bag_words, sequence_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.models import ESTIMATORS, TorchModel
from flipproof.pipeline.own_models import model_of_rows
from flipproof.pipeline.prepared import LabelledInputs, Model, PreparedTask, data_record, fitted_noise, split_of, tested
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.task import Task, TrainingSettings

LENGTH = 40
"""So many words of a message are read as a sequence."""


def _prepared(task: Task, data: TextDataset) -> PreparedTask:
    """Messages of a test set. Each text counts once, so that none is both learned and certified."""
    distinct = data.with_words().distinct()
    split = split_of(task, distinct.labels)
    vocabulary = Vocabulary.learned([distinct.messages[i] for i in split.train], least=2)
    test = tested(task, split.test)
    texts = tuple(distinct.messages[i] for i in test)
    categories = len(vocabulary) if task.noisy == "substitution" else 2
    noise = fitted_noise(task.noise, {"words": categories})
    learned = LabelledInputs(_space(task, vocabulary, distinct.messages), distinct.labels, split)
    return PreparedTask(
        task=task,
        record=data_record(
            data.name,
            {"messages": len(distinct), "words": len(vocabulary)},
            data.classes,
            (distinct.messages, distinct.labels),
        ),
        noise=noise,
        learned=learned,
        certified=LabelledInputs.to_test(_space(task, vocabulary, texts), distinct.labels[test]),
        class_names=data.class_names,
        model=_model(task, learned, noise, len(vocabulary), data.class_names),
        drawn={"texts": texts, "vocabulary": vocabulary.words},
    )


def _space(task: Task, vocabulary: Vocabulary, messages: tuple[str, ...]) -> Space:
    if task.noisy == "words":
        return SparseRows(vocabulary.bags(messages))
    empty = len(vocabulary)
    values = vocabulary.tokens(messages, LENGTH)
    return Tokens(values, padding=empty, mask=empty if task.noisy == "masking" else None)


def _model(task: Task, learned: LabelledInputs, noise: Law, words: int, class_names: tuple[str, ...]) -> Model:
    if task.noisy == "words":
        return model_of_rows(task, learned, noise, words, class_names)
    classes = len(class_names)
    sizes = {"vocabulary": words, "classes": classes}
    return TorchModel(task, sizes, lambda module: TorchClassifier(module, classes=classes, dtype="int64"))


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return bag_words() if task.noisy == "words" else sequence_words(masking=task.noisy == "masking")


_BAGS = TrainingSettings(noisy_samples=10, balanced=True)
_SEQUENCES = TrainingSettings(
    noisy_samples=4, learning_rate=3e-3, weight_decay=0.0, epochs=100, batch_size=256, balanced=True
)

TEXTS = Kind(
    name="text",
    unit="message",
    noises={
        "words": NoiseDefaults(usual.WORDS, ESTIMATORS, _BAGS, inputs=500),
        "substitution": NoiseDefaults(
            usual.SUBSTITUTION, ("embedding",), _SEQUENCES, inputs=500, words="by substitution of words"
        ),
        "masking": NoiseDefaults(usual.WORDS, ("embedding",), _SEQUENCES, inputs=500, words="by masking words"),
    },
    dataset=TextDataset,
    prepare=_prepared,
    change_words=_change_words,
)
