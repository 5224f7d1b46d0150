"""The fuzz targets without a fuzzer: what once made a loader crash, and some hundred pinned changes of real files."""

import random
from pathlib import Path

import pytest

import flipproof as fp
from fuzz.mutators import random_bytes
from fuzz.run import Found
from fuzz.target import BadRefusalError, Target, UnboundedMemoryError
from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
CHANGES = {"values": 60, "run_folder": 200, "results": 200}
EVERY_TARGET = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


def kept(target):
    return sorted(path for path in (CORPUS / target.name).glob("*") if path.is_file())


@EVERY_TARGET
def test_real_files_are_read(target):
    for seed in target.seeds():
        try:
            target.read(seed)
        except fp.FlipproofError as error:
            raise AssertionError("a file of our own is refused") from error


@pytest.mark.parametrize("path", [path for target in TARGETS.values() for path in kept(target)], ids=str)
def test_what_was_found_stays_fixed(path):
    TARGETS[path.parent.name].run(path.read_bytes())


@EVERY_TARGET
def test_changed_files_are_read_or_refused_in_one_line(target):
    rng = random.Random(f"flipproof {target.name}")
    mutate = random_bytes(rng, target.words)
    files = [*target.seeds(), *(path.read_bytes() for path in kept(target))]
    for _ in range(CHANGES.get(target.name, 400)):
        content = rng.choice(files)
        for _ in range(rng.choice((1, 1, 2, 3))):
            content = target.mutate(content, rng, mutate)
        target.run(content)


def test_every_target_has_a_corpus():
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert all(kept(target) for target in TARGETS.values())
    assert all(path.stat().st_size <= 20_000 for target in TARGETS.values() for path in kept(target))


def raising(error, cause=None):
    def read(content):
        raise error from cause

    return Target("broken", list, read)


def test_defects_are_noticed():
    with pytest.raises(KeyError):
        raising(KeyError("noise")).run(b"")
    with pytest.raises(MemoryError):
        raising(MemoryError()).run(b"")
    with pytest.raises(UnboundedMemoryError):
        raising(fp.FileFormatError("expected a file, got another"), MemoryError()).run(b"")

    class Loud(fp.FlipproofError):
        def __str__(self):
            return "\x1b[2J"

    with pytest.raises(BadRefusalError):
        raising(Loud()).run(b"")
    raising(fp.FileFormatError("expected a file, got another")).run(b"")


def test_what_a_log_says():
    log = "#99\tREDUCE cov: 236 ft: 4\n#37729\tDONE   cov: 240 ft: 485\nstat::number_of_executed_units: 37729\n"
    assert Found.in_log(log, 0) == Found(37_729, "240", crashed=False)
    assert Found.in_log("#12\tNEW    cov: 7 ft: 4\n==1== ERROR", 77) == Found(12, "7", crashed=True)
    assert Found.in_log("", 1) == Found(0, "unknown", crashed=True)
