"""What is voted on and what was counted: checked arguments of a vote, samples that are missing, counts in memory."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, counts_of, sampler_of, space_for
from flipproof.noise.sampling.samplers import Sampler, joint_sampler
from flipproof.noise.spaces.space import Space, as_array
from flipproof.smoothing.classifier import Classifier, checked_classifier, engine_for
from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION, fingerprint
from flipproof.smoothing.fingerprint.package_code import hashes_of_files, note_class, noting_modules, own_code
from flipproof.smoothing.run import STREAM_VERSION, Run, sampling_error, versions
from flipproof.smoothing.votes import Votes, scope_of_outputs
from flipproof.smoothing.voting.checkpoint import Checkpoint
from flipproof.smoothing.voting.chunks import Chunk, ChunkPlan
from flipproof.smoothing.voting.drawn_samples import SampleRanges, Source, merged_versions
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.vote_counts import VoteCounts


@dataclass(frozen=True, slots=True, eq=False)
class VoteTask:
    """What was asked for, checked, apart from how many samples and how they are evaluated."""

    classifier: Classifier
    space: Space
    noise: Law
    seed: int
    targets: IntArray | None
    sampler: Sampler = field(repr=False)

    @classmethod
    def of(cls, classifier: Any, inputs: Any, noise: Law, seed: int, targets: ArrayLike | None) -> VoteTask:
        """Checks the arguments of `vote`."""
        checked, space = checked_classifier(classifier), space_for(inputs, noise)
        sampler = sampler_of(space, noise, seed)
        joint = joint_sampler(sampler)
        limit = sampler.rows if joint is None else joint.outputs
        return cls(checked, space, noise, seed, _checked_targets(targets, limit), sampler)

    def evaluation(self, memory_limit: int, chunk_size: int | None, asked: str | None) -> Evaluation:
        """How a chunk is evaluated; around the targets only, where that gives the same labels."""
        sampler, rows, outputs, joint = self.sampler, np.arange(self.sampler.rows), None, joint_sampler(self.sampler)
        if self.targets is not None and joint is not None:
            hops = getattr(self.classifier, "hops", None)
            if hops is not None:
                sampler = joint = joint.restricted(self.targets, checked_count(hops, "hops")) or joint
            outputs = self.targets if joint.places is None else joint.places
        elif self.targets is not None:
            rows = self.targets
        engine = engine_for(self.classifier, sampler, asked)
        if engine.fused is not None:
            fused = engine.fused
            plan = ChunkPlan.for_fused(fused.bytes_per_sample, fused.working_bytes, memory_limit, chunk_size)
        else:
            plan = ChunkPlan.for_sampler(sampler, rows.size, memory_limit, chunk_size, self.classifier)
        return Evaluation(self.classifier, sampler, plan, rows, outputs, engine)

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

    def votes(
        self, identity: dict[str, Any], ledger: CountsInMemory | Checkpoint, seconds: float, before: int
    ) -> Votes:
        """Votes from what was counted."""
        tally = ledger.tally
        if tally is None:
            raise InvalidInputError("expected at least one sample to draw, got n_select = n_estimate = 0")
        drawn = seen_count(tally)
        run = Run(
            identity=identity,
            select=tally.select.samples,
            estimate=tally.estimate.samples,
            sampling_error=sampling_error(self.sampler.distance, drawn),
            versions=merged_versions(ledger.sources),
            seconds=seconds,
            drawn=drawn - before,
            space=counts_of(self.space),
            sources=ledger.sources,
        )
        return Votes(
            selection=tally.select.counts,
            estimation=tally.estimate.counts,
            noise=self.noise,
            n_select=tally.select.samples.count,
            n_estimate=tally.estimate.samples.count,
            run=run,
            tally=tally,
            scope=scope_of_outputs(self.space, self.noise, len(tally.estimate.counts), self.targets),
            ids=self.targets,  # type: ignore[arg-type]  # without targets, all inputs
        )


@dataclass(frozen=True, slots=True, eq=False)
class MissingSamples:
    """The samples that are wanted, by role, of which some may have been seen."""

    plan: ChunkPlan
    wanted: Mapping[str, Sequence[range]]
    tally: VoteCounts | None = None

    @property
    def samples(self) -> dict[str, int]:
        """How many are wanted, by role."""
        return {role: sum(map(len, ranges)) for role, ranges in self.wanted.items()}

    @property
    def total(self) -> int:
        """How many are wanted."""
        return sum(self.samples.values())

    def chunks(self) -> Iterator[Chunk]:
        """Those that have not been seen, as parts of chunks."""
        for role in self.wanted:
            for samples in self.wanted[role]:
                yield from self.plan.chunks(role, samples, self._seen(role))

    def gaps(self) -> dict[str, list[range]]:
        """Those that have not been seen, by role."""
        return {
            role: [gap for samples in self.wanted[role] for gap in self._seen(role).missing(samples)]
            for role in self.wanted
        }

    def _seen(self, role: str) -> SampleRanges:
        seen: SampleRanges = SampleRanges() if self.tally is None else getattr(self.tally, role).samples
        return seen


@dataclass(slots=True, eq=False)
class CountsInMemory(contextlib.AbstractContextManager["CountsInMemory"]):
    """Vote counts that are kept in memory only, in the place of a `Checkpoint`."""

    tally: VoteCounts | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Which of these samples were drawn with which versions: all with those of this process."""
        tally = self.tally
        return () if tally is None else (Source(versions(), tally.select.samples, tally.estimate.samples),)

    def add(self, tally: VoteCounts) -> None:
        """Adds the votes of further samples."""
        self.tally = tally if self.tally is None else self.tally.merged(tally)

    def __exit__(self, *_: object) -> None:
        return None


def seen_count(tally: VoteCounts | None) -> int:
    """How many samples were counted, of both roles together."""
    return 0 if tally is None else tally.select.samples.count + tally.estimate.samples.count


def _sha256(targets: IntArray) -> str:
    """Of the numbers as 64-bit integers, the lowest byte first, so that anybody can compute it."""
    return hashlib.sha256(targets.astype("<i8").tobytes()).hexdigest()


def device_record(classifier: Any) -> dict[str, str]:
    """Where a torch module computes, unless it is the CPU. Others round otherwise: their votes must not be mixed."""
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
    """JSON values.

    - "model" is the classifier's fingerprint,
    - "fingerprints" the version of fingerprints,
    - "code" a hash of what flipproof does to get from noisy inputs to labels: the module of the classifier if it is
      one of ours, networks of ours inside, what they import of our models, and what counts labels,
    - "files" the sha256 of each file of the user's own that the fingerprint is about.
    """
    with noting_modules() as met:
        note_class(type(classifier))
        own = getattr(classifier, "fingerprint", None)
        model = own if isinstance(own, str) else fingerprint(classifier)
    ours = {owner.__module__ for owner in type(classifier).__mro__} | {Evaluation.__module__}
    models = {name for name in met if name.startswith("flipproof.models.")}
    return {
        "model": model,
        "fingerprints": FINGERPRINTS_VERSION,
        "code": own_code(ours | models),
        "files": hashes_of_files(met),
    }
