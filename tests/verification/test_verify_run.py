"""`flipproof verify` on run folders: what others have changed is found, whatever they have changed."""

import json
import shutil
import zipfile
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from certificates_of import rewrite_arrays, rewrite_json, state_hash
from forging import members_of, npy, state_all_hashes, write_members

import flipproof as fp
from flipproof.pipeline.steps import certify_run
from flipproof.run_folder.folder import RunFolder, sha256_of
from flipproof.run_folder.split import Inputs
from flipproof.smoothing.voting.vote_counts import RoleCounts
from flipproof.verification.check import Level


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def test_a_run_is_confirmed(run, folder):
    code, out, err = run("verify", folder)
    assert (code, err) == (0, "")
    assert "confirmed 90 of 90 inputs" in out
    assert "files     fit: run.json, votes with their portions, weights, inputs" in out
    assert out.splitlines()[-1] == "90 certificates confirmed: arithmetic and evidence"
    code, out, _ = run("verify", folder, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["confirmed"]
    assert facts["verdicts"] == ["confirmed"] * 90


def as_before_versions_of_fingerprints(folder):
    """Makes a run look like an early one, which did not note the version of its fingerprints."""
    members = members_of(folder / "votes.npz")
    record = json.loads(members["metadata.json"])
    assert record["run"]["identity"].pop("fingerprints") == 2
    write_members(folder / "votes.npz", (members | {"metadata.json": json.dumps(record).encode()}).items())
    rewrite_json(folder / "certificates.json", lambda record: record["identity"].pop("fingerprints"))
    rewrite_json(folder / "run.json", lambda record: record["training"].pop("fingerprints"))
    state_all_hashes(folder)


def test_an_early_run_is_refused_with_what_to_do_but_its_votes_are_certified(run, folder):
    as_before_versions_of_fingerprints(folder)
    line = (
        f"{folder} was made by an older flipproof (fingerprints of version 1); "
        "use it with that version, or start over with flipproof train --force"
    )
    for command in (["vote", folder], ["report", folder], ["verify", folder, "--resample", 1]):
        code, _, err = run(*command)
        assert (code, err) == (2, f"flipproof: {line}\n")
    code, out, _ = run("verify", folder)
    assert code == 1
    assert line in " ".join(out.split())
    assert len(fp.certify(fp.Votes.load(folder / "votes.npz"))) == 90
    assert len(certify_run(folder, force=True)) == 90
    assert run("verify", folder / "certificates.json", "--arithmetic-only")[0] == 0


def test_the_version_of_fingerprints_is_that_of_the_votes(run, folder):
    rewrite_json(folder / "run.json", lambda record: record["training"].pop("fingerprints"))
    state_all_hashes(folder)
    code, out, _ = run("verify", folder)
    assert code == 1
    assert "run.json and votes.npz have another version of fingerprints" in out


def test_a_certificate_is_checked_without_the_run(run, folder, tmp_path):
    for name in ("certificates.json", "certificates.npz"):
        shutil.copy(folder / name, tmp_path / name)
    code, out, _ = run("verify", tmp_path / "certificates.json")
    assert (code, out.splitlines()[-1]) == (
        1, "NOT confirmed: the arithmetic was checked, but there is no evidence; pass --arithmetic-only to accept that"
    )  # fmt: skip
    code, out, _ = run("verify", tmp_path / "certificates.json", "--arithmetic-only")
    assert (code, out.splitlines()[-1]) == (0, "90 certificates confirmed: arithmetic only")
    code, _, err = run("verify", tmp_path / "certificates.json", "--resample", 1)
    assert code == 2
    assert "run folder" in err


def test_the_record_says_what_the_run_knows(folder):
    record = json.loads((folder / "certificates.json").read_text())
    training = json.loads((folder / "run.json").read_text())["training"]
    assert record["hashes"]["weights"] == training["weights_sha256"] == sha256_of(folder / "weights.safetensors")
    assert record["hashes"]["model"] == training["model"]
    assert record["samples"]["estimate"] == {"count": 2000, "ranges": [[0, 2000]]}
    assert record["samples"]["seed"] == 0
    assert record["space"]["kind"] == "Graph"
    assert record["space"]["parts"]["attributes"]["entries"] > record["space"]["parts"]["attributes"]["nonzero"] > 0
    assert {"flipproof", "numpy", "python", "torch"} <= set(record["versions"])


def objection(run, folder):
    code, out, err = run("verify", folder, "--json")
    assert (code, err) == (1, "")
    return " ".join(json.loads(out)["objections"])


@pytest.mark.parametrize("name", ["weights.safetensors", "inputs.npz", "votes.npz", "certificates.npz"])
def test_a_file_with_another_hash_is_found(run, folder, name):
    with open(folder / name, "ab") as stream:
        stream.write(b"\0")
    assert f"{name} has the sha256" in objection(run, folder)


@pytest.mark.parametrize("name", ["weights.safetensors", "inputs.npz", "votes.npz"])
def test_a_file_that_is_missing_is_found(run, folder, name):
    (folder / name).unlink()
    assert f"{name} is missing" in objection(run, folder)


@pytest.mark.parametrize("name", ["certificates.json", "certificates.npz", "run.json", "votes.npz"])
def test_a_file_that_was_cut_is_found(run, folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    code, out, err = run("verify", folder)
    assert code in (1, 2)
    assert name in out + err
    assert err.count("\n") <= 1


@pytest.mark.parametrize("name", ["model", "data", "weights", "inputs", "votes", "arrays"])
def test_a_stated_hash_that_was_changed_is_found(run, folder, name):
    rewrite_json(folder / "certificates.json", lambda record: record["hashes"].update({name: "0" * 64}))
    assert objection(run, folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record["promise"].update(alpha=0.05), "run.json has another alpha"),
        (lambda record: record["samples"].update(seed=1), "seed and identity do not fit"),
        (
            lambda record: record["samples"]["select"].update(ranges=[[0, 100], [300, 400]]),
            "range of selection samples",
        ),
        (lambda record: record["samples"]["select"].update(ranges=[[0, 150], [100, 150]]), "do not add up to 200"),
        (lambda record: record["noise"][0].update(p_plus="1/64"), "noise and identity do not fit"),
        (lambda record: record["promise"].update(sampling_error=0.0), "votes.npz has another sampling error"),
        (lambda record: record["space"].update(kind="Tokens"), "votes.npz has another space"),
        (lambda record: record["versions"].update(torch="1.0"), "set of versions"),
    ],
)
def test_a_statement_that_was_changed_is_found(run, folder, change, words):
    rewrite_json(folder / "certificates.json", change)
    assert words in objection(run, folder)


def test_votes_that_were_changed_in_one_file_only_are_found(run, folder):
    def moved(votes):
        votes[0] = votes[0][::-1].copy()

    rewrite_arrays(folder / "certificates.npz", estimation=moved)
    state_hash(folder / "certificates.json")
    assert "votes.npz has other estimation votes" in objection(run, folder)


def test_portions_that_do_not_add_up_are_found(run, folder):
    def moved(portions):
        portions[3, 0] = portions[3, 0][::-1].copy()

    rewrite_arrays(folder / "votes.npz", estimation_portions=moved)
    assert "portions that do not add up to its estimation votes" in objection(run, folder)


def name_votes(folder, **names):
    """Puts names into the votes of a run, as a text in UTF-8, and states all hashes anew."""
    members = members_of(folder / "votes.npz")
    members |= {f"{name}.npy": npy(np.frombuffer(text, dtype=np.uint8)) for name, text in names.items()}
    write_members(folder / "votes.npz", members.items())
    state_all_hashes(folder)


def test_votes_with_names_are_confirmed(run, folder):
    classes = fp.Votes.load(folder / "votes.npz").classes
    name_votes(folder, input_names="Zoë\n".encode() * 90, class_names=b"a\n" * classes)
    assert run("verify", folder)[0] == 0
    assert fp.Votes.load(folder / "votes.npz").input_names == ("Zoë",) * 90


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a\n" * 89, "89 input_names of 90"),
        (b"a\n" * 89 + b"b", "89 input_names of 90"),
        (b"a\n" * 89 + b"x" * 201 + b"\n", "too long or not printable"),
        (b"a\n" * 89 + b"\x1b[2J\n", "too long or not printable"),
        (b"a\n" * 89 + b"\xff\n", "UnicodeDecodeError"),
    ],
)
def test_hostile_names_are_refused(run, folder, text, words):
    name_votes(folder, input_names=text)
    code, out, _ = run("verify", folder)
    assert code == 1
    assert words in " ".join(out.split())
    with pytest.raises(fp.FileFormatError):
        fp.Votes.load(folder / "votes.npz")


def test_votes_of_another_shape_are_found(run, folder):
    """The same numbers as votes on three times as many inputs of one class, which nobody can turn."""
    votes = fp.Votes.load(folder / "votes.npz")
    tables = (table.reshape(-1, 1).astype(int) for table in (votes.selection, votes.estimation))
    stated = json.loads((folder / "certificates.json").read_text())
    fp.certify(fp.Votes(*tables, votes.noise, votes.n_select, votes.n_estimate)).save(folder / "certificates.json")

    def as_before(record):
        record.update({name: stated[name] for name in ("samples", "space", "versions", "identity")})
        record["promise"].update(sampling_error=stated["promise"]["sampling_error"])
        record["hashes"] = stated["hashes"] | {"arrays": record["hashes"]["arrays"]}

    rewrite_json(folder / "certificates.json", as_before)
    assert "votes.npz has votes on other inputs" in objection(run, folder)


def test_a_promise_for_fewer_inputs_is_confirmed(folder, tmp_path):
    votes = fp.Votes.load(folder / "votes.npz")
    some = fp.certify(votes, simultaneous=True).selected([0, 7])
    some.save(tmp_path / "some.json")
    check = fp.verify(tmp_path / "some.json", arithmetic_only=True)
    assert check.confirmed, (check.objections, list(check.others()))
    some.save(folder / "some.json")
    check = fp.verify(folder / "some.json")
    assert check.confirmed, (check.objections, list(check.others()))
    assert list(check.certificate.ids) == [0, 7]


def test_a_second_certificate_in_a_run_folder_is_confirmed(folder):
    votes = fp.Votes.load(folder / "votes.npz")
    fp.certify(votes, alpha=0.05, rule="two-class").save(folder / "second.json")
    check = fp.verify(folder / "second.json")
    assert check.confirmed, check.objections
    assert check.level is Level.EVIDENCE
    rewrite_arrays(folder / "second.npz", estimation=lambda votes: votes.__setitem__(0, votes[0][::-1].copy()))
    state_hash(folder / "second.json")
    assert "votes.npz has other estimation votes" in fp.verify(folder / "second.json").objections


@pytest.mark.parametrize("noise", [fp.FlipNoise(0.1, 0.3, 4), fp.FlipNoise(0.0, 0.3, 4), fp.FlipNoise(0.1, 1.0, 4)])
def test_certificates_of_one_class_are_confirmed(tmp_path, noise):
    estimation = [[2000], [1999], [1200], [10], [0]]
    votes = fp.Votes.from_counts(selection=[[10]] * 5, estimation=estimation, noise=noise, n_select=10, n_estimate=2000)
    fp.certify(votes).save(tmp_path / "certificates.json")
    check = fp.verify(tmp_path, arithmetic_only=True)
    assert check.confirmed, list(check.others())


def test_certificates_of_fewer_votes_are_told_to_be_made_again(run, folder):
    assert run("vote", folder, "--samples", 2500)[0] == 0
    code, out, err = run("verify", folder)
    assert (code, err) == (1, "")
    assert out.count("WRONG:") == 1
    assert "run flipproof certify" in out
    assert run("certify", folder)[0] == 0
    assert run("verify", folder)[0] == 0


def test_a_run_of_four_numbers_is_no_evidence(run, folder, tmp_path):
    record = json.loads((folder / "certificates.json").read_text())
    for name in ("certificates.json", "certificates.npz"):
        shutil.copy(folder / name, tmp_path / name)
    known = {"alpha": 0.01, "rule": "multi-class", "simultaneous": False}
    votes = {"n_select": 200, "n_estimate": 2000, "sha256": record["hashes"]["votes"]}
    (tmp_path / "run.json").write_text(json.dumps({"certificates": known, "votes": votes}))
    assert "votes.npz is missing weights.safetensors is missing inputs.npz is missing" in objection(run, tmp_path)


def relabelled(folder):
    """True labels replaced by predictions, and everything else made to fit."""
    label = np.load(folder / "certificates.npz")["label"]
    rewrite_arrays(folder / "inputs.npz", labels=lambda labels: labels.__setitem__(slice(None), label))
    inputs = Inputs.load(folder / "inputs.npz")
    right = inputs.accuracy(inputs.base_label == inputs.labels)
    rewrite_json(folder / "run.json", lambda record: record["training"].update(base_accuracy=right))
    state_all_hashes(folder)


def test_true_labels_that_were_replaced_are_found(run, folder):
    relabelled(folder)
    assert "to have the labels of" in objection(run, folder)
    code, _, err = run("verify", folder, "--resample", 1)
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = run("report", folder)
    assert (code, err.count("\n")) == (2, 1)
    assert "to have the labels of" in err


def test_without_the_data_labels_are_said_to_be_unchecked(run, folder):
    rewrite_json(folder / "run.json", lambda record: record["task"].update(dataset="elsewhere.npz"))
    state_all_hashes(folder)
    relabelled(folder)
    code, out, _ = run("verify", folder)
    assert code == 0
    assert "note      the data are not at hand" in out
    assert run("report", folder)[0] == 0
    assert "Accuracies rest on unchecked labels" in (folder / "report.html").read_text()


def test_a_task_that_cannot_be_done_does_not_hide_other_labels(run, folder):
    """A split that the data do not allow: they are at hand all the same."""
    rewrite_json(folder / "run.json", lambda record: record["task"]["split"].update(train=10**6))
    relabelled(folder)
    assert "got 30 of class" in objection(run, folder)


def test_a_promise_for_all_of_some_chosen_inputs_is_refused(folder):
    votes = fp.Votes.load(folder / "votes.npz")
    fp.certify(votes.selected([3, 7]), simultaneous=True).save(folder / "chosen.json")
    (said,) = fp.verify(folder / "chosen.json").objections
    assert "alpha is shared by fewer claims than there are inputs" in said


def test_an_input_counts_once(folder):
    votes = fp.Votes.load(folder / "votes.npz")
    fp.certify(votes).selected([3, 3, 3]).save(folder / "thrice.json")
    assert fp.verify(folder / "thrice.json").objections == ("an input that is there twice",)


def test_votes_that_were_left_out_are_found(run, folder):
    """Without the votes for other labels, bounds would be better."""
    label = np.load(folder / "certificates.npz")["label"]

    def only_label(votes):
        kept = votes[..., np.arange(len(label)), label].copy()
        votes[...] = 0
        votes[..., np.arange(len(label)), label] = kept

    rewrite_arrays(folder / "votes.npz", estimation=only_label, estimation_portions=only_label)
    known = RunFolder.open(folder)
    known.update(votes=known.record()["votes"] | {"sha256": sha256_of(folder / "votes.npz")})
    certify_run(folder, force=True)
    assert "votes.npz has not as many estimation votes as samples" in objection(run, folder)


@pytest.mark.parametrize("name", ["certificates.npz", "votes.npz", "inputs.npz"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_bytes_around_an_archive_are_refused(run, folder, name, where):
    content = (folder / name).read_bytes()
    if where == "before":
        (folder / name).write_bytes(b"#" * 100 + content)
    else:
        with zipfile.ZipFile(folder / name, "a") as archive:
            archive.comment = b"something else"
    state_all_hashes(folder)
    code, out, err = run("verify", folder)
    assert code in (1, 2)
    assert "more than its members" in out + err


@pytest.mark.parametrize("noise", [{}, {"p_plus": "1e30000000", "p_minus": 0.3, "categories": 2}, {"parts": {"a": {}}}])
def test_a_noise_that_is_none_is_one_line(run, folder, noise):
    rewrite_json(folder / "run.json", lambda record: record["task"].update(noise=noise))
    state_all_hashes(folder)
    assert "expected" in objection(run, folder)


def test_other_files_than_the_model_is_made_of_are_found(run, folder):
    files = {"evil.py": "0" * 64}
    members = members_of(folder / "votes.npz")
    record = json.loads(members["metadata.json"])
    record["run"]["identity"]["files"] = files
    write_members(folder / "votes.npz", (members | {"metadata.json": json.dumps(record).encode()}).items())
    rewrite_json(folder / "certificates.json", lambda record: record["identity"].update(files=files))
    rewrite_json(folder / "run.json", lambda record: record["training"].update(files=files))
    state_all_hashes(folder)
    assert "names files that the model is not made of" in objection(run, folder)


def shifted(folder, by):
    """All sample numbers moved, wherever they are written."""

    def move(ranges):
        for pair in ranges:
            pair[:] = [number + by for number in pair]

    members = members_of(folder / "votes.npz")
    record = json.loads(members["metadata.json"])
    certificates = json.loads((folder / "certificates.json").read_text())
    for role in ("select", "estimate"):
        for portion in record["portions"][role]:
            move(portion)
        for source in (*record["run"]["sources"], *certificates["samples"]["sources"]):
            move(source[role])
        move(record["run"][role])
        move(certificates["samples"][role]["ranges"])
    write_members(folder / "votes.npz", (members | {"metadata.json": json.dumps(record).encode()}).items())
    (folder / "certificates.json").write_text(json.dumps(certificates))
    state_all_hashes(folder)


def test_other_sample_numbers_are_found(run, folder):
    shifted(folder, 0)
    assert run("verify", folder)[0] == 0
    shifted(folder, 5_000_000)
    assert "other estimate samples than the first 2,000" in objection(run, folder)


@pytest.mark.parametrize("name", ["certificates.json", "certificates.npz", "run.json", "votes.npz", "inputs.npz"])
def test_links_in_a_run_folder_are_refused(run, folder, tmp_path, name):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    code, out, err = run("verify", folder)
    assert code in (1, 2)
    assert "a link" in out + err


def test_json_that_is_deeply_nested_is_refused(run, folder):
    deep = {"more": 1}
    for _ in range(70):
        deep = {"more": deep}
    rewrite_json(folder / "certificates.json", lambda record: record.update(deep))
    code, _, err = run("verify", folder)
    assert (code, "nested more than 64 deep" in err) == (2, True)


@pytest.mark.parametrize("name", ["votes.npz", "report.html", "weights.safetensors"])
def test_another_file_is_refused_in_one_line(run, folder, name):
    code, _, err = run("verify", folder / name)
    assert (code, err.count("\n")) == (2, 1)
    assert "certificates.json" in err


def test_what_is_not_done_in_time_is_not_confirmed(run, folder):
    code, out, _ = run("verify", folder, "--minutes", 0)
    assert code == 1
    assert "unchecked 90 of 90 inputs" in out
    assert "NOT confirmed: 90 of 90 certificates are not checked" in out


def forged(folder, portion):
    """A run whose votes were changed in one portion, and everything else made to fit."""
    votes = fp.Votes.load(folder / "votes.npz")
    pieces = list(votes.vote_counts.estimate.pieces)
    counts = np.zeros_like(pieces[portion].counts)
    counts[np.arange(len(counts)), votes.selection.argmax(axis=1)] = pieces[portion].samples.count
    assert (counts != pieces[portion].counts).any()
    pieces[portion] = RoleCounts(pieces[portion].samples, counts)
    estimate = reduce(RoleCounts.merged, pieces)
    replace(votes, estimation=estimate.counts, vote_counts=replace(votes.vote_counts, estimate=estimate)).save(
        folder / "votes.npz"
    )
    known = RunFolder.open(folder)
    known.update(votes=known.record()["votes"] | {"sha256": sha256_of(folder / "votes.npz")})
    certify_run(folder, force=True)
    return len(pieces) + len(votes.vote_counts.select.pieces)


def test_a_consistent_forgery_is_found_by_drawing_again(run, folder):
    portions = forged(folder, portion=2)
    assert run("verify", folder)[0] == 0  # everything fits together
    code, out, err = run("verify", folder, "--resample", portions)
    assert (code, err) == (1, "")
    assert f"resampled {portions} of {portions} portions, 2,200 samples: OTHER VOTES" in out
    assert out.count(": WRONG") == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_some_portions_drawn_again_have_the_same_votes(run, folder, workers):
    code, out, _ = run("verify", folder, "--resample", 4, "--resample-seed", 7, "--workers", workers, "--json")
    again = json.loads(out)["resampled"]
    assert code == 0
    assert again["seed"] == 7
    assert [each["same"] for each in again["drawn"]] == [True] * 4
    assert len({(each["role"], *map(tuple, each["samples"])) for each in again["drawn"]}) == 4


def test_a_run_without_its_data_is_not_drawn_again(run, folder, planted):
    rewrite_json(folder / "run.json", lambda record: record["dataset"].update(fingerprint="0" * 64))
    code, _, err = run("verify", folder, "--resample", 1)
    assert code == 2
    assert "expected the data that" in err


def test_several_kinds_at_once_are_counted_exactly(run, folder):
    certificates = fp.certify(fp.Votes.load(folder / "votes.npz"))
    grid = certificates.certified_ratio(add=range(3), delete=range(6)) * 90
    for add, delete in ((0, 0), (1, 0), (1, 2), (2, 5)):
        code, out, _ = run("verify", folder, "--at", f"add={add},delete={delete}", "--json")
        assert code == 0
        assert json.loads(out)["at"] == [
            {"radii": {"add": add, "delete": delete}, "certified": round(grid[add, delete])}
        ]
    assert "at        add 1: " in run("verify", folder, "--at", "add=1")[1]


@pytest.mark.parametrize("at", ["add", "add=x", "plus=1", "add=1,add=2", "add=999,delete=999", "", "add=-1"])
def test_radii_that_are_none_are_refused(run, folder, at):
    code, _, err = run("verify", folder, "--at", at)
    assert code == 2
    assert err.count("\n") == 1


@pytest.mark.parametrize("count", ["-1", "1000"])
def test_a_number_of_portions_that_there_are_not_is_refused(run, folder, count):
    code, _, err = run("verify", folder, "--resample", count)
    assert code == 2
    assert err.count("\n") == 1


def test_a_run_without_certificates_is_told(run, folder, tmp_path):
    (folder / "certificates.json").unlink()
    code, _, err = run("verify", folder)
    assert (code, "flipproof certify" in err) == (2, True)
    assert run("verify", tmp_path / "nothing")[0] == 2
