"""All systems that apply to a setting, about the same inputs: what is the same, what is refused, what is kept."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.baselines.proofs import Proofs
from flipproof.comparison.compare import RIVALS, compare
from flipproof.comparison.comparison import ANY, Comparison, Entry
from flipproof.comparison.setting import Terms, compared_inputs
from flipproof.pipeline.kinds.kind import prepared_task
from flipproof.pipeline.steps import Samples, certify_run, run
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.task import ModelSpec, PerClass, Shares, Task, TrainingSettings
from flipproof.theory.certificate import Promise, Subject

FEW = Samples(n_select=50, n_estimate=400)
TERMS = Terms(nodes=12, largest_radius=3)


@pytest.fixture(scope="module")
def task(planted):
    return Task(
        kind="nodes",
        dataset=str(planted),
        model=ModelSpec("gcn", hidden=8),
        noisy="attributes",
        noise=fp.FlipNoise(0.02, 0.5),
        training=TrainingSettings(epochs=60),
        split=PerClass(5, 5),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("compared")


@pytest.fixture(scope="module")
def attributes(folder, task):
    return compare(folder / "attributes", task, terms=TERMS, samples=FEW)


@pytest.fixture(scope="module")
def structure(folder, task):
    by_edges = replace(task, noisy="structure", noise=fp.FlipNoise(0.0, 0.4), model=ModelSpec("appnp", hidden=8))
    every = ["flipproof", "f_divergence", "lee", "gcn_structure", "page_rank", "page_rank_all_edges"]
    return compare(folder / "structure", by_edges, every, TERMS, FEW)


def named(comparison, system, against):
    return next(entry for entry in comparison.entries if (entry.system, entry.attacker) == (system, against))


def test_all_systems_for_attributes(attributes):
    found = {(entry.system, entry.attacker) for entry in attributes.entries}
    kinds = ("add", "delete")
    assert found == {
        *(("flipproof", kind) for kind in (*kinds, ANY)),
        *((f"f_divergence ({name})", kind) for name in ("renyi", "hockey-stick") for kind in kinds),
        ("lee", ANY),
        ("ablation", ANY),
        *(("gcn_attributes", kind) for kind in (*kinds, ANY)),
    }
    assert attributes.attackers == ("add", "delete", ANY)


def test_all_systems_for_edges(structure):
    systems = list(dict.fromkeys(entry.system.partition(" ")[0] for entry in structure.entries))
    assert systems == ["flipproof", "f_divergence", "lee", "gcn_structure", "page_rank", "page_rank_all_edges"]
    models = {entry.system.partition(" ")[0]: entry.model for entry in structure.entries}
    assert (models["flipproof"], models["gcn_structure"], models["page_rank"]) == ("appnp", "gcn", "ppnp")
    assert models["page_rank_all_edges"] == "ppnp with loops"
    threats = {entry.system: entry.proofs.promise.threat for entry in structure.entries}
    assert threats["page_rank"].startswith("at most r edges outside a spanning forest are deleted")
    assert threats["page_rank_all_edges"].startswith("at most r edges are deleted")
    assert [entry.system for entry in structure.entries if entry.spared] == ["page_rank"]
    about = {entry.system: entry.proofs.promise.subject for entry in structure.entries}
    assert (about["flipproof"], about["page_rank"]) == (Subject.SMOOTHED, Subject.BASE)


def test_something_is_proved_by_everyone(attributes, structure):
    for comparison in (attributes, structure):
        for system in {entry.system for entry in comparison.entries} - {"lee", "ablation"}:
            assert max(e.proofs.radius.max() for e in comparison.entries if e.system == system) >= 1, system


def test_ours_are_the_certificates_of_a_run(attributes, task, tmp_path):
    certificates = run(tmp_path / "run", task, FEW).certificates
    for kind in ("add", "delete"):
        proofs = named(attributes, "flipproof", kind).proofs
        assert np.array_equal(proofs.radius, certificates.max_radius(kind)[attributes.inputs])
        assert np.array_equal(proofs.label, certificates.label[attributes.inputs])
    mixed = named(attributes, "flipproof", ANY).proofs.radius
    assert np.array_equal(mixed, certificates.max_l0_radius()[attributes.inputs])


def test_divergences_never_prove_more(attributes, structure):
    for comparison in (attributes, structure):
        for entry in comparison.entries:
            if entry.system.startswith("f_divergence"):
                ours = named(comparison, "flipproof", entry.attacker).proofs
                assert (entry.proofs.radius <= ours.radius).all()


def test_inputs_are_test_nodes(attributes, task):
    prepared = prepared_task(task)
    assert attributes.inputs.size == 12
    assert np.isin(attributes.inputs, prepared.certified.split.test).all()
    assert np.array_equal(attributes.labels, prepared.certified.labels[attributes.inputs])
    assert np.array_equal(compared_inputs(prepared, None), prepared.certified.split.test)
    assert not np.array_equal(attributes.inputs, compared_inputs(prepared_task(replace(task, seed=1)), 12))


def test_what_is_done_is_kept(attributes, folder, task):
    path = folder / "attributes"
    files = [file for file in path.rglob("*") if file.is_file() and file.suffix != ".checkpoint"]
    before = {file: file.read_bytes() for file in files}
    again = compare(path, task, terms=TERMS, samples=FEW)
    assert [entry.to_record() for entry in again.entries] == [entry.to_record() for entry in attributes.entries]
    assert {file: file.read_bytes() for file in files} == before
    assert len(list((path / "runs").iterdir())) == 4  # ours, lee, ablation, and a network without noise


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"format": "flipproof-entries", "version": 9}',
        b'{"format": "flipproof-entries", "version": 1}',
        "an input less",
        "a longer radius",
    ],
)
def test_damaged_proofs_are_made_again(attributes, folder, task, damage):
    file = folder / "attributes" / "gcn_attributes.json"
    if isinstance(damage, str):
        record = json.loads(file.read_text())
        for each in record["entries"]:
            if damage == "a longer radius":
                each["radius"][0] = 99
            else:
                each.update({name: each[name][1:] for name in ("label", "radius", "abstained")})
        damage = json.dumps(record).encode()
    file.write_bytes(damage)
    again = compare(folder / "attributes", task, ["gcn_attributes"], TERMS, FEW)
    assert [e.proofs.radius.tolist() for e in again.entries] == [
        e.proofs.radius.tolist() for e in attributes.entries if e.system == "gcn_attributes"
    ]
    assert file.read_bytes() != damage


def test_other_terms_are_not_answered_from_the_file(attributes, folder, task):
    closer = compare(folder / "attributes", task, ["gcn_attributes"], replace(TERMS, largest_radius=1), FEW)
    assert max(entry.proofs.radius.max() for entry in closer.entries) == 1
    assert max(entry.proofs.radius.max() for entry in attributes.entries if entry.system == "gcn_attributes") > 1


def test_symmetric_noise_needs_no_second_run(task, tmp_path):
    even = replace(task, noise=fp.FlipNoise(0.1, 0.1))
    comparison = compare(tmp_path, even, ["flipproof", "lee"], TERMS, FEW)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    ours, theirs = (named(comparison, system, ANY).proofs.radius for system in ("flipproof", "lee"))
    assert np.array_equal(ours, theirs)


def test_several_noises_have_a_line_each(task, tmp_path):
    terms = replace(TERMS, also=((0.0, 0.4), (0.0, 0.8)))
    comparison = compare(tmp_path, task, ["flipproof"], terms, FEW)
    assert [entry.noise for entry in comparison.against("delete")] == ["(0.02, 0.5)", "(0, 0.4)", "(0, 0.8)"]
    radii = [entry.proofs.radius.sum() for entry in comparison.against("delete")]
    assert len(set(radii)) == 3


def test_noises_that_are_nearly_the_same_have_lines_of_their_own(task, tmp_path):
    terms = replace(TERMS, also=((0.0200000001, 0.5),))
    comparison = compare(tmp_path, task, ["flipproof"], terms, Samples(20, 50))
    assert [entry.noise for entry in comparison.against("delete")] == ["(0.02, 0.5)", "(0.0200000001, 0.5)"]
    with pytest.raises(fp.InvalidInputError, match=r"expected further noises beside .*, got it again"):
        compare(tmp_path, task, ["flipproof"], replace(TERMS, also=((0.02, 0.5),)), FEW)


@pytest.mark.parametrize("directed", [False, True])
def test_systems_that_a_graph_does_not_suit_are_left_out(task, tmp_path, directed):
    """The last node is alone; a directed graph has no certificate of edges but ours."""
    data = fp.datasets.load(task.dataset)
    nodes = data.nodes
    adjacency = data.adjacency.toarray()
    adjacency[-1] = adjacency[:, -1] = 0
    if directed:
        adjacency = np.triu(adjacency)
    alone = fp.datasets.NodeDataset("alone", sp.csr_array(adjacency), data.attributes, data.labels, directed=directed)
    alone.save(tmp_path / "alone.npz")
    by_edges = replace(
        task, dataset=str(tmp_path / "alone.npz"), noisy="structure", noise=fp.FlipNoise(0.0, 0.4),
        training=TrainingSettings(epochs=5),
    )  # fmt: skip
    comparison = compare(tmp_path / "out", by_edges, terms=replace(TERMS, nodes=2, largest_radius=1), samples=FEW)
    found = {entry.system.partition(" ")[0] for entry in comparison.entries}
    assert nodes == 90
    assert found == {"flipproof", "f_divergence", "lee"} | (set() if directed else {"gcn_structure"})
    with pytest.raises(fp.InvalidInputError, match="expected systems for such nodes with noise on structure"):
        compare(tmp_path / "none", by_edges, ["page_rank"])


def test_further_noises_beside_a_joint_one_are_refused(task, tmp_path):
    law = fp.FlipNoise(0.01, 0.3)
    both = replace(task, noisy="both", noise=fp.JointNoise(structure=law, attributes=law))
    with pytest.raises(fp.InvalidInputError, match="no further noises"):
        compare(tmp_path, both, ["flipproof"], Terms(also=((0.1, 0.2),)), FEW)


def test_joint_noise(task, tmp_path):
    law = fp.FlipNoise(0.01, 0.3)
    both = replace(task, noisy="both", noise=fp.JointNoise(structure=law, attributes=law))
    comparison = compare(tmp_path, both, terms=TERMS, samples=FEW)
    assert {entry.system.partition(" ")[0] for entry in comparison.entries} == {"flipproof", "f_divergence"}
    assert "structure.delete" in comparison.attackers


def test_other_kinds_of_data(tmp_path):
    images = Task(
        "images", "digits", ModelSpec("cnn", hidden=8), "pixels", fp.FlipNoise(0.03, 0.2),
        TrainingSettings(epochs=2, patience=2, batch_size=128), Shares(), inputs=5,
    )  # fmt: skip
    comparison = compare(tmp_path, images, terms=TERMS, samples=Samples(20, 50))
    assert {entry.system.partition(" ")[0] for entry in comparison.entries} == {
        "flipproof", "f_divergence", "lee", "ablation",
    }  # fmt: skip
    assert comparison.inputs.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        (["flipprof"], "did you mean flipproof"),
        (["page_rank"], "expected systems for such nodes with noise on attributes .*, got page_rank"),
        ([], "at least one system"),
    ],
)
def test_systems_that_are_refused(task, tmp_path, systems, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        compare(tmp_path / "new", task, systems)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "terms",
    [
        {"nodes": 0}, {"largest_radius": 0}, {"even": 1.0}, {"even": 0.0}, {"kept_share": 1.5}, {"alpha": 2.0},
        {"rule": "none"}, {"nodes": 2.5}, {"largest_radius": 1_001}, {"also": ((0.1, 0.2), (0.1, 0.2))},
        {"kept_share": float("nan")},
    ],
)  # fmt: skip
def test_terms_that_are_refused(terms):
    with pytest.raises(fp.InvalidInputError, match="expected"):
        Terms(**terms)


def test_the_noise_of_a_comparison_flips(task, tmp_path):
    hidden = replace(task, noise=fp.AblationNoise(entries=90 * 24, kept=400))
    with pytest.raises(fp.InvalidInputError, match="expected noise that flips entries, got AblationNoise"):
        compare(tmp_path, hidden)


def test_a_run_with_ablated_data_has_no_certificates_of_ours(attributes, folder):
    (hidden,) = (folder / "attributes" / "runs").glob("*kept*")
    assert "ablation" in RunFolder.open(hidden).record()["task"]["noise"]
    with pytest.raises(fp.InvalidInputError, match="AblationNoise"):
        certify_run(hidden)


def test_every_rival_is_a_baseline_or_ours():
    assert {name.removesuffix("_all_edges") for name in RIVALS} - {"flipproof"} <= set(fp.baselines.SYSTEMS)


def entry(system, against, radius, abstained=(False, False)):
    promise = Promise(system, Subject.SMOOTHED, "r bits change", "exact", 0.01)
    return Entry(system, against, "gcn", "none", Proofs(promise, np.array([0, 1]), radius, np.array(abstained)), 1.0)


class TestComparison:
    def test_what_is_proved_against_anyone_is_proved_against_each(self):
        mine, wide = entry("mine", "delete", np.array([3, 1])), entry("mine", ANY, np.array([1, 1]))
        theirs = entry("theirs", ANY, np.array([2, 2]))
        comparison = Comparison((mine, wide, theirs), np.arange(2), np.zeros(2, dtype=int))
        assert comparison.against("delete") == [mine, theirs]
        assert comparison.against(ANY) == [wide, theirs]

    def test_rows(self):
        found = entry("mine", ANY, np.array([3, 1]), (False, True))
        comparison = Comparison((found,), np.arange(2), np.array([0, 1]))
        rows = list(comparison.rows([0, 3]))
        assert [(row["certified_ratio"], row["certified_accuracy"]) for row in rows] == [(0.5, 0.5), (0.5, 0.5)]
        assert comparison.accuracy(found) == 0.5
        assert comparison.mean_radius(found, ANY, 2) == 1.0

    def test_endless_radii_count_as_the_largest(self):
        found = entry("mine", ANY, np.array([3, fp.UNBOUNDED]))
        assert Comparison((found,), np.arange(2), np.zeros(2, dtype=int)).mean_radius(found, ANY, 10) == 6.5

    def test_nobody_makes_more_changes_than_there_can_be(self):
        found = entry("mine", "delete", np.array([8, 1]))
        comparison = Comparison((found,), np.arange(2), np.array([0, 1]), {"delete": np.array([3, 9])})
        assert comparison.mean_radius(found, "delete", 100) == 2.0
        assert [comparison.certified_ratio(found, "delete", radius) for radius in (1, 2, 50)] == [1.0, 0.5, 0.5]

    def test_other_inputs_are_refused(self):
        with pytest.raises(fp.InvalidInputError, match="the same inputs"):
            Comparison((entry("mine", ANY, np.array([3, 1])),), np.arange(3), np.zeros(3, dtype=int))

    def test_records(self):
        found = entry("mine", ANY, np.array([3, fp.UNBOUNDED]), (False, True))
        again = Entry.from_record(found.to_record())
        assert again.to_record() == found.to_record()
        assert again.proofs.radius.dtype.kind == "i"
