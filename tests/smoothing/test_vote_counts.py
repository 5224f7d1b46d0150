import functools
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipproof.errors import InvalidInputError
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.vote_counts import MOST_PORTIONS, ROLES, RoleCounts, VoteCounts, samples_per_portion

COUNTS = [[9, 1], [4, 6], [0, 0]]


def content(vote_counts):
    """Everything that vote counts hold, as values that can be compared."""
    return tuple((getattr(vote_counts, role).samples, getattr(vote_counts, role).counts.tolist()) for role in ROLES)


def chunk(number, role="estimate", outputs=3, classes=4):
    """Ten samples, each with labels that depend on nothing but its number."""
    samples = np.arange(10 * number, 10 * number + 10)
    labels = (7 * samples[:, None] + 3 * np.arange(outputs)) % classes
    counts = np.stack([(labels == label).sum(axis=0) for label in range(classes)], axis=1)
    return VoteCounts.of(role, range(10 * number, 10 * number + 10), counts)


def test_one_role_has_the_counts_and_the_other_none():
    vote_counts = VoteCounts.of("select", range(5, 15), COUNTS)
    assert content(vote_counts) == (
        (SampleRanges.of(range(5, 15)), COUNTS),
        (SampleRanges(), [[0, 0], [0, 0], [0, 0]]),
    )
    assert vote_counts.shape == (3, 2)
    assert vote_counts
    assert not VoteCounts.empty(3, 2)
    assert VoteCounts.empty(0, 1).shape == (0, 1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_counts_are_a_read_only_copy_of_any_integers(dtype):
    given = np.array(COUNTS, dtype)
    vote_counts = VoteCounts.of("estimate", range(10), given)
    given[0, 0] = 0
    assert vote_counts.estimate.counts.dtype == np.int64
    assert vote_counts.estimate.counts[0, 0] == 9
    for role in ROLES:
        with pytest.raises(ValueError, match="read-only"):
            getattr(vote_counts, role).counts[0, 0] = 1


def portions(vote_counts):
    return [(piece.samples, piece.counts.tolist()) for piece in vote_counts.estimate.pieces]


def sixteen(number):
    return VoteCounts.of("estimate", range(16 * number, 16 * number + 16), [[number % 17, 16 - number % 17]])


def total_of(parts):
    return functools.reduce(VoteCounts.merged, parts)


@pytest.mark.parametrize("chunks", [1, 64, 65, 130, 700])
def test_portions_depend_on_the_samples_only(chunks, rng):
    in_order = total_of(sixteen(number) for number in range(chunks))
    assert max(1, min(chunks, MOST_PORTIONS // 2)) <= len(in_order.estimate.pieces) <= MOST_PORTIONS
    length = max(16, samples_per_portion(16 * chunks))
    assert all(piece.samples.pairs[0][0] % length == 0 for piece in in_order.estimate.pieces)
    assert sum(piece.samples.count for piece in in_order.estimate.pieces) == 16 * chunks
    assert (sum(piece.counts for piece in in_order.estimate.pieces) == in_order.estimate.counts).all()
    for _ in range(3):
        shuffled = [sixteen(number) for number in rng.permutation(chunks).tolist()]
        cut = int(rng.integers(chunks))
        parts = [total_of(part) for part in (shuffled[:cut], shuffled[cut:]) if part]
        again = [piece for part in parts for piece in part.pieces()]  # as a checkpoint keeps them
        assert portions(total_of(parts)) == portions(total_of(again)) == portions(in_order)


def test_large_tables_have_fewer_portions(monkeypatch):
    monkeypatch.setattr("flipproof.smoothing.voting.vote_counts._MOST_PORTION_BYTES", 8 * 2 * 5)
    assert len(total_of(sixteen(number) for number in range(40)).estimate.pieces) == 5


def test_merging_adds_role_by_role():
    first = VoteCounts.of("estimate", range(10), COUNTS)
    second = VoteCounts.of("estimate", range(20, 30), [[0, 10], [5, 5], [1, 0]])
    third = VoteCounts.of("select", range(10), COUNTS)
    assert content(first.merged(second).merged(third)) == (
        (SampleRanges.of(range(10)), COUNTS),
        (SampleRanges.of(range(10), range(20, 30)), [[9, 11], [9, 11], [1, 0]]),
    )


def test_a_sample_is_not_counted_twice():
    with pytest.raises(InvalidInputError, match="expected disjoint sample ranges, got samples 5 to 9 twice"):
        VoteCounts.of("select", range(10), COUNTS).merged(VoteCounts.of("select", range(5, 15), COUNTS))


@pytest.mark.parametrize(
    "other", [VoteCounts.empty(2, 2), VoteCounts.empty(3, 3), VoteCounts.of("select", range(10), [[9, 1]])]
)
def test_vote_counts_of_other_shapes_do_not_merge(other):
    with pytest.raises(
        InvalidInputError, match=r"expected vote counts of equal shape \[outputs, classes\], got \(3, 2\)"
    ):
        VoteCounts.of("select", range(20, 30), COUNTS).merged(other)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[9.0, 1.0]], "expected votes to be integer counts, got float64"),
        ([[True, False]], "expected votes to be integer counts, got bool"),
        ([["9", "1"]], "expected votes to be integer counts"),
        ([[-1, 3]], "expected votes to be non-negative counts, got -1"),
        ([[9, 1], [6, 5]], "expected rows of votes to sum to at most 10, got 11 in row 1"),
        ([[9, 1], [3]], "got rows of unequal length"),
        ([9, 1], r"expected votes of shape \[inputs, classes\], got shape \(2,\)"),
        (np.zeros((2, 0), int), r"expected votes of shape \[inputs, classes\], got shape \(2, 0\)"),
        (np.full((1, 2), 2**63, np.uint64), "expected rows of votes to sum to at most 10, got 18446744073709551616"),
        (np.full((1, 2), 2**62, np.int64), "expected rows of votes to sum to at most 10, got 9223372036854775808"),
    ],
)
def test_bad_counts_are_refused(counts, words):
    with pytest.raises(InvalidInputError, match=words):
        VoteCounts.of("estimate", range(10), counts)


def test_other_bad_input_is_refused():
    part = RoleCounts(SampleRanges(), np.zeros((3, 2), int))
    with pytest.raises(InvalidInputError, match="expected role to be one of select, estimate, got 'train'"):
        VoteCounts.of("train", range(10), COUNTS)
    with pytest.raises(InvalidInputError, match="expected a range of samples with step 1, got 10"):
        VoteCounts.of("select", 10, COUNTS)
    with pytest.raises(InvalidInputError, match="expected outputs to be a non-negative integer, got -1"):
        VoteCounts.empty(-1, 2)
    with pytest.raises(InvalidInputError, match=r"got shape \(2, 0\)"):
        VoteCounts.empty(2, 0)
    with pytest.raises(InvalidInputError, match="expected SampleRanges, got range"):
        RoleCounts(range(10), COUNTS)
    with pytest.raises(InvalidInputError, match="expected estimate to be a RoleCounts"):
        VoteCounts(part, COUNTS)
    with pytest.raises(InvalidInputError, match="expected vote counts of equal shape"):
        VoteCounts(part, RoleCounts(SampleRanges(), np.zeros((3, 3), int)))


drawn_chunks = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(ROLES)), unique=True, max_size=8)


@given(drawn_chunks, st.randoms(use_true_random=False))
def test_the_order_of_merging_does_not_matter(chunks, random):
    def merged(order):
        total = VoteCounts.empty(3, 4)
        for number, role in order:
            total = total.merged(chunk(number, role))
        return total

    shuffled = random.sample(chunks, len(chunks))
    cut = len(chunks) // 2
    assert content(merged(chunks)) == content(merged(shuffled))
    assert content(merged(chunks[:cut]).merged(merged(chunks[cut:]))) == content(merged(chunks))


@given(drawn_chunks.filter(bool))
def test_bytes_rebuild_vote_counts(chunks):
    total = VoteCounts.empty(3, 4)
    for number, role in chunks:
        total = total.merged(chunk(number, role))
    assert content(VoteCounts.from_bytes(total.to_bytes())) == content(total)


@pytest.mark.parametrize("count", [0, 1, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**40])
def test_every_count_survives(count):
    vote_counts = VoteCounts.of("select", range(2**40), [[count, 0]])
    assert content(VoteCounts.from_bytes(vote_counts.to_bytes())) == content(vote_counts)


def test_no_outputs_have_vote_counts_too():
    vote_counts = VoteCounts.of("select", range(10), np.zeros((0, 5), int))
    assert content(VoteCounts.from_bytes(vote_counts.to_bytes())) == content(vote_counts)


PACKED = zlib.compress(bytes([9, 1, 4, 6]))


def forged(packed=PACKED, shape=(2, 2), roles=None, **changes):
    record = {"samples": [[0, 10]], "dtype": "|u1", "bytes": len(packed)} | changes
    header = {"shape": shape, "roles": {"select": record} if roles is None else roles}
    return json.dumps(header).encode() + b"\n" + packed


def test_the_forgery_is_good():
    assert VoteCounts.from_bytes(forged()).select.counts.tolist() == [[9, 1], [4, 6]]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (forged(samples=[[0, 9]]), "expected rows of votes to sum to at most 9, got 10 in row 0"),
        (forged(samples=[[0, 9], [9, 10]]), "expected sorted ranges with gaps"),
        (forged(samples=[]), "expected counts of some samples, got counts of none"),
        (forged(samples=None), "expected a list of sample ranges, got None"),
        (forged(dtype="|O8"), r"expected counts of type .*, got '\|O8'"),
        (forged(dtype="<f8"), "expected counts of type"),
        (forged(dtype=[["a", "<i8"]]), "expected counts of type"),
        (forged(dtype="<u2"), "expected 8 bytes of counts"),
        (forged(shape=(2, 3)), "expected 6 bytes of counts"),
        (forged(shape=(1, 2)), "expected 2 bytes of counts"),
        (forged(shape=(2**40, 2**20)), f"expected {2**60} bytes of counts"),
        (forged(shape=(0, 0)), "expected 0 bytes of counts"),
        (forged(shape=(0, 2**62)), "expected 0 bytes of counts"),
        (forged(shape=(-2, -2)), "expected outputs to be a non-negative integer"),
        (forged(shape=(True, 4)), "expected outputs to be a non-negative integer"),
        (forged(zlib.compress(bytes(10**6))), "expected 4 bytes of counts"),
        (forged(PACKED[:-1]), "expected 4 bytes of counts"),
        (forged(PACKED + b"x"), "expected 4 bytes of counts"),
        (forged() + b"x", "bytes of counts, got"),
        (forged(bytes=3), "expected 4 bytes of counts"),
        (forged(bytes=10**30), "bytes of counts, got"),
        (forged(bytes=-1), "expected bytes to be a non-negative integer"),
        (forged(roles={}), "expected counts for select or estimate, got other roles"),
        (forged(roles={"train": {}}), "expected counts for select or estimate, got other roles"),
        (forged(roles=["select"]), "expected counts for select or estimate, got other roles"),
    ],
)
def test_bytes_that_nobody_wrote_are_refused(body, words):
    with pytest.raises(InvalidInputError, match=words):
        VoteCounts.from_bytes(body)
