"""Vote tasks: the checked arguments of a vote, the samples that are still missing, and counts in memory."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import IntArray, as_array
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import (
    Law,
    checked_distance,
    clean_batches,
    counts_of,
    law_for,
    sampler_of,
    scope_of_outputs,
    space_for,
)
from flipproof.noise.sampling.samplers import Sampler
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.classifier import Classifier, ModelOptions, classifier_of
from flipproof.smoothing.fingerprint.contents import note_class, noting_modules
from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION, fingerprint
from flipproof.smoothing.fingerprint.identity import hashes_of_files, own_code
from flipproof.smoothing.names import names_of_classes, names_of_inputs
from flipproof.smoothing.run import STREAM_VERSION, Run, sampling_error, versions
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.checkpoint import Checkpoint
from flipproof.smoothing.voting.chunks import Chunk, ChunkPlan
from flipproof.smoothing.voting.drawn_samples import SampleRanges, Source, merged_versions
from flipproof.smoothing.voting.evaluation import Evaluation, outputs_of
from flipproof.smoothing.voting.vote_counts import VoteCounts


@dataclass(frozen=True, slots=True, eq=False)
class VoteTask:
    """The checked arguments of `vote`, apart from the numbers of samples and the way they are evaluated."""

    classifier: Classifier
    space: Space
    noise: Law
    seed: int
    targets: IntArray | None
    sampler: Sampler = field(repr=False)
    distance: Fraction

    @classmethod
    def of(
        cls,
        model: Any,
        inputs: Any,
        noise: Law,
        seed: int,
        targets: ArrayLike | None,
        options: ModelOptions | None = None,
        tokenizer: Any = None,
    ) -> VoteTask:
        """Checks the arguments of `vote`, and finds the space of the data and the adapter of the model."""
        space = space_for(inputs, noise, tokenizer)
        noise = law_for(space, noise)
        checked = classifier_of(model, space, noise, options or ModelOptions())
        sampler = sampler_of(space, noise, seed)
        distance = checked_distance(sampler)
        return cls(checked, space, noise, seed, _checked_targets(targets, outputs_of(sampler)), sampler, distance)

    def evaluation(self, memory_limit: int, chunk_size: int | None, engine: str | None) -> Evaluation:
        """How a chunk is evaluated."""
        return Evaluation.of(self.classifier, self.sampler, self.targets, memory_limit, chunk_size, engine)

    def identity(self, evaluation: Evaluation, checked: bool) -> dict[str, Any]:
        """Everything that the votes depend on, as JSON values."""
        return {
            **model_identity(self.classifier),
            "data": fingerprint(self.space),
            "noise": self.noise.record(),
            "seed": int(self.seed),
            "classes": int(self.classifier.classes),
            "targets": None if self.targets is None else _sha256(self.targets),
            "engine": evaluation.engine.name,
            "engine version": evaluation.engine.version,
            "chunk size": evaluation.plan.chunk_size,
            "rows per call": evaluation.plan.rows_per_call,
            "stream version": STREAM_VERSION,
            "checked": checked,
            **device_record(self.classifier),
        }

    def votes(self, identity: dict[str, Any], store: CountsInMemory | Checkpoint, seconds: float, before: int) -> Votes:
        """The votes that a store has counted."""
        vote_counts = store.vote_counts
        if vote_counts is None:
            raise InvalidInputError("expected at least one sample to draw, got n_select = n_estimate = 0")
        drawn = seen_count(vote_counts)
        run = Run(
            identity=identity,
            select=vote_counts.select.samples,
            estimate=vote_counts.estimate.samples,
            sampling_error=sampling_error(self.distance, drawn),
            versions=merged_versions(store.sources),
            seconds=seconds,
            drawn=drawn - before,
            space=counts_of(self.space),
            sources=store.sources,
        )
        outputs = len(vote_counts.estimate.counts)
        return Votes(
            selection=vote_counts.select.counts,
            estimation=vote_counts.estimate.counts,
            noise=self.noise,
            n_select=vote_counts.select.samples.count,
            n_estimate=vote_counts.estimate.samples.count,
            run=run,
            vote_counts=vote_counts,
            scope=scope_of_outputs(self.space, self.noise, outputs, self.targets),
            ids=self.targets,  # type: ignore[arg-type]  # without targets, all inputs
            input_names=names_of_inputs(self.space, outputs, self.targets),
            class_names=names_of_classes(self.classifier),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MissingSamples:
    """The wanted samples, by role, and the vote counts of those that have been seen."""

    plan: ChunkPlan
    wanted: Mapping[str, Sequence[range]]
    vote_counts: VoteCounts | None = None

    @property
    def samples(self) -> dict[str, int]:
        """How many samples are wanted, by role."""
        return {role: sum(map(len, ranges)) for role, ranges in self.wanted.items()}

    @property
    def total(self) -> int:
        """How many samples are wanted, of both roles together."""
        return sum(self.samples.values())

    def chunks(self) -> Iterator[Chunk]:
        """The wanted samples that have not been seen, as parts of chunks."""
        for role, gaps in self.gaps().items():
            for gap in gaps:
                yield from self.plan.chunks(role, gap, SampleRanges())

    def gaps(self) -> dict[str, list[range]]:
        """The wanted samples that have not been seen, by role."""
        counts, nothing = self.vote_counts, SampleRanges()
        seen = {role: nothing if counts is None else getattr(counts, role).samples for role in self.wanted}
        return {role: [gap for each in self.wanted[role] for gap in seen[role].missing(each)] for role in seen}


@dataclass(slots=True, eq=False)
class CountsInMemory(contextlib.AbstractContextManager["CountsInMemory"]):
    """A store of vote counts in memory only, in the place of a `Checkpoint`."""

    vote_counts: VoteCounts | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Which samples were drawn with which versions: all samples with the versions of this process."""
        counts = self.vote_counts
        return () if counts is None else (Source(versions(), counts.select.samples, counts.estimate.samples),)

    def add(self, vote_counts: VoteCounts) -> None:
        """Adds the votes of further samples."""
        self.vote_counts = vote_counts if self.vote_counts is None else self.vote_counts.merged(vote_counts)

    def __exit__(self, *_: object) -> None:
        return None


def seen_count(vote_counts: VoteCounts | None) -> int:
    """How many samples were counted, of both roles together."""
    return 0 if vote_counts is None else vote_counts.select.samples.count + vote_counts.estimate.samples.count


def _sha256(targets: IntArray) -> str:
    """The sha256 of the numbers as 64-bit integers, the lowest byte first, so that anybody can compute it."""
    return hashlib.sha256(targets.astype("<i8").tobytes()).hexdigest()


def device_record(classifier: Any) -> dict[str, str]:
    """The device of a torch module, unless it is the CPU. Devices round differently: their votes must not be mixed."""
    module: Any = getattr(classifier, "module", None)
    for tensor in module.parameters() if hasattr(module, "parameters") else ():
        return {} if tensor.device.type == "cpu" else {"device": tensor.device.type}
    return {}


def _checked_targets(targets: ArrayLike | None, limit: int) -> IntArray | None:
    if targets is None:
        return None
    given = as_array(targets, "targets")
    if given.dtype == bool and given.shape == (limit,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"expected targets to be a list of input numbers, got {given.dtype} of shape {given.shape}"
        )
    if given.size == 0 or given.min() < 0 or given.max() >= limit:
        raise InvalidInputError(f"expected one or more targets from 0 to {limit - 1}, got {given.tolist()[:5]}")
    if np.unique(given).size < given.size:
        raise InvalidInputError("expected every target once, got some twice")
    return given.astype(np.int64)


def model_identity(classifier: Any) -> dict[str, Any]:
    """The identity of a classifier as JSON values.

    - "model" is the classifier's fingerprint,
    - "fingerprints" is the version of fingerprints,
    - "code" is a hash of flipproof's code from noisy inputs to labels: the module of the classifier if it is one of
      ours, networks of ours inside, the models of ours that these import, and the code that counts labels,
    - "files" has the sha256 of each file of the user's own that the fingerprint covers.
    """
    with noting_modules() as met:
        note_class(type(classifier))
        given = getattr(classifier, "fingerprint", None)
        model = given if isinstance(given, str) else fingerprint(classifier)
    ours = {owner.__module__ for owner in type(classifier).__mro__} | {Evaluation.__module__}
    models = {name for name in met if name.startswith("flipproof.models.")}
    return {
        "model": model,
        "fingerprints": FINGERPRINTS_VERSION,
        "code": own_code(ours | models),
        "files": hashes_of_files(met),
    }


def clean_labels(classifier: Any, space: Space, noise: Law) -> IntArray:
    """What a classifier says about the inputs themselves, given as noisy ones are."""
    labels = [np.asarray(classifier(batch)).ravel() for batch in clean_batches(space, noise)]
    return np.concatenate(labels).astype(np.int64)
