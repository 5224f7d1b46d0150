"""One chunk from beginning to end: draw noisy copies, ask the classifier, count its labels."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role, Sampler, joint_sampler
from flipproof.smoothing.classifier import Classifier, ClassifierError, Engine
from flipproof.smoothing.voting.answers import Answer
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY, Chunk, ChunkPlan

_ROLES = {"select": Role.SELECT, "estimate": Role.ESTIMATE}


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The work of a run, as it is sent to workers: call it with a chunk to get counts [outputs, classes].

    Attributes:
        rows: the inputs that are drawn.
        outputs: which of the labels of a joint input, such as a graph, are counted, or None for all.
        engine: how labels come about.
    """

    classifier: Classifier
    sampler: Sampler
    plan: ChunkPlan
    rows: IntArray
    outputs: IntArray | None = None
    engine: Engine = field(default_factory=Engine)

    def __repr__(self) -> str:
        return f"Evaluation of {self.classifier!r}"

    def __call__(self, chunk: Chunk) -> IntArray:
        """How often each label was given to each input on the samples of the chunk."""
        whole = self.plan.whole(chunk.samples)
        step = self.plan.rows_per_call
        try:
            parts = [self._counts(chunk, whole, self.rows[i : i + step]) for i in range(0, self.rows.size, step)]
            return np.concatenate(parts) if parts else np.zeros((0, self.classifier.classes), dtype=np.int64)
        except MemoryError as error:
            raise too_little_memory(chunk, error) from error

    def compile(self) -> None:
        """Draws one sample, for which everything is compiled. What goes wrong will be said when it is drawn again."""
        with contextlib.suppress(Exception):
            if self.engine.fused is not None:
                self.engine.fused(Role.SELECT, range(1))
            else:
                self.sampler.draw(Role.SELECT, range(1), self.rows[:1])

    def answer(self, role: str, samples: range, rows: IntArray) -> Answer:
        """What is answered to some samples of some rows, evaluated together, however chunks are cut."""
        drawn, fused, classes = _ROLES[role], self.engine.fused, self.classifier.classes
        if fused is not None:
            labels = self._labels(fused(drawn, samples), len(samples), rows.size)
            return self._of_targets(Answer.of(labels, fused.scores(drawn, samples), classes))
        # Drawn anew for the scores: a classifier may write into a batch that it alone gets.
        labels = self._labels(self.classifier(self.sampler.draw(drawn, samples, rows)), len(samples), rows.size)
        own = getattr(self.classifier, "label_scores", None)
        scores = None if own is None else own(self.sampler.draw(drawn, samples, rows))
        return self._of_targets(Answer.of(labels, scores, classes))

    def _counts(self, chunk: Chunk, whole: range, rows: IntArray) -> IntArray:
        role, fused = _ROLES[chunk.role], self.engine.fused
        batch = None if fused is not None else self.sampler.draw(role, whole, rows)
        try:
            given = self.classifier(batch) if fused is None else fused(role, whole)
            labels = self._of_targets(Answer(self._labels(given, len(whole), rows.size))).labels
        except Exception as error:
            if is_out_of_memory(error):
                raise too_little_memory(chunk, error) from error
            detail = str(error) if isinstance(error, InvalidInputError) else f"{type(error).__name__}: {error}"
            line = " ".join(detail.split())
            raise ClassifierError(f"the classifier failed on {chunk} (chunk {whole}): {line}") from error
        wanted = labels[chunk.samples.start - whole.start : chunk.samples.stop - whole.start]
        return _label_counts(wanted, self.classifier.classes)

    def _labels(self, given: Any, samples: int, rows: int) -> NDArray[Any]:
        """The labels as an array [samples, outputs], checked."""
        if hasattr(given, "detach"):
            given = given.detach().cpu()
        labels = np.asarray(given)
        if joint_sampler(self.sampler) is not None:
            expected, fits = f"[{samples}, outputs]", labels.ndim == 2 and labels.shape[0] == samples
        else:
            expected, fits = f"[{samples * rows}]", labels.shape in ((samples * rows,), (samples, rows))
        if not fits:
            raise InvalidInputError(f"expected labels of shape {expected}, got {labels.shape}")
        if labels.dtype.kind not in "iub":
            raise InvalidInputError(f"expected integer labels, got {labels.dtype}")
        if labels.size and (labels.min() < 0 or labels.max() >= self.classifier.classes):
            wrong = labels.min() if labels.min() < 0 else labels.max()
            raise InvalidInputError(f"expected labels in [0, {self.classifier.classes}), got {wrong}")
        return labels.reshape(samples, -1)

    def _of_targets(self, answer: Answer) -> Answer:
        """What is counted of an answer."""
        if self.outputs is None:
            return answer
        labels = answer.labels.shape[1]
        if self.outputs.max() >= labels:
            raise InvalidInputError(f"expected a label for every target, got {labels} labels per graph")
        return answer.outputs(self.outputs)


def is_out_of_memory(error: Exception) -> bool:
    """Torch has no class for it on the CPU: "can't allocate memory", "out of memory"."""
    return isinstance(error, MemoryError) or any(each in str(error) for each in ("out of memory", "allocate memory"))


def too_little_memory(chunk: Chunk, error: Exception) -> ClassifierError:
    """What is said of samples for which there is too little memory."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return ClassifierError(f"expected enough memory for {chunk}, got {reason.rstrip(':')}; {OUT_OF_MEMORY}")


def _label_counts(labels: NDArray[Any], classes: int) -> IntArray:
    outputs = labels.shape[1]
    flat = np.arange(outputs) * classes + labels.astype(np.int64)
    return np.bincount(flat.ravel(), minlength=outputs * classes).reshape(outputs, classes).astype(np.int64)
