"""Downloading from a real server: resuming, restarting, mirrors, and refusing what is not the file."""

import gc
import hashlib
import io
import os
import ssl
import sys
import zipfile

import numpy as np
import pytest

import flipproof as fp
from flipproof.datasets.cards.catalogue import Card, StoredForm
from flipproof.datasets.fetching.data_file import DataFile, Member, MissingDataError
from flipproof.datasets.fetching.download import download, open_part, transfer
from flipproof.datasets.loading import load_card
from flipproof.errors import FileFormatError, OutputError
from loopback import UNTRUSTED, cut, ranged, serving, status, whole

CONTENT = np.random.default_rng(7).bytes(200_000)


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as home:
        yield home


def data_file(*urls, content=CONTENT, size=None):
    return DataFile("data.bin", size or len(content), hashlib.sha256(content).hexdigest(), urls)


def part_of(folder):
    return folder / ".data.bin.part"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_and_nothing_else_is_left(home, tmp_path):
    path = download(data_file(home.put("a", ranged(CONTENT))), tmp_path)
    assert path.read_bytes() == CONTENT
    assert names_in(tmp_path) == ["data.bin"]
    assert home.asked == [("/a", None)]


def test_a_broken_connection_is_resumed_where_it_broke(home, tmp_path):
    url = home.put("a", cut(CONTENT, 70_000), cut(CONTENT, 50_000), ranged(CONTENT))
    assert download(data_file(url), tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in home.asked] == [None, "bytes=70000-", "bytes=120000-"]


def test_the_part_of_an_earlier_run_is_resumed(home, tmp_path):
    part_of(tmp_path).write_bytes(CONTENT[:150_000])
    assert download(data_file(home.put("a", ranged(CONTENT))), tmp_path).read_bytes() == CONTENT
    assert home.asked == [("/a", "bytes=150000-")]
    assert names_in(tmp_path) == ["data.bin"]


def test_a_server_that_cannot_resume_is_read_from_the_start(home, tmp_path):
    part_of(tmp_path).write_bytes(CONTENT[:150_000])
    assert download(data_file(home.put("a", whole(CONTENT))), tmp_path).read_bytes() == CONTENT
    assert len(home.asked) == 1


def test_a_part_that_belongs_to_something_else_is_thrown_away(home, tmp_path):
    part_of(tmp_path).write_bytes(b"x" * 1000)
    assert download(data_file(home.put("a", ranged(CONTENT))), tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in home.asked] == ["bytes=1000-", None]


@pytest.mark.parametrize("length", [len(CONTENT), len(CONTENT) + 1])
def test_a_part_that_is_already_long_enough_is_not_asked_for(home, tmp_path, length):
    part_of(tmp_path).write_bytes((CONTENT + b"x")[:length])
    assert download(data_file(home.put("a", ranged(CONTENT))), tmp_path).read_bytes() == CONTENT
    assert len(home.asked) == length - len(CONTENT)


def test_a_server_that_says_nothing_is_missing(home, tmp_path):
    """Status 416: the part is whole, which we cannot know where only the most is known."""
    part_of(tmp_path).write_bytes(CONTENT)
    file = data_file(home.put("a", ranged(CONTENT)), size=len(CONTENT) + 10)
    assert download(file, tmp_path).read_bytes() == CONTENT
    part_of(tmp_path).write_bytes(b"x" * len(CONTENT))
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert [asked for _, asked in home.asked] == ["bytes=200000-", "bytes=200000-", None]


def test_a_wrong_checksum_is_refused_and_removed(home, tmp_path):
    file = data_file(home.put("a", ranged(CONTENT[::-1])))
    with pytest.raises(FileFormatError, match=r"data.bin with sha256 \w{16}, got \w{16}, from http.*, or put a copy"):
        download(file, tmp_path)
    assert names_in(tmp_path) == []
    assert len(home.asked) == 1


def test_what_was_there_before_stays_when_a_download_fails(home, tmp_path):
    (tmp_path / "data.bin").write_bytes(b"old")
    with pytest.raises(FileFormatError):
        download(data_file(home.put("a", ranged(CONTENT[::-1]))), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == b"old"


@pytest.mark.parametrize("bad", [status(404), status(500), ranged(b"<html>sorry</html>"), cut(CONTENT, 0)])
def test_the_next_home_is_tried(home, tmp_path, bad):
    file = data_file(home.put("a", bad), home.put("b", ranged(CONTENT)))
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert home.asked == [("/a", None), ("/b", None)]


def test_the_next_home_goes_on_where_the_first_stopped(home, tmp_path):
    file = data_file(home.put("a", cut(CONTENT, 80_000), status(503)), home.put("b", ranged(CONTENT)))
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert home.asked == [("/a", None), ("/a", "bytes=80000-"), ("/b", "bytes=80000-")]


def test_a_home_that_always_breaks_is_given_up_and_resumed_next_time(home, tmp_path):
    url = home.put("a", cut(CONTENT, 10_000))
    with pytest.raises(MissingDataError, match=r"ended after 30000 of 200000 bytes .*; try again to resume, or put a"):
        download(data_file(url), tmp_path)
    assert part_of(tmp_path).read_bytes() == CONTENT[:30_000]


def test_no_home_has_it(home, tmp_path):
    file = data_file(home.put("a", status(404)), home.put("b", status(410)))
    with pytest.raises(
        MissingDataError, match=rf"^expected to download data.bin, got: HTTP status 410 \(.*{tmp_path}$"
    ):
        download(file, tmp_path)
    assert names_in(tmp_path) == []


def test_nobody_listens(home, tmp_path):
    with serving() as gone:
        url = gone.url("a")
    with pytest.raises(MissingDataError, match="refused"):
        download(data_file(url), tmp_path)


@pytest.mark.parametrize("length", [True, False])
def test_more_bytes_than_expected_are_not_taken(home, tmp_path, length):
    file = data_file(home.put("a", whole(CONTENT + b"x" * 100_000, length)))
    with pytest.raises(FileFormatError, match="expected at most 200000 bytes, got"):
        download(file, tmp_path)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("url", ["http://example.org/a", "file:///etc/hosts", "ftp://127.0.0.1/a"])
def test_only_https_leaves_the_machine(tmp_path, url):
    with pytest.raises(MissingDataError, match="expected an https address, got"):
        download(data_file(url), tmp_path)


def test_redirections_are_followed_but_not_away_from_https(home, tmp_path):
    target = home.put("b", ranged(CONTENT))
    assert download(data_file(home.put("a", status(302, Location=target))), tmp_path).read_bytes() == CONTENT
    with pytest.raises(MissingDataError, match=r"got a redirection to http://example\.org/a"):
        download(data_file(home.put("a", status(301, Location="http://example.org/a"))), tmp_path)


@pytest.fixture
def safe_home(home):
    """A home over TLS whose certificate nobody trusts."""
    with serving(UNTRUSTED) as safe_home:
        yield safe_home


def trust(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(UNTRUSTED))


def test_a_home_with_a_certificate_that_nobody_trusts_is_refused(safe_home, tmp_path):
    file = data_file(safe_home.put("a", ranged(CONTENT)))
    with pytest.raises(MissingDataError, match=r"got: .*CERTIFICATE_VERIFY_FAILED.*self.signed certificate"):
        download(file, tmp_path)
    assert safe_home.asked == []
    assert names_in(tmp_path) == []


def test_not_even_where_the_rest_of_the_process_trusts_everybody(safe_home, tmp_path, monkeypatch):
    """As programs do that were in a hurry."""
    monkeypatch.setattr(ssl, "_create_default_https_context", ssl._create_unverified_context)
    with pytest.raises(MissingDataError, match="CERTIFICATE_VERIFY_FAILED"):
        download(data_file(safe_home.put("a", ranged(CONTENT))), tmp_path)


def test_a_certificate_that_is_trusted_is_enough(safe_home, tmp_path, monkeypatch):
    trust(monkeypatch)
    assert download(data_file(safe_home.put("a", ranged(CONTENT))), tmp_path).read_bytes() == CONTENT


def test_a_certificate_of_another_host_is_refused(safe_home, tmp_path, monkeypatch):
    trust(monkeypatch)
    monkeypatch.setenv("no_proxy", "localhost")
    safe_home.put("a", ranged(CONTENT))
    with pytest.raises(MissingDataError, match=r"not valid for 'localhost'|Hostname mismatch"):
        download(data_file(safe_home.url("a", host="localhost")), tmp_path)


def test_a_redirection_from_https_to_this_machine_is_refused(home, safe_home, tmp_path, monkeypatch):
    """A server out there must not make us ask those in here."""
    trust(monkeypatch)
    inside = home.put("b", ranged(CONTENT))
    with pytest.raises(MissingDataError, match=r"expected an https address, got a redirection to http://127\.0\.0\.1"):
        download(data_file(safe_home.put("a", status(302, Location=inside))), tmp_path)
    assert home.asked == []


@pytest.mark.parametrize(
    "location",
    ["https://[bad", "https://127.0.0.1:99999999/", "//", "\x1b[2J", "https://\xe9.example:x/", "https://a b/", ""],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_redirections_to_nowhere_are_one_line(home, tmp_path, location):
    with pytest.raises(MissingDataError, match=r"^expected to download data.bin, got: ") as caught:
        download(data_file(home.put("a", status(302, Location=location))), tmp_path)
    assert str(caught.value).isprintable()
    del caught
    gc.collect()  # Python's own library leaves the answer open when it cannot read the address


@pytest.mark.parametrize("length", ["9" * 5_000, "\xb2", "-1", "1e3", "0x10"])
def test_lengths_that_are_none(home, tmp_path, length):
    def answer(handler, start):
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(CONTENT)

    assert download(data_file(home.put("a", answer)), tmp_path).read_bytes() == CONTENT


def test_all_homes_of_all_datasets_are_https():
    urls = [url for card in fp.datasets.cards() for form in card.forms for file in form.files for url in file.urls]
    assert len(urls) > 10
    assert {url.partition(":")[0] for url in urls} == {"https"}
    for card in fp.datasets.cards():
        for file in card.home.files:
            assert file.sha256 or all(member.sha256 for member in file.members), file.name


def test_what_arrives_is_not_written_through_a_link(home, tmp_path):
    (tmp_path / "precious").write_bytes(b"mine")
    part_of(tmp_path).symlink_to(tmp_path / "precious")
    with pytest.raises(OutputError, match="expected to be able to write"):
        download(data_file(home.put("a", ranged(CONTENT))), tmp_path)
    assert (tmp_path / "precious").read_bytes() == b"mine"


def test_a_pipe_in_place_of_a_part_is_not_waited_for(home, tmp_path):
    os.mkfifo(part_of(tmp_path))
    with pytest.raises(OutputError, match="it is no file"):
        download(data_file(home.put("a", ranged(CONTENT))), tmp_path)


def test_an_interrupt_leaves_the_part_for_resuming(home, tmp_path):
    url = home.put("a", ranged(CONTENT))

    def interrupt(there, of):
        if there:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_part(tmp_path / "data.bin") as part:
        transfer(url, part, len(CONTENT), interrupt)
    assert part_of(tmp_path).read_bytes() == CONTENT[: 2**16]
    assert download(data_file(url), tmp_path).read_bytes() == CONTENT
    assert home.asked[1] == ("/a", "bytes=65536-")


def test_two_processes_do_not_disturb_each_other(home, tmp_path):
    url = home.put("a", ranged(CONTENT))
    with open_part(tmp_path / "data.bin") as first:
        first.write(CONTENT[:1000])
        assert download(data_file(url), tmp_path).read_bytes() == CONTENT
        first.write(CONTENT[1000:2000])
        assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert part_of(tmp_path).read_bytes() == CONTENT[:2000]
    assert names_in(tmp_path) == [".data.bin.part", "data.bin"]


def test_a_failed_download_beside_another_leaves_nothing(home, tmp_path):
    with open_part(tmp_path / "data.bin"), pytest.raises(MissingDataError, match="ended after"):
        download(data_file(home.put("a", cut(CONTENT, 10_000))), tmp_path)
    assert names_in(tmp_path) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_how_far_it_is(home, tmp_path, monkeypatch):
    part_of(tmp_path).write_bytes(CONTENT[:150_000])
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", Terminal())
    download(data_file(home.put("a", ranged(CONTENT))), tmp_path)
    assert "data.bin" in sys.stderr.getvalue()
    assert "200.0/200.0 kB" in sys.stderr.getvalue()


def test_nothing_is_shown_elsewhere(home, tmp_path, capfd):
    download(data_file(home.put("a", ranged(CONTENT))), tmp_path)
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match="expected to be able to write"):
        download(data_file(), tmp_path / "nowhere")


def zip_of(**texts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file.getvalue()


def test_an_archive_may_be_pinned_by_its_members(home, tmp_path):
    member = Member("text", 6, hashlib.sha256(b"a\nb\nc\n").hexdigest())
    for name, content in (("lf", zip_of(text=b"a\nb\nc\n")), ("crlf", zip_of(text=b"a\r\nb\r\nc\r\n", more=b"x"))):
        file = DataFile("data.bin", 1000, None, (home.put(name, ranged(content)),), (member,))
        assert download(file, tmp_path).read_bytes() == content
    for name, content, reason in (
        ("other", zip_of(text=b"a\nb\nd\n"), "expected text with sha256"),
        ("long", zip_of(text=b"a" * 500), "unpacks to more bytes"),
        ("none", zip_of(more=b"x"), "it has no member text"),
        ("garbage", b"garbage", "it is no zip file .BadZipFile"),
    ):
        file = DataFile("data.bin", 1000, None, (home.put(name, ranged(content)),), (member,))
        with pytest.raises(FileFormatError, match=reason):
            download(file, tmp_path)


def card_of(*files):
    return Card(
        "mine", "text", "", 0, 0, None, None, None, None, None, "", "elsewhere", "",
        (StoredForm(files, lambda found: found),),
    )  # fmt: skip


def test_loading_fetches_once_into_the_folder_of_the_variable(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path / "new" / "data"))
    card = card_of(data_file(home.put("a", ranged(CONTENT))))
    for _ in range(2):
        assert load_card(card) == {"data.bin": CONTENT}
    assert len(home.asked) == 1
    assert names_in(tmp_path / "new" / "data") == ["data.bin"]


def test_loading_fetches_into_the_cache_where_the_variable_names_no_folder(home, tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path / "file" / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load_card(card_of(data_file(home.put("a", ranged(CONTENT))))) == {"data.bin": CONTENT}
    assert names_in(tmp_path / "cache" / "flipproof") == ["data.bin"]


def test_loading_without_download_asks_nobody(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    card = card_of(data_file(home.put("a", ranged(CONTENT))))
    line = (
        rf"^expected data.bin for the dataset mine, got no copy in {tmp_path} or .*/cache/flipproof; put one \(sha256 "
    )
    with pytest.raises(MissingDataError, match=line + r"\w{64}\) there, or allow the download$"):
        load_card(card, download=False)
    assert home.asked == []


def test_a_wrong_file_in_the_folder_is_refused(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path))
    (tmp_path / "data.bin").write_bytes(CONTENT[:-1])
    line = rf"^expected data.bin with sha256 \w{{16}}, got \w{{16}} in {tmp_path}/data.bin; delete it"
    with pytest.raises(FileFormatError, match=line):
        load_card(card_of(data_file(home.put("a", ranged(CONTENT)))))
    assert home.asked == []
    assert (tmp_path / "data.bin").read_bytes() == CONTENT[:-1]
