"""A classifier that needs more memory than there is: a line that says so and what to do, and votes that are kept."""

import os
import re
import signal
import sys

import numpy as np
import pytest

import flipproof as fp
from flipproof.smoothing.classifier import WorkerError

ROWS = np.random.default_rng(0).integers(0, 2, (5, 8))
ASKED = {"inputs": ROWS, "noise": fp.FlipNoise(0.1, 0.3), "n_select": 20, "n_estimate": 80, "chunk_size": 10}
ASKED |= {"check": False}  # which would use up the calls that these classifiers count
ADVICE = "use fewer workers to go on, or start again with a lower memory limit or chunk size"


def greedy(fails, cured, calls=0):
    """A classifier that fails at its seventh call in a process, until the file `cured` is there.

    Its class has no name that a worker could import: it travels by value, and a worker starts sooner.
    """

    class Greedy:
        classes, fingerprint = 3, "greedy"

        def __call__(self, rows):
            self.calls += 1
            if self.calls > 6 and not os.path.exists(cured):
                fails()
            return rows @ (np.arange(8) ** 2 + 1) % 3

    greedy = Greedy()
    greedy.calls = calls
    return greedy


TORCH = "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."
FAILS = {
    "MemoryError": lambda: (_ for _ in ()).throw(MemoryError),
    r"\w*MemoryError: Unable to allocate .*": lambda: np.ones(2**57),  # no machine has an exbibyte
    "RuntimeError: .*can't allocate memory.*": lambda: (_ for _ in ()).throw(RuntimeError(TORCH)),
}


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


@pytest.fixture(scope="module")
def unhurt_votes(tmp_path_factory):
    return counts(fp.vote(greedy(None, tmp_path_factory.getbasetemp()), **ASKED))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("reason", "fails"), FAILS.items(), ids=["plain", "numpy", "torch"])
def test_a_classifier_without_memory_is_told_in_one_line(fails, reason, workers, tmp_path, unhurt_votes):
    # Of ten chunks, one of two workers gets at least five.
    classifier, path = greedy(fails, tmp_path / "cured", calls=2 * (workers - 1)), tmp_path / "run.ckpt"
    with pytest.raises(fp.ClassifierError) as caught:
        fp.vote(classifier, **ASKED, workers=workers, checkpoint=path)
    line = rf"expected enough memory for (select|estimate) samples \d+ to \d+, got {reason}; {ADVICE}"
    assert re.fullmatch(line, str(caught.value))
    kept = caught.value.votes.n_select + caught.value.votes.n_estimate
    assert kept == 60 if workers == 1 else kept >= 40
    (tmp_path / "cured").touch()
    votes = fp.vote(classifier, **ASKED, checkpoint=path)
    assert counts(votes) == unhurt_votes
    assert votes.run.drawn == 100 - kept


def test_workers_that_the_kernel_ends_are_told_from_others(tmp_path, unhurt_votes):
    """When memory runs out, the kernel kills the process that takes most."""
    killed = greedy(lambda: os.kill(os.getpid(), signal.SIGKILL), tmp_path / "cured", calls=6)
    path = tmp_path / "run.ckpt"
    error = rf"; last exit: signal 9, which the system sends when memory runs out; {ADVICE}$"
    with pytest.raises(WorkerError, match=error):
        fp.vote(killed, **ASKED, workers=2, checkpoint=path)
    (tmp_path / "cured").touch()
    assert counts(fp.vote(killed, **ASKED, checkpoint=path)) == unhurt_votes


# With a real limit, in a process of its own


def vote_with_a_greedy_classifier(path, cured):
    """Called by the forge."""
    try:
        votes = fp.vote(greedy(lambda: np.ones(10**9), cured), **ASKED, checkpoint=path)
    except fp.FlipproofError as error:
        sys.exit(f"{error} | {error.votes.n_estimate}")
    print(counts(votes))


def vote_in_chunks_of_many_gigabytes():
    """Called by the forge."""
    classifier = fp.FunctionClassifier(lambda batch: np.zeros(len(batch), dtype=int), classes=2)
    try:
        fp.vote(classifier, ROWS, ASKED["noise"], 0, 10, chunk_size=2**30, memory_limit="100TB")
    except fp.ClassifierError as error:
        sys.exit(str(error))


def test_a_process_with_a_limit_keeps_its_votes(forge, tmp_path, unhurt_votes):
    call = ["call", f"{__file__}:vote_with_a_greedy_classifier", tmp_path / "run.ckpt", tmp_path / "cured"]
    done = forge.run(*call, fault=("little_memory", 2 * 10**9))
    assert done.code == 1
    assert "MemoryError: Unable to allocate 7.45 GiB" in done.err
    assert done.err.strip().endswith(f"{ADVICE} | 40")
    (tmp_path / "cured").touch()
    assert forge.run(*call).out == f"{unhurt_votes}\n"


def test_noise_without_memory_is_told_in_one_line(forge):
    """Not only the classifier needs memory: here the noisy copies themselves do not fit, whatever the limit says."""
    done = forge.run("call", f"{__file__}:vote_in_chunks_of_many_gigabytes", fault=("little_memory", 2 * 10**9))
    line = rf"expected enough memory for estimate samples 0 to 9, got \w*MemoryError.*; {ADVICE}\n"
    assert re.fullmatch(line, done.err)


def test_a_command_without_memory_is_refused_in_one_line(forge, tmp_path):
    """So large a table takes more memory to train on than the process may have."""
    rows = ["a,b,label", *("x,y,yes", "y,x,no") * 100_000]
    (tmp_path / "large.csv").write_text("\n".join(rows))
    asked = ["train", "--dataset", tmp_path / "large.csv", "--out", tmp_path / "run", "--noisy-samples", 2]
    done = forge.run(*asked, fault=("little_memory", 10 * 10**6))
    assert done.refused, done
    assert done.err.startswith("flipproof: not enough memory")
