"""One numerical thread per process: workers share the cores, and sums do not depend on how many cores there are."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import threadpoolctl

ONE_THREAD_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
        "1",
    )
)
"""Environment variables of a child process; they also reach libraries that are loaded later."""


@contextlib.contextmanager
def single_threaded() -> Iterator[None]:
    """Inside, BLAS, OpenMP and torch use one thread each, as far as they are loaded; afterwards as many as before."""
    torch = sys.modules.get("torch")  # never imported for this: it takes seconds
    # Asked before the limits are set, because torch may answer with what OpenMP is limited to.
    before = torch.get_num_threads() if torch else 1
    with threadpoolctl.threadpool_limits(limits=1):
        if torch:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(before)
