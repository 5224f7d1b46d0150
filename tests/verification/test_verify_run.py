"""`flipproof verify` on run folders: what others have changed is found, whatever they have changed."""

import json
import shutil
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from certificates_of import rewrite_arrays, rewrite_json, state_hash

import flipproof as fp
from flipproof.experiments.steps import certify_run
from flipproof.smoothing.run_folder import RunFolder, sha256_of
from flipproof.smoothing.tally import RoleTally


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def test_a_run_is_confirmed(run, folder):
    code, out, err = run("verify", folder)
    assert (code, err) == (0, "")
    assert "confirmed 90 of 90 inputs" in out
    assert "files     fit the certificates" in out
    code, out, _ = run("verify", folder, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["confirmed"]
    assert facts["verdicts"] == ["confirmed"] * 90


def test_a_certificate_is_checked_without_the_run(run, folder, tmp_path):
    for name in ("certificates.json", "certificates.npz"):
        shutil.copy(folder / name, tmp_path / name)
    assert run("verify", tmp_path / "certificates.json")[0] == 0
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
        (lambda record: record["samples"].update(seed=1), "votes.npz has another seed"),
        (
            lambda record: record["samples"]["select"].update(ranges=[[0, 100], [300, 400]]),
            "range of selection samples",
        ),
        (lambda record: record["samples"]["select"].update(ranges=[[0, 150], [100, 150]]), "do not add up to 200"),
        (lambda record: record["noise"][0].update(p_plus="1/50"), "votes.npz has another noise"),
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
    assert "portions of votes.npz do not add up" in objection(run, folder)


def test_votes_of_another_shape_are_found(run, folder):
    """The same numbers as votes on three times as many inputs of one class, which nobody can turn."""
    votes = fp.Votes.load(folder / "votes.npz")
    tables = (table.reshape(-1, 1).astype(int) for table in (votes.selection, votes.estimation))
    stated = json.loads((folder / "certificates.json").read_text())
    fp.certify(fp.Votes(*tables, votes.noise, votes.n_select, votes.n_estimate)).save(folder / "certificates.json")

    def as_before(record):
        record.update({name: stated[name] for name in ("samples", "space", "versions")})
        record["promise"].update(sampling_error=stated["promise"]["sampling_error"])
        record["hashes"] = stated["hashes"] | {"arrays": record["hashes"]["arrays"]}

    rewrite_json(folder / "certificates.json", as_before)
    assert "votes.npz has other selection votes" in objection(run, folder)


def forged(folder, portion):
    """A run whose votes were changed in one portion, and everything else made to fit."""
    votes = fp.Votes.load(folder / "votes.npz")
    pieces = list(votes.tally.estimate.pieces)
    counts = np.zeros_like(pieces[portion].counts)
    counts[np.arange(len(counts)), votes.selection.argmax(axis=1)] = pieces[portion].samples.count
    assert (counts != pieces[portion].counts).any()
    pieces[portion] = RoleTally(pieces[portion].samples, counts)
    estimate = reduce(RoleTally.merged, pieces)
    replace(votes, estimation=estimate.counts, tally=replace(votes.tally, estimate=estimate)).save(folder / "votes.npz")
    known = RunFolder.open(folder)
    known.update(votes=known.record()["votes"] | {"sha256": sha256_of(folder / "votes.npz")})
    certify_run(folder, force=True)
    return len(pieces) + len(votes.tally.select.pieces)


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
