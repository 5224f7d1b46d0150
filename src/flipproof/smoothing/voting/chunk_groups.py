"""Groups of chunks: several chunks as one task, so that the driver, which hands tasks out, keeps pace with workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flipproof.base.values import IntArray
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.vote_counts import samples_per_portion

_SECONDS_PER_TASK, _MOST_CHUNKS = 2.0, 4096  # seconds at least that a task should take, chunks at most that it has
_SECONDS_PER_CPU = 0.005  # seconds; so the driver, which needs about 3 ms for a result, gets 200 per second at most


@dataclass(frozen=True, slots=True, eq=False)
class GroupEvaluation:
    """Evaluates the chunks of a group one after the other in one worker, and adds up their counts there.

    Returns the counts, in parts if not all chunks have the same outputs, and the mean number of seconds per chunk.
    """

    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def compile(self) -> None:
        """Compiles all loops that the evaluation needs."""
        self.evaluation.compile()

    def __call__(self, group: Chunk) -> tuple[list[tuple[Chunk, IntArray]], float]:
        """Counts of neighbouring chunks, and seconds per chunk."""
        start, parts = time.perf_counter(), list[tuple[Chunk, IntArray]]()
        chunks = list(self.evaluation.plan.chunks(group.role, group.samples, SampleRanges()))
        for chunk in chunks:
            counts = self.evaluation(chunk)
            if parts and parts[-1][1].shape == counts.shape:
                before, sums = parts.pop()
                chunk, counts = _joined(before, chunk), sums + counts
            parts.append((chunk, counts))
        return parts, (time.perf_counter() - start) / len(chunks)


class ChunkGroups:
    """Puts neighbouring chunks together, as many as take a worker some seconds, so that the driver keeps pace.

    A task costs the driver the same, however long it is. `learn` says how long a chunk takes. A group lies within one
    portion of the samples; `samples` has the number of samples of each role, which fixes the length of portions.

    Example:
        >>> chunks = [Chunk("estimate", range(start, start + 10)) for start in range(0, 50, 10)]
        >>> groups = ChunkGroups(chunks, {"estimate": 3000})
        >>> run = iter(groups)
        >>> str(next(run))
        'estimate samples 0 to 9'
        >>> groups.learn(0.1, cpus=8)
        >>> [str(group) for group in run]
        ['estimate samples 10 to 29', 'estimate samples 30 to 49']
    """

    def __init__(self, chunks: Iterable[Chunk], samples: Mapping[str, int]) -> None:
        self._chunks, self._size = chunks, 1
        self._portion = {role: samples_per_portion(count) for role, count in samples.items()}

    def learn(self, seconds: float, cpus: int) -> None:
        """Fits the size of groups to the seconds that a chunk took on one of the CPUs.

        Groups double at most: the first chunks may not be typical.
        """
        wanted = max(_SECONDS_PER_TASK, _SECONDS_PER_CPU * cpus)
        self._size = max(1, min(2 * self._size, int(wanted / max(seconds, 1e-9)), _MOST_CHUNKS))

    def __iter__(self) -> Iterator[Chunk]:
        group, size = None, 0
        for chunk in self._chunks:
            if group is None or (size < self._size and self._adjoin(group, chunk)):
                group, size = chunk if group is None else _joined(group, chunk), size + 1
            else:
                yield group
                group, size = chunk, 1
        if group is not None:
            yield group

    def _adjoin(self, one: Chunk, other: Chunk) -> bool:
        portion = self._portion[one.role]
        neighbours = (one.role, one.samples.stop) == (other.role, other.samples.start)
        return neighbours and one.samples.start // portion == other.samples.start // portion


def _joined(one: Chunk, other: Chunk) -> Chunk:
    return Chunk(one.role, range(one.samples.start, other.samples.stop))
