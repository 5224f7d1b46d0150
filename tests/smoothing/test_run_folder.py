"""The run folder: made once, opened again, refused when it is something else."""

import json

import pytest

import flipproof as fp
from flipproof.smoothing.run_folder import RunFolder

TASK = {"dataset": "planted", "seed": 0}


def test_a_folder_knows_its_task_and_what_was_done(tmp_path):
    folder = RunFolder.create(tmp_path / "deep" / "run", TASK)
    folder.update(training={"epochs": 3})
    opened = RunFolder.open(str(folder.path))
    assert opened.record() == {"task": TASK, "training": {"epochs": 3}}
    assert opened.section("training", "flipproof train") == {"epochs": 3}
    with pytest.raises(fp.FileFormatError, match=r"expected .* to have its votes, got none; run flipproof vote first"):
        opened.section("votes", "flipproof vote")


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(fp.OutputError, match=r"expected a new or empty folder, got .* with other things in it"):
        RunFolder.create(tmp_path, TASK)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "run"
    path.write_text("")
    with pytest.raises(fp.OutputError, match="expected to be able to write"):
        RunFolder.create(path, TASK)
    with pytest.raises(fp.InvalidInputError, match=r"expected a run folder, got .*, which is not there"):
        RunFolder.open(path)


def test_a_half_written_folder_is_told_from_a_run(tmp_path):
    with pytest.raises(fp.FileFormatError, match=r"got .* without run\.json; see flipproof train"):
        RunFolder.open(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "which is no JSON"),
        ("[" * 100_000, "which is no JSON"),
        ("{", "which is no JSON"),
        ("[]", "which is something else"),
        ('{"format": "other"}', "which is something else"),
        ('{"format": "flipproof-run", "version": 2, "task": {}}', "of version 1, got .* of version 2; use the"),
        ('{"format": "flipproof-run", "version": true, "task": {}}', "of version True"),
        ('{"format": "flipproof-run", "version": 1}', "to say what was asked, got no task"),
    ],
)  # fmt: skip
def test_a_record_of_something_else_is_refused(tmp_path, text, words):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(fp.FileFormatError, match=words):
        RunFolder.open(tmp_path)


def test_files_are_known_by_their_hash(tmp_path):
    folder = RunFolder.create(tmp_path / "run", TASK)
    sha256 = folder.write(folder.weights_file, b"weights")
    assert folder.check(folder.weights_file, sha256, "flipproof train") == b"weights"
    folder.weights_file.write_bytes(b"weightz")
    with pytest.raises(fp.FileFormatError, match=r"as run\.json knows it, got another; run flipproof train again"):
        folder.check(folder.weights_file, sha256, "flipproof train")
    folder.weights_file.unlink()
    with pytest.raises(fp.FileFormatError, match="got: No such file"):
        folder.check(folder.weights_file, sha256, "flipproof train")


def test_the_record_is_plain_json(tmp_path):
    folder = RunFolder.create(tmp_path / "run", TASK)
    record = json.loads(folder.record_file.read_text())
    assert (record["format"], record["version"]) == ("flipproof-run", 1)
