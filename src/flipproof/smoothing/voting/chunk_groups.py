"""Groups of chunks: several chunks as one task, so that whoever hands out the tasks keeps pace with many workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flipproof.base.values import IntArray
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.evaluation import Evaluation
from flipproof.smoothing.voting.vote_counts import samples_per_portion

_SPAN, _LONGEST_SPAN = 2.0, 4096  # seconds at least that a task should take, chunks at most that it has
_SPAN_PER_CPU = 0.005  # seconds; so the driver, which needs about 3 ms for a result, gets 200 per second at most


@dataclass(frozen=True, slots=True, eq=False)
class GroupEvaluation:
    """Evaluates the chunks of a span one after the other, and adds up their counts where they are.

    Returns the counts, in parts if not all chunks have the same outputs, and the seconds that each chunk took.
    """

    evaluation: Evaluation

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def compile(self) -> None:
        """As for one chunk."""
        self.evaluation.compile()

    def __call__(self, span: Chunk) -> tuple[list[tuple[Chunk, IntArray]], float]:
        """Counts of neighbouring chunks, and seconds per chunk."""
        start, parts = time.perf_counter(), list[tuple[Chunk, IntArray]]()
        chunks = list(self.evaluation.plan.chunks(span.role, span.samples, SampleRanges()))
        for chunk in chunks:
            counts = self.evaluation(chunk)
            if parts and parts[-1][1].shape == counts.shape:
                before, sums = parts.pop()
                chunk, counts = _joined(before, chunk), sums + counts
            parts.append((chunk, counts))
        return parts, (time.perf_counter() - start) / len(chunks)


class ChunkGroups:
    """Neighbouring chunks put together, as many as take a worker some seconds, so that the driver keeps pace.

    What a task costs the driver does not depend on how long it is. `learn` tells how long a chunk takes. A span lies
    within one portion of the samples, of which each role has so many.

    Example:
        >>> chunks = [Chunk("estimate", range(start, start + 10)) for start in range(0, 50, 10)]
        >>> spans = ChunkGroups(chunks, {"estimate": 3000})
        >>> run = iter(spans)
        >>> str(next(run))
        'estimate samples 0 to 9'
        >>> spans.learn(0.1, cpus=8)
        >>> [str(span) for span in run]
        ['estimate samples 10 to 29', 'estimate samples 30 to 49']
    """

    def __init__(self, chunks: Iterable[Chunk], samples: Mapping[str, int]) -> None:
        self._chunks, self._size = chunks, 1
        self._portion = {role: samples_per_portion(count) for role, count in samples.items()}

    def learn(self, seconds: float, cpus: int) -> None:
        """A chunk took so long, on one of so many CPUs. Groups double at most: the first chunks may not be typical."""
        wanted = max(_SPAN, _SPAN_PER_CPU * cpus)
        self._size = max(1, min(2 * self._size, int(wanted / max(seconds, 1e-9)), _LONGEST_SPAN))

    def __iter__(self) -> Iterator[Chunk]:
        span, size = None, 0
        for chunk in self._chunks:
            if span is None or (size < self._size and self._adjoin(span, chunk)):
                span, size = chunk if span is None else _joined(span, chunk), size + 1
            else:
                yield span
                span, size = chunk, 1
        if span is not None:
            yield span

    def _adjoin(self, one: Chunk, other: Chunk) -> bool:
        portion = self._portion[one.role]
        neighbours = (one.role, one.samples.stop) == (other.role, other.samples.start)
        return neighbours and one.samples.start // portion == other.samples.start // portion


def _joined(one: Chunk, other: Chunk) -> Chunk:
    return Chunk(one.role, range(one.samples.start, other.samples.stop))
