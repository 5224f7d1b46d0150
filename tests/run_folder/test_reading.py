"""A task is a value: equal ones are one in a set, also if they cut columns into bins."""

from flipproof.run_folder.reading import Reading


def test_readings_with_bins_are_values():
    one, other = (Reading(label="fraud", bins={"amount": bins}) for bins in (10, 20))
    assert len({one, other, Reading(label="fraud", bins={"amount": 10})}) == 2
