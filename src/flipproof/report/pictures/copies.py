"""The noisy copies that were voted on, drawn again to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.arrays import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.certificates import Certificates

COPIES = 3
"""How many copies of an input a page shows at most."""


def voted_samples(certificates: Certificates, most: int = COPIES) -> range:
    """The numbers of the first estimation samples of the run; none where the run is not known."""
    run = certificates.votes.run
    if run is None or not run.estimate:
        return range(0)
    first, stop = run.estimate.to_record()[0]
    return range(first, min(first + most, stop))


def drawn(certificates: Certificates, space: Space, samples: range, rows: IntArray) -> Any:
    """These samples of the run for some rows, as the classifier got them."""
    run = certificates.votes.run
    if run is None:
        raise InvalidInputError("expected the votes of a run, got counts alone")
    return sampler_of(space, certificates.noise, run.identity["seed"]).draw(Role.ESTIMATE, samples, rows)


def drawn_rows(certificates: Certificates, space: Space, count: int, width: int) -> tuple[list[int], NDArray[Any]]:
    """The first copies of the first rows, as an array [copies, rows, width], and the numbers of these copies."""
    samples = voted_samples(certificates)
    if not samples:
        return [], np.zeros((0, count, width), dtype=np.int64)
    rows = dense(drawn(certificates, space, samples, np.arange(count)))
    return list(samples), rows.reshape(len(samples), count, width)


def dense(rows: Any) -> NDArray[Any]:
    """An array, whatever holds the rows."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
