"""The verb: from a classifier and inputs to votes."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.arguments import checked_flag
from flipproof.base.arrays import IntArray
from flipproof.base.progress import progress_of
from flipproof.base.threads import single_threaded
from flipproof.errors import InvalidInputError
from flipproof.noise.law_records import noise_record
from flipproof.noise.laws import AnyNoise, sampler_of, space_for
from flipproof.noise.spaces.graph import GraphSampler
from flipproof.noise.spaces.space import Space, as_array, counts_of
from flipproof.smoothing.classifier import Classifier, ClassifierError, checked_classifier
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.fingerprint.identity import differences_again
from flipproof.smoothing.fingerprint.model_identity import model_identity
from flipproof.smoothing.run import STREAM_VERSION, Run, sampling_error, versions
from flipproof.smoothing.votes import Votes, scope_of_outputs
from flipproof.smoothing.voting.checkpoint import Checkpoint, peek_identity
from flipproof.smoothing.voting.chunk_groups import SpanEvaluation, Spans
from flipproof.smoothing.voting.chunks import Chunk, Plan, checked_memory, checked_wanted
from flipproof.smoothing.voting.engine import TORCH, engine_for
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.sample_ranges import SampleRanges
from flipproof.smoothing.voting.self_check import CheckedEvaluation, NoCheck, SelfCheck, done_here
from flipproof.smoothing.voting.sources import Source, merged_versions, warn_of_other_versions
from flipproof.smoothing.voting.vote_counts import ROLES, RoleTally, Tally
from flipproof.smoothing.workers.processes import USUAL_TIMEOUT, WorkerError, WorkerPool, checked_timeout
from flipproof.smoothing.workers.ray_pool import RayPool, check_workers
from flipproof.theory.radii import checked_count


def vote(
    classifier: Classifier,
    inputs: Any,
    noise: AnyNoise,
    n_select: int | range = 1_000,
    n_estimate: int | range = 100_000,
    seed: int = 0,
    chunk_size: int | None = None,
    workers: int | Literal["ray"] = 1,
    memory_limit: str | int = "2GB",
    targets: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
    address: str | None = None,
    engine: str | None = None,
    timeout: float | None = USUAL_TIMEOUT,
    check: bool = True,
) -> Votes:
    """Counts the labels that a classifier gives to noisy copies of every input.

    Sample number i is a function of the seed, its role and i alone: the votes do not depend on the number of
    workers, on the order in which they finish, or on whether the run was interrupted.

    Args:
        classifier: see `Classifier`; `SklearnClassifier`, `TorchClassifier`, `NodeClassifier` and `GraphClassifier`
            wrap trained models.
        inputs: an array or tensor [inputs, ...] of small integers, a sparse binary matrix, a networkx or PyTorch
            Geometric graph, or a space (`Graph`, `Graphs`, `Tokens`, `Table`, ...).
        noise: the law of the noise: a `FlipNoise` or a `JointNoise`; or an `AblationNoise` or a `GaussianNoise`,
            whose certificates are in `flipproof.baselines`.
        n_select: how many samples choose the label; a range draws the samples with these numbers.
        n_estimate: how many samples bound its probability; likewise.
        seed: of all randomness, in [0, 2**64).
        chunk_size: samples that are evaluated together; by default chosen from the data and the memory limit, or
            taken from the checkpoint. It is part of the run: a model's last bits may depend on it.
        workers: processes, with one numerical thread each. The classifier must then be picklable. "ray" uses all
            CPUs of a Ray cluster.
        memory_limit: what noisy samples may take, for each worker.
        targets: only these inputs (of a graph: these nodes), as numbers or as a mask. They get the same noise as in a
            full run, and so the same votes up to the last bits of what the model computes. Rows of the votes are in
            the order of the numbers, which `votes.ids` keeps.
        checkpoint: a file that keeps the votes as they come. The same call goes on where it was interrupted, and
            a call with more samples adds them. How many there will be must not depend on what they show: who
            certifies, looks and draws more until it certifies, has no promise at alpha.
        progress: whether to show a line in a terminal.
        address: of the Ray cluster: HOST:PORT or "auto"; by default RAY_ADDRESS, or one that is started on this
            machine for this call.
        engine: "fused" evaluates GCN, APPNP and GAT of flipproof while it draws, without making noisy graphs;
            "torch" hands every noisy input to the module. By default that of the checkpoint, or the fastest that there
            is; `votes.run.engine` says which. Their labels agree but where two logits are equal up to rounding.
        timeout: seconds that a chunk may take in a worker process, None for no limit. A worker that takes longer is
            killed, and its chunk done once more by another one. With workers=1 chunks are evaluated in this process,
            where nothing can be killed, unless another timeout than the usual hour asks for a worker process.
        check: whether to evaluate a few samples again, alone, in another order and on the whole graph, and to refuse a
            classifier that then gives other labels. Certificates say so if it was not checked.

    Returns:
        The votes, with what is needed to repeat them in `votes.run`.

    Raises:
        ClassifierError: the classifier failed; its `votes` has what was counted before.
        UnstableClassifierError: it does not give one label to one noisy input; likewise.
        WorkerError: workers died again and again, or took too long for a chunk twice; likewise.

    Example:
        >>> from flipproof import FlipNoise, FunctionClassifier, vote
        >>> majority = FunctionClassifier(lambda rows: (rows.sum(axis=1) > 2).astype(int), classes=2)
        >>> votes = vote(majority, [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], FlipNoise(0.1, 0.2), 100, 1000)
        >>> votes.estimation.argmax(axis=1)
        array([1, 0])
    """
    job = _Job.of(classifier, inputs, noise, seed, targets)
    wanted = {"select": checked_wanted(n_select, "n_select"), "estimate": checked_wanted(n_estimate, "n_estimate")}
    check_workers(workers, address)
    timeout = checked_timeout(timeout)
    if workers == "ray" and (device := _device(classifier)):
        raise InvalidInputError(f"expected a module on the CPU for a Ray cluster, got one on {device['device']}")
    known = None if checkpoint is None else peek_identity(checkpoint)
    recorded = _plan_of(known) if chunk_size is None and known is not None else None
    size = recorded.chunk_size if recorded else chunk_size
    evaluation = job.evaluation(checked_memory(memory_limit), size, _engine_of(known) if engine is None else engine)
    if recorded:
        evaluation = replace(evaluation, plan=recorded)
    identity = job.identity(
        evaluation, checked_flag(check, "check")
    )  # before anything is drawn: a classifier may change as it is used
    ledger = _Ledger() if checkpoint is None else Checkpoint.open(checkpoint, identity)
    with ledger:
        _check_seen(ledger.tally, wanted)
        start, before = time.perf_counter(), _seen_count(ledger.tally)
        missing = _Missing(evaluation.plan, {role: [wanted[role]] for role in ROLES}, ledger.tally)
        if checkpoint is not None and missing.total > before:
            warn_of_other_versions(ledger.sources, versions(), os.path.basename(os.fspath(checkpoint)))
        try:
            checking = _check_of(evaluation, job, missing, memory_limit) if check else NoCheck(evaluation)
            with (
                contextlib.closing(_evaluated(checking, missing, workers, address, timeout)) as evaluated,
                progress_of(missing.total, before, progress) as advance,
            ):
                _draw(evaluated, ledger, advance)
        except (ClassifierError, WorkerError) as error:
            if ledger.tally is not None:  # which the check at the end has not seen
                unchecked = identity | {"checked": False}
                error.votes = job.votes(unchecked, ledger, time.perf_counter() - start, before)
            raise
        return job.votes(identity, ledger, time.perf_counter() - start, before)


def vote_again(
    classifier: Classifier,
    inputs: Any,
    votes: Votes,
    portions: Mapping[str, Sequence[RoleTally]],
    workers: int | Literal["ray"] = 1,
    memory_limit: str | int = "2GB",
    progress: bool = True,
    address: str | None = None,
    timeout: float | None = USUAL_TIMEOUT,
) -> Tally:
    """Draws the samples of some portions of votes once more, by role, with the model and the data they were drawn with.

    Raises:
        InvalidInputError: the votes were drawn with another model, other data, or by another version.
    """
    if votes.run is None:
        raise InvalidInputError("expected votes that flipproof.vote has drawn, got votes from elsewhere")
    identity = votes.run.identity
    targets = None if identity.get("targets") is None else votes.ids
    job, plan = _Job.of(classifier, inputs, votes.noise, identity["seed"], targets), _plan_of(identity)
    evaluation = job.evaluation(checked_memory(memory_limit), plan.chunk_size, _engine_of(identity))
    evaluation = replace(evaluation, plan=plan)
    if differences := differences_again(job.identity(evaluation, votes.run.checked), identity):
        raise InvalidInputError(f"expected the model and the data of the votes, got others: {differences}")
    if votes.sampling_error < job.sampler.distance * (votes.n_select + votes.n_estimate):
        raise InvalidInputError(f"expected what the sampler costs, got less: {votes.sampling_error}")
    if votes.scope not in (None, scope_of_outputs(job.space, job.noise, len(votes), job.targets)):
        raise InvalidInputError("expected the numbers of entries that the data have, got others in the votes")
    samples = {role: [range(*pair) for part in portions[role] for pair in part.samples.pairs] for role in portions}
    ledger, missing, check = _Ledger(), _Missing(plan, samples), NoCheck(evaluation)
    with (
        contextlib.closing(_evaluated(check, missing, workers, address, checked_timeout(timeout))) as evaluated,
        progress_of(missing.total, 0, progress) as advance,
    ):
        _draw(evaluated, ledger, advance)
    if ledger.tally is None:
        raise InvalidInputError("expected at least one portion to draw again, got none")
    return ledger.tally


@dataclass(slots=True, eq=False)
class _Ledger(contextlib.AbstractContextManager["_Ledger"]):
    """A checkpoint that is not on disk."""

    tally: Tally | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        tally = self.tally
        return () if tally is None else (Source(versions(), tally.select.samples, tally.estimate.samples),)

    def add(self, tally: Tally) -> None:
        self.tally = tally if self.tally is None else self.tally.merged(tally)

    def __exit__(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What was asked for, checked, apart from how many samples and how they are evaluated."""

    classifier: Classifier
    space: Space
    noise: AnyNoise
    seed: int
    targets: IntArray | None
    sampler: Any = field(repr=False)

    @classmethod
    def of(cls, classifier: Any, inputs: Any, noise: AnyNoise, seed: int, targets: ArrayLike | None) -> _Job:
        checked, space = checked_classifier(classifier), space_for(inputs, noise)
        sampler: Any = sampler_of(space, noise, seed)
        limit = sampler.graph.nodes if isinstance(sampler, GraphSampler) else sampler.rows
        return cls(checked, space, noise, seed, _checked_targets(targets, limit), sampler)

    def evaluation(self, memory_limit: int, chunk_size: int | None, asked: str | None) -> Evaluation:
        """How a chunk is evaluated; around the targets only, where that gives the same labels."""
        sampler, rows, outputs = self.sampler, np.arange(self.sampler.rows), None
        if self.targets is not None and isinstance(sampler, GraphSampler):
            hops = getattr(self.classifier, "hops", None)
            if hops is not None:
                sampler = sampler.restricted(self.targets, checked_count(hops, "hops")) or sampler
            outputs = self.targets if sampler.places is None else sampler.places
        elif self.targets is not None:
            rows = self.targets
        engine = engine_for(self.classifier, sampler, asked)
        if engine.fused is not None:
            fused = engine.fused
            plan = Plan.for_fused(fused.bytes_per_sample, fused.working_bytes, memory_limit, chunk_size)
        else:
            plan = Plan.for_sampler(sampler, rows.size, memory_limit, chunk_size, self.classifier)
        return Evaluation(self.classifier, sampler, plan, rows, outputs, engine)

    def identity(self, evaluation: Evaluation, checked: bool) -> dict[str, Any]:
        """Everything that the votes depend on, as JSON values."""
        return {
            **model_identity(self.classifier),
            "data": fingerprint(self.space),
            "noise": noise_record(self.noise),
            "seed": int(self.seed),
            "classes": int(self.classifier.classes),
            "targets": None if self.targets is None else _sha256(self.targets),
            "engine": evaluation.engine.name,
            "engine version": evaluation.engine.version,
            "chunk size": evaluation.plan.chunk_size,
            "rows per call": evaluation.plan.rows_per_call,
            "stream version": STREAM_VERSION,
            "checked": checked,
            **_device(self.classifier),
        }

    def votes(self, identity: dict[str, Any], ledger: _Ledger | Checkpoint, seconds: float, before: int) -> Votes:
        """Votes from what was counted."""
        tally = ledger.tally
        if tally is None:
            raise InvalidInputError("expected at least one sample to draw, got n_select = n_estimate = 0")
        drawn = _seen_count(tally)
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


def _draw(
    evaluated: Iterable[tuple[Chunk, IntArray, str]], ledger: _Ledger | Checkpoint, advance: Callable[[int, str], None]
) -> None:
    """Notes every chunk when it is done."""
    for chunk, counts, places in evaluated:
        _check_outputs(chunk, counts, ledger.tally)
        ledger.add(Tally.of(chunk.role, chunk.samples, counts))
        advance(len(chunk.samples), places)


def _evaluated(
    check: SelfCheck | NoCheck,
    missing: _Missing,
    workers: int | Literal["ray"],
    address: str | None,
    timeout: float | None,
) -> Generator[tuple[Chunk, IntArray, str]]:
    """Chunks with their counts as they come, and where they come from, as far as the check lets them pass."""
    with contextlib.closing(_results(check, missing, workers, address, timeout)) as results:
        yield from check.passed(results)


def _results(
    check: SelfCheck | NoCheck,
    missing: _Missing,
    workers: int | Literal["ray"],
    address: str | None,
    timeout: float | None,
) -> Generator[tuple[Any, Any, str]]:
    """What comes of chunks and of the tasks of the check; from Ray many chunks at once, as one."""
    here = workers == 1 and timeout in (None, USUAL_TIMEOUT)
    evaluation, work = check.evaluation, check.work
    chunks = missing.chunks() if here else _compiled_first(evaluation, missing.chunks())
    if workers == "ray":  # the check stays here: on a cluster, tasks are spans of chunks
        yield from done_here(work, check.before())
        spans = Spans(chunks, missing.samples)
        with RayPool(SpanEvaluation(evaluation), address, timeout, evaluation.plan.count) as cluster:
            for _, (parts, seconds) in cluster.map_unordered(spans):
                spans.learn(seconds, cluster.cpus)
                yield from ((chunk, counts, cluster.places) for chunk, counts in parts)
        yield from done_here(work, check.after())
    elif here:
        yield from done_here(work, check.among(chunks))
    else:
        with WorkerPool(work, workers, timeout) as pool:
            yield from ((task, done, pool.places) for task, done in pool.map_unordered(check.among(chunks)))


def _compiled_first(evaluation: Evaluation, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks; if there are any, loops have been compiled and kept, so that workers need only load them."""
    chunks = iter(chunks)
    for first in chunks:
        with single_threaded():
            evaluation.compile()
        return itertools.chain([first], chunks)
    return chunks


def _check_outputs(chunk: Chunk, counts: IntArray, tally: Tally | None) -> None:
    """Only for a graph can the number of outputs differ from chunk to chunk; elsewhere it is that of the rows."""
    if tally is not None and tally.shape != counts.shape:
        raise ClassifierError(
            f"the classifier failed on {chunk}: expected {tally.shape[0]} outputs as before, got {counts.shape[0]}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Missing:
    """The samples that are wanted, by role, of which some may have been seen."""

    plan: Plan
    wanted: Mapping[str, Sequence[range]]
    tally: Tally | None = None

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


def _check_of(evaluation: Evaluation, job: _Job, missing: _Missing, memory_limit: str | int) -> SelfCheck:
    return SelfCheck(CheckedEvaluation.of(evaluation, checked_memory(memory_limit)), job.seed, missing.gaps())


def _seen_count(tally: Tally | None) -> int:
    return 0 if tally is None else tally.select.samples.count + tally.estimate.samples.count


def _plan_of(identity: Mapping[str, Any]) -> Plan:
    """How the run of a checkpoint was cut into chunks."""
    chunk_size: Any = identity.get("chunk size")
    rows_per_call: Any = identity.get("rows per call")
    return Plan(chunk_size, rows_per_call)


def _engine_of(identity: Mapping[str, Any] | None) -> str | None:
    """The torch engine if the run of a checkpoint has it: it goes on with it, whether a faster one would fit or not."""
    return TORCH if identity is not None and identity.get("engine") == TORCH else None


def _check_seen(tally: Tally | None, wanted: dict[str, range]) -> None:
    """A checkpoint may hold fewer samples than are wanted, but no others: sums cannot be taken apart."""
    for role in ROLES:
        seen = SampleRanges() if tally is None else getattr(tally, role).samples
        if seen.count > seen.overlap(SampleRanges.of(wanted[role])).count:
            raise InvalidInputError(
                f"expected a checkpoint with some of the {role} samples {SampleRanges.of(wanted[role])}, got one that "
                f"has {seen}; ask for all of these, or start again with another file"
            )


def _sha256(targets: IntArray) -> str:
    """Of the numbers as 64-bit integers, the lowest byte first, so that anybody can compute it."""
    return hashlib.sha256(targets.astype("<i8").tobytes()).hexdigest()


def _device(classifier: Any) -> dict[str, str]:
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
