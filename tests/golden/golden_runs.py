"""Small runs, from data and a model to votes and certificates, whose results are pinned in `runs.json`.

They name nothing but what is public, so that they stay as they are when modules move. `python
tests/golden/golden_runs.py` adds what is not pinned yet, and refuses to replace what is: whoever means to change a
result deletes its case from `runs.json` first.
"""

import contextlib
import hashlib
import io
import json
import platform
import sys
import tempfile
import zipfile
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import flipproof as fp
from flipproof.cli import main

RUNS_FILE = Path(__file__).parent / "runs.json"
SELECT, ESTIMATE, ALPHA = 10, 40, 0.05
FLIP, MANY, SYMMETRIC = fp.FlipNoise(0.02, 0.3), fp.FlipNoise(0.15, 0.25), fp.FlipNoise(0.1, 0.1)
JOINT = fp.JointNoise(structure=fp.FlipNoise(0.01, 0.3), attributes=fp.FlipNoise(0.05, 0.4))


# Data


def integers(seed, *shape, below):
    return np.random.default_rng(seed).integers(below, size=shape)


def bits(seed, *shape, of=3):
    """One in so many is set."""
    return (integers(seed, *shape, below=of) == 0).astype(int)


def sparse_bits(seed, *shape, of=3):
    return sp.csr_array(bits(seed, *shape, of=of))


def graph(noisy, seed=1, nodes=14, attributes=None, directed=False):
    """A graph whose nodes have 20 bits, if nothing else is given."""
    adjacency = bits(seed, nodes, nodes, of=6)
    adjacency = adjacency if directed else np.triu(adjacency, 1) | np.triu(adjacency, 1).T
    given = sparse_bits(seed + 1, nodes, 20) if attributes is None else attributes
    return fp.Graph.from_scipy(sp.csr_array(adjacency), given, noisy=noisy, directed=directed)


def graphs(noisy, attributes=lambda seed, nodes: sparse_bits(seed, nodes, 5)):
    sizes = (4, 6, 9, 5, 7)
    return fp.Graphs(tuple(graph(noisy, nodes, nodes, attributes(nodes, nodes)) for nodes in sizes))


def clusters():
    """Two groups of five nodes, connected by an edge."""
    adjacency = np.kron(np.eye(2, dtype=int), 1 - np.eye(5, dtype=int))
    adjacency[4, 5] = adjacency[5, 4] = 1
    return fp.Graph.from_scipy(sp.csr_array(adjacency))


# Models, with weights of few bits: sums of them are exact on every processor


def weighted(module, seed=5):
    """With seeds that were chosen so that labels differ, from input to input and from sample to sample."""
    with torch.no_grad():
        for place, weights in enumerate(module.parameters()):
            values = integers([seed, place], *weights.shape, below=2049) - 1024
            weights.copy_(torch.tensor(values / 1024, dtype=torch.float32))
    return module.eval()


def nodes_by(kind, seed, **options):
    return fp.NodeClassifier(weighted(kind(20, 3, hidden=8, **options), seed), 3)


def graphs_by(features, seed, **options):
    return fp.GraphClassifier(weighted(fp.GIN(features, 2, hidden=8, layers=2), seed), 2, **options)


def linear(columns, classes=3):
    return fp.TorchClassifier(weighted(torch.nn.Linear(columns, classes)), classes)


def estimator_of(estimator, columns, below=2):
    """A fitted one; its rows have the label of the first column that says something."""
    rows = integers(11, 60, columns, below=below)
    return fp.SklearnClassifier(estimator.fit(rows, (rows[:, 0] > 0) + (rows[:, 1] > 0) * (rows[:, 2] > 0)))


def scores_of(rows):
    """Labels by weights that are whole numbers; flat rows, dense or sparse."""
    flat = rows.toarray() if sp.issparse(rows) else np.asarray(rows).reshape(rows.shape[0], -1)
    weights = integers(17, flat.shape[1], 3, below=21) - 10
    return (flat @ weights).argmax(axis=1)


def degrees_of(copies):
    """The label of a node is how many edges end there, up to two."""
    return np.stack([np.minimum(np.bincount(copy.edge_index[1], minlength=copy.nodes), 2) for copy in copies])


SCORES = fp.FunctionClassifier(scores_of, 3)
TABLE = fp.Table(integers(2, 9, 6, below=2) * [1, 2, 1, 2, 1, 3], [2, 3, 2, 3, 2, 4])
PADDED = np.append(integers(3, 8, 9, below=6), np.full((8, 3), 6), axis=1)
WORDS = fp.TorchClassifier(weighted(fp.WordMean(6, 3, hidden=8), 20), 3, dtype="int64")


# Runs


@dataclass(frozen=True)
class Case:
    """A classifier, a space and a noise; and what else `fp.vote` and `fp.certify` are asked for."""

    classifier: Any
    space: Any
    noise: Any
    vote: Any = None
    certify: Any = None
    proofs: tuple = ()


def two_ways(noisy):
    """Additions and deletions, and additions by other divergences."""
    kinds = ("kl", "hockey-stick")
    return tuple(("f_divergence", {"along": f"{noisy}{way}"}) for way in ("add", "delete")) + tuple(
        ("f_divergence", {"along": f"{noisy}add", "divergence": kind}) for kind in kinds
    )


LEE = (("lee", {}), ("lee", {"rule": "two-class"}))
FUSED, TORCH = {"engine": "fused"}, {"engine": "torch"}
NETWORKS = (fp.GCN, {"seed": 15}), (fp.APPNP, {"seed": 8, "steps": 3}), (fp.GAT, {"seed": 0, "heads": 2})
CASES = {
    "dense bits, function": Case(SCORES, fp.DenseRows(bits(1, 8, 16)), FLIP, proofs=two_ways("")),
    "dense bits, logistic regression": Case(
        estimator_of(LogisticRegression(), 12), fp.DenseRows(bits(2, 9, 12)), SYMMETRIC, proofs=LEE
    ),
    "dense levels, linear": Case(linear(16), fp.DenseRows(integers(4, 8, 16, below=4)), fp.FlipNoise(0.1, 0.3, 4)),
    "dense images, CNN": Case(
        fp.TorchClassifier(weighted(fp.CNN((6, 6), 3, hidden=8), 32), 3), fp.DenseRows(bits(5, 5, 6, 6)), FLIP
    ),
    "dense categories, symmetric": Case(
        SCORES, fp.DenseRows(integers(6, 7, 10, below=3)), fp.FlipNoise(0.2, 0.2, 3), proofs=LEE
    ),
    "sparse bits, linear": Case(linear(40), fp.SparseRows(sparse_bits(7, 8, 40, of=5)), FLIP),
    "sparse bits, function, some targets": Case(
        SCORES, fp.SparseRows(sparse_bits(8, 10, 40)), MANY, {"targets": [7, 2, 5], "seed": 2**40},
        {"rule": "two-class"},
    ),
    "sparse bits, simultaneous": Case(
        SCORES, fp.SparseRows(sparse_bits(9, 6, 30)), FLIP, {"chunk_size": 7}, {"simultaneous": True}
    ),
    "table, tree": Case(
        estimator_of(DecisionTreeClassifier(max_depth=3, random_state=0), 6), TABLE, TABLE.noise(0.1, 0.3)
    ),
    "table, named columns": Case(
        SCORES, fp.Table(TABLE.values, TABLE.categories, ["a", "b", "a", "b", "a", "c"]),
        fp.JointNoise(a=FLIP, b=fp.FlipNoise(0.1, 0.3, 3), c=fp.FlipNoise(0.2, 0.2, 4)),
    ),
    "padded tokens": Case(WORDS, fp.Tokens(PADDED, padding=6), fp.FlipNoise(0.1, 0.2, 6)),
    "masked tokens": Case(WORDS, fp.Tokens(PADDED, padding=6, mask=6), fp.FlipNoise(0.0, 0.4), {"check": False}),
    **{
        f"{kind.__name__}, noisy {noisy}, {engine}": Case(
            nodes_by(kind, **options), graph(noisy), noise, {"engine": engine, "check": noisy == "both"}
        )
        for kind, options in NETWORKS
        for noisy, noise in (("attributes", MANY), ("structure", FLIP), ("both", JOINT))
        for engine in ("fused", "torch")
        if engine == "torch" or kind is not fp.GAT or noisy == "attributes"
    },
    "GCN, some nodes, fused": Case(nodes_by(fp.GCN, 15), graph("attributes"), MANY, FUSED | {"targets": [9, 3]}),
    "GCN, some nodes, torch": Case(nodes_by(fp.GCN, 15), graph("attributes"), MANY, TORCH | {"targets": [9, 3]}),
    "directed edges, function": Case(fp.FunctionClassifier(degrees_of, 3), graph("structure", directed=True), FLIP),
    **{
        f"graphs, noisy {noisy}": Case(graphs_by(5, 17), graphs(noisy), noise)
        for noisy, noise in (("attributes", MANY), ("structure", FLIP), ("both", JOINT))
    },
    "graphs of kinds of nodes": Case(
        graphs_by(3, 29, one_hot=3),
        graphs("attributes", lambda seed, nodes: integers(seed, nodes, 1, below=3)), fp.FlipNoise(0.1, 0.2, 3),
    ),
    "communities": Case(
        fp.baselines.communities.Together(fp.baselines.communities.label_propagation, [(0, 1), (2, 3, 4), (0, 9)]),
        clusters(), fp.FlipNoise(0.02, 0.1),
        proofs=(("communities", {}), ("communities", {"along": "add"}), ("communities", {"along": "delete"})),
    ),
    "ablated sparse bits": Case(
        SCORES, fp.SparseRows(sparse_bits(13, 8, 40)), fp.AblationNoise(40, 8), proofs=(("ablation", {}),)
    ),
    "ablated levels": Case(
        linear(12, 2), fp.DenseRows(integers(14, 8, 12, below=4)), fp.AblationNoise(12, 2),
        proofs=(("ablation", {}), ("ablation", {"rule": "two-class"})),
    ),
    "real numbers": Case(
        linear(10), fp.RealRows(integers(15, 8, 10, below=9) / 8), fp.GaussianNoise(0.25),
        proofs=(("gaussian", {}), ("gaussian", {"rule": "two-class"})),
    ),
}  # fmt: skip


def result(name):
    """What a run gives, as JSON values."""
    case = CASES[name]
    votes = fp.vote(
        case.classifier, case.space, case.noise, SELECT, ESTIMATE,
        **{"seed": 3, "progress": False} | (case.vote or {}),
    )  # fmt: skip
    votes = replace(votes, input_names=None, class_names=None)  # names are shown, and no results
    found = {"votes": votes_result(votes), "proofs": [proofs_result(votes, *each) for each in case.proofs]}
    if isinstance(case.noise, fp.FlipNoise | fp.JointNoise):
        certificates = fp.certify(votes, **{"alpha": ALPHA} | (case.certify or {}))
        found["certificates"] = certificates_result(certificates, case.space)
    return json.loads(json.dumps(found))


# Counts of many samples, for larger radii than few samples give

COUNTS = [[9_990, 7, 3], [9_500, 400, 100], [300, 9_000, 700], [0, 0, 10_000], [4_000, 3_500, 2_500], [0, 0, 0]]
LAWS = {
    "bits": FLIP,
    "symmetric bits": SYMMETRIC,
    "deletions only": fp.FlipNoise(0.0, 0.6),
    "4 categories": fp.FlipNoise(0.1, 0.3, 4),
    "256 categories, symmetric": fp.FlipNoise(0.8, 0.8, 256),
    "structure and attributes": JOINT,
    "ablation": fp.AblationNoise(100, 10),
    "normal": fp.GaussianNoise(0.5),
}
SYSTEMS = {
    "bits": two_ways(""),
    "symmetric bits": (*LEE, *two_ways("")),
    "256 categories, symmetric": LEE,
    "structure and attributes": two_ways("structure."),
    "ablation": (("ablation", {}), ("ablation", {"rule": "two-class"})),
    "normal": (("gaussian", {}), ("gaussian", {"rule": "two-class"})),
}


def counted_result(name):
    """What follows from counts under a law, for each input and, by the other rule, for all at once."""
    selection = np.array(COUNTS) // 10
    votes = fp.Votes.from_counts(
        selection=selection, estimation=COUNTS, noise=LAWS[name], n_select=1_000, n_estimate=10_000
    )
    found = {"proofs": [proofs_result(votes, *each) for each in SYSTEMS.get(name, ())]}
    if isinstance(LAWS[name], fp.FlipNoise | fp.JointNoise):
        for rule, simultaneous in (("multi-class", False), ("two-class", True)):
            found[rule] = certificates_result(fp.certify(votes, ALPHA, rule, simultaneous), None)
    return json.loads(json.dumps(found))


def votes_result(votes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npz"
        votes.save(path)
        again, file = fp.Votes.load(path), archive_result(path)
    assert np.array_equal(again.estimation, votes.estimation)
    return {
        "selection": sha256(votes.selection),
        "estimation": sha256(votes.estimation),
        "predicted": votes.estimation.argmax(axis=1).tolist(),
        "counted": votes.estimation.sum(axis=0).tolist(),
        "ids": votes.ids.tolist(),
        "scope": None if votes.scope is None else scope_result(votes.scope),
        "file": file,
    }


def scope_result(scope):
    return {
        "zeros": scope.zeros.tolist(),
        "nonzeros": scope.nonzeros.tolist(),
        "fixed": list(scope.fixed),
        "makes room": scope.makes_room,
    }


def _pinned_claim(claim):
    """The fields that claims had when they were pinned."""
    known = ("input", "label", "budgets", "fixed", "alpha", "simultaneous", "checked")
    return repr({name: value for name, value in asdict(claim).items() if name in known})


def certificates_result(certificates, space):
    """What is in the files that are saved, and what is said about inputs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificates.json"
        certificates.save(path)
        certificates.to_csv(path.with_suffix(".csv"))
        record, arrays = normal(json.loads(path.read_text())), archive_result(path.with_suffix(".npz"))
        table = path.with_suffix(".csv").read_text().splitlines()
    columns = {name: column.tolist() for name, column in certificates.to_columns().items()}
    inputs = range(min(2, len(certificates)))
    return {
        "json": record,
        "arrays": arrays,
        "columns": columns,
        "csv columns": table[0].split(","),
        "csv rows": len(table) - 1,
        "claims": [_pinned_claim(certificates.claim(number)) for number in inputs],
        "sentences": [fp.in_words(certificates, number, unit="input", inputs=space) for number in inputs],
        "frontiers": [[repr(point) for point in certificates.frontier(number)] for number in inputs],
    }


def proofs_result(votes, system, options):
    proofs = getattr(fp.baselines, system).certify(votes, **{"alpha": ALPHA} | options)
    return {
        "system": system,
        "options": options,
        "label": proofs.label.tolist(),
        "radius": proofs.radius.tolist(),
        "abstained": proofs.abstained.tolist(),
        "promise": [proofs.promise.system, proofs.promise.subject.value, proofs.promise.threat, proofs.promise.rule],
    }


CHANGING = "versions", "code", "model", "data", "files", "hashes", "seconds"
"""What may change without any result being another: only whether it is there is pinned."""


ADDED = ("fingerprints",)
"""Fields that came after the runs were pinned."""


def normal(record):
    """A record without versions, fingerprints and times."""
    if isinstance(record, dict):
        return {
            name: "..." if name in CHANGING else normal(value) for name, value in record.items() if name not in ADDED
        }
    return [normal(value) for value in record] if isinstance(record, list) else record


def archive_result(path):
    """What an archive describes, and the type, shape and contents of its arrays; of those of floats no contents."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data))
                contents = [] if array.dtype.kind == "f" else [sha256(array)]
                found[name] = [array.dtype.str, list(array.shape), *contents]
            else:
                found[name] = normal(json.loads(data))
    return found


def sha256(array):
    """Of whole numbers, wherever they are stored."""
    return hashlib.sha256(repr(array.shape).encode() + array.astype("<i8").tobytes()).hexdigest()


# The whole program; models are trained there, which no two kinds of processors do alike: only what there is is pinned

FEW = ("--select-samples", "20", "--samples", "50", "--no-report", "--json")
PROGRAMS = {
    "digits-graph": ("--epochs", "2", "--hidden", "8", "--noisy-samples", "1", "--no-check"),
    "digits": ("--epochs", "1", "--hidden", "8", "--inputs", "6", "--noisy-samples", "1", "--batch-size", "512"),
    "breast-cancer": ("--inputs", "6"),
    "messages.tsv": ("--inputs", "6"),
}
SPAM, HAM = ("win", "cash", "prize", "now"), ("hello", "lunch", "tomorrow", "home")


def program_result(dataset):
    """The files of a run folder and what they consist of, without any numbers."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "run"
        if dataset == "messages.tsv":
            texts = [(words[i % 4], words[i // 4 % 4]) for i in range(40) for words in (SPAM if i % 2 else HAM,)]
            lines = [f"{'spam' if i % 2 else 'ham'}\t{' '.join(text)}\n" for i, text in enumerate(texts)]
            (folder / dataset).write_text("".join(lines))
        given = str(folder / dataset) if "." in dataset else dataset
        printed = called("run", "--dataset", given, "--out", str(out), *PROGRAMS[dataset], *FEW)
        return {
            "printed": structure(json.loads(printed)),
            "files": sorted(str(path.relative_to(out)) for path in out.rglob("*")),
            **{path.name: structure(json.loads(path.read_text())) for path in sorted(out.glob("*.json"))},
            **{path.name: archive_structure(path) for path in sorted(out.glob("*.npz"))},
        }


def called(*arguments):
    """What the program prints, run in this process."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["flipproof", *arguments]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    return printed.getvalue()


def structure(value):
    """All names in JSON values, at every level; of the elements of lists those with other names."""
    if isinstance(value, dict):
        return {
            name: "..." if name in ("versions", "files") else structure(each)
            for name, each in value.items()
            if name not in ADDED
        }
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        kinds = [structure(each) for each in value]
        return [kind for number, kind in enumerate(kinds) if kind not in kinds[:number]]
    return "..."


def archive_structure(path):
    """The members of an archive; what it describes, and the types and numbers of dimensions of its arrays."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data))
                found[name] = [array.dtype.kind if array.dtype.kind in "US" else array.dtype.str, array.ndim]
            else:
                found[name] = structure(json.loads(data))
    return found


# What is pinned


def environment():
    """Where floats are the same to the last bit."""
    return {"machine": platform.machine(), **{name: version(name) for name in ("numpy", "scipy", "numba")}}


KINDS = {"runs": (CASES, result), "counts": (LAWS, counted_result), "programs": (PROGRAMS, program_result)}


def write():
    """Adds what is new; what was pinned stays."""
    known = json.loads(RUNS_FILE.read_text()) if RUNS_FILE.exists() else {}
    found = {kind: {name: result_of(name) for name in names} for kind, (names, result_of) in KINDS.items()}
    changed = [
        name for kind in KINDS for name, pinned in known.get(kind, {}).items() if found[kind].get(name) != pinned
    ]
    if changed:
        raise SystemExit(f"expected runs as they are pinned, got others: {'; '.join(changed)}")
    RUNS_FILE.write_text(text_of({"environment": environment(), **found}) + "\n")


def text_of(value, depth=0):
    """JSON with a line for every fact about a run."""
    if depth == 4 or not isinstance(value, dict) or not value:
        return json.dumps(value)
    lines = (f"{' ' * depth} {json.dumps(name)}: {text_of(each, depth + 1)}" for name, each in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}"


if __name__ == "__main__":
    write()
