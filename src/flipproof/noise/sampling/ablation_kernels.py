"""The compiled loop that draws which entries an ablation keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.compiled import compiled
from flipproof.noise.sampling.counter import SUBSETS, U64, Place
from flipproof.noise.sampling.value_kernels import below


@compiled
def draw_kept_entries(
    out: Any, ends: Any, stream: Any, samples: Any, rows: Any, starts: Any, entries: Any, kept: Any
) -> Any:
    """Writes which of the listed entries of each (sample, row) are kept; returns their total number.

    A row has `entries` entries, of which starts[row + 1] - starts[row] are listed. Given the outcomes of the listed
    entries before it, a listed entry is kept with probability (entries left to keep) / (entries left), where every
    unlisted entry still counts as left. So only listed entries cost time. No number is rounded.
    """
    words, cursor = np.empty(128 + 64, np.uint32), np.zeros(1, np.int64)
    at: Any = 0
    index: Any = 0
    for sample in range(samples[0], samples[1]):
        for row in rows:
            place = Place(stream.seed, stream.role, U64(sample), stream.part, U64(row))
            cursor[0] = 0
            left: Any = kept
            for i in range(starts[row + 1] - starts[row]):
                if left == 0:
                    break
                out[at] = i
                if np.int64(below(U64(entries - i), place, SUBSETS, words, cursor)) < left:
                    at += 1
                    left -= 1
            ends[index] = at
            index += 1
    return at
