"""The cards of graph datasets, except the built-in one."""

from __future__ import annotations

from functools import partial

from flipproof.datasets.cards.catalogue import Card, StoredForm
from flipproof.datasets.fetching.data_file import DataFile, Member
from flipproof.datasets.readers.citations import read_planetoid, read_planetoid_arrays, read_sparse_graph
from flipproof.datasets.readers.tudataset import TUDataset

_GITHUB = "https://raw.githubusercontent.com"
_TU_HOME = "https://www.chrsmrrs.com/graphkerneldatasets"
_TU_CITATION = "C. Morris et al.: TUDataset, GRL+ workshop at ICML 2020"

_MUTAG = TUDataset(
    "MUTAG",
    {-1: "not mutagenic", 1: "mutagenic"},
    ("C", "N", "O", "F", "I", "Cl", "Br"),
    (
        Member("MUTAG/MUTAG_A.txt", 76_940, "d9656ca7493f3445d737c711710bb36fd432dddd1c0ea32e1d4713c86ebd28e2"),
        Member(
            "MUTAG/MUTAG_graph_indicator.txt",
            11_532,
            "7d520a4d6c7961c0cdeabe076d8fe27e795b6d373485c9a2b744987e560a2056",
        ),
        Member("MUTAG/MUTAG_graph_labels.txt", 439, "a1518ea39ba3426bd42f57396b9c4baffe68e9adc718caeeab0119c6591a5f2c"),
        Member(
            "MUTAG/MUTAG_node_labels.txt", 6_742, "678f429965490e84dd27713017538c995fc05d1621beac910848b600015ee863"
        ),
    ),
)

_PROTEINS = TUDataset(
    "PROTEINS",
    {1: "enzyme", 2: "not an enzyme"},
    ("0", "1", "2"),
    (
        Member(
            "PROTEINS/PROTEINS_A.txt", 2_022_990, "4c4b33e272fc95cac6d27ed6d5d12b9a852c8610e91fff59f8f0dbdd5a20df67"
        ),
        Member(
            "PROTEINS/PROTEINS_graph_indicator.txt",
            169_673,
            "8d4ff1e852a5c28561e9bffb44cf9490bc552b13a3b6156dd12dc7f44e9afc4a",
        ),
        Member(
            "PROTEINS/PROTEINS_graph_labels.txt",
            2_226,
            "c0ef9810c440775252872318d0c8adc385588e14bc4c47a2c34aa96ee3c7cdcd",
        ),
        Member(
            "PROTEINS/PROTEINS_node_labels.txt",
            86_942,
            "f758e8ad3d6e3c026b50833d75f6f90735b94eb3345e4243707f495ca8afea8d",
        ),
    ),
)


def _planetoid_file(name: str, size: int, sha256: str) -> DataFile:
    home = f"{_GITHUB}/kimiyoung/planetoid"
    return DataFile(
        name,
        size,
        sha256,
        (f"{home}/master/data/{name}", f"{home}/3b0e863cdea50dba984378b60893c93582a7a4db/data/{name}"),
    )


_PUBMED = (
    _planetoid_file("ind.pubmed.allx", 7_578_385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
    _planetoid_file("ind.pubmed.ally", 224_739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
    _planetoid_file("ind.pubmed.graph", 471_808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
    _planetoid_file("ind.pubmed.test.index", 6_000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
    _planetoid_file("ind.pubmed.tx", 405_505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
    _planetoid_file("ind.pubmed.ty", 12_135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
)


def _tu_form(dataset: TUDataset, most: int) -> StoredForm:
    """The zip file of a dataset in the collection. Its checksum is not known, but those of its members are."""
    home = (f"{_TU_HOME}/{dataset.name}.zip",)
    return StoredForm((DataFile(f"{dataset.name}.zip", most, None, home, dataset.members),), dataset.read)


GRAPH_CARDS = (
    Card(
        name="cora_ml",
        kind="nodes",
        what="Papers on machine learning that cite each other, with the words they use.",
        inputs=2810,
        classes=7,
        nodes=2810,
        edges=7981,
        features=2879,
        ones=142_286,
        binary="word occurs",
        licence="none stated by its repository",
        origin="github.com/abojchevski/sparse_smoothing, data/cora_ml.npz",
        citation="A. McCallum et al.: Automating the construction of internet portals with machine learning, 2000; "
        "A. Bojchevski, S. Günnemann: Deep Gaussian embedding of graphs, ICLR 2018",
        forms=(
            StoredForm(
                (
                    DataFile(
                        "cora_ml.npz",
                        1_622_498,
                        "46b98cabc9c22c09de0d30140fbf68d004b21d2f05e234feb96ba6e84ec7c86a",
                        (
                            f"{_GITHUB}/abojchevski/sparse_smoothing/b2a3ca194608118d7472c0a5ac81bc7c5d5d485a"
                            "/data/cora_ml.npz",
                            f"{_GITHUB}/abojchevski/sparse_smoothing/master/data/cora_ml.npz",
                        ),
                    ),
                ),
                partial(read_sparse_graph, name="cora_ml"),
            ),
        ),
    ),
    Card(
        name="citeseer",
        kind="nodes",
        what="Papers on computer science that cite each other, with the words they use.",
        inputs=2110,
        classes=6,
        nodes=2110,
        edges=3668,
        features=3703,
        ones=67_659,
        binary="word occurs",
        licence="MIT (its repository)",
        origin="github.com/abojchevski/graph_cert, data/citeseer.npz",
        citation="C. L. Giles, K. Bollacker, S. Lawrence: CiteSeer: an automatic citation indexing system, 1998; "
        "P. Sen et al.: Collective classification in network data, 2008",
        forms=(
            StoredForm(
                (
                    DataFile(
                        "citeseer.npz",
                        1_350_874,
                        "8d8aa684f48b8f6d9103b5c58a538cd34ef6af58c70dab4d8ad851f1e67161b1",
                        (
                            f"{_GITHUB}/abojchevski/graph_cert/master/data/citeseer.npz",
                            f"{_GITHUB}/abojchevski/graph_cert/4434a41872cba0b1fe20f6804997f52bfe3a4e5f"
                            "/data/citeseer.npz",
                        ),
                    ),
                ),
                partial(read_sparse_graph, name="citeseer"),
            ),
        ),
    ),
    Card(
        name="pubmed",
        kind="nodes",
        what="Papers on diabetes that cite each other, with the terms they use; the order of nodes is Planetoid's.",
        inputs=19_717,
        classes=3,
        nodes=19_717,
        edges=44_324,
        features=500,
        ones=988_031,
        binary="term occurs",
        licence="MIT (the repository of Planetoid)",
        origin="github.com/kimiyoung/planetoid, data/ind.pubmed.*",
        citation="G. Namata et al.: Query-driven active surveying for collective classification, 2012; "
        "Z. Yang, W. Cohen, R. Salakhutdinov: Revisiting semi-supervised learning with graph embeddings, ICML 2016",
        forms=(
            StoredForm(
                (
                    DataFile(
                        "pubmed.npz", 1_425_033, "09a15501d3182e2dff04be41e8031629a62ec5e8bc4964a6e57cf7372a6f775c"
                    ),
                ),
                partial(read_planetoid_arrays, name="pubmed"),
            ),
            StoredForm(_PUBMED, partial(read_planetoid, name="pubmed")),
        ),
    ),
    Card(
        name="mutag",
        kind="graphs",
        what="Molecules of nitro compounds: do they change the genes of a bacterium?",
        inputs=188,
        classes=2,
        nodes=3371,
        edges=3721,
        features=7,
        ones=3371,
        binary="one-hot kind of atom",
        licence="none stated by its collection",
        origin="TUDataset collection, www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip",
        citation=f"A. K. Debnath et al.: J. Med. Chem. 34(2), 1991; {_TU_CITATION}",
        forms=(_tu_form(_MUTAG, 100_000),),
    ),
    Card(
        name="proteins",
        kind="graphs",
        what="Proteins as graphs of their secondary structure: is it an enzyme?",
        inputs=1113,
        classes=2,
        nodes=43_471,
        edges=81_044,
        features=3,
        ones=43_471,
        binary="one-hot kind of element",
        licence="none stated by its collection",
        origin="TUDataset collection, www.chrsmrrs.com/graphkerneldatasets/PROTEINS.zip",
        citation="K. M. Borgwardt et al.: Protein function prediction via graph kernels, Bioinformatics 21, 2005; "
        f"{_TU_CITATION}",
        forms=(_tu_form(_PROTEINS, 1_000_000),),
    ),
)
