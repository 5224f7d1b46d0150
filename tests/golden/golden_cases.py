"""Small inputs, weights and noises whose noisy copies and labels are pinned, made without any random numbers.

`python tests/golden/golden_cases.py` adds what the present versions give to `noise.json` and `labels.json`. It refuses
to replace what is there for a version: whoever changes noise or labels raises `STREAM_VERSION` or `FUSED_VERSION`.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.models.fitted.forest_rows import ForestRows
from flipproof.models.fitted.linear_rows import LinearRows
from flipproof.models.fused.nodes import FUSED_VERSION
from flipproof.noise.laws import sampler_of
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.run import STREAM_VERSION

HERE = Path(__file__).parent
NOISE_FILE, LABELS_FILE = HERE / "noise.json", HERE / "labels.json"
VERSIONS = {NOISE_FILE: STREAM_VERSION, LABELS_FILE: FUSED_VERSION}
SEED, SAMPLES = 2**63 + 5, range(2, 6)
FLIP, MANY = fp.FlipNoise(0.03, 0.4), fp.FlipNoise(0.2, 0.3)


def numbers(*shape, below, start=0):
    """Integers that look random: the upper bits of hashed counters."""
    count, mask = int(np.prod(shape)), np.uint64(2**32 - 1)
    mixed = (np.arange(start + 1, start + count + 1, dtype=np.uint64) * np.uint64(2654435769)) & mask
    mixed = ((mixed ^ (mixed >> np.uint64(15))) * np.uint64(2246822519)) & mask
    mixed = ((mixed ^ (mixed >> np.uint64(13))) * np.uint64(3266489917)) & mask
    return ((mixed * np.uint64(below)) >> np.uint64(32)).astype(np.int64).reshape(shape)


def some(*shape, of, start=0):
    """Bits, one in so many of which is set."""
    return (numbers(*shape, below=of, start=start) == 0).astype(int)


def graph(noisy, nodes=16, words=30, directed=False, start=0):
    adjacency = some(nodes, nodes, of=12, start=start)
    adjacency = adjacency if directed else np.triu(adjacency) | np.triu(adjacency).T
    bits = some(nodes, words, of=5, start=start + 1000)
    return fp.Graph.from_scipy(sp.csr_array(adjacency), sp.csr_array(bits), noisy=noisy, directed=directed)


BOTH = fp.JointNoise(structure=FLIP, attributes=MANY)
PADDED = np.append(numbers(3, 20, below=7), np.full((3, 4), 9), axis=1)
TABLE = fp.Table(numbers(3, 8, below=2) * ([1, 2] * 4), [2, 3] * 4)
SPACES = {
    "bits": (fp.DenseRows(some(3, 40, of=3)), FLIP),
    "wide bits": (fp.SparseRows(sp.csr_array(some(2, 9000, of=50))), FLIP),
    "many flips of sparse bits": (fp.SparseRows(sp.csr_array(some(3, 300, of=4))), MANY),
    "levels": (fp.DenseRows(numbers(3, 40, below=4)), fp.FlipNoise(0.1, 0.3, 4)),
    "256 levels": (fp.DenseRows(numbers(2, 30, below=256)), fp.FlipNoise(0.2, 0.5, 256)),
    "words": (fp.Tokens(numbers(3, 20, below=7)), fp.FlipNoise(0.1, 0.3, 7)),
    "padded words": (fp.Tokens(PADDED, padding=9), fp.FlipNoise(0.2, 0.3, 7)),
    "masked words": (fp.Tokens(numbers(3, 20, below=7), mask=9), fp.FlipNoise(0.0, 0.5)),
    "table": (TABLE, TABLE.noise(0.1, 0.3)),
    "edges": (graph("structure"), FLIP),
    "directed edges": (graph("structure", directed=True), MANY),
    "attributes": (graph("attributes"), FLIP),
    "edges and attributes": (graph("both"), BOTH),
    "many graphs": (fp.Graphs(tuple(graph("both", nodes, 10, start=nodes) for nodes in (3, 5, 9))), BOTH),
    "ablated bits": (fp.SparseRows(sp.csr_array(some(3, 40, of=3))), fp.AblationNoise(40, 9)),
    "ablated levels": (fp.DenseRows(numbers(3, 12, below=4)), fp.AblationNoise(12, 5)),
    "real numbers": (fp.RealRows(numbers(3, 12, below=4) / 4), fp.GaussianNoise(0.5)),
}  # fmt: skip


def noisy_copies(name):
    """The sha256 of noisy copies of a space, in both roles."""
    space, noise = SPACES[name]
    sampler = sampler_of(space, noise, SEED)
    total = hashlib.sha256()
    for role in (Role.SELECT, Role.ESTIMATE):
        for array in arrays_of(sampler.draw(role, SAMPLES, np.arange(sampler.rows))):
            total.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def arrays_of(batch):
    """What a batch consists of, as arrays of 64-bit integers; real numbers to three digits."""
    if sp.issparse(batch):
        rows = sp.csr_array(batch)
        yield from (each.astype("<i8") for each in (rows.indptr, rows.indices, rows.data))
    elif isinstance(batch, np.ndarray):
        yield (np.round(1000 * batch) if batch.dtype.kind == "f" else batch).astype("<i8")
    elif hasattr(batch, "edge_index"):
        yield batch.edge_index.astype("<i8")
        yield from arrays_of(batch.attributes)
    else:
        for each in batch:
            yield from arrays_of(each)


# Labels

WEIGHTS_FROM = 660
"""Where no two logits of a node are close, and all labels are given."""


def network(kind, words, classes):
    """A network whose weights are multiples of 1/64."""
    options = {"hidden": 8, "heads": 2} if kind is fp.GAT else {"hidden": 16}
    module = kind(words, classes, **options, **({"steps": 3} if kind is fp.APPNP else {}))
    with torch.no_grad():
        for place, weights in enumerate(module.parameters()):
            values = numbers(*weights.shape, below=129, start=WEIGHTS_FROM + 10_000 * (place + 1)) - 64
            weights.copy_(torch.tensor(values / 64, dtype=torch.float32))
    return module.eval()


NETWORKS = {
    f"{kind.__name__} with noise on {noisy}": (kind, noisy, noise)
    for kind in (fp.GCN, fp.APPNP, fp.GAT)
    for noisy, noise in (("attributes", MANY), ("structure", FLIP), ("both", BOTH))
    if kind is not fp.GAT or noisy == "attributes"  # attention on noisy edges has no fused evaluation
}


def fused_labels(name):
    """The labels of all nodes, a text for every sample."""
    kind, noisy, noise = NETWORKS[name]
    sampler = sampler_of(graph(noisy), noise, SEED)
    fused = fp.NodeClassifier(network(kind, 30, 3), 3).fused(sampler)
    return ["".join(map(str, row)) for row in fused(Role.ESTIMATE, SAMPLES)]


def smallest_gap(name):
    """How far the two largest logits of a node are apart at least, in double precision and without fused evaluation."""
    kind, noisy, noise = NETWORKS[name]
    module = network(kind, 30, 3).double()
    copies = sampler_of(graph(noisy), noise, SEED).draw(Role.ESTIMATE, SAMPLES, np.zeros(1, np.int64))
    with torch.inference_mode():
        logits = [module(torch.tensor(g.attributes.toarray()).double(), torch.tensor(g.edge_index)) for g in copies]
    two = torch.stack(logits).topk(2).values
    return float((two[..., 0] - two[..., 1]).min())


def forest():
    """Seven trees of depth two over 20 columns."""
    left, right = [1, 3, 5, 3, 4, 5, 6], [2, 4, 6, 3, 4, 5, 6]
    places = np.arange(7)[:, None] * 7
    return ForestRows(
        np.arange(8) * 7, (places + left).ravel(), (places + right).ravel(), numbers(49, below=20),
        np.full(49, 0.5), numbers(49, 3, below=1000, start=500) / 1000, [20],
    )  # fmt: skip


def linear():
    """Three scores of 20 columns."""
    return LinearRows((numbers(3, 20, below=129) - 64) / 64, (numbers(3, below=129, start=99) - 64) / 64)


ROWS = {"forest": forest, "linear": linear}


def row_labels(name):
    """The labels of noisy rows as a text for every sample; dense and sparse rows are given the same."""
    classifier, clean = ROWS[name](), some(16, 20, of=3)
    given = []
    for space in (fp.DenseRows(clean), fp.SparseRows(sp.csr_array(clean))):
        rows = sampler_of(space, MANY, SEED).draw(Role.ESTIMATE, SAMPLES, np.arange(16))
        given += ["".join(map(str, labels)) for labels in classifier(rows).reshape(len(SAMPLES), 16)]
    return given


def golden():
    """What the present versions give, by file."""
    labels = {name: fused_labels(name) for name in NETWORKS} | {name: row_labels(name) for name in ROWS}
    return {NOISE_FILE: {name: noisy_copies(name) for name in SPACES}, LABELS_FILE: labels}


def write():
    """Adds what is new; what was pinned stays."""
    for file, found in golden().items():
        known = json.loads(file.read_text()) if file.exists() else {}
        pinned = known.setdefault(str(VERSIONS[file]), {})
        changed = [name for name in pinned if found.get(name) != pinned[name]]
        if changed:
            raise SystemExit(
                f"expected {file.name} as it is pinned, got others: {', '.join(changed)}; raise the version"
            )
        file.write_text(json.dumps(known | {str(VERSIONS[file]): found}, indent=2) + "\n")


if __name__ == "__main__":
    write()
