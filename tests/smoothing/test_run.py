import hashlib
import json
import math
import struct
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION
from flipproof.smoothing.run import STREAM_VERSION, Run, sampling_error, versions
from flipproof.smoothing.voting.drawn_samples import SampleRanges

IDENTITY = {
    "model": "ab12", "data": "34cd", "noise": {"p_plus": 0.1}, "seed": 0, "classes": 2, "targets": None,
    "chunk size": 8,
}  # fmt: skip
RUN = Run(
    identity=IDENTITY,
    select=SampleRanges.of(range(10)),
    estimate=SampleRanges.of(range(100), range(200, 250)),
    sampling_error=1e-30,
    versions={"python": "3.11.7"},
    seconds=2.0,
    drawn=80,
)


def later(**changes):
    """A part of the same run on other samples."""
    ranges = {"select": SampleRanges(), "estimate": SampleRanges.of(range(100, 200))}
    return replace(RUN, **(ranges | {"sources": ()} | changes))


def test_a_record_is_json_and_gives_back_the_run():
    assert Run.from_record(json.loads(json.dumps(RUN.to_record()))) == RUN


def test_throughput_is_samples_by_seconds():
    assert RUN.samples_per_second == 40.0
    assert replace(RUN, seconds=0.0, drawn=0).samples_per_second == 0.0


def test_merged_runs_have_the_samples_and_the_costs_of_both():
    both = RUN.merged(later(sampling_error=2e-30, seconds=1.5, drawn=7))
    assert both.estimate == SampleRanges.of(range(250))
    assert both.select == RUN.select
    assert (both.seconds, both.drawn) == (3.5, 87)
    assert Fraction(both.sampling_error) >= Fraction(1e-30) + Fraction(2e-30)
    assert both.sampling_error < 3.0001e-30


def test_nothing_and_nothing_cost_nothing():
    exact = replace(RUN, sampling_error=0.0)
    assert exact.merged(later(sampling_error=0.0)).sampling_error == 0.0
    assert replace(RUN, sampling_error=0.75).merged(later(sampling_error=0.5)).sampling_error == 1.0


def test_merged_runs_have_no_sample_in_common():
    with pytest.raises(fp.InvalidInputError, match="expected disjoint estimate samples, got 10 in both"):
        RUN.merged(later(estimate=SampleRanges.of(range(90, 110))))
    with pytest.raises(fp.InvalidInputError, match="expected disjoint select samples, got 1 in both"):
        RUN.merged(later(select=SampleRanges.of(range(9, 12))))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"identity": "ab12"}, "expected identity to map names to JSON values"),
        ({"identity": IDENTITY | {"model": None}}, "expected the run's model, got None"),
        ({"identity": IDENTITY | {"seed": "0"}}, "expected the run's seed, got '0'"),
        ({"select": [[0, 10]]}, "expected select to be SampleRanges"),
        ({"estimate": None}, "expected estimate to be SampleRanges"),
        ({"sampling_error": -1e-9}, r"expected sampling_error in \[0, 1\], got -1e-09"),
        ({"sampling_error": math.nan}, r"expected sampling_error in \[0, 1\], got nan"),
        ({"sampling_error": 2.0}, r"expected sampling_error in \[0, 1\], got 2.0"),
        ({"sampling_error": "0"}, r"expected sampling_error in \[0, 1\], got '0'"),
        ({"versions": ["3.11"]}, "expected versions to map names to texts"),
        ({"versions": {"python": 3.11}}, "expected versions to map names to texts"),
        ({"seconds": -1.0}, "expected seconds to be a non-negative number, got -1.0"),
        ({"seconds": math.inf}, "expected seconds to be a non-negative number, got inf"),
        ({"seconds": "2"}, "expected seconds to be a non-negative number, got '2'"),
        ({"drawn": -1}, "expected drawn to be a non-negative integer, got -1"),
        ({"drawn": 1.5}, "expected drawn to be a non-negative integer, got 1.5"),
    ],
)
def test_other_facts_are_refused(changes, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        replace(RUN, **changes)


def test_the_error_of_many_samples_is_rounded_up():
    for distance in (Fraction(1, 3), Fraction(7, 2**127), Fraction(1, 10**400), Fraction(3, 2**1074)):
        for samples in (1, 3, 10**6, 10**12):
            exact = min(Fraction(1), distance * samples)
            found = sampling_error(distance, samples)
            assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**51)) + Fraction(math.ulp(0.0)) * 2
    assert sampling_error(Fraction(0), 10**12) == 0.0
    assert sampling_error(Fraction(1, 2), 0) == 0.0


def test_versions_are_of_what_is_loaded():
    found = versions()
    assert found["numpy"] == np.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "flipproof" in found


def test_what_vote_notes():
    classifier = fp.FunctionClassifier(lambda rows: rows[:, 0].astype(int), classes=2)
    noise = fp.FlipNoise(0.1, 0.3)
    votes = fp.vote(classifier, [[0, 1], [1, 1]], noise, 20, range(5, 50), seed=3, chunk_size=8, targets=[1])
    run = votes.run
    assert (run.select, run.estimate) == (SampleRanges.of(range(20)), SampleRanges.of(range(5, 50)))
    assert (votes.n_select, votes.n_estimate, run.drawn) == (20, 45, 65)
    assert run.seconds > 0.0
    assert run.identity | {"model": 0, "data": 0, "targets": 0, "code": 0, "files": 0} == {
        "model": 0, "fingerprints": FINGERPRINTS_VERSION, "code": 0, "files": 0, "data": 0,
        "noise": {"p_plus": 0.1, "p_minus": 0.3, "categories": 2},
        "seed": 3, "classes": 2,
        "targets": 0, "engine": None, "engine version": None, "chunk size": 8, "rows per call": 1,
        "stream version": STREAM_VERSION, "checked": True,
    }  # fmt: skip
    for name in ("model", "data", "code"):
        assert len(bytes.fromhex(run.identity[name])) == 32
    assert run.identity["targets"] == hashlib.sha256(struct.pack("<q", 1)).hexdigest()


def test_samples_of_dense_rows_cost_nothing_and_those_of_sparse_rows_next_to_nothing():
    dense = np.eye(4, dtype=int)
    classifier = fp.FunctionClassifier(lambda rows: np.zeros(rows.shape[0], int), classes=2)
    noise = fp.FlipNoise(0.01, 0.6)
    assert fp.vote(classifier, dense, noise, 10, 100).sampling_error == 0.0
    sparse = fp.SparseRows(sp.csr_array(dense))
    votes = fp.vote(classifier, sparse, noise, 10, 100)
    assert Fraction(votes.sampling_error) >= 110 * sparse.sampler(noise, 0).distance > 0
    assert votes.sampling_error < 1e-30
