"""Weights to bytes and back; whatever else a file holds is neither run nor taken for weights."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import flipproof as fp
from flipproof.models.weights import arrays_bytes, load_weights, read_arrays, weights_bytes

NODE_MODULES = {"gcn": fp.GCN, "gat": fp.GAT, "appnp": fp.APPNP}


def state_of(module):
    return {name: weights.tolist() for name, weights in module.state_dict().items()}


@pytest.mark.parametrize("features", range(1, 40))
@pytest.mark.parametrize("name", NODE_MODULES)
def test_weights_come_back(name, features):
    """Headers of many lengths: a file must not be taken for another format because of its first bytes."""
    first, second = (NODE_MODULES[name](features, 3) for _ in range(2))
    assert state_of(first) != state_of(second)
    load_weights(second, weights_bytes(first), "file")
    assert state_of(first) == state_of(second)
    assert weights_bytes(first) == weights_bytes(second)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_state_dict_that_torch_saved(legacy):
    first, second = fp.GCN(5, 3), fp.GCN(5, 3)
    file = io.BytesIO()
    torch.save(first.state_dict(), file, _use_new_zipfile_serialization=not legacy)
    load_weights(second, file.getvalue(), "file")
    assert state_of(first) == state_of(second)


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("write", [torch.save, lambda value, file: file.write(pickle.dumps(value))])
def test_nothing_is_run(write, tmp_path):
    file = io.BytesIO()
    write({"first.weight": Bomb(tmp_path / "boom")}, file)
    with pytest.raises(fp.FileFormatError, match=r"^expected (nothing but weights|weights that fit GCN), got bomb\.pt"):
        load_weights(fp.GCN(5, 3), file.getvalue(), "bomb.pt")
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize("content", [b"", b"x", b"PK", b"\x80", b"\x08\0\0\0\0\0\0\0{}      ", b"\xff" * 8 + b"{"])
def test_damaged_files_are_one_line(content):
    with pytest.raises(fp.FileFormatError, match=r"^expected (weights that fit GCN|nothing but weights), got file"):
        load_weights(fp.GCN(5, 3), content, "file")


def test_weights_of_another_model():
    with pytest.raises(fp.FileFormatError, match=r"expected weights that fit GCN, got file: .*size mismatch"):
        load_weights(fp.GCN(5, 3), weights_bytes(fp.GCN(6, 3)), "file")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("legacy", [None, False, True])
def test_weights_that_are_no_numbers(value, legacy):
    module = fp.GCN(5, 3)
    name, weights = next(iter(module.state_dict().items()))
    weights.view(-1)[0] = value
    file = io.BytesIO(weights_bytes(module))
    if legacy is not None:
        file = io.BytesIO()
        torch.save(module.state_dict(), file, _use_new_zipfile_serialization=not legacy)
    with pytest.raises(fp.FileFormatError, match=f"^expected finite weights, got file with NaN or infinity in {name}$"):
        load_weights(fp.GCN(5, 3), file.getvalue(), "file")


def test_compressed_records_are_refused():
    """They could unpack to far more than the file."""
    file, packed = io.BytesIO(), io.BytesIO()
    torch.save(fp.GCN(5, 3).state_dict(), file)
    with zipfile.ZipFile(file) as one, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other:
        for name in one.namelist():
            other.writestr(name, one.read(name))
    with pytest.raises(fp.FileFormatError, match=r"got file: archive/\S+ is compressed, which torch.save never does$"):
        load_weights(fp.GCN(5, 3), packed.getvalue(), "file")


STRANGE_TENSORS = {
    "meta": lambda shape: torch.empty(shape, device="meta"),
    "sparse": lambda shape: torch.zeros(shape).to_sparse(),
    "compressed": lambda shape: torch.zeros(shape).to_sparse_csr(),
    "complex": lambda shape: torch.zeros(shape, dtype=torch.complex64),
    "quantised": lambda shape: torch.quantize_per_tensor(torch.zeros(shape), 1.0, 0, torch.qint8),
    "no tensor": lambda shape: 3,
    "stretched": lambda shape: torch.zeros(1).expand(10**9, 10**6),
}


@pytest.mark.parametrize("kind", STRANGE_TENSORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_kinds_of_tensors_are_refused(kind):
    module, file = fp.GCN(5, 3), io.BytesIO()
    state = module.state_dict()
    name = next(each for each, weights in state.items() if weights.dim() == 2)
    torch.save({**state, name: STRANGE_TENSORS[kind](state[name].shape)}, file)
    with pytest.raises(fp.FileFormatError, match=f"^expected .*got file.*({name}|holds other objects too)"):
        load_weights(module, file.getvalue(), "file")


@pytest.mark.parametrize("state", [[], {}, None, {"a": {"b": torch.zeros(1)}}, {0: torch.zeros(1)}])
def test_what_is_no_state_is_refused(state):
    file = io.BytesIO()
    torch.save(state, file)
    with pytest.raises(fp.FileFormatError, match=r"^expected weights that fit GCN, got file: "):
        load_weights(fp.GCN(5, 3), file.getvalue(), "file")


def test_arrays_come_back():
    arrays = {"a": np.arange(6).reshape(2, 3).T, "b": np.array([0.5], np.float32), "c": np.zeros((0, 2))}
    found = read_arrays(arrays_bytes(arrays), "file")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
    assert arrays_bytes(arrays) == arrays_bytes(dict(reversed(arrays.items())))


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff" * 8 + b"{", b"\x08\0\0\0\0\0\0\0{]      ", arrays_bytes({"a": np.ones(9)})[:-1]]
)
def test_damaged_arrays_are_one_line(content):
    with pytest.raises(fp.FileFormatError, match=r"^expected arrays in the safetensors format, got file: [^\n]+$"):
        read_arrays(content, "file")


def test_arrays_are_no_pickles(tmp_path):
    with pytest.raises(fp.FileFormatError, match="expected arrays in the safetensors format, got file"):
        read_arrays(pickle.dumps({"a": Bomb(tmp_path / "boom")}), "file")
    assert not (tmp_path / "boom").exists()
