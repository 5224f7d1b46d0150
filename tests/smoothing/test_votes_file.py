import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.vote_counts import MOST_PORTIONS, ROLES

BINARY = fp.FlipNoise(0.01, 0.6)
JOINT = fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), words=fp.FlipNoise(0.1, 1 / 3, 7))


def make_votes(noise=BINARY, inputs=5):
    counts = np.random.default_rng(0).multinomial(1000, [0.7, 0.2, 0.1], inputs)
    return fp.Votes.from_counts(selection=counts, estimation=counts * 7, noise=noise)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "votes.npz"
    make_votes().save(path)
    return path


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.1, 1 / 3), fp.FlipNoise(5e-324, 1.0, 256), JOINT])
@pytest.mark.parametrize("inputs", [0, 1, 50])
def test_what_is_saved_is_loaded(tmp_path, noise, inputs):
    votes = make_votes(noise, inputs)
    votes.save(tmp_path / "votes.npz")
    again = fp.Votes.load(tmp_path / "votes.npz")
    np.testing.assert_array_equal(again.selection, votes.selection)
    np.testing.assert_array_equal(again.estimation, votes.estimation)
    assert (again.noise, again.n_select, again.n_estimate) == (noise, votes.n_select, votes.n_estimate)
    assert again.selection.dtype == np.int64


def drawn_votes():
    """Votes of a real run, with samples that cost something and a gap between them."""
    rows = sp.csr_array(np.eye(5, 30, dtype=np.float32))
    classifier = fp.FunctionClassifier(lambda batch: np.diff(batch.indptr) % 3, classes=3)
    first, second = (fp.vote(classifier, rows, BINARY, n, part) for n, part in ((10, range(40)), (0, range(60, 70))))
    return first.merged(second)


def test_the_facts_of_a_run_are_saved_too(tmp_path):
    votes = drawn_votes()
    votes.save(tmp_path / "votes.npz")
    again = fp.Votes.load(tmp_path / "votes.npz")
    assert again.run == votes.run
    assert 0.0 < again.sampling_error == votes.sampling_error
    assert again.run.estimate == SampleRanges.of(range(40), range(60, 70))
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "votes.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_votes_of_two_machines_are_merged_from_their_files(tmp_path):
    classifier = fp.FunctionClassifier(lambda batch: batch[:, 0].astype(int), classes=2)
    for name, part in (("one", range(37)), ("two", range(37, 100))):
        fp.vote(classifier, np.eye(3, dtype=int), BINARY, part, part).save(tmp_path / name)
    whole = fp.vote(classifier, np.eye(3, dtype=int), BINARY, 100, 100)
    together = fp.Votes.load(tmp_path / "two").merged(fp.Votes.load(tmp_path / "one"))
    np.testing.assert_array_equal(together.selection, whole.selection)
    np.testing.assert_array_equal(together.estimation, whole.estimation)
    with pytest.raises(fp.InvalidInputError, match="expected disjoint select samples, got 37 in both"):
        together.merged(fp.Votes.load(tmp_path / "one"))


def test_portions_are_saved_with_their_samples(tmp_path):
    classifier = fp.FunctionClassifier(lambda batch: batch[:, 0].astype(int), classes=2)
    votes = fp.vote(classifier, np.eye(3, dtype=int), BINARY, 100, 3000, chunk_size=16)
    votes.save(tmp_path / "votes.npz")
    loaded = fp.Votes.load(tmp_path / "votes.npz")
    assert 32 <= len(loaded.vote_counts.estimate.pieces) <= MOST_PORTIONS
    for role in ROLES:
        for one, other in zip(
            getattr(votes.vote_counts, role).pieces, getattr(loaded.vote_counts, role).pieces, strict=True
        ):
            assert one.samples == other.samples
            np.testing.assert_array_equal(one.counts, other.counts)


def test_portions_that_do_not_add_up_are_refused(tmp_path):
    classifier = fp.FunctionClassifier(lambda batch: batch[:, 0].astype(int), classes=2)
    path = tmp_path / "votes.npz"
    fp.vote(classifier, np.eye(3, dtype=int), BINARY, 100, 3000, chunk_size=16).save(path)
    portions = np.load(path)["estimation_portions"]
    portions[5, 0] = portions[5, 0][::-1].copy()
    rewritten(path, estimation_portions__npy=npy(portions))
    with pytest.raises(fp.FileFormatError, match="portions that add up"):
        fp.Votes.load(path)


RECORD = {
    "identity": {
        "model": "ab", "data": "cd", "noise": {"p_plus": 0.01, "p_minus": 0.6, "categories": 2}, "seed": 0,
        "classes": 3, "chunk size": 8, "targets": None,
    },
    "versions": {"python": "3.11"}, "select": [[0, 1000]], "estimate": [[0, 3000], [4000, 8000]],
    "sampling_error": 1e-30, "seconds": 1.5, "drawn": 8000, "space": {"kind": "DenseRows", "parts": {}},
}  # fmt: skip
SOURCES = [
    {"versions": {"python": "3.11"}, "select": [[0, 1000]], "estimate": [[0, 2000]]},
    {"versions": {"python": "3.11"}, "select": [], "estimate": [[2000, 3000], [4000, 8000]]},
]


def test_a_record_of_a_run_by_hand(saved):
    rewritten(saved, metadata__json=description(run=RECORD | {"sources": SOURCES}))
    assert fp.Votes.load(saved).run.to_record() == RECORD | {"sources": SOURCES}


def test_an_older_record_has_one_source(saved):
    rewritten(saved, metadata__json=description(run=RECORD))
    only = {name: RECORD[name] for name in ("versions", "select", "estimate")}
    assert fp.Votes.load(saved).run.to_record() == RECORD | {"sources": [only]}


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ([], "expected the sources of the samples, got none"),
        (SOURCES[:1], "expected sources of the estimate samples 0 to 2999, 4000 to 7999, got those of 0 to 1999"),
        ([*SOURCES, SOURCES[0]], "expected disjoint sample ranges, got samples 0 to 999 twice"),
        ([SOURCES[0] | {"versions": {"python": "3.12"}}, SOURCES[1]], "expected the versions of the sources"),
        ([SOURCES[0] | {"versions": {"python": 3}}, SOURCES[1]], "expected versions to map names to texts"),
        ([SOURCES[0] | {"by": "me"}, SOURCES[1]], "expected a source with versions, select and estimate"),
        ([SOURCES[0], None], "expected a source with versions, select and estimate"),
        ({}, "expected a list of sources"),
    ],
)
def test_sources_of_other_samples_are_refused(saved, sources, words):
    rewritten(saved, metadata__json=description(run=RECORD | {"sources": sources}))
    with pytest.raises(fp.FileFormatError, match=words):
        fp.Votes.load(saved)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"identity": None}, "expected identity to map names to JSON values"),
        ({"identity": ["seed"]}, "expected identity to map names to JSON values"),
        ({"identity": {}}, "expected the run's model, got None"),
        ({"identity": RECORD["identity"] | {"seed": "0"}}, "expected the run's seed, got '0'"),
        ({"identity": RECORD["identity"] | {"noise": 3}}, "expected the run's noise, got 3"),
        ({"identity": RECORD["identity"] | {"noise": {}}}, "expected the run's noise, {}, got FlipNoise"),
        ({"identity": RECORD["identity"] | {"classes": 4}}, "expected the run's 4 classes, got 3"),
        ({"versions": None}, "expected versions to map names to texts"),
        ({"versions": {"python": 3}}, "expected versions to map names to texts"),
        ({"select": None}, "expected a list of sample ranges, got None"),
        ({"select": [[0, 999]]}, "expected the run's numbers of samples"),
        ({"select": [[0, 500], [400, 1000]]}, "expected sorted ranges with gaps between them"),
        ({"select": [[0, 500], [500, 1000]]}, "expected sorted ranges with gaps between them"),
        ({"select": [[1000, 0]]}, "expected a range of samples as start < stop"),
        ({"select": [[0, 1000, 2000]]}, "expected a range of samples as start < stop"),
        ({"select": [[0.0, 1000]]}, "expected a range of samples as start < stop"),
        ({"select": [["0", "1000"]]}, "expected a range of samples as start < stop"),
        ({"select": [[0, 10**400]]}, "expected a range of samples as start < stop"),
        ({"estimate": []}, "expected the run's numbers of samples"),
        ({"sampling_error": float("nan")}, "it has NaN in place of a number"),
        ({"sampling_error": -1e-300}, "expected sampling_error in"),
        ({"sampling_error": None}, "expected sampling_error in"),
        ({"sampling_error": "1e-30"}, "expected sampling_error in"),
        ({"sampling_error": float("inf")}, "it has Infinity in place of a number"),
        ({"seconds": -1.0}, "expected seconds to be a non-negative number"),
        ({"seconds": float("nan")}, "it has NaN in place of a number"),
        ({"seconds": [1.5]}, "expected seconds to be a non-negative number"),
        ({"drawn": -1}, "expected drawn to be a non-negative integer"),
        ({"drawn": 8000.0}, "expected drawn to be a non-negative integer"),
        ({"drawn": True}, "expected drawn to be a non-negative integer"),
        ({"more": 1}, "expected a record with identity, .*, got identity, .*, more"),
    ],
)
def test_a_hostile_record_of_a_run_is_refused(saved, changes, words):
    rewritten(saved, metadata__json=description(run=RECORD | changes))
    with pytest.raises(fp.FileFormatError, match=words):
        fp.Votes.load(saved)


@pytest.mark.parametrize("name", sorted(RECORD.keys() - {"space"}))
def test_an_incomplete_record_of_a_run_is_refused(saved, name):
    rewritten(saved, metadata__json=description(run={key: RECORD[key] for key in RECORD if key != name}))
    with pytest.raises(fp.FileFormatError, match="expected a votes file written by flipproof"):
        fp.Votes.load(saved)


@pytest.mark.parametrize("record", [3, "run", [], {}, True])
def test_what_is_no_record_of_a_run_is_refused(saved, record):
    rewritten(saved, metadata__json=description(run=record))
    with pytest.raises(fp.FileFormatError, match="expected a votes file written by flipproof"):
        fp.Votes.load(saved)


def test_large_counts_survive(tmp_path):
    votes = fp.Votes.from_counts(selection=[[2**40, 1]], estimation=[[2**45, 0]], noise=fp.FlipNoise(0.1, 0.2))
    votes.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").estimation[0, 0] == 2**45


def test_the_same_votes_give_the_same_bytes(saved, tmp_path):
    make_votes().save(tmp_path / "again.npz")
    assert saved.read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_numpy_can_open_the_file_without_us(saved):
    with np.load(saved, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["selection"], make_votes().selection)
        assert json.loads(file["metadata.json"])["noise"]["p_minus"] == 0.6


def test_a_file_cut_anywhere_is_refused(saved, tmp_path):
    whole = saved.read_bytes()
    cut = tmp_path / "cut.npz"
    for length in [*range(0, len(whole) - 1, 7), len(whole) - 1]:
        cut.write_bytes(whole[:length])
        with pytest.raises(fp.FileFormatError, match="expected a votes file written by flipproof, got"):
            fp.Votes.load(cut)


def test_a_file_with_a_flipped_byte_is_refused_or_the_same(saved, tmp_path, rng):
    """A byte that nobody reads (a time stamp, say) may change; counts and noise may not."""
    whole, bad = bytearray(saved.read_bytes()), tmp_path / "bad.npz"
    for position in range(0, len(whole), 3):
        damaged = whole.copy()
        damaged[position] ^= int(rng.integers(1, 256))
        bad.write_bytes(damaged)
        try:
            votes = fp.Votes.load(bad)
        except fp.FileFormatError:
            continue
        np.testing.assert_array_equal(votes.estimation, make_votes().estimation)
        assert votes.noise == make_votes().noise


def rewritten(path, **members):
    """A copy of the file's members with some of them replaced (or left out, when None)."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {name.replace("__", "."): value for name, value in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            if value is not None:
                archive.writestr(name, value)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def description(**changes):
    record = {
        "format": "flipproof-votes", "version": 2, "n_select": 1000, "n_estimate": 7000,
        "noise": {"p_plus": 0.01, "p_minus": 0.6, "categories": 2},
    }  # fmt: skip
    return json.dumps(record | changes)


BROKEN_HEADER = npy(np.zeros((1, 1), dtype="<i8")).replace(b"(1, 1), }", b"(1, 1,   ")
HUGE = npy(np.zeros((1, 1), dtype="<i8")).replace(b"(1, 1), }           ", b"(1, 999999999999), }")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"selection__npy": None}, "it has no array selection"),
        ({"metadata__json": None}, "it has no description"),
        ({"metadata__json": "{"}, "it is no JSON"),
        ({"metadata__json": "[" * 100_000}, "nested more than 64 deep"),
        ({"metadata__json": "[]"}, "does not say flipproof-votes"),
        ({"metadata__json": description(format="other")}, "does not say flipproof-votes"),
        ({"metadata__json": description(version=3)}, "it has version 3, this flipproof reads 2"),
        ({"metadata__json": description(noise={"p_plus": float("nan"), "p_minus": 0.6})}, "it has NaN in place of"),
        ({"metadata__json": description(noise={"p_plus": 2, "p_minus": 0.6})}, "expected p_plus in"),
        ({"metadata__json": description(noise={"p_plus": 0.1, "q": 0.6})}, "TypeError"),
        ({"metadata__json": description(noise={"parts": {"a": {"p_plus": 0.1}}})}, "TypeError"),
        ({"metadata__json": description(noise=3)}, "TypeError"),
        ({"metadata__json": description(noise={"parts": [1]})}, "AttributeError"),
        ({"metadata__json": description(noise={"p_plus": 10**400, "p_minus": 0.5})}, "expected p_plus in"),
        ({"metadata__json": description(version=True)}, "it has version True"),
        ({"metadata__json": description(n_estimate=70)}, "expected rows of estimation to sum to at most 70"),
        ({"metadata__json": description(n_select=-1)}, "expected n_select to be a non-negative integer"),
        ({"metadata__json": " " * 20_000_000}, "its description is longer than"),
        ({"estimation__npy": b"not an array"}, "estimation is not an array"),
        ({"estimation__npy": npy(np.zeros((5, 3)))}, "is not a table of counts but float64"),
        ({"estimation__npy": npy(np.zeros(5, dtype="<i8"))}, "is not a table of counts"),
        ({"estimation__npy": npy(np.zeros((4, 3), dtype="<i8"))}, "of equal shape"),
        ({"estimation__npy": npy(np.zeros((5, 3), dtype="<i8"))[:-8]}, "promises 120 bytes and holds 112"),
        ({"estimation__npy": BROKEN_HEADER}, "estimation is not an array"),
        ({"estimation__npy": npy(np.asfortranarray(np.zeros((5, 3), dtype="<i8")))}, "is not an array of numbers"),
        ({"estimation__npy": HUGE}, "promises [0-9]+ bytes and holds"),
        ({"estimation__npy": npy(np.array([[{}]], dtype=object))}, "holds Python objects, which are never unpickled"),
    ],
)
def test_a_file_made_by_something_else_is_refused(saved, members, words):
    rewritten(saved, **members)
    with pytest.raises(fp.FileFormatError, match=words):
        fp.Votes.load(saved)


def test_other_kinds_of_files_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps({"a": 1}))
    for name in ("other.npz", "text.npz", "pickle.npz"):
        with pytest.raises(fp.FileFormatError, match=f"expected a votes file written by flipproof, got .*{name}"):
            fp.Votes.load(tmp_path / name)
    with pytest.raises(fp.FileFormatError, match="No such file"):
        fp.Votes.load(tmp_path / "missing.npz")
    with pytest.raises(fp.FileFormatError, match="directory"):
        fp.Votes.load(tmp_path)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(fp.OutputError, match="No space left"):
        make_votes(inputs=9).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path):
        with pytest.raises(fp.OutputError, match="which is something else"):
            make_votes().save(target)
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_is_followed(saved):
    link = saved.parent / "link.npz"
    link.symlink_to(saved)
    make_votes(inputs=2).save(link)
    assert link.is_symlink()
    assert len(fp.Votes.load(saved)) == 2


@pytest.mark.parametrize("path", [None, 5, b"votes.npz"])
def test_a_path_must_be_a_path(path):
    with pytest.raises(fp.InvalidInputError, match="expected the path of a file, got"):
        fp.Votes.load(path)
    with pytest.raises(fp.InvalidInputError, match="expected the path of a file, got"):
        make_votes().save(path)


def test_other_compressions_are_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_LZMA) as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    with pytest.raises(fp.FileFormatError, match="compressed in a way that flipproof does not read"):
        fp.Votes.load(saved)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(fp.OutputError, match=r"missing.*votes.npz.*No such file"):
        make_votes().save(tmp_path / "missing" / "votes.npz")


def test_saved_files_have_ordinary_permissions(saved):
    plain = saved.parent / "plain"
    plain.touch()
    assert saved.stat().st_mode == plain.stat().st_mode
