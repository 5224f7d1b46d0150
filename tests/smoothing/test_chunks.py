import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.voting.chunks import Chunk, ChunkPlan, checked_memory, checked_wanted
from flipproof.smoothing.voting.drawn_samples import MAX_SAMPLE, SampleRanges
from flipproof.smoothing.voting.evaluation import input_size

PATH = [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]


def samplers():
    rng = np.random.default_rng(0)
    bits = sp.csr_array((rng.random((300, 2000)) < 0.02).astype(np.float32))
    graph = fp.Graph.from_edge_index(PATH, 4, rng.integers(0, 2, (4, 30)))
    noise = fp.FlipNoise(0.01, 0.6)
    return {
        "images": fp.DenseRows(rng.integers(0, 3, (50, 20, 20))).sampler(fp.FlipNoise(0.1, 0.2, 3), 0),
        "bits": fp.SparseRows(bits).sampler(noise, 0),
        "graph": graph.sampler(fp.JointNoise(structure=noise, attributes=noise), 0),
        "graphs": fp.Graphs([graph] * 9).sampler(fp.JointNoise(structure=noise, attributes=noise), 0),
        "no rows": fp.DenseRows(np.zeros((0, 5), int)).sampler(noise, 0),
    }


@pytest.mark.parametrize("name", samplers())
@pytest.mark.parametrize("limit", [100_000, 10**6, 10**7, 10**9, 10**12])
def test_a_call_takes_a_small_part_of_the_limit(name, limit):
    sampler = samplers()[name]
    plan = ChunkPlan.for_inputs(input_size(sampler), sampler.rows, limit, None)
    taken = plan.chunk_size * plan.rows_per_call * sampler.bytes_per_row
    assert taken <= limit // 16 or (plan.chunk_size, plan.rows_per_call) == (1, 1)
    assert taken <= min(limit // 2, 32 * 10**6)
    assert 1 <= plan.rows_per_call <= max(1, sampler.rows)
    assert plan.chunk_size.bit_count() == 1


def test_the_estimates_hold_for_what_is_drawn():
    """What numpy allocates for one call stays below the limit that the call was planned for."""
    limit = 2 * 10**6
    for name in ("images", "bits"):
        sampler = samplers()[name]
        plan = ChunkPlan.for_inputs(input_size(sampler), sampler.rows, limit, None)
        samples, rows = range(plan.chunk_size), np.arange(plan.rows_per_call)
        sampler.draw(Role.ESTIMATE, samples, rows)  # compiled by now
        tracemalloc.start()
        sampler.draw(Role.ESTIMATE, samples, rows)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < limit // 2


def test_a_given_size_is_kept_and_rows_make_room_for_it():
    sampler = samplers()["images"]
    one = sampler.bytes_per_row
    assert ChunkPlan.for_inputs(input_size(sampler), 50, 16 * 100 * one, 10) == ChunkPlan(10, 10)
    assert ChunkPlan.for_inputs(input_size(sampler), 50, 16 * 100 * one, 100) == ChunkPlan(100, 1)
    assert ChunkPlan.for_inputs(input_size(sampler), 50, 16 * 10_000 * one, 10) == ChunkPlan(10, 50)


def test_what_cannot_fit_is_refused():
    sampler = samplers()["images"]
    one = sampler.bytes_per_row
    assert ChunkPlan.for_inputs(input_size(sampler), 50, 2 * one, None) == ChunkPlan(1, 1)
    with pytest.raises(fp.TooLargeError, match=r"of at least 7\.4KB for one noisy input, got 7\.4KB; raise"):
        ChunkPlan.for_inputs(input_size(sampler), 50, 2 * one - 1, None)
    with pytest.raises(fp.TooLargeError, match="expected chunk_size of at most 5 for a memory limit of"):
        ChunkPlan.for_inputs(input_size(sampler), 50, 10 * one, 6)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "8"])
def test_a_bad_size_is_refused(size):
    with pytest.raises(fp.InvalidInputError, match="expected chunk_size to be"):
        ChunkPlan.for_inputs(input_size(samplers()["images"]), 50, 10**9, size)


def test_chunks_begin_at_multiples_of_their_size_and_skip_what_was_seen():
    plan = ChunkPlan(chunk_size=10, rows_per_call=1)
    seen = SampleRanges.of(range(12, 20), range(25, 27))
    assert list(plan.chunks("select", range(3, 41), seen)) == [
        Chunk("select", part)
        for part in (range(3, 10), range(10, 12), range(20, 25), range(27, 30), range(30, 40), range(40, 41))
    ]
    assert list(plan.chunks("select", range(12, 20), seen)) == []
    assert list(plan.chunks("select", range(5, 5), seen)) == []
    assert [plan.whole(range(27, 30)), plan.whole(range(40, 41))] == [range(20, 30), range(40, 50)]


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("2GB", 2 * 10**9), ("1.5 gb", 15 * 10**8), (" 64MiB ", 2**26), ("7", 7), (123, 123), ("0.5KB", 500),
     ("1TB", 10**12), (np.int64(5), 5)],
)  # fmt: skip
def test_memory_is_a_number_of_bytes_or_text(given, bytes_):
    assert checked_memory(given) == bytes_


@pytest.mark.parametrize(
    "given", ["", "GB", "2XB", "-2GB", "2GB2", "nan", "1e9", 0, -1, 2.5, True, None, b"2GB", [2], "9" * 400]
)
def test_other_memory_is_refused(given):
    with pytest.raises(fp.InvalidInputError, match="expected a memory limit such as '2GB' or a number of bytes, got"):
        checked_memory(given)


def test_samples_are_a_count_or_a_range():
    assert checked_wanted(5, "n") == checked_wanted(np.int32(5), "n") == checked_wanted(range(5), "n") == range(5)
    assert checked_wanted(range(7, 9), "n") == range(7, 9)
    assert not checked_wanted(0, "n")
    assert not checked_wanted(range(7, 7), "n")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (-1, "expected n to be a non-negative integer, got -1"),
        (1e5, "expected n to be a non-negative integer, got 100000.0"),
        (True, "expected n to be a non-negative integer, got True"),
        (range(-1, 5), "expected n to be a range of sample numbers with step 1"),
        (range(0, 10, 2), "expected n to be a range of sample numbers with step 1"),
        (range(10, 0, -1), "expected n to be a range of sample numbers with step 1"),
    ],
)
def test_other_samples_are_refused(given, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        checked_wanted(given, "n")


@pytest.mark.parametrize("given", [MAX_SAMPLE, range(MAX_SAMPLE, MAX_SAMPLE + 1)])
def test_numbers_beyond_the_streams_are_refused(given):
    with pytest.raises(fp.TooLargeError, match="expected n below"):
        checked_wanted(given, "n")
