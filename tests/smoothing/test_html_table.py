"""Votes and certificates in a notebook: a small table in which names are text and nothing else."""

from html.parser import HTMLParser

import pytest

import flipproof as fp

EVIL = "<script>alert('x')</script><img src=x onerror=\"y()\">&amp;"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert not attributes
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def votes(inputs=2, classes=2, names=True):
    counts = [[90] + [10] * (classes - 1)] * inputs
    named = {"input_names": [EVIL] * inputs, "class_names": [EVIL] * classes} if names else {}
    shape = {} if inputs else {"n_select": 5, "n_estimate": 5}
    if not inputs:
        counts = fp.Votes.from_counts(selection=[[1] * classes], estimation=[[1] * classes], noise=NOISE).selection[:0]
    return fp.Votes.from_counts(selection=counts, estimation=counts, noise=NOISE, **named, **shape)


NOISE = fp.FlipNoise(0.01, 0.6)


@pytest.mark.parametrize("shown", [votes, lambda **shape: fp.certify(votes(**shape))])
@pytest.mark.parametrize("shape", [{}, {"inputs": 0}, {"inputs": 1000, "classes": 30}, {"names": False}])
def test_names_are_text_and_the_table_is_small(shown, shape):
    value = shown(**shape)
    html = value._repr_html_()
    page = Tags(html)
    assert set(page.tags) <= {"p", "table", "tr", "th", "td"}
    assert page.tags.count("tr") == 1 + min(10, len(value))
    assert repr(value) in page.texts
    assert len(html) < 40_000
    if len(value) and shape.get("names", True):
        assert any(EVIL in text for text in page.texts)
    if len(value) > 10:
        assert f"{len(value) - 10:,} more" in page.texts


def test_a_table_has_the_counts_and_the_radii():
    page = Tags(votes(names=False)._repr_html_())
    assert page.texts[1:7] == ["input", "class 0", "class 1", "0", "90", "10"]
    certificates = fp.certify(votes(names=False))
    texts = Tags(certificates._repr_html_()).texts
    assert texts[1:7] == ["input", "label", "abstained", "max_any", "max_add", "max_delete"]
    assert texts[7:13] == ["0", "0", "False", *(str(certificates.to_columns()[f"max_{a}"][0]) for a in AXES)]


AXES = ("any", "add", "delete")
