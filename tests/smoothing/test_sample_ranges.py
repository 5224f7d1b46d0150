import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipproof.errors import InvalidInputError
from flipproof.smoothing.voting.drawn_samples import MAX_SAMPLE, SampleRanges

ranges = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: range(*sorted(pair)))


def ranges_of(numbers):
    return SampleRanges.of(*(range(n, n + 1) for n in numbers))


def numbers_of(samples):
    return {n for start, stop in samples.pairs for n in range(start, stop)}


number_sets = st.sets(st.integers(0, 40))


def test_ranges_are_sorted_and_joined():
    seen = SampleRanges.of(range(5, 7), range(3), range(3, 4), range(9, 9), range(8, 2))
    assert seen.pairs == ((0, 4), (5, 7))
    assert seen.count == 6
    assert SampleRanges.of() == SampleRanges.of(range(3, 3)) == SampleRanges()
    assert SampleRanges.of(range(MAX_SAMPLE)).count == MAX_SAMPLE


def test_no_samples_are_false():
    assert not SampleRanges()
    assert SampleRanges.of(range(1))


def test_what_is_missing():
    seen = SampleRanges.of(range(2, 4), range(6, 8))
    assert seen.missing(range(10)) == (range(2), range(4, 6), range(8, 10))
    assert seen.missing(range(3, 7)) == (range(4, 6),)
    assert seen.missing(range(6, 8)) == seen.missing(range(5, 5)) == ()


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (range(10), range(5, 12), "samples 5 to 9 twice"),
        (range(10), range(2, 4), "samples 2 to 3 twice"),
        (range(5, 10), range(6), "sample 5 twice"),
        (range(5, 10), range(5, 10), "samples 5 to 9 twice"),
    ],
)
def test_a_sample_is_not_counted_twice(first, second, words):
    one, other = SampleRanges.of(range(100, 200), first), SampleRanges.of(second, range(150, 160))
    with pytest.raises(InvalidInputError, match=f"^expected disjoint sample ranges, got {words}$"):
        one.union(other)
    with pytest.raises(InvalidInputError, match=f"^expected disjoint sample ranges, got {words}$"):
        SampleRanges.of(first, second)


@pytest.mark.parametrize("given", [range(0, 10, 2), range(5, 0, -1), 5, None, [0, 1], slice(0, 3)])
def test_only_plain_ranges_are_samples(given):
    for use in (SampleRanges.of, SampleRanges().missing):
        with pytest.raises(InvalidInputError, match="expected a range of samples with step 1, got"):
            use(given)


@pytest.mark.parametrize("given", [range(-1, 3), range(MAX_SAMPLE, MAX_SAMPLE + 1)])
def test_sample_numbers_have_limits(given):
    for use in (SampleRanges.of, SampleRanges().missing):
        with pytest.raises(InvalidInputError, match="expected a range of samples as start < stop, both from 0 to"):
            use(given)


@pytest.mark.parametrize(
    "record",
    [
        None, 3, "[]", {}, [3], [None], ["05"], [[0]], [[0, 1, 2]], [[0, 1.0]], [[False, True]], [[0, "1"]],
        [[3, 3]], [[3, 2]], [[-1, 2]], [[0, 2**40 + 1]], [[0, 10**400]], [[0, 2], [2, 3]], [[0, 3], [2, 5]],
        [[4, 5], [0, 1]], [[[0], [1]]], [{"0": 1, "1": 2}],
    ],
)  # fmt: skip
def test_records_that_nobody_wrote_are_refused(record):
    with pytest.raises(InvalidInputError, match="expected"):
        SampleRanges.from_record(record)


@given(number_sets, number_sets, ranges)
def test_they_are_sets(first, second, wanted):
    one, other = ranges_of(first), ranges_of(second)
    assert numbers_of(one) == first
    assert one.count == len(first)
    assert bool(one) == bool(first)
    assert numbers_of(one.overlap(other)) == first & second
    gaps = one.missing(wanted)
    assert [n for gap in gaps for n in gap] == sorted(set(wanted) - first)
    assert all(gaps)


@given(number_sets, number_sets)
def test_the_union_is_that_of_sets_or_refused(first, second):
    one, other = ranges_of(first), ranges_of(second)
    if first & second:
        with pytest.raises(InvalidInputError, match=f"got samples? {min(first & second)}( to | twice)"):
            one.union(other)
    else:
        assert numbers_of(one.union(other)) == first | second
        assert one.union(other) == other.union(one) == ranges_of(first | second)


@given(number_sets, number_sets)
def test_equal_sets_are_equal_values(first, second):
    one, other = ranges_of(first), ranges_of(sorted(second, reverse=True))
    assert (one == other) == (first == second)
    if first == second:
        assert hash(one) == hash(other)


@given(number_sets)
def test_records_and_reprs_rebuild_them(numbers):
    samples = ranges_of(numbers)
    assert SampleRanges.from_record(samples.to_record()) == samples
    assert eval(repr(samples), {"SampleRanges": SampleRanges}) == samples
