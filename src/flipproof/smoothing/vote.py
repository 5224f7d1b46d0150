"""The verb `vote`: from a classifier and inputs to votes."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from flipproof.base.progress import Column, ProgressLine, progress_line
from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, scope_of_outputs
from flipproof.smoothing.classifier import TORCH, ClassifierError, ModelOptions, WorkerError
from flipproof.smoothing.fingerprint.identity import differences_again, of_other_fingerprints
from flipproof.smoothing.run import versions
from flipproof.smoothing.votes import Votes
from flipproof.smoothing.voting.checkpoint import Checkpoint, peek_identity
from flipproof.smoothing.voting.chunks import (
    DEFAULT_TIMEOUT,
    Chunk,
    ChunkPlan,
    Workers,
    check_evaluation,
    checked_memory,
    checked_wanted,
)
from flipproof.smoothing.voting.drawn_samples import SampleRanges, warn_of_other_versions
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.self_check import CheckedEvaluation, NoCheck, Result, SelfCheck
from flipproof.smoothing.voting.vote_counts import ROLES, RoleCounts, VoteCounts
from flipproof.smoothing.voting.vote_task import CountsInMemory, MissingSamples, VoteTask, device_record, seen_count

_COLUMNS: tuple[Column, ...] = ("bar", "count", "samples/s", "left", "time", "note")


def vote(
    classifier: Any,
    inputs: Any,
    noise: Law,
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
    timeout: float | None = DEFAULT_TIMEOUT,
    check: bool = True,
    classes: int | None = None,
    call: Callable[[Any, Any], Any] | None = None,
    threshold: float | None = None,
    tokenizer: Callable[[str], Sequence[str]] | None = None,
) -> Votes:
    """Counts the labels that a classifier gives to noisy copies of every input.

    Sample number i is a function of the seed, its role and i alone: the votes do not depend on the number of
    workers, on the order in which they finish, or on whether the run was interrupted.

    Args:
        classifier: a trained model as it is: an estimator or a pipeline of scikit-learn, LightGBM, XGBoost or
            CatBoost, a `torch.nn.Module`, a graph neural network of PyTorch Geometric, or a function of a batch; or a
            `Classifier`, such as the adapters `SklearnClassifier`, `TorchClassifier`, `NodeClassifier` and
            `GraphClassifier`, which have further options.
        inputs: an array or tensor [inputs, ...] of small integers, a sparse binary matrix, a data frame, a list of
            texts, a networkx or PyTorch Geometric graph, or a space (`Graph`, `Graphs`, `Tokens`, `Table`, ...).
        noise: the law of the noise: a `FlipNoise` or a `JointNoise`; or an `AblationNoise` or a `GaussianNoise`,
            whose certificates are in `flipproof.baselines`.
        n_select: how many samples choose the label; a range draws the samples with these numbers.
        n_estimate: how many samples bound the label's probability; a range draws the samples with these numbers.
        seed: the seed of all randomness, in [0, 2**64).
        chunk_size: how many samples are evaluated together. By default the data and the memory limit determine it, or
            it is taken from the checkpoint. It is part of the run: a model's last bits may depend on it.
        workers: the number of processes, with one numerical thread each, or "ray" for all CPUs of a Ray cluster. A
            classifier that is sent to workers must be picklable.
        memory_limit: the memory that noisy samples may take in each worker.
        targets: only these inputs (of a graph: these nodes), as numbers or as a mask. They get the same noise as in a
            full run, and so the same votes up to the last bits of what the model computes. The rows of the votes are
            in the order of the targets, which `votes.ids` keeps.
        checkpoint: a file that keeps the votes as they come. The same call continues where it was interrupted, and
            a call with more samples adds them. Fix the number of samples beforehand: drawing more until an input is
            certified voids the promise at alpha.
        progress: whether to show a line in a terminal or a notebook.
        address: the address of the Ray cluster: HOST:PORT or "auto". By default RAY_ADDRESS, or a cluster that is
            started on this machine for this call.
        engine: "fused" evaluates GCN, APPNP and GAT of flipproof while it draws, without making noisy graphs;
            "torch" hands every noisy input to the module. By default the checkpoint's engine, or the fastest available;
            `votes.run.engine` says which. Their labels agree except where two logits are equal up to rounding.
        timeout: seconds that a chunk may take in a worker process, None for no limit. A worker that takes longer is
            killed, and another worker tries its chunk once more. With workers=1 and None or the default of one hour,
            chunks are evaluated in this process, where nothing can be killed; other timeouts start a worker process.
        check: whether to evaluate a few samples again, alone, in another order and on the whole graph, and to refuse a
            classifier that then gives other labels. Without this check, the certificates say that it was left out.
        classes: the number of labels, if the model cannot tell: a function that returns labels.
        call: how to call the model, as `call(model, batch)`, if it is called in a way of its own.
        threshold: of a model with one score for the second of two classes: label 1 from this score on.
        tokenizer: of a list of texts: cuts a text into the tokens that noise changes.

    Returns:
        The votes; `votes.run` has what is needed to repeat them.

    Raises:
        ClassifierError: the classifier failed. The error's `votes` has what was counted before.
        UnstableClassifierError: the classifier does not give one label to one noisy input. It has `votes`, too.
        WorkerError: workers died repeatedly, or took too long for one chunk twice. It has `votes`, too.

    Example:
        >>> from flipproof import FlipNoise, FunctionClassifier, vote
        >>> majority = FunctionClassifier(lambda rows: (rows.sum(axis=1) > 2).astype(int), classes=2)
        >>> votes = vote(majority, [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], FlipNoise(0.1, 0.2), 100, 1000)
        >>> votes.estimation.argmax(axis=1)
        array([1, 0])
    """
    options = ModelOptions(classes, call, threshold)
    task = VoteTask.of(classifier, inputs, noise, seed, targets, options, tokenizer)
    wanted = {"select": checked_wanted(n_select, "n_select"), "estimate": checked_wanted(n_estimate, "n_estimate")}
    place = Workers(workers, address, timeout)
    check_evaluation(memory_limit, engine, check)
    if workers == "ray" and (device := device_record(task.classifier)):
        raise InvalidInputError(f"expected a module on the CPU for a Ray cluster, got one on {device['device']}")
    known = None if checkpoint is None else peek_identity(checkpoint)
    recorded = _plan_of(known) if chunk_size is None and known is not None else None
    size = recorded.chunk_size if recorded else chunk_size
    evaluation = task.evaluation(checked_memory(memory_limit), size, _engine_of(known) if engine is None else engine)
    if recorded:
        evaluation = replace(evaluation, plan=recorded)
    # Before anything is drawn: a classifier may change as it is used.
    identity = task.identity(evaluation, bool(check))
    store = CountsInMemory() if checkpoint is None else Checkpoint.open(checkpoint, identity)
    with store:
        _check_seen(store.vote_counts, wanted)
        start, before = time.perf_counter(), seen_count(store.vote_counts)
        missing = MissingSamples(evaluation.plan, {role: [wanted[role]] for role in ROLES}, store.vote_counts)
        if checkpoint is not None and missing.total > before:
            warn_of_other_versions(store.sources, versions(), os.path.basename(os.fspath(checkpoint)))
        try:
            work = CheckedEvaluation.of(evaluation, checked_memory(memory_limit)) if check else None
            checking = NoCheck(evaluation) if work is None else SelfCheck(work, task.seed, missing.gaps())
            with (
                contextlib.closing(_evaluated(checking, missing, place)) as evaluated,
                progress_line("votes", _COLUMNS, missing.total, before, progress) as line,
            ):
                _draw(evaluated, store, line)
        except (ClassifierError, WorkerError) as error:
            if store.vote_counts is not None:  # votes that the check at the end has not seen
                unchecked = identity | {"checked": False}
                error.votes = task.votes(unchecked, store, time.perf_counter() - start, before)
            raise
        return task.votes(identity, store, time.perf_counter() - start, before)


def vote_again(
    classifier: Any,
    inputs: Any,
    votes: Votes,
    portions: Mapping[str, Sequence[RoleCounts]],
    workers: int | Literal["ray"] = 1,
    memory_limit: str | int = "2GB",
    progress: bool = True,
    address: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> VoteCounts:
    """Draws the samples of some portions of votes again, and returns their vote counts.

    Raises:
        InvalidInputError: the votes were drawn with another model, other data, or by another version.
    """
    if votes.run is None:
        raise InvalidInputError("expected votes that flipproof.vote has drawn, got votes from elsewhere")
    identity = votes.run.identity
    if other := of_other_fingerprints(identity):
        raise InvalidInputError(f"expected votes of this flipproof, got votes {other}; take the one that drew them")
    targets = None if identity.get("targets") is None else votes.ids
    task, plan = VoteTask.of(classifier, inputs, votes.noise, identity["seed"], targets), _plan_of(identity)
    evaluation = task.evaluation(checked_memory(memory_limit), plan.chunk_size, _engine_of(identity))
    evaluation = replace(evaluation, plan=plan)
    if differences := differences_again(task.identity(evaluation, votes.run.checked), identity):
        raise InvalidInputError(f"expected the model and the data of the votes, got a difference: {differences}")
    if votes.sampling_error < task.distance * (votes.n_select + votes.n_estimate):
        raise InvalidInputError(f"expected votes with the sampling error of their sampler, got {votes.sampling_error}")
    if votes.scope not in (None, scope_of_outputs(task.space, task.noise, len(votes), task.targets)):
        raise InvalidInputError("expected the numbers of entries that the data have, got other numbers in the votes")
    samples = {role: [range(*pair) for part in portions[role] for pair in part.samples.pairs] for role in portions}
    store, missing, check = CountsInMemory(), MissingSamples(plan, samples), NoCheck(evaluation)
    with (
        contextlib.closing(_evaluated(check, missing, Workers(workers, address, timeout))) as evaluated,
        progress_line("votes", _COLUMNS, missing.total, show=progress) as line,
    ):
        _draw(evaluated, store, line)
    if store.vote_counts is None:
        raise InvalidInputError("expected at least one portion to draw again, got none")
    return store.vote_counts


def _draw(
    evaluated: Iterable[tuple[Chunk, IntArray, str]], store: CountsInMemory | Checkpoint, line: ProgressLine
) -> None:
    """Stores the counts of every finished chunk and shows the progress."""
    for chunk, counts, places in evaluated:
        _check_outputs(chunk, counts, store.vote_counts)
        store.add(VoteCounts.of(chunk.role, chunk.samples, counts))
        line.update(more=len(chunk.samples), note=places)


def _evaluated(
    check: SelfCheck | NoCheck, missing: MissingSamples, workers: Workers
) -> Generator[tuple[Chunk, IntArray, str]]:
    """Finished chunks that the check lets pass, each with its counts and the place where it was evaluated."""
    with contextlib.closing(_results(check, missing, workers)) as results:
        yield from check.passed(results)


def _results(check: SelfCheck | NoCheck, missing: MissingSamples, workers: Workers) -> Generator[tuple[Any, Any, str]]:
    """The results of chunks and of the tasks of the check; Ray returns many neighbouring chunks as one."""
    evaluation, work = check.evaluation, check.work
    if workers.here:
        yield from _done_here(work, check.among(missing.chunks()))
        return
    chunks = _compiled_first(evaluation, missing.chunks())
    if workers.count == "ray":  # the check stays here: on a cluster, tasks are groups of chunks
        from flipproof.smoothing.workers.ray_pool import on_cluster  # most votes need no cluster

        yield from _done_here(work, check.before())
        yield from on_cluster(evaluation, chunks, missing.samples, workers)
        yield from _done_here(work, check.after())
    else:
        from flipproof.smoothing.workers.processes import WorkerPool  # a vote in this process needs no workers

        with WorkerPool(work, workers.count, workers.timeout) as pool:
            yield from ((task, done, pool.places) for task, done in pool.map_unordered(check.among(chunks)))


def _done_here(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Result]:
    """The results of tasks that this process does itself."""
    with single_threaded():
        yield from ((task, work(task), "1 process") for task in tasks)


def _compiled_first(evaluation: Evaluation, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks. If there are any, loops are compiled first, so that workers need only load them."""
    chunks = iter(chunks)
    for first in chunks:
        with single_threaded():
            evaluation.compile()
        return itertools.chain([first], chunks)
    return chunks


def _check_outputs(chunk: Chunk, counts: IntArray, vote_counts: VoteCounts | None) -> None:
    """Refuses a number of outputs that differs from chunk to chunk, as only a classifier of graphs could return it."""
    if vote_counts is not None and vote_counts.shape != counts.shape:
        raise ClassifierError(
            f"the classifier failed on {chunk}: expected {vote_counts.shape[0]} outputs as before, "
            f"got {counts.shape[0]}"
        )


def _plan_of(identity: Mapping[str, Any]) -> ChunkPlan:
    """The chunks of the run that a checkpoint holds."""
    chunk_size: Any = identity.get("chunk size")
    rows_per_call: Any = identity.get("rows per call")
    return ChunkPlan(chunk_size, rows_per_call)


def _engine_of(identity: Mapping[str, Any] | None) -> str | None:
    """The torch engine if the run of a checkpoint has used it: the run must continue with it, even if "fused" fits."""
    return TORCH if identity is not None and identity.get("engine") == TORCH else None


def _check_seen(vote_counts: VoteCounts | None, wanted: dict[str, range]) -> None:
    """Refuses a checkpoint with samples that are not wanted: its sums of votes cannot be taken apart."""
    for role in ROLES:
        seen = SampleRanges() if vote_counts is None else getattr(vote_counts, role).samples
        if seen.count > seen.overlap(SampleRanges.of(wanted[role])).count:
            raise InvalidInputError(
                f"expected a checkpoint with some of the {role} samples {SampleRanges.of(wanted[role])}, got one that "
                f"has {seen}; ask for all of these, or start again with another file"
            )
