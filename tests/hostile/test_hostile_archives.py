"""Archives of arrays that lie: bombs, members with paths, members that are there twice, shapes beyond all memory."""

import io
import zipfile

import numpy as np
import pytest
from hostile_loaders import ARCHIVES, bomb, first_array, members_of, npy, refusal, zip_again

import flipproof as fp
from flipproof.files import whole as files
from flipproof.files.archive import read_array

EVERY_ARCHIVE = pytest.mark.parametrize("loader", ARCHIVES.values(), ids=ARCHIVES)


@pytest.fixture
def written(tmp_path):
    def write(loader):
        folder = tmp_path / "inner"
        folder.mkdir(exist_ok=True)
        loader.write(folder / loader.name)
        return folder / loader.name

    return write


@EVERY_ARCHIVE
def test_members_with_paths_are_never_unpacked(loader, written, tmp_path):
    path = written(loader)
    strange = [(name, b"hurt") for name in ("../x", "/x", "../../etc/x", "C:\\x", "a/../../x")]
    zip_again(path, [*members_of(path).items(), *strange])
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(fp.FileFormatError, match="an unknown member"):
        loader.read(path)
    assert sorted(tmp_path.rglob("*")) == before


@EVERY_ARCHIVE
def test_arrays_are_only_found_under_their_own_names(loader, written):
    path = written(loader)
    name = first_array(path)
    members = members_of(path)
    zip_again(path, [(f"../{each}" if each == name else each, content) for each, content in members.items()])
    assert f"it has no array {name.removesuffix('.npy')}" in refusal(loader, path)


@EVERY_ARCHIVE
def test_a_member_that_is_there_twice(loader, written):
    path = written(loader)
    members = [*members_of(path).items()]
    for twice in ("metadata.json", first_array(path)):
        zip_again(path, [*members, (twice, dict(members)[twice])])
        assert f"it has {twice} twice" in refusal(loader, path)


@EVERY_ARCHIVE
def test_a_bomb_is_not_unpacked(loader, written):
    path = written(loader)
    bomb(path, first_array(path), mebibytes=100)
    assert path.stat().st_size < 200_000
    assert "bytes, far more than are in the file" in refusal(loader, path)


def test_a_member_cannot_claim_to_take_more_of_the_file_than_there_is(written):
    """Otherwise a bomb could excuse itself with its size."""
    path = written(ARCHIVES["votes"])
    bomb(path, "selection.npy", mebibytes=100)
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"selection.npy") - 46  # in the directory, which comes last
    assert raw[entry : entry + 4] == b"PK\x01\x02"
    raw[entry + 20 : entry + 24] = (50 * 2**20).to_bytes(4, "little")
    path.write_bytes(raw)
    assert "bytes, far more than are in the file" in refusal(ARCHIVES["votes"], path)


SHAPES = {
    "terabytes": "(1000000000000,)",
    "more than there are addresses": "(9223372036854775807, 9223372036854775807)",
    "an overflow that ends at a small number": "(4294967296, 4294967296, 2)",
    "negative": "(-1,)",
    "two negative ones": "(-2, -2)",
    "empty but endless": "(0, 99999999999999999999)",
    "no numbers": "('a',)",
    "a truth value": "(True,)",
    "nested": "((((1,),),),)",
    "cut off": "(1,",
    "deep": "(" * 300,
}


@EVERY_ARCHIVE
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_shapes_that_lie(loader, written, shape):
    path = written(loader)
    name = first_array(path)
    content = npy(f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}", bytes(16))
    zip_again(path, [*(members_of(path) | {name: content}).items()])
    assert path.name in refusal(loader, path)


TYPES = ["|O", "O", "|V8", "<M8[s]", "<c16", "|S3", "[('a', '<i8')]", "<U1000000000", "(2,)i8", "x"]


@EVERY_ARCHIVE
@pytest.mark.parametrize("kind", TYPES)
def test_types_that_are_no_numbers(loader, written, kind):
    path = written(loader)
    name = first_array(path)
    content = npy(f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': (2,), }}", bytes(16))
    zip_again(path, [*(members_of(path) | {name: content}).items()])
    assert path.name in refusal(loader, path)


def test_a_header_that_is_a_program(written):
    path = written(ARCHIVES["votes"])
    header = "{'descr': '<i8', 'fortran_order': False, 'shape': (__import__('os').abort(),), }"
    zip_again(path, [*(members_of(path) | {"selection.npy": npy(header)}).items()])
    assert "selection is not an array" in refusal(ARCHIVES["votes"], path)


def test_what_flipproof_writes_is_never_a_bomb(tmp_path, monkeypatch):
    """Arrays that compress very well are stored as they are, once they are large."""
    monkeypatch.setattr(files, "_MOST_UNPACKED", 10**5)
    counts = np.tile([10, 0, 0], (50_000, 1))
    fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.1, 0.2)).save(tmp_path / "v.npz")
    kinds = {each.compress_type for each in zipfile.ZipFile(tmp_path / "v.npz").infolist()}
    assert kinds == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    assert fp.Votes.load(tmp_path / "v.npz").selection.sum() == 500_000


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_attributes_that_are_no_numbers(written, value):
    path = written(ARCHIVES["nodes"])
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array([[0.5], [value]]))
    zip_again(path, [*(members_of(path) | {"attributes.npy": file.getvalue()}).items()])
    assert "expected finite attributes" in refusal(ARCHIVES["nodes"], path)


def test_a_zip_inside_a_zip_is_just_bytes():
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(10**6))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("a.npy", inner.getvalue())
    with zipfile.ZipFile(outer) as archive, pytest.raises(fp.FileFormatError, match="a is not an array"):
        read_array(archive, "a")
