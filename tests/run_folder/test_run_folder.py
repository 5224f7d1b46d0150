"""The run folder: made once, opened again, refused when it is something else."""

import json

import pytest

import flipproof as fp
from flipproof.run_folder.folder import RunFolder

TASK = {"dataset": "planted", "seed": 0}


def test_a_folder_knows_its_task_and_what_was_done(tmp_path):
    folder = RunFolder.prepare(tmp_path / "deep" / "run")
    folder.begin(task=TASK)
    folder.update(training={"epochs": 3})
    opened = RunFolder.open(str(folder.path))
    assert opened.record() == {"task": TASK, "training": {"epochs": 3}}
    assert opened.section("training") == {"epochs": 3}
    with pytest.raises(fp.FileFormatError, match=r"expected .* to have its votes, got none; run flipproof vote first"):
        opened.section("votes")


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(fp.OutputError, match=r"expected a new or empty folder, got .* with thesis\.txt; name"):
        RunFolder.prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "run"
    path.write_text("")
    with pytest.raises(fp.OutputError, match="expected to be able to write"):
        RunFolder.prepare(path)
    with pytest.raises(fp.InvalidInputError, match=r"expected a run folder, got .*, which is no folder"):
        RunFolder.open(path)


def test_a_half_written_folder_is_told_from_a_run(tmp_path):
    with pytest.raises(fp.FileFormatError, match=r"got .* without run\.json; see flipproof train"):
        RunFolder.open(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is no JSON"),
        ("[" * 100_000, "nested more than 64 deep"),
        ("{", "it is no JSON"),
        ("[]", "which is something else"),
        ('{"format": "other"}', "which is something else"),
        ('{"format": "flipproof-run", "version": 2, "task": {}}', "of version 1, got .* of version 2; use the"),
        ('{"format": "flipproof-run", "version": true, "task": {}}', "of version True"),
        ('{"format": "flipproof-run", "version": 1}', "to have a task, got none"),
    ],
)  # fmt: skip
def test_a_record_of_something_else_is_refused(tmp_path, text, words):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(fp.FileFormatError, match=words):
        RunFolder.open(tmp_path)


def test_files_are_known_by_their_hash(tmp_path):
    folder = RunFolder.prepare(tmp_path / "run")
    sha256 = folder.write(folder.weights_file, b"weights")
    assert folder.check(folder.weights_file, sha256, "flipproof train") == b"weights"
    folder.weights_file.write_bytes(b"weightz")
    with pytest.raises(fp.FileFormatError, match=r"as run\.json knows it, got another; run flipproof train again"):
        folder.check(folder.weights_file, sha256, "flipproof train")
    folder.weights_file.unlink()
    with pytest.raises(fp.FileFormatError, match="got: No such file"):
        folder.check(folder.weights_file, sha256, "flipproof train")


def test_the_record_is_plain_json(tmp_path):
    folder = RunFolder.prepare(tmp_path / "run")
    folder.begin(task=TASK)
    record = json.loads(folder.record_file.read_text())
    assert (record["format"], record["version"]) == ("flipproof-run", 1)


def test_leftovers_of_a_killed_process_do_not_stand_in_the_way(tmp_path):
    for name in (".flipproof-abc.part", ".lock", "weights.safetensors", "votes.checkpoint"):
        (tmp_path / name).write_bytes(b"")
    assert not RunFolder.prepare(tmp_path).exists
    with RunFolder(tmp_path).locked():
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "votes.checkpoint", "weights.safetensors"]


def test_the_run_of_another_program_is_left_alone(tmp_path):
    (tmp_path / "run.json").write_text('{"name": "mine"}')
    with pytest.raises(fp.FileFormatError, match="which is something else"):
        RunFolder.prepare(tmp_path)
    (tmp_path / "run.json").write_text('{"format": "flipproof-run", "version": 0}')
    RunFolder.prepare(tmp_path)  # an older one of ours may be given up


def test_only_one_process_at_a_time(tmp_path):
    folder = RunFolder.prepare(tmp_path)
    other = RunFolder(tmp_path).locked()
    with folder.locked(), pytest.raises(fp.OutputError, match="is in use by another process"):
        other.__enter__()
    with folder.locked():
        pass


def test_what_is_forgotten_is_gone_with_its_files(tmp_path):
    folder = RunFolder.prepare(tmp_path)
    folder.begin(task=TASK, training={}, votes={}, certificates={})
    names = ("weights.safetensors", "votes.npz", "votes.checkpoint", "certificates.json", "certificates.npz")
    for name in names:
        (tmp_path / name).write_bytes(b"")
    folder.forget("votes", "certificates")
    assert folder.record() == {"task": TASK, "training": {}}
    assert [name for name in names if (tmp_path / name).exists()] == ["weights.safetensors"]
    folder.forget("training")
    assert not folder.exists


@pytest.mark.parametrize(
    "name", ["run.json", ".lock", "weights.safetensors", "votes.checkpoint", "report.html", "figures"]
)
@pytest.mark.parametrize("use", [RunFolder.open, RunFolder.prepare])
def test_links_in_a_folder_from_elsewhere_are_not_written_through(tmp_path, name, use):
    folder = RunFolder.prepare(tmp_path / "run")
    folder.begin(task={"kind": "nodes"})
    precious = tmp_path / "precious"
    precious.write_bytes(folder.record_file.read_bytes())
    (folder.path / name).unlink(missing_ok=True)
    (folder.path / name).symlink_to(precious)
    with pytest.raises(
        fp.FileFormatError, match=f"^expected plain files in .*run, got {name}, which is something else; "
    ):
        use(folder.path)


def test_a_folder_may_itself_be_a_link(tmp_path):
    RunFolder.prepare(tmp_path / "run").begin(task={"kind": "nodes"})
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert RunFolder.open(tmp_path / "link").record() == {"task": {"kind": "nodes"}}
