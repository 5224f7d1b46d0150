"""What a benchmark claims, whether it held, and how it is printed and kept."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Claim:
    """A measured number, and the bar it must meet if there is one."""

    what: str
    measured: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def held(self) -> bool:
        """Whether the bar was met."""
        above = self.at_least is None or self.measured >= self.at_least
        return above and (self.at_most is None or self.measured <= self.at_most)

    def line(self) -> str:
        """One row of the printed table."""
        bar = "" if self.at_least is None else f">= {self.at_least:g}"
        bar = bar if self.at_most is None else f"<= {self.at_most:g}"
        return f"{'' if self.held else 'MISSED':6} {self.measured:12.5g} {self.unit:11} {bar:9} {self.what}"


def best_of(work, repeats=7):
    """Seconds of the fastest run, after one that compiles or loads."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def report(name, claims):
    """Prints the claims, writes them as JSON, and exits with 1 when one was missed."""
    for claim in claims:
        print(claim.line())
    RESULTS.mkdir(exist_ok=True)
    facts = {
        "benchmark": name,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "claims": [asdict(claim) for claim in claims],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    sys.exit(not all(claim.held for claim in claims))
