"""Hostile JSON in every file that has some: run records, certificates, rows, and the descriptions of archives."""

import json

import pytest
from hostile_loaders import ARCHIVES, JSON_FILES, members_of, refusal, zip_again

TEXTS = {
    "deep lists": lambda text: b"[" * 10**6,
    "deep objects": lambda text: b'{"a":' * 10**6,
    "deep inside": lambda text: text.rstrip()[:-1] + b', "more": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    "a long number": lambda text: text.rstrip()[:-1] + b', "more": ' + b"9" * 10**5 + b"}",
    "a number beyond floats": lambda text: text.rstrip()[:-1] + b', "more": 1e999}',
    "NaN": lambda text: text.rstrip()[:-1] + b', "more": NaN}',
    "Infinity": lambda text: text.rstrip()[:-1] + b', "more": [-Infinity]}',
    "a name twice": lambda text: text.rstrip()[:-1] + b', "version": 1}',
    "half of a letter": lambda text: text.rstrip()[:-1] + b', "more": "\\ud83d"}',
    "a command for the terminal": lambda text: text.rstrip()[:-1] + b', "more": {"\\u001b[2J": 1}}',
    "no UTF-8": lambda text: text.replace(b'"format"', b'"\xff"', 1),
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "a NUL": lambda text: text.replace(b'"format"', b'"for\x00mat"', 1),
    "no object": lambda text: b"[]",
    "nothing": lambda text: b"",
}
EVERY_TEXT = pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)


@EVERY_TEXT
@pytest.mark.parametrize("loader", JSON_FILES.values(), ids=JSON_FILES)
def test_json_files(loader, change, tmp_path):
    path = tmp_path / loader.name
    loader.write(path)
    path.write_bytes(change(path.read_bytes()))
    assert str(path) in refusal(loader, path)


@EVERY_TEXT
@pytest.mark.parametrize("loader", ARCHIVES.values(), ids=ARCHIVES)
def test_descriptions_of_archives(loader, change, tmp_path):
    path = tmp_path / loader.name
    loader.write(path)
    members = members_of(path)
    zip_again(path, [*(members | {"metadata.json": change(members["metadata.json"])}).items()])
    assert str(path) in refusal(loader, path)


@pytest.mark.parametrize("loader", (ARCHIVES | JSON_FILES).values(), ids=ARCHIVES | JSON_FILES)
def test_a_version_of_a_million_letters_is_not_repeated(loader, tmp_path):
    path = tmp_path / loader.name
    loader.write(path)
    if path.suffix == ".json":
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps(record | {"version": "\x1b[2J" * 250_000}))
    else:
        members = members_of(path)
        record = json.loads(members["metadata.json"])
        changed = json.dumps(record | {"version": "\x1b[2J" * 250_000})
        zip_again(path, [*(members | {"metadata.json": changed}).items()])
    assert "version" in refusal(loader, path)
