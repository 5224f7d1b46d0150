import contextlib
import fcntl
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError, OutputError
from flipproof.smoothing.voting import checkpoint as module
from flipproof.smoothing.voting.checkpoint import Checkpoint, CheckpointMismatchError, peek_identity
from flipproof.smoothing.voting.vote_counts import MOST_PORTIONS, ROLES, VoteCounts

IDENTITY = {"seed": 0, "noise": {"p_plus": 0.01, "p_minus": 0.6}, "data": "3f2a" * 16, "chunks": [10, 20]}
LINE = b"flipproof-checkpoint 1\n"


def chunk(number, role="estimate", outputs=2, classes=3):
    """Ten samples, each with labels that depend on nothing but its number."""
    samples = np.arange(10 * number, 10 * number + 10)
    labels = (7 * samples[:, None] + 3 * np.arange(outputs)) % classes
    counts = np.stack([(labels == label).sum(axis=0) for label in range(classes)], axis=1)
    return VoteCounts.of(role, range(10 * number, 10 * number + 10), counts)


CHUNKS = [chunk(0, "select"), chunk(0), chunk(2), chunk(1)]


def content(vote_counts):
    """Everything that vote counts hold, as values that can be compared."""
    if vote_counts is None:
        return None
    return tuple((getattr(vote_counts, role).samples, getattr(vote_counts, role).counts.tolist()) for role in ROLES)


def merged(chunks):
    total = None
    for one in chunks:
        total = one if total is None else total.merged(one)
    return total


def prefixes(chunks):
    return [content(merged(chunks[:length])) for length in range(len(chunks) + 1)]


def reopened(path, identity=IDENTITY):
    with Checkpoint.open(path, identity) as checkpoint:
        return content(checkpoint.vote_counts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.fixture
def journal(path):
    """A file with one record for each chunk."""
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        for one in CHUNKS:
            checkpoint.add(one)
    return path


def framed(body):
    return struct.pack("<4sQI", b"\xf1\x1aFP", len(body), zlib.crc32(body)) + body


def file_of(*bodies):
    return LINE + b"".join(framed(body) for body in (json.dumps(IDENTITY).encode(), *bodies))


def body(vote_counts, versions=None):
    """A record as it is written."""
    ranges = {role: getattr(vote_counts, role).samples.to_record() for role in ROLES}
    return vote_counts.to_bytes(sources=[{"versions": module.versions() if versions is None else versions, **ranges}])


def test_what_was_added_is_there_again(path):
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        assert checkpoint.vote_counts is None
        for length, one in enumerate(CHUNKS, start=1):
            checkpoint.add(one)
            assert content(checkpoint.vote_counts) == prefixes(CHUNKS)[length]
    assert reopened(path) == content(merged(CHUNKS))
    assert [file.name for file in path.parent.iterdir()] == ["run.ckpt"]


def test_a_new_checkpoint_holds_nothing(path):
    assert reopened(path) is None
    assert path.read_bytes() == file_of()
    assert reopened(path) is None


def test_the_file_is_what_its_description_says(path):
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        checkpoint.add(chunk(1))
    counts = zlib.compress(np.array([[3, 4, 3]] * 2, "|u1").tobytes(), level=1)
    record = {"samples": [[10, 20]], "dtype": "|u1", "bytes": len(counts)}
    source = {"versions": module.versions(), "select": [], "estimate": [[10, 20]]}
    header = {"shape": [2, 3], "roles": {"estimate": record}, "sources": [source]}
    assert path.read_bytes() == file_of(json.dumps(header).encode() + b"\n" + counts)


def test_vote_counts_of_no_samples_add_nothing(path):
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        checkpoint.add(VoteCounts.empty(2, 3))
        assert checkpoint.vote_counts is None
        checkpoint.add(CHUNKS[0])
        checkpoint.add(VoteCounts.empty(2, 3))
    assert reopened(path) == content(CHUNKS[0])


@pytest.mark.parametrize("wrong", [CHUNKS[1], chunk(7, outputs=5)])
def test_vote_counts_that_do_not_fit_change_nothing(journal, wrong):
    with Checkpoint.open(journal, IDENTITY) as checkpoint:
        before = journal.read_bytes()
        with pytest.raises(InvalidInputError, match="expected"):
            checkpoint.add(wrong)
        assert content(checkpoint.vote_counts) == content(merged(CHUNKS))
    assert journal.read_bytes() == before


def test_a_closed_checkpoint_takes_nothing(path):
    checkpoint = Checkpoint.open(path, IDENTITY)
    checkpoint.close()
    checkpoint.close()
    with pytest.raises(InvalidInputError, match="expected an open checkpoint, got one that is closed"):
        checkpoint.add(CHUNKS[0])


def test_a_file_cut_anywhere_holds_a_prefix(journal):
    whole, seen = journal.read_bytes(), []
    for length in range(len(whole) + 1):
        journal.write_bytes(whole[:length])
        seen.append(prefixes(CHUNKS).index(reopened(journal)))
        assert reopened(journal) == prefixes(CHUNKS)[seen[-1]]
    assert seen == sorted(seen)
    assert set(seen) == set(range(len(CHUNKS) + 1))


def test_a_flipped_byte_gives_a_prefix_or_an_error(journal, rng):
    whole, possible = journal.read_bytes(), prefixes(CHUNKS)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= int(rng.integers(1, 256))
        journal.write_bytes(damaged)
        try:
            found = reopened(journal)
        except FileFormatError:
            assert position < len(file_of())
            assert journal.read_bytes() == damaged
        else:
            assert position >= len(file_of())
            assert found in possible[: len(CHUNKS)]


def test_records_behind_a_damaged_one_are_dropped(path):
    bodies = [body(one) for one in CHUNKS]
    damaged = bytearray(file_of(*bodies))
    damaged[len(file_of(*bodies[:2])) - 1] ^= 1
    path.write_bytes(damaged)
    assert reopened(path) == content(CHUNKS[0])
    assert path.read_bytes() == file_of(bodies[0])


def test_adding_goes_on_behind_a_damaged_tail(journal):
    journal.write_bytes(journal.read_bytes()[:-1])
    with Checkpoint.open(journal, IDENTITY) as checkpoint:
        assert content(checkpoint.vote_counts) == prefixes(CHUNKS)[-2]
        checkpoint.add(CHUNKS[-1])
    assert reopened(journal) == content(merged(CHUNKS))


@pytest.mark.parametrize("start", [b"", b"f", LINE[:-1], LINE, file_of()[:-1], LINE + bytes(100)])
def test_a_file_left_during_its_creation_is_started_anew(path, start):
    path.write_bytes(start)
    assert peek_identity(path) is None
    assert reopened(path) is None
    assert path.read_bytes() == file_of()


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"hello", r"it begins with b'hello', this flipproof reads b'flipproof-checkpoint 1\\n'"),
        (b"flipproof-checkpoint 2\n", "it begins with b'flipproof-checkpoint 2"),
        (b"PK\x03\x04" + bytes(1000), "it begins with"),
        (pickle.dumps(IDENTITY), "it begins with"),
        (LINE + framed(b"[]"), "its description is no mapping"),
        (LINE + framed(b"{"), "it is no JSON"),
        (LINE + framed(b"[" * 100_000), "nested more than 64 deep"),
        (LINE + framed(b'{"seed": 0}')[:-1] + b"?" + framed(CHUNKS[0].to_bytes()), "its description is damaged"),
    ],
)
def test_what_is_no_checkpoint_is_refused_and_left_alone(path, start, words):
    path.write_bytes(start)
    for use in (reopened, peek_identity):
        with pytest.raises(
            FileFormatError, match=rf"expected a checkpoint written by flipproof, got .*run.ckpt.*{words}"
        ):
            use(path)
    assert path.read_bytes() == start


def counts_body(packed, samples, shape=(2, 2)):
    record = {"samples": samples, "dtype": "|u1", "bytes": len(packed)}
    return json.dumps({"shape": shape, "roles": {"select": record}}).encode() + b"\n" + packed


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ([CHUNKS[0].to_bytes()] * 2, "expected disjoint sample ranges, got samples 0 to 9 twice"),
        ([CHUNKS[0].to_bytes(), chunk(1, outputs=3).to_bytes()], "expected vote counts of equal shape"),
        ([counts_body(zlib.compress(bytes([9, 1, 4, 6])), [[0, 9]])], "expected rows of votes to sum to at most 9"),
        ([counts_body(zlib.compress(bytes(10**6)), [[0, 9]])], "expected 4 bytes of counts"),
        ([counts_body(zlib.compress(bytes(10**6)), [[0, 9]], (2**40, 2**50))], "that could not hold them"),
        (
            [counts_body(zlib.compress(bytes(10**6)), [[0, 9]], (2**31, 2**20))],
            f"expected {2**51} bytes of counts, got [0-9]+ that could not hold",
        ),
        ([counts_body(zlib.compress(b""), [[0, 9]], (0, 2**70))], "Error"),
        ([counts_body(b"nothing compressed", [[0, 9]])], "error: Error -3"),
        ([CHUNKS[0].to_bytes(), json.dumps(IDENTITY).encode()], "KeyError: 'shape'"),
        ([b""], "it is no JSON"),
        ([b"\n"], "it is no JSON"),
        ([b"\xff\n"], "it is no JSON"),
        ([b"[" * 100_000], "nested more than 64 deep"),
        ([b"3"], "TypeError"),
        ([pickle.dumps(CHUNKS[0].shape)], "it is no JSON"),
    ],
)
def test_hostile_records_are_refused_and_left_alone(path, bodies, words):
    path.write_bytes(file_of(*bodies))
    with pytest.raises(FileFormatError, match=f"expected a checkpoint written by flipproof, got .*run.ckpt.*{words}"):
        reopened(path)
    assert path.read_bytes() == file_of(*bodies)


def test_a_length_beyond_the_file_allocates_nothing(path):
    path.write_bytes(file_of() + struct.pack("<4sQI", b"\xf1\x1aFP", 2**63, 0))
    assert reopened(path) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 1}, "seed 0 instead of 1"),
        ({"seed": "0"}, 'seed 0 instead of "0"'),
        ({"seed": False}, "seed 0 instead of false"),
        ({"seed": 0.0}, "seed 0 instead of 0.0"),
        ({"seed": None}, "seed 0 instead of null"),
        ({"data": "77aa" * 16}, "data 3f2a3f2a3f2a instead of 77aa77aa77aa"),
        ({"data": "3f2a" * 15 + "dead"}, f'data "{"3f2a" * 16}" instead of "{"3f2a" * 15}dead"'),
        ({"chunks": [10, 30]}, "chunks [10, 20] instead of [10, 30]"),
        ({"noise": {"p_plus": 1 / 3, "p_minus": 0.6}}, "noise.p_plus 0.01 instead of 0.3333333333333333"),
        ({"noise": {"p_plus": 0.01}}, "noise.p_minus 0.6 instead of nothing"),
        ({"noise": "paper"}, "noise FlipNoise(p_plus=0.01, p_minus=0.6, categories=2) instead of paper"),
        (
            {"noise": {"ablation": {"entries": 784, "kept": 45}}},
            "noise FlipNoise(p_plus=0.01, p_minus=0.6, categories=2) instead of AblationNoise(entries=784, kept=45)",
        ),
        (
            {"noise": {"parts": {"structure": {"p_plus": 0.5, "p_minus": 0.25, "categories": 2}}}},
            "noise FlipNoise(p_plus=0.01, p_minus=0.6, categories=2) instead of "
            "JointNoise(structure=FlipNoise(p_plus=0.5, p_minus=0.25, categories=2))",
        ),
        ({"model": "gcn\n"}, "no model instead of gcn\\n"),
        ({"seed": 3, "chunks": []}, "seed 0 instead of 3; chunks [10, 20] instead of []"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_in_words(journal, changes, words):
    journal.write_bytes(journal.read_bytes() + b"a tail")
    before = journal.read_bytes()
    with pytest.raises(CheckpointMismatchError) as refusal:
        Checkpoint.open(journal, IDENTITY | changes)
    assert str(refusal.value) == f"expected the checkpoint of this run, got run.ckpt of another: {words}"
    assert journal.read_bytes() == before


def test_a_missing_key_is_a_difference_and_the_order_of_keys_is_none(journal):
    rest = {key: value for key, value in IDENTITY.items() if key != "seed"}
    with pytest.raises(CheckpointMismatchError, match="of another: seed 0 instead of nothing"):
        Checkpoint.open(journal, rest)
    assert reopened(journal, dict(reversed(IDENTITY.items()))) == content(merged(CHUNKS))
    assert reopened(journal, IDENTITY | {"chunks": (10, 20)}) == content(merged(CHUNKS))


@pytest.mark.parametrize("identity", [None, [], {1: 2}, {"seed": {3}}, {"p": float("nan")}, {"n": np.int64(3)}])
def test_an_identity_must_be_json(path, identity):
    with pytest.raises(InvalidInputError, match="expected an identity"):
        Checkpoint.open(path, identity)
    assert not path.exists()


def test_peeking_changes_nothing(journal, path):
    before = journal.read_bytes()
    with Checkpoint.open(journal, IDENTITY):
        assert peek_identity(journal) == IDENTITY
    assert peek_identity(journal.parent / "missing.ckpt") is None
    journal.write_bytes(before + b"a tail")
    assert peek_identity(journal) == IDENTITY
    assert journal.read_bytes() == before + b"a tail"
    assert peek_identity(journal.parent) is None


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"expected to be able to write .*run.ckpt, got: No such file"):
        Checkpoint.open(tmp_path / "missing" / "run.ckpt", IDENTITY)
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path, tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OutputError, match="which is something else"):
            Checkpoint.open(target, IDENTITY)
    with pytest.raises(InvalidInputError, match="expected the path of a file, got None"):
        Checkpoint.open(None, IDENTITY)


def test_a_creation_that_fails_leaves_nothing(path, monkeypatch):
    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match="No space left"):
        Checkpoint.open(path, IDENTITY)
    assert list(path.parent.iterdir()) == []


def test_a_link_is_followed(journal):
    link = journal.parent / "link.ckpt"
    link.symlink_to(journal)
    with Checkpoint.open(link, IDENTITY) as checkpoint:
        checkpoint.add(chunk(9))
    assert link.is_symlink()
    assert reopened(journal) == content(merged([*CHUNKS, chunk(9)]))


def test_opening_compacts(journal):
    for _ in range(2):
        assert reopened(journal) == content(merged(CHUNKS))
        assert journal.read_bytes() == file_of(*(body(piece) for piece in merged(CHUNKS).pieces()))


def test_opening_joins_portions_when_there_are_many(path):
    chunks = [chunk(number) for number in range(200)]
    path.write_bytes(file_of(*(one.to_bytes() for one in chunks)))
    for _ in range(2):
        assert reopened(path) == content(merged(chunks))
        pieces = list(merged(chunks).pieces())
        assert len(pieces) <= MOST_PORTIONS
        assert path.read_bytes() == file_of(*(body(piece, versions={}) for piece in pieces))


def test_a_journal_that_grows_too_long_is_compacted(path, monkeypatch):
    monkeypatch.setattr(module, "COMPACT_ABOVE", 4000)
    sizes, chunks = [], [chunk(number) for number in range(60)]
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        for length, one in enumerate(chunks, start=1):
            checkpoint.add(one)
            sizes.append(path.stat().st_size)
            assert content(checkpoint.vote_counts) == content(merged(chunks[:length]))
            with pytest.raises(OutputError, match="another process is writing"):
                Checkpoint.open(path, IDENTITY)
    assert max(sizes) <= 4000
    assert sizes != sorted(sizes)
    assert reopened(path) == content(merged(chunks))
    assert [file.name for file in path.parent.iterdir()] == ["run.ckpt"]


def test_a_failed_compaction_adds_nothing_and_loses_nothing(journal, monkeypatch):
    def fail(old, new):
        raise OSError(28, "No space left on device")

    with Checkpoint.open(journal, IDENTITY) as checkpoint:
        before = journal.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(module, "COMPACT_ABOVE", 0)
            patch.setattr(checkpoint, "_compacted", 0)
            patch.setattr(os, "replace", fail)
            with pytest.raises(OutputError, match="No space left"):
                checkpoint.add(chunk(5))
        assert journal.read_bytes() == before
        checkpoint.add(chunk(5))
    assert reopened(journal) == content(merged([*CHUNKS, chunk(5)]))
    assert [file.name for file in journal.parent.iterdir()] == ["run.ckpt"]


def test_an_interrupted_write_is_taken_back(journal, monkeypatch):
    write = os.write

    def interrupted(descriptor, data):
        write(descriptor, data[:20])
        raise KeyboardInterrupt

    with Checkpoint.open(journal, IDENTITY) as checkpoint:
        before = journal.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                checkpoint.add(chunk(5))
        assert journal.read_bytes() == before
        checkpoint.add(chunk(5))
    assert reopened(journal) == content(merged([*CHUNKS, chunk(5)]))


def test_the_disk_is_told_to_keep_it_once_a_second_and_at_the_end(path, monkeypatch):
    now, syncs, fsync = [100.0], [], os.fsync
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        monkeypatch.setattr(os, "fsync", lambda descriptor: syncs.append(now[0]) or fsync(descriptor))
        for number in range(30):
            now[0] += 0.25
            checkpoint.add(chunk(number))
        assert syncs == [101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0]
    assert syncs[7:] == [107.5]


def python(code, *arguments):
    """A process that runs the code, with our names and its arguments."""
    start = (
        "import os, sys, resource\nimport numpy as np\nfrom flipproof.smoothing.voting.checkpoint import Checkpoint\n"
    )
    start += "from flipproof.smoothing.voting.vote_counts import VoteCounts\nfrom flipproof.errors import OutputError\n"
    start += f"path, IDENTITY = sys.argv[1], {IDENTITY!r}\n"
    return subprocess.Popen(
        [sys.executable, "-c", start + code, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_processes_do_not_write_one_checkpoint(journal):
    code = "with Checkpoint.open(path, IDENTITY):\n    print('open', flush=True)\n    sys.stdin.read()\n"
    with python(code, journal) as other:
        assert other.stdout.readline() == "open\n"
        before = journal.read_bytes()
        with pytest.raises(OutputError) as refusal:
            Checkpoint.open(journal, IDENTITY)
        assert str(refusal.value) == (
            f"expected {journal} to be free, got a checkpoint that another process is writing"
        )
        assert journal.read_bytes() == before
        other.communicate("")
    assert other.returncode == 0
    assert reopened(journal) == content(merged(CHUNKS))


def test_a_file_that_was_replaced_before_it_was_locked_is_opened_again(journal, monkeypatch):
    """As when another process compacts and closes between our opening and our locking."""
    flock, replaced = fcntl.flock, []

    def late(descriptor, operation):
        if not replaced:
            replaced.append(journal.rename(journal.with_suffix(".old")))
            journal.write_bytes(file_of(CHUNKS[0].to_bytes()))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with Checkpoint.open(journal, IDENTITY) as checkpoint:
        assert content(checkpoint.vote_counts) == content(CHUNKS[0])
        checkpoint.add(CHUNKS[1])
    assert reopened(journal) == prefixes(CHUNKS)[2]


def test_a_killed_process_loses_nothing_that_it_had_added(path):
    code = (
        "checkpoint = Checkpoint.open(path, IDENTITY)\n"
        "for n in range(10**6):\n"
        "    checkpoint.add(VoteCounts.of('estimate', range(n, n + 1), [[1, 0], [n % 2, (n + 1) % 2]]))\n"
        "    print(n, flush=True)\n"
    )
    added = 0
    for more in (1, 20, 50):
        with python(code.replace("range(10**6)", f"range({added}, 10**6)"), path) as process:
            for _ in range(more):
                last = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
        with Checkpoint.open(path, IDENTITY) as checkpoint:
            estimate = checkpoint.vote_counts.estimate
        added = estimate.samples.count
        assert added > last
        assert estimate.samples.to_record() == [[0, added]]
        assert estimate.counts.tolist() == [[added, 0], [added // 2, added - added // 2]]


def test_a_worker_that_outlives_a_killed_process_holds_no_lock(path):
    code = (
        "checkpoint = Checkpoint.open(path, IDENTITY)\n"
        "if os.fork() == 0:\n"
        "    print(checkpoint._descriptor, flush=True)\n"
        "    sys.stdin.read()\n"
        "    os._exit(0)\n"
        "sys.stdin.read()\n"
    )
    with python(code, path) as process:
        assert process.stdout.readline() == "None\n"
        with pytest.raises(OutputError, match="another process is writing"):
            Checkpoint.open(path, IDENTITY)
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert reopened(path) is None


def test_a_full_disk_takes_nothing_and_loses_nothing(path):
    code = (
        "def chunk(n):\n"
        "    counts = np.random.default_rng(n).integers(0, 5, (500, 2))\n"
        "    return VoteCounts.of('estimate', range(10 * n, 10 * n + 10), counts)\n"
        "with Checkpoint.open(path, IDENTITY) as checkpoint:\n"
        "    checkpoint.add(chunk(0))\n"
        "    size = os.stat(path).st_size\n"
        "    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))\n"
        "    for n in (1, 2):\n"
        "        try:\n"
        "            checkpoint.add(chunk(n))\n"
        "        except OutputError as error:\n"
        "            print(error, os.stat(path).st_size - size, checkpoint.vote_counts.estimate.samples.count)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        "    checkpoint.add(chunk(2))\n"
    )
    with python(code, path) as process:
        output, _ = process.communicate("")
    assert process.returncode == 0
    assert output.splitlines() == [f"expected to be able to write {path}, got: File too large 0 10"] * 2
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        assert checkpoint.vote_counts.estimate.samples.to_record() == [[0, 10], [20, 30]]
        expected = sum(np.random.default_rng(n).integers(0, 5, (500, 2)) for n in (0, 2))
        np.testing.assert_array_equal(checkpoint.vote_counts.estimate.counts, expected)


def test_random_bytes_never_escape_as_other_errors(path, rng):
    for length in (1, 20, 200, 2000):
        for start in (b"", LINE, file_of()):
            path.write_bytes(start + rng.bytes(length))
            with contextlib.suppress(FlipproofError):
                assert reopened(path) is None
