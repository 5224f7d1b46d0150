"""How fast work goes, and how long it will take: measured from its first steps, which count like all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

WORTH_SAYING = 120.0
"""Work that takes fewer seconds is not announced."""
_SHORTEST, _LONGEST = 1.0, 10.0
"""At least and at most so many seconds are measured before a forecast, besides what the work takes to get going."""
_WORTH_A_TENTH = 1_000

Clock = Callable[[], float]
"""Gives seconds that only ever grow."""


@dataclass(slots=True)
class Pace:
    """What was done by when.

    The time until the first step is left out of the measured speed: it includes imports and compilation.

    Attributes:
        of: how many there are to do, if that is known.
        done: how many are done, some of them perhaps before this work began.
        unit: what they are called, if long work is to be announced.
        clock: what tells the time.

    Example:
        >>> seconds = iter([0.0, 40.0, 50.0])  # it starts, finishes the first 50, then 50 more
        >>> pace = Pace(of=100_000, done=0, unit="samples", clock=lambda: next(seconds))
        >>> pace.step(done=50)
        >>> pace.step(done=100)
        >>> pace.announcement()
        '100,000 samples: about 6 h at 5 samples/s; 10,000: 33 min'
    """

    of: int | None
    done: int
    unit: str = ""
    clock: Clock = time.monotonic
    _before: int = field(init=False)
    _start: float = field(init=False)
    _first: tuple[float, int] | None = field(init=False, default=None)
    _last: float = field(init=False)
    _announced: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._before = self.done
        self._start = self._last = self.clock()

    def step(self, *, more: int | None = None, done: int | None = None, of: int | None = None) -> None:
        """Notes how many more are done, or how many are done altogether, and of how many."""
        self.of = self.of if of is None else of
        self.done = self.done + (more or 0) if done is None else done
        self._last = self.clock()
        if self._first is None and self.done > self._before:
            self._first = self._last, self.done

    @property
    def per_second(self) -> float | None:
        """How many are done in a second; None before the second step."""
        if self._first is None or self._last <= self._first[0] or self.done <= self._first[1]:
            return None
        return (self.done - self._first[1]) / (self._last - self._first[0])

    @property
    def seconds_left(self) -> float | None:
        """The time that is left; None if that is unknown."""
        rate = self.per_second
        return None if rate is None or self.of is None else max(0, self.of - self.done) / rate

    @property
    def elapsed(self) -> float:
        """The seconds from the beginning to the last step."""
        return self._last - self._start

    @property
    def is_measured(self) -> bool:
        """Whether enough was seen for a forecast.

        Workers finish in bursts. A time as long as the first step took has a whole burst in it.
        """
        if self._first is None or self.per_second is None:
            return False
        first, _ = self._first
        return self._last - first >= min(_LONGEST, max(_SHORTEST, first - self._start))

    def announcement(self) -> str | None:
        """How long everything will take, and a tenth of it: once, as soon as it is known, if it is long."""
        rate, left = self.per_second, self.seconds_left
        if self._announced or not self.unit or rate is None or left is None or not self.is_measured:
            return None
        self._announced = True
        if left < WORTH_SAYING:
            return None
        total = self.done - self._before + round(left * rate)
        more, tenth = " more" if self._before else "", total // 10
        said = f"{total:,}{more} {self.unit}: about {about(total / rate)} at {rate_words(rate)} {self.unit}/s"
        return f"{said}; {tenth:,}: {about(tenth / rate)}" if tenth >= _WORTH_A_TENTH else said


def about(seconds: float) -> str:
    """A time in one number.

    Example:
        >>> about(40), about(1_800), about(18_100), about(300_000)
        ('40 s', '30 min', '5 h', '3 days')
    """
    for unit, size, most in (("s", 1, 90), ("min", 60, 5_400), ("h", 3_600, 129_600)):
        if seconds < most:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:,.0f} days"


def rate_words(rate: float) -> str:
    """A speed with two or more digits.

    Example:
        >>> rate_words(5.61), rate_words(0.034), rate_words(1234.5)
        ('5.6', '0.034', '1,234')
    """
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
