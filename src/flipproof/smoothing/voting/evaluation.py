"""The evaluation of one chunk: draw noisy copies, call the classifier, count its labels."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import FloatArray, IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import as_given
from flipproof.noise.sampling.samplers import JointSampler, Role, Sampler
from flipproof.smoothing.classifier import FUSED, TORCH, Classifier, ClassifierError, check_engine
from flipproof.smoothing.voting.answers import Answer
from flipproof.smoothing.voting.chunks import OUT_OF_MEMORY, Chunk, ChunkPlan, InputSize, check_fits, checked_memory

_ROLES = {"select": Role.SELECT, "estimate": Role.ESTIMATE}


class FusedLabels(Protocol):
    """Labels of noisy samples, computed without making the noisy inputs as a whole."""

    @property
    def version(self) -> int:
        """Changes when the same network begins to give another label to the same noisy input."""

    @property
    def bytes_per_sample(self) -> int:
        """About how much memory a sample of a chunk takes."""

    @property
    def working_bytes(self) -> int:
        """About how much further memory is needed, however many samples there are."""

    def __call__(self, role: Role, samples: range) -> IntArray:
        """Labels [samples, outputs] of the noisy inputs that the sampler draws."""

    def scores(self, role: Role, samples: range) -> FloatArray:
        """The numbers [samples, outputs, classes] behind the labels."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that evaluates a chunk.

    Attributes:
        name: "fused", "torch", or None for a classifier that is no torch module.
        fused: gives the labels, if the engine is fused.
    """

    name: str | None = None
    fused: FusedLabels | None = None

    @property
    def version(self) -> int | None:
        """The version of fused evaluation; None for a classifier that is called, as its fingerprint identifies it."""
        return None if self.fused is None else self.fused.version


def engine_for(classifier: Any, sampler: Sampler, requested: str | None) -> Engine:
    """The requested engine, or the fastest one if none is requested.

    A classifier that is a torch module says so by an attribute `engine`, and may have a method `fused` that gives the
    `FusedLabels` of a sampler, or the reason why there are none.
    """
    check_engine(requested)
    is_torch, name = getattr(classifier, "engine", None) == TORCH, type(classifier).__name__
    if requested == TORCH and not is_torch:
        raise InvalidInputError(f"expected a classifier that is a torch module for engine='torch', got {name}")
    offer: Any = f"it is for GCN, APPNP and GAT of flipproof, not for {name}"
    if is_torch and requested != TORCH and hasattr(classifier, "fused"):
        offer = classifier.fused(sampler)
    if not isinstance(offer, str):
        return Engine(FUSED, offer)
    if requested == FUSED:
        raise InvalidInputError(f"expected a network that the fused engine can evaluate, got another: {offer}")
    return Engine(TORCH if is_torch else None)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The work of a run in the form that is sent to workers: call it with a chunk to get counts [outputs, classes].

    Attributes:
        rows: the numbers of the inputs that are drawn.
        outputs: which of the labels of a joint input, such as a graph, are counted, or None for all.
        engine: what computes the labels.
    """

    classifier: Classifier
    sampler: Sampler
    plan: ChunkPlan
    rows: IntArray
    outputs: IntArray | None = None
    engine: Engine = field(default_factory=Engine)

    @classmethod
    def of(
        cls,
        classifier: Classifier,
        sampler: Sampler,
        targets: IntArray | None,
        memory_limit: int,
        chunk_size: int | None = None,
        engine: str | None = None,
    ) -> Evaluation:
        """The evaluation for a run; it draws only the targets' neighbourhood where that gives the same labels."""
        rows, outputs, joint = np.arange(sampler.rows), None, joint_sampler(sampler)
        if targets is not None and joint is not None:
            hops = getattr(classifier, "hops", None)
            if hops is not None:
                sampler = joint = joint.restricted(targets, checked_count(hops, "hops")) or joint
            outputs = targets if joint.places is None else joint.places
        elif targets is not None:
            rows = targets
        chosen = engine_for(classifier, sampler, engine)
        if (fused := chosen.fused) is not None:
            plan = ChunkPlan.for_fused(fused.bytes_per_sample, fused.working_bytes, memory_limit, chunk_size)
        else:
            plan = ChunkPlan.for_inputs(input_size(sampler, classifier), rows.size, memory_limit, chunk_size)
        return cls(classifier, sampler, plan, rows, outputs, chosen)

    def __repr__(self) -> str:
        return f"Evaluation of {self.classifier!r}"

    @property
    def is_joint(self) -> bool:
        """Whether one noisy input, such as a graph, gets many predictions."""
        return joint_sampler(self.sampler) is not None

    @property
    def predictions(self) -> int:
        """The number of predictions that one sample of all rows gets."""
        return outputs_of(self.sampler) if self.is_joint else int(self.rows.size)

    @property
    def shared(self) -> Any:
        """The arrays that all noisy copies of a joint input share, and that no classifier may change."""
        joint = joint_sampler(self.sampler)
        return None if joint is None else joint.shared

    def on_whole_graph(self) -> Evaluation | None:
        """The evaluation that draws the whole graph; None if this one draws all of it already."""
        joint = joint_sampler(self.sampler)
        found = None if joint is None else joint.unrestricted()
        if found is None:
            return None
        (whole, targets), engine = found, self.engine
        if engine.fused is not None:
            offer = self.classifier.fused(whole)  # type: ignore[attr-defined]
            engine = Engine(engine.name, None if isinstance(offer, str) else offer)
        return replace(self, sampler=whole, outputs=targets, engine=engine)

    def check_fits(self, memory_limit: int) -> None:
        """Refuses noisy inputs that are too large for the memory, unless the fused engine never makes them."""
        if self.engine.fused is None:
            check_fits(input_size(self.sampler, self.classifier), memory_limit)

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
        """Draws one sample, so that every loop is compiled. Errors are left to the next time the sample is drawn."""
        with contextlib.suppress(Exception):
            if self.engine.fused is not None:
                self.engine.fused(Role.SELECT, range(1))
            else:
                self.sampler.draw(Role.SELECT, range(1), self.rows[:1])

    def answer(self, role: str, samples: range, rows: IntArray) -> Answer:
        """The answer to some samples of some rows, evaluated together, however chunks are cut."""
        drawn, fused, classes = _ROLES[role], self.engine.fused, self.classifier.classes
        if fused is not None:
            labels = self._labels(fused(drawn, samples), len(samples), rows.size)
            return self._of_targets(Answer.of(labels, fused.scores(drawn, samples), classes))
        # The scores get a batch of their own: a classifier may write into the batch that it gets.
        labels = self._labels(self.classifier(self._drawn(drawn, samples, rows)), len(samples), rows.size)
        label_scores = getattr(self.classifier, "label_scores", None)
        scores = None if label_scores is None else label_scores(self._drawn(drawn, samples, rows))
        return self._of_targets(Answer.of(labels, scores, classes))

    def _drawn(self, role: Role, samples: range, rows: IntArray) -> Any:
        """Noisy copies as the classifier gets them."""
        return as_given(self.sampler, self.sampler.draw(role, samples, rows))

    def _counts(self, chunk: Chunk, whole: range, rows: IntArray) -> IntArray:
        role, fused = _ROLES[chunk.role], self.engine.fused
        batch = None if fused is not None else self._drawn(role, whole, rows)
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
        if self.is_joint:
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
        """The part of an answer that is counted."""
        if self.outputs is None:
            return answer
        labels = answer.labels.shape[1]
        if self.outputs.max() >= labels:
            raise InvalidInputError(f"expected a label for every target, got {labels} labels per graph")
        return answer.outputs(self.outputs)


def input_size(sampler: Sampler, classifier: Any = None) -> InputSize:
    """The memory that a noisy input takes, with the intermediate values of the classifier.

    A classifier may say how much memory it needs for every entry of a sparse row, if it makes rows dense
    (`bytes_per_entry`), and for every edge of a graph (`bytes_per_edge`).
    """
    joint = joint_sampler(sampler)
    dense = getattr(classifier, "bytes_per_entry", 0) * getattr(sampler, "columns", 0)
    messages = getattr(classifier, "bytes_per_edge", 0) * (0.0 if joint is None else joint.expected_edges)
    drawn = sampler.bytes_per_row
    return InputSize(drawn + dense, drawn + int(dense + messages), joint is not None)


def check_memory(memory_limit: object, copies: int, sampler: Sampler | None, classifier: Any = None) -> None:
    """Refuses a memory limit that is none, or that is too low for this many noisy inputs at once, if any are drawn."""
    most = checked_memory(memory_limit)
    if sampler is not None:
        check_fits(input_size(sampler, classifier), most, copies)


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out. Torch has no class for this on the CPU: "can't allocate memory", "out of memory"."""
    return isinstance(error, MemoryError) or any(each in str(error) for each in ("out of memory", "allocate memory"))


def too_little_memory(chunk: Chunk, error: Exception) -> ClassifierError:
    """The error for samples that need more memory than there is."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return ClassifierError(f"expected enough memory for {chunk}, got {reason.rstrip(':')}; {OUT_OF_MEMORY}")


def _label_counts(labels: NDArray[Any], classes: int) -> IntArray:
    outputs = labels.shape[1]
    flat = np.arange(outputs) * classes + labels.astype(np.int64)
    return np.bincount(flat.ravel(), minlength=outputs * classes).reshape(outputs, classes).astype(np.int64)


def outputs_of(sampler: Sampler) -> int:
    """The number of predictions that one sample of all inputs gets."""
    joint = joint_sampler(sampler)
    return sampler.rows if joint is None else joint.outputs


def joint_sampler(sampler: Sampler) -> JointSampler | None:
    """The sampler, if it draws one input that gets many predictions; None if each row gets one."""
    return cast("JointSampler", sampler) if hasattr(sampler, "unrestricted") else None
