"""One small valid call of every public callable: the ground from which a test goes astray, one argument at a time."""

import inspect
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch
from sklearn.tree import DecisionTreeClassifier
from torch_geometric.data import Data

import flipproof as fp
from flipproof.baselines import (
    ablation,
    communities,
    f_divergence,
    gaussian,
    gcn_attributes,
    gcn_structure,
    lee,
    page_rank,
    robust_training,
    smooth_adversarial,
)
from flipproof.baselines.walks.page_rank import PageRank
from flipproof.baselines.walks.walk import Threat
from flipproof.datasets.loading import load

NOISE, RADII = fp.FlipNoise(0.1, 0.3), fp.Radii(1, 1)
JOINT = fp.JointNoise(structure=NOISE, attributes=NOISE)
EDGES = np.array([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
ADJACENCY = sp.csr_array((np.ones(8), EDGES), shape=(4, 4))
BITS = np.eye(4, 3, dtype=int)
LABELS = [0, 1, 0, 1]
SPLIT = fp.Split(train=[0, 1], validation=[2, 3], test=[])
SETTINGS = fp.TrainingSettings(epochs=1, patience=1, noisy_samples=1)


@dataclass
class Call:
    """A callable with arguments that it accepts.

    `work` names arguments that say how much work to do. `callback` is one that is called as it is: what it raises
    is the caller's own. `fine` are odd values that are valid and take seconds, by argument. Of a `slow` call only every
    second (third, ...) odd value is tried.
    """

    function: Any
    arguments: dict[str, Any] = field(default_factory=dict)
    work: tuple[str, ...] = ()
    callback: str = ""
    fine: dict[str, tuple[str, ...]] = field(default_factory=dict)
    slow: int = 1

    @property
    def parameters(self):
        """The names of all arguments, those that were given and those that have defaults."""
        kinds = inspect.signature(self.function).parameters.values()
        names = [kind.name for kind in kinds if kind.kind not in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD)]
        return [*names, *(name for name in self.arguments if name not in names)]


def first(rows):
    """A classifier of rows: their first entry."""
    return np.asarray(rows)[:, 0]


def votes_of(noise=NOISE):
    return fp.Votes.from_counts(selection=[[99, 1], [50, 50]], estimation=[[990, 10], [500, 500]], noise=noise)


def graph(noisy="attributes"):
    return fp.Graph.from_edge_index(EDGES, 4, sp.csr_array(BITS), noisy=noisy)


def node_data(edges=EDGES):
    return Data(x=torch.eye(4), edge_index=torch.as_tensor(edges), y=torch.tensor(LABELS))


def torch_rows():
    return fp.TorchClassifier(torch.nn.Linear(3, 2), classes=2)


def edited_votes():
    """Votes on sequences whose gaps close."""
    counts = [[99, 1], [98, 2]]
    return fp.Votes.from_counts(
        selection=counts, estimation=counts, noise=fp.FlipNoise(0.0, 0.8), inputs=fp.Texts(["a b", "b"])
    )


def make_calls(folder):
    """All calls by their names. `folder` is where files may be."""
    drawn = fp.vote(fp.FunctionClassifier(first, 2, "first"), fp.DenseRows(BITS), NOISE, 4, 8, progress=False)
    later = fp.vote(
        fp.FunctionClassifier(first, 2, "first"), fp.DenseRows(BITS), NOISE, range(4, 8), range(8, 16), progress=False
    )
    drawn.save(folder / "votes.npz")
    certificates = fp.certify(votes_of())
    certificates.save(folder / "certificates.json")
    run = drawn.run
    table = fp.Table([[0, 2], [1, 0]], categories=[2, 3])
    estimator = DecisionTreeClassifier(random_state=0).fit(BITS, LABELS)
    nodes = fp.datasets.from_scipy(ADJACENCY, BITS, LABELS)
    nodes.save(folder / "nodes.npz")
    images = np.zeros((2, 4, 4), dtype=np.uint8)
    image_data = fp.datasets.ImageDataset("tiny", images, np.array([0, 1]), images, np.array([0, 1]))
    image_data.save(folder / "images.npz")
    graphs = fp.datasets.GraphDataset("tiny", (EDGES, EDGES), (np.zeros(4, int), np.ones(4, int)), np.array([0, 1]))
    graphs.save(folder / "graphs.npz")
    words = fp.datasets.Vocabulary(("(other)", "a", "b"))
    texts = fp.datasets.TextDataset("tiny", ("a b", "b"), np.array([0, 1]))
    rows = fp.datasets.TableDataset("tiny", np.array([[0, 2], [1, 0]]), (2, 3), np.array([0, 1]))
    regions = fp.Regions([0.5, 0.5], [0.25, 0.75])
    probabilities = np.array([0.5, 0.9])
    gcn = fp.GCN(3, 2, 4)
    model = PageRank(ADJACENCY, np.eye(4, 2))
    kinds = {"add": range(2), "delete": range(2), "change": None}
    mixed = fp.FlipNoise(0.1, 0.3, 3)
    module = {"features": 3, "classes": 2, "hidden": 4}
    training = {"labels": LABELS, "split": SPLIT, "settings": SETTINGS, "progress": False}
    bounds = {"p_lower": probabilities, "p_upper": None}
    return {
        "APPNP": Call(fp.APPNP, module),
        "AblationNoise": Call(fp.AblationNoise, {"entries": 3, "kept": 2}),
        "CNN": Call(fp.CNN, {"shape": (4, 4), "classes": 2, "hidden": 4}),
        "Certificates": Call(
            fp.Certificates,
            {name: getattr(certificates, name) for name in ("votes", "budget", "rule", "simultaneous", "bounds")},
        ),
        "Certificates.certified": Call(certificates.certified, {"radii": RADII}),
        "Certificates.certified_accuracy": Call(certificates.certified_accuracy, {"true_labels": [0, 1], **kinds}),
        "Certificates.certified_holm": Call(certificates.certified_holm, {"radii": RADII}),
        "Certificates.certified_ratio": Call(certificates.certified_ratio, kinds),
        "Certificates.claim": Call(certificates.claim, {"index": 0, "along": "any"}),
        "Certificates.frontier": Call(certificates.frontier, {"index": 0, "limit": 5}),
        "Certificates.max_edit_distance": Call(fp.certify(edited_votes()).max_edit_distance, {"limit": 5}),
        "Certificates.max_l0_radius": Call(certificates.max_l0_radius, {"limit": 5}),
        "Certificates.max_radius": Call(certificates.max_radius, {"along": "add", "limit": 5}),
        "Certificates.plot_heatmap": Call(certificates.plot_heatmap, {"y": "add", "x": "delete"}, slow=4),
        "Certificates.plot_lines": Call(certificates.plot_lines, {"true_labels": [0, 1]}, slow=4),
        "Certificates.save": Call(certificates.save, {"path": folder / "again.json"}),
        "Certificates.selected": Call(certificates.selected, {"rows": np.array([1])}),
        "Certificates.staircases": Call(certificates.staircases, kinds),
        "Certificates.uncapped_radius": Call(certificates.uncapped_radius, {"along": "add", "limit": 5}),
        "Certificates.to_columns": Call(certificates.to_columns),
        "Certificates.to_pandas": Call(certificates.to_pandas),
        "Certificates.to_csv": Call(certificates.to_csv, {"path": folder / "rows.csv"}),
        "DenseRows": Call(fp.DenseRows, {"values": BITS}),
        "DenseRows.nonzeros": Call(fp.DenseRows(BITS).nonzeros),
        "DenseRows.scope": Call(fp.DenseRows(BITS).scope, {"noise": NOISE}),
        "DenseRows.sampler": Call(fp.DenseRows(BITS).sampler, {"noise": NOISE, "seed": 0}),
        "FlipNoise": Call(fp.FlipNoise, {"p_plus": 0.1, "p_minus": 0.2, "categories": 2}),
        "FunctionClassifier": Call(fp.FunctionClassifier, {"function": first, "classes": 2}),
        "GAT": Call(fp.GAT, module),
        "GCN": Call(fp.GCN, module),
        "GIN": Call(fp.GIN, module),
        "GaussianNoise": Call(fp.GaussianNoise, {"sigma": 0.5}),
        "Graph": Call(fp.Graph, {"edges": graph().edges, "attributes": BITS, "noisy": "both"}),
        "Graph.clean": Call(graph().clean),
        "Graph.from_edge_index": Call(
            fp.Graph.from_edge_index,
            {"edge_index": EDGES, "nodes": 4, "attributes": BITS, "edge_features": np.ones(len(EDGES[0]))},
        ),
        "Graph.from_networkx": Call(fp.Graph.from_networkx, {"graph": nx.path_graph(3)}),
        "Graph.from_pyg": Call(fp.Graph.from_pyg, {"data": node_data()}),
        "Graph.from_scipy": Call(fp.Graph.from_scipy, {"adjacency": ADJACENCY}),
        "Graph.scope": Call(graph("both").scope, {"noise": JOINT}),
        "Graph.sampler": Call(graph("both").sampler, {"noise": JOINT, "seed": 0}),
        "GraphClassifier": Call(fp.GraphClassifier, {"module": fp.GIN(3, 2, 4), "classes": 2}),
        "Graphs": Call(fp.Graphs, {"graphs": (graph("structure"), graph("structure"))}),
        "Graphs.clean": Call(fp.Graphs((graph("structure"),)).clean),
        "Graphs.from_pyg": Call(fp.Graphs.from_pyg, {"dataset": [node_data()], "noisy": "structure"}),
        "Graphs.scope": Call(fp.Graphs((graph("structure"),)).scope, {"noise": NOISE}),
        "Graphs.sampler": Call(fp.Graphs((graph("structure"),)).sampler, {"noise": NOISE, "seed": 0}),
        "Images": Call(fp.Images, {"values": BITS, "levels": 2, "dtype": "float32"}),
        "Images.of_numbers": Call(fp.Images.of_numbers, {"numbers": BITS * 1.0, "levels": 2}),
        "Images.scope": Call(fp.Images(BITS, 2).scope, {"noise": NOISE}),
        "Images.sampler": Call(fp.Images(BITS, 2).sampler, {"noise": NOISE, "seed": 0}),
        "JointNoise": Call(fp.JointNoise, {"a": NOISE, "b": NOISE}),
        "NodeClassifier": Call(fp.NodeClassifier, {"module": gcn, "classes": 2}),
        "NodeClassifier.forward": Call(fp.NodeClassifier(gcn, 2).forward),
        "Radii": Call(fp.Radii, {"add": 1, "delete": 1, "change": 1}),
        "RealRows": Call(fp.RealRows, {"values": [[0.5, 1.0]]}),
        "Regions": Call(fp.Regions, {"clean": [0.5, 0.5], "adversarial": [0.25, 0.75]}),
        "Regions.critical_clean_mass": Call(regions.critical_clean_mass),
        "Regions.joint": Call(regions.joint, {"other": regions}),
        "Regions.lower_mass": Call(regions.lower_mass, {"p": probabilities}),
        "Regions.margin": Call(regions.margin, {"p_lower": probabilities, "p_upper": probabilities}),
        "Regions.order_slack": Call(regions.order_slack),
        "Regions.upper_mass": Call(regions.upper_mass, {"s": probabilities}),
        "Run": Call(fp.Run, {name: getattr(run, name) for name in fp.Run.__dataclass_fields__}),
        "Run.from_record": Call(fp.Run.from_record, {"record": run.to_record()}),
        "Run.merged": Call(run.merged, {"other": later.run}),
        "Run.to_record": Call(run.to_record),
        "SklearnClassifier": Call(fp.SklearnClassifier, {"estimator": estimator}),
        "SparseRows": Call(fp.SparseRows, {"matrix": sp.csr_array(BITS)}),
        "SparseRows.nonzeros": Call(fp.SparseRows(sp.csr_array(BITS)).nonzeros),
        "SparseRows.scope": Call(fp.SparseRows(sp.csr_array(BITS)).scope, {"noise": NOISE}),
        "SparseRows.sampler": Call(fp.SparseRows(sp.csr_array(BITS)).sampler, {"noise": NOISE, "seed": 0}),
        "Split": Call(fp.Split, {"train": [0], "validation": [1], "test": [2]}),
        "Split.by_share": Call(fp.Split.by_share, {"labels": LABELS, "test": 0.1, "validation": 0.1, "seed": 0}),
        "Split.among": Call(SPLIT.among, {"inputs": np.array([2, 0])}),
        "Split.from_masks": Call(fp.Split.from_masks, {"train": [True], "validation": [False], "test": [False]}),
        "Split.nothing": Call(fp.Split.nothing),
        "Split.per_class": Call(fp.Split.per_class, {"labels": LABELS, "train": 1, "validation": 0}),
        "Table": Call(fp.Table, {"values": table.values, "categories": [2, 3], "columns": ["a", "b"]}),
        "Table.noise": Call(table.noise, {"p_plus": 0.1, "p_minus": 0.2}),
        "Table.scope": Call(table.scope, {"noise": table.noise(0.1, 0.2)}),
        "Table.sampler": Call(table.sampler, {"noise": table.noise(0.1, 0.2), "seed": 0}),
        "Texts": Call(
            fp.Texts, {"texts": ["a b", "b"], "tokenizer": str.split, "mask": None, "vocabulary": None, "join": None}
        ),
        "Texts.scope": Call(fp.Texts(["a b"]).scope, {"noise": fp.FlipNoise(0.0, 0.5)}),
        "Texts.sampler": Call(fp.Texts(["a b"]).sampler, {"noise": fp.FlipNoise(0.0, 0.5), "seed": 0}),
        "Texts.tokens_of": Call(fp.Texts(["a b"]).tokens_of, {"number": 0}),
        "Tokens": Call(fp.Tokens, {"values": [[1, 2, 3]], "padding": 3, "mask": None, "gaps": "kept"}),
        "Tokens.scope": Call(fp.Tokens([[1, 2]]).scope, {"noise": mixed}),
        "Tokens.sampler": Call(fp.Tokens([[1, 2]]).sampler, {"noise": mixed, "seed": 0}),
        "TorchClassifier": Call(fp.TorchClassifier, {"module": torch.nn.Linear(3, 2), "classes": 2}),
        "TrainingSettings": Call(fp.TrainingSettings, {"epochs": 1}),
        "Votes": Call(
            fp.Votes,
            {name: getattr(drawn, name) for name in fp.Votes.__dataclass_fields__},
        ),
        "Votes.from_counts": Call(
            fp.Votes.from_counts, {"selection": [[9, 1]], "estimation": [[9, 1]], "noise": NOISE, "ids": [3]}
        ),
        "Votes.load": Call(fp.Votes.load, {"path": folder / "votes.npz"}),
        "Votes.merged": Call(drawn.merged, {"other": later}),
        "Votes.selected": Call(drawn.selected, {"rows": np.array([1])}),
        "Votes.save": Call(drawn.save, {"path": folder / "again.npz"}),
        "WordMean": Call(fp.WordMean, {"vocabulary": 5, "classes": 2, "hidden": 4}),
        "certify": Call(fp.certify, {"votes": votes_of(), "alpha": 0.01}),
        "critical_probability": Call(fp.critical_probability, {"noise": NOISE, "radii": RADII}),
        "critical_table": Call(fp.critical_table, {"noise": NOISE, **kinds}),
        "fit_estimator": Call(
            fp.fit_estimator,
            {"estimator": DecisionTreeClassifier(max_depth=1), "inputs": fp.DenseRows(BITS), "labels": LABELS,
             "rows": [0, 1], "noise": NOISE, "copies": 1},
            ("copies",),
        ),
        "frontier": Call(fp.frontier, {"noise": NOISE, "p_lower": 0.9, "p_upper": 0.05, "limit": 5}),
        "in_words": Call(fp.in_words, {"certificates": certificates, "index": 0}),
        "largest_l0_radius": Call(
            fp.largest_l0_radius, {"noise": NOISE, "p_lower": 0.9, "zeros": 3, "nonzeros": 3, "limit": 5}
        ),
        "largest_radius": Call(fp.largest_radius, {"noise": NOISE, "p_lower": 0.9, "along": "add", "limit": 5}),
        "mu": Call(fp.mu, {"noise": NOISE, "radii": RADII, "p_lower": 0.9, "p_upper": 0.05}),
        "mu_table": Call(fp.mu_table, {"noise": NOISE, "p_lower": [0.9], "p_upper": [0.05], **kinds}),
        "regions": Call(fp.regions, {"noise": NOISE, "radii": RADII}),
        "rho": Call(fp.rho, {"noise": NOISE, "radii": RADII, "p_lower": 0.9}),
        "rho_table": Call(fp.rho_table, {"noise": NOISE, "p_lower": [0.9], **kinds}),
        "rho_upper": Call(fp.rho_upper, {"noise": NOISE, "radii": RADII, "p_upper": 0.9}),
        "train": Call(
            fp.train, {"classifier": torch_rows(), "inputs": fp.DenseRows(BITS), "noise": NOISE, **training}, slow=2
        ),
        "verify": Call(
            fp.verify,
            {"path": folder / "certificates.json", "arithmetic_only": True, "minutes": 1.0},
            callback="progress",
        ),
        "vote": Call(
            fp.vote,
            {"classifier": fp.FunctionClassifier(first, 2, "first"), "inputs": fp.DenseRows(BITS), "noise": NOISE,
             "n_select": 2, "n_estimate": 2, "progress": False},
            ("n_select", "n_estimate", "workers"),
            fine={"timeout": ("1", "1.5", "10**30", "2**63", "Fraction", "0-d array")},  # needs a process of its own
        ),
        "write_report": Call(
            fp.write_report, {"path": folder / "report.html", "certificates": certificates, "force": True}, slow=6
        ),
        "ablation.certify": Call(ablation.certify, {"votes": votes_of(fp.AblationNoise(3, 2))}),
        "ablation.largest_radius": Call(ablation.largest_radius, {"noise": fp.AblationNoise(3, 2), **bounds}),
        "ablation.seen_changes": Call(ablation.seen_changes, {"noise": fp.AblationNoise(3, 2)}),
        "communities.Together": Call(
            communities.Together, {"detector": communities.louvain, "victims": [(0, 1)]}
        ),
        "communities.certify": Call(communities.certify, {"votes": votes_of(), "along": "add", "limit": 5}),
        "communities.label_propagation": Call(communities.label_propagation, {"graph": nx.path_graph(3)}),
        "communities.louvain": Call(communities.louvain, {"graph": nx.path_graph(3)}),
        "f_divergence.certified": Call(f_divergence.certified, {"noise": NOISE, "radii": RADII, **bounds}),
        "f_divergence.certify": Call(f_divergence.certify, {"votes": votes_of(), "along": "add", "limit": 5}),
        "f_divergence.critical_probability": Call(
            f_divergence.critical_probability, {"noise": NOISE, "radii": RADII, "divergence": "kl"}
        ),
        "f_divergence.divergence_bound": Call(
            f_divergence.divergence_bound, {"noise": NOISE, "radii": RADII, "divergence": "renyi", "order": 2.0}
        ),
        "f_divergence.largest_radius": Call(f_divergence.largest_radius, {"noise": NOISE, **bounds, "limit": 5}),
        "gaussian.certify": Call(gaussian.certify, {"votes": votes_of(fp.GaussianNoise(0.5))}),
        "gaussian.largest_radius": Call(gaussian.largest_radius, {"noise": fp.GaussianNoise(0.5), **bounds}),
        "gcn_attributes.certify": Call(
            gcn_attributes.certify, {"model": gcn, "data": graph(), "nodes": [0], "local": 1, "budgets": [1]},
            ("steps",),
        ),
        "gcn_structure.Margins": Call(
            gcn_structure.Margins,
            {"label": np.zeros(1, int), "budgets": np.ones(1, int), "lower": np.ones((1, 1)), "upper": np.ones((1, 1)),
             "programs": np.zeros(1, int), "abstained": np.zeros(1, bool)},
        ),
        "gcn_structure.bounds": Call(
            gcn_structure.bounds, {"model": gcn, "graph": graph(), "nodes": [0], "budgets": [1], "node_limit": 2},
            ("node_limit",), slow=3,
        ),
        "gcn_structure.certify": Call(
            gcn_structure.certify, {"model": gcn, "graph": graph(), "nodes": [0], "budgets": [1], "node_limit": 2},
            ("node_limit",), slow=3,
        ),
        "lee.certify": Call(lee.certify, {"votes": votes_of(fp.FlipNoise(0.1, 0.1)), "limit": 5}),
        "lee.original_counts": Call(
            lee.original_counts, {"entries": 3, "categories": 2, "radius": 1}, ("entries", "categories")
        ),
        "lee.original_critical_probability": Call(
            lee.original_critical_probability,
            {"noise": fp.FlipNoise(0.1, 0.1), "entries": 3, "radius": 1}, ("entries",),
        ),
        "page_rank.certify": Call(
            page_rank.certify, {"model": model, "radii": [1], "budget": "local", "nodes": [0]}, slow=2
        ),
        "page_rank.worst_margins": Call(
            page_rank.worst_margins, {"model": model, "threat": Threat([[0], [1]], 1), "label": 0, "other": 1}
        ),
        "robust_training.RobustSettings": Call(robust_training.RobustSettings, {"total": 1}),
        "robust_training.train_robustly": Call(
            robust_training.train_robustly,
            {"model": fp.GCN(3, 2, 4), "data": graph(), "labels": LABELS, "split": SPLIT,
             "settings": robust_training.RobustSettings(total=1, steps=1)},
            fine={"settings": ("None",)}, slow=2,
        ),
        "smooth_adversarial.train_against": Call(
            smooth_adversarial.train_against,
            {"classifier": torch_rows(), "inputs": fp.DenseRows(BITS), "noise": NOISE,
             "attack": smooth_adversarial.FlipAttack(add=1), **training},
            slow=2,
        ),
        "datasets.Card": Call(fp.datasets.Card, {n: getattr(fp.datasets.card("cora_ml"), n) for n in
                                                 fp.datasets.Card.__dataclass_fields__}),
        "datasets.GraphDataset": Call(
            fp.datasets.GraphDataset,
            {"name": "tiny", "edge_indices": (EDGES,), "node_labels": (np.zeros(4, int),), "labels": np.zeros(1, int)},
        ),
        "datasets.GraphDataset.graph": Call(graphs.graph, {"i": 0}),
        "datasets.GraphDataset.graphs": Call(graphs.graphs, {"which": [0]}),
        "datasets.GraphDataset.load": Call(fp.datasets.GraphDataset.load, {"path": folder / "graphs.npz"}),
        "datasets.GraphDataset.save": Call(graphs.save, {"path": folder / "graphs2.npz"}),
        "datasets.ImageDataset": Call(
            fp.datasets.ImageDataset,
            {"name": "tiny", "train_images": images, "train_labels": np.array([0, 1]), "test_images": images,
             "test_labels": np.array([0, 1])},
        ),
        "datasets.ImageDataset.binarised": Call(image_data.binarised, {"threshold": 127}),
        "datasets.ImageDataset.load": Call(fp.datasets.ImageDataset.load, {"path": folder / "images.npz"}),
        "datasets.ImageDataset.save": Call(image_data.save, {"path": folder / "images2.npz"}),
        "datasets.NodeDataset": Call(
            fp.datasets.NodeDataset,
            {"name": "tiny", "adjacency": ADJACENCY, "attributes": sp.csr_array(BITS), "labels": np.array(LABELS)},
        ),
        "datasets.NodeDataset.graph": Call(nodes.graph, {"noisy": "both"}),
        "datasets.NodeDataset.load": Call(fp.datasets.NodeDataset.load, {"path": folder / "nodes.npz"}),
        "datasets.NodeDataset.save": Call(nodes.save, {"path": folder / "nodes2.npz"}),
        "datasets.NodeDataset.standardised": Call(nodes.standardised),
        "datasets.TableDataset": Call(
            fp.datasets.TableDataset,
            {"name": "tiny", "values": rows.values, "categories": (2, 3), "labels": np.array([0, 1])},
        ),
        "datasets.TableDataset.table": Call(rows.table, {"which": [0]}),
        "datasets.TextDataset": Call(
            fp.datasets.TextDataset, {"name": "tiny", "messages": ("a b", "b"), "labels": np.array([0, 1])}
        ),
        "datasets.TextDataset.distinct": Call(texts.distinct),
        "datasets.TextDataset.with_words": Call(texts.with_words),
        "datasets.Vocabulary": Call(fp.datasets.Vocabulary, {"words": ("(other)", "a", "b")}),
        "datasets.Vocabulary.bags": Call(words.bags, {"messages": ["a b"]}),
        "datasets.Vocabulary.learned": Call(fp.datasets.Vocabulary.learned, {"messages": ["a b"], "least": 1}),
        "datasets.Vocabulary.tokens": Call(words.tokens, {"messages": ["a b"], "length": 3}),
        "datasets.card": Call(fp.datasets.card, {"name": "cora_ml"}),
        "datasets.cards": Call(fp.datasets.cards),
        "datasets.from_networkx": Call(fp.datasets.from_networkx, {"graph": nx.path_graph(3), "labels": [0, 1, 0]}),
        "datasets.from_pyg": Call(fp.datasets.from_pyg, {"data": node_data()}),
        "datasets.from_scipy": Call(
            fp.datasets.from_scipy, {"adjacency": ADJACENCY, "attributes": BITS, "labels": LABELS, "split": SPLIT}
        ),
        "datasets.load": Call(load, {"name_or_path": folder / "nodes.npz", "download": False}),
        "datasets.names": Call(fp.datasets.names),
    }  # fmt: skip


LEFT_OUT = {
    "Classifier": "a protocol",
    "combine": "of torch modules: torch refuses what is no tensor",
    "features": "of torch modules",
    "structure": "of torch modules",
    "forward": "of torch modules",
    "logits": "of torch modules",
    "label_scores": "called by the check, with a batch that the sampler drew",
    "sampler_of_part": "called by a sampler, with the stream it made",
    "NodeClassifier.fused": "called by the engine, with the sampler it made",
    "gcn_attributes.scene_of": "shared with robust_training, not on the page of the system",
    "gcn_attributes.threat_of": "shared with robust_training, not on the page of the system",
    **dict.fromkeys(
        (
            "record",
            "exact_record",
            "facts",
            "meaning",
            "without_noise",
            "space_of",
            "FlipNoise.regions",
            "JointNoise.regions",
            "exact",
        ),
        "of the seam for laws: called by the engine, with values that it has checked",
    ),
    **dict.fromkeys(("counts", "words"), "of the seam for spaces: called by the engine, with a law it has checked"),
    "RealRows.sampler": "always refuses: real numbers do not flip",
    "robust_training.robust_loss": "of torch tensors",
    "page_rank.Budget": "an enumeration",
}
"""Public by their name only."""


def public_names():
    """Every callable that users can reach, from the lists of names that the packages export."""
    for name in fp.__all__:
        thing = getattr(fp, name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            continue
        if callable(thing):
            yield from _with_methods(name, thing)
    for system in fp.baselines.SYSTEMS:
        module = getattr(fp.baselines, system)
        for name, thing in vars(module).items():
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__ and callable(thing):
                yield f"{system}.{name}"
    for name in fp.datasets.__all__:
        thing = getattr(fp.datasets, name)
        if not (inspect.isclass(thing) and issubclass(thing, Exception)):
            yield from (f"datasets.{one}" for one in _with_methods(name, thing))


def _with_methods(name, thing):
    yield name
    if inspect.isclass(thing):
        for method in sorted({key for base in thing.__mro__ if "flipproof" in base.__module__ for key in vars(base)}):
            if not method.startswith("_") and inspect.isroutine(getattr(thing, method)):
                yield f"{name}.{method}"


def is_left_out(name):
    return name in LEFT_OUT or (name.rpartition(".")[2] in LEFT_OUT and name not in ("NodeClassifier.forward",))
