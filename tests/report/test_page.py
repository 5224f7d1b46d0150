"""The HTML around the data: nothing in it comes from elsewhere, nothing in the data can get out of its element."""

import base64
import hashlib
import re

import numpy as np
import pytest

import flipproof as fp
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.report_files import page, write_page
from flipproof.report.section import Section
from page_data import data_of

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "{{script}}{{data}}",
    "]]> & < > \" ' \u2028 \ud800",
)


def section(name="a run", **described):
    votes = fp.Votes.from_counts(selection=[[9, 1]] * 5, estimation=[[990, 10]] * 5, noise=fp.FlipNoise(0.01, 0.6))
    return Section(name, fp.certify(votes), DescribedInputs(**described))


def scripts_of(html):
    return re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)


def test_only_the_scripts_of_the_page_may_run():
    html = page([section()])
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', html)
    sums = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts_of(html)]
    assert len(sums) == 2
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{sums[0]}' 'sha256-{sums[1]}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def test_hostile_texts_stay_data():
    hostile = section(HOSTILE[1], names=HOSTILE, texts=HOSTILE, class_names=HOSTILE[:2])
    html, harmless = page([hostile]), page([section()])
    assert scripts_of(html) == scripts_of(harmless)
    assert html.count("<script") == harmless.count("<script")
    (run,) = data_of(html)["runs"]
    assert run["name"] == HOSTILE[1]
    assert tuple(run["table"]["name"]) == tuple(run["pictures"]["texts"]) == HOSTILE
    assert run["classes"] == list(HOSTILE[:2])
    assert "<title>&lt;/script&gt;&lt;script&gt;alert(2)&lt;/script&gt;</title>" in html


def test_it_is_the_same_every_time(tmp_path):
    for path in (tmp_path / "one.html", tmp_path / "two.html"):
        write_page(path, [section(), section("another")])
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_half_a_character_in_a_name_is_no_obstacle(tmp_path):
    write_page(tmp_path / "page.html", [section("half \ud800")])
    assert data_of((tmp_path / "page.html").read_text(encoding="utf-8"))["runs"][0]["name"] == "half \ud800"


def test_no_address_is_in_the_page_but_those_plotly_never_asks():
    ours = page([section()])
    for script in scripts_of(ours)[:1]:
        ours = ours.replace(script, "")
    addresses = set(re.findall(r"https?://[\w./-]+", ours))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_no_runs():
    with pytest.raises(fp.InvalidInputError, match="expected at least one run to report on, got none"):
        page([])


def test_a_hundred_thousand_inputs_fit(rng):
    """Of the worst kind: many classes, images that cannot be compressed, long names and texts of six bytes a letter."""
    inputs, classes, samples = 100_000, 100, 100_000
    shares = rng.dirichlet([20.0] + [0.1] * (classes - 1), inputs)
    votes = fp.Votes(
        selection=rng.multinomial(1_000, shares),
        estimation=rng.multinomial(samples, shares),
        noise=fp.FlipNoise(0.3, 0.8, categories=256),
        n_select=1_000,
        n_estimate=samples,
    )
    texts = tuple(f"{i} " + 30 * "\u0436" for i in range(inputs))
    described = DescribedInputs(
        labels=rng.integers(0, classes, inputs),
        names=texts,
        texts=texts,
        space=fp.DenseRows(rng.integers(0, 256, (inputs, 8, 8, 3)).astype(np.uint8)),
        image_shape=(8, 8, 3),
    )
    assert len(page([Section("large", fp.certify(votes), described)]).encode()) < 20_000_000
