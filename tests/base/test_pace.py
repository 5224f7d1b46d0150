"""How long work will take, told by a clock of the test's own."""

import pytest

from flipproof.base.pace import Pace, about, rate_words


class Hand:
    """The hand of a clock, moved by the test."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def pace_after(steps, of=100_000, done=0, unit="samples"):
    """A pace after steps (seconds since the beginning, how many are done), and what it announced."""
    hand = Hand()
    pace, said = Pace(of, done, unit, hand), []
    for hand.now, done in steps:
        pace.step(done=done)
        said.append(pace.announcement())
    return pace, said


def test_the_start_is_no_part_of_the_speed():
    pace, _ = pace_after([(60.0, 100), (70.0, 200), (80.0, 300)])
    assert pace.per_second == 10.0
    assert pace.seconds_left == 9_970.0


def test_nothing_is_known_before_the_second_step():
    pace, said = pace_after([(60.0, 100)])
    assert (pace.per_second, pace.seconds_left, said) == (None, None, [None])


def test_long_work_is_announced_once_and_early():
    _, said = pace_after([(20.0, 56), (20.5, 58), (40.0, 168), (60.0, 280)])
    assert said == [None, None, "100,000 samples: about 5 h at 5.6 samples/s; 10,000: 30 min", None]


def test_workers_that_finish_together_are_no_higher_speed():
    """Four workers, ten seconds for each chunk: 40 samples in ten seconds."""
    steps = [(10.0 * cycle + worker / 1_000, 40 * cycle - 30 + 10 * worker) for cycle in (1, 2) for worker in range(4)]
    _, said = pace_after(steps)
    assert [each for each in said if each] == ["100,000 samples: about 7 h at 4 samples/s; 10,000: 42 min"]


def test_short_work_and_work_without_a_unit_are_not_announced():
    assert pace_after([(1.0, 1_000), (3.0, 3_000), (90.0, 90_000)])[1] == [None] * 3
    assert pace_after([(10.0, 10), (20.0, 20)], unit="")[1] == [None] * 2


def test_only_what_is_left_of_a_run_counts():
    _, said = pace_after([(10.0, 60_100), (20.0, 60_200)], done=60_000)
    assert said[-1] == "40,000 more samples: about 67 min at 10 samples/s; 4,000: 7 min"
    _, said = pace_after([(10.0, 1_100), (20.0, 1_101)], of=2_000, done=1_000)
    assert said[-1] == "1,000 more samples: about 3 h at 0.1 samples/s"


def test_steps_may_say_how_many_more_and_of_how_many():
    pace = Pace(None, 0, clock=Hand())
    pace.step(more=3)
    pace.step(more=2, of=10)
    assert (pace.done, pace.of) == (5, 10)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (5_400, "2 h"), (130_000, "2 days")]
)
def test_times_in_one_number(seconds, words):
    assert about(seconds) == words


def test_speeds():
    assert [rate_words(rate) for rate in (0.0123, 5.61, 9.96, 12.4, 12_345.0)] == ["0.012", "5.6", "10", "12", "12,345"]
