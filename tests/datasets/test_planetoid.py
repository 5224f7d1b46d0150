"""Planetoid's pickles, as Python 2 wrote them, are read without running what they name."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets.readers.citations import read_planetoid
from flipproof.datasets.readers.inert_pickle import read_inert
from flipproof.errors import FileFormatError
from fuzz.python2_pickles import array, lists, matrix, name, number, planetoid, program, text


@pytest.fixture
def published(rng):
    """Seven nodes in one component, the last three for tests and listed out of order; and what they are."""
    attributes = sp.csr_matrix((rng.random((7, 5)) < 0.5).astype(np.float32) * 0.25)
    labels = np.array([0, 1, 2, 0, 1, 2, 1])
    test = np.array([6, 4, 5])
    neighbours = {0: [1, 1, 0], 1: [0, 2], 2: [1, 3], 3: [4], 4: [5], 5: [6], 6: []}
    contents = planetoid(attributes, labels, test, neighbours)
    return contents, attributes, labels


def test_the_writer_here_writes_what_python_reads(published):
    contents, _, _ = published
    values = pickle.loads(program(array(np.arange(6, dtype=np.float64).reshape(2, 3))), encoding="latin1")
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pickle.loads(contents["ind.few.graph"])[1] == [0, 2]


def test_a_graph_comes_out_as_it_was_published(published):
    contents, attributes, labels = published
    data = read_planetoid(contents, "few")
    assert data.labels.tolist() == labels.tolist()
    assert np.array_equal(data.attributes.toarray(), (attributes.toarray() != 0))
    expected = np.zeros((7, 7))
    for node in range(6):
        expected[node, node + 1] = expected[node + 1, node] = 1
    assert np.array_equal(data.adjacency.toarray(), expected)


def test_other_nodes_for_tests_are_refused(published):
    contents, _, _ = published
    with pytest.raises(FileFormatError, match="expected the last 3 of 7 nodes of few to be for tests, got others"):
        read_planetoid({**contents, "ind.few.test.index": b"6\n4\n3\n"}, "few")


NEIGHBOURS = name("collections.defaultdict") + b"(" + name("__builtin__.list") + b"tR"


class Bomb:
    def __reduce__(self):
        return print, ("hurt",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (program(name("__builtin__.print") + b"(" + text(b"hurt") + b"tR"), "one that names __builtin__.print"),
        (pickle.dumps(Bomb(), 2), "one with the operation BINUNICODE"),
        (pickle.dumps(Bomb(), 5), "one with the operation "),
        (pickle.dumps(np.arange(3), 2), "one with the operation BINUNICODE"),
        (program(name("numpy.load") + b"(" + text(b"file") + b"tR"), "one that names numpy.load"),
        (b"\x80\x04\x8c\x05numpy\x8c\x14core.multiarray.frob\x93.", "one with the operation SHORT_BINUNICODE"),
        (b"\x80\x02\x82\x01.", "one with the operation EXT1"),
        (b"\x80\x02}.", "expected a pickle of an array, a matrix or a dictionary of lists, got something else"),
        (program(lists({})[:-1] + number(1) + number(2) + b"u"), "something else in it"),
        (program(NEIGHBOURS + number(1) + b"]q\x00" + b"s" + number(2) + b"h\x00s"), "got one of them twice"),
        (program(NEIGHBOURS + number(1) + b"\x85" + b"]s"), "another kind of dictionary"),
        (program(NEIGHBOURS + b"N]s"), "another kind of dictionary"),
        (program(b"}" + number(1) + b"]s" + b"]" + number(1) + b"s"), "another kind of dictionary"),
        (program(b"N]a"), "appends to something else than a list"),
        (program(b"\x85"), "takes values which are not there"),
        (program(b"(NN\x86\x86\x86t"), "takes values which are not there"),
        (program(b"Nh\x07"), "KeyError: 7"),
        (program(b"NNR"), "AttributeError"),
        (program(name("scipy.sparse.csr.csr_matrix") + b")R"), "KeyError"),
        (program(name("numpy.dtype") + b"(" + b")" + b"\x85" * 10**5 + b"tR"), "plain numbers, got type a tuple"),
        (program(name("a\x1b[.b")), r"one that names a \[.b$"),
        (program(array(np.arange(2), code=b"O8")), "expected an array of plain numbers, got type 'O8'"),
        (program(array(np.arange(2), order=b">")), "expected numbers in little-endian order, got '>'"),
        (program(array(np.arange(2), code=b"i4")), "expected 2 numbers in an array, got 4"),
        (program(array(np.arange(3, dtype=np.int32), code=b"f8")), "buffer size must be a multiple"),
        (program(matrix(sp.csr_matrix((np.ones(1), np.array([9]), np.array([0, 1])), shape=(1, 10)))[:-40]), "Error"),
        (program(b"N"), "something else"),
        (b"", "pickle exhausted before seeing STOP"),
    ],
)
def test_what_is_no_array_is_refused(content, reason, capsys):
    with pytest.raises(FileFormatError, match=reason):
        read_inert(content)
    assert capsys.readouterr().out == ""


def test_a_matrix_that_lies_is_refused():
    lying = sp.csr_matrix((2, 3))
    lying.indices = np.array([7], dtype=np.int32)
    lying.data = np.ones(1)
    lying.indptr = np.array([0, 0, 1], dtype=np.int32)
    with pytest.raises(FileFormatError, match="the pickled matrix is no sparse matrix: column 7 of 3"):
        read_inert(program(matrix(lying)))


def test_a_file_that_is_cut_anywhere_is_refused(published):
    whole = published[0]["ind.few.tx"]
    for length in range(len(whole)):
        with pytest.raises(FileFormatError, match="expected"):
            read_inert(whole[:length])


def test_the_published_files_are_all_that_is_fetched():
    assert {file.name for file in fp.datasets.card("pubmed").home.files} == {
        f"ind.pubmed.{part}" for part in ("allx", "ally", "graph", "test.index", "tx", "ty")
    }


def test_a_file_cannot_change_how_others_are_read():
    good = program(lists({1: [2]}))
    for stand_in in ("collections.defaultdict", "numpy.dtype", "scipy.sparse.csr.csr_matrix"):
        state = b"}(" + text(b"result") + number(42) + b"u"
        for bad in (state, b"N" + state + b"\x86"):
            with pytest.raises(FileFormatError):
                read_inert(program(name(stand_in) + bad + b"b"))
    assert read_inert(good) == {1: [2]}
