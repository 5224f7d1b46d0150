"""Texts and sequences that are refused: every error says what to do, and doing it works."""

import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.errors import InvalidInputError
from tests.door.texts_and_models import LABELS, NUMBERS, REPLACED, SOME, TEXTS, prizes


def test_a_single_text(tmp_path):
    with pytest.raises(InvalidInputError, match=r"got a single text 'see you'; put it into a list: \[text\]"):
        prizes("see you")
    assert len(prizes(["see you"])) == 1


@pytest.mark.parametrize("missing", [None, float("nan"), 3])
def test_a_text_that_is_missing(missing):
    texts = ["a", missing, "b"]
    with pytest.raises(InvalidInputError, match=r"expected texts, got .* in row 1; give a missing text as the empty"):
        prizes(texts)
    assert len(prizes([text if isinstance(text, str) else "" for text in texts])) == 3


def test_a_missing_text_of_pandas():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["a", None, "b"])
    with pytest.raises(InvalidInputError, match="in row 1; give a missing text as the empty text ''"):
        prizes(series)
    assert len(prizes(series.fillna(""))) == 3


def test_noise_that_adds_words():
    texts = fp.Texts(SOME)
    with pytest.raises(
        InvalidInputError, match=r"expected FlipNoise\(0.0, p\), which deletes words, or, .*categories="
    ):
        prizes(texts, fp.FlipNoise(0.1, 0.3))
    assert prizes(texts, fp.FlipNoise(0.1, 0.1, categories=texts.categories)).scope.closes_gaps is False
    with pytest.raises(InvalidInputError, match="leave out vocabulary= to delete words"):
        prizes(fp.Texts(SOME, vocabulary=["you", "free", "prize"]), fp.FlipNoise(0.0, 0.3))
    with pytest.raises(InvalidInputError, match=r"expected FlipNoise\(0.0, p\) for texts with a mask.*leave out mask="):
        prizes(fp.Texts(SOME, mask="#"), REPLACED)


def test_tokenizers_that_are_none():
    with pytest.raises(InvalidInputError, match=r"from a text to a list of tokens, got int; tokenizer=str.split"):
        prizes(tokenizer=3)
    with pytest.raises(InvalidInputError, match="expected the tokenizer to return a list of texts, got str for text 0"):
        prizes(tokenizer=str.lower)
    with pytest.raises(InvalidInputError, match="got one with 70 for text 0; give a function such as lambda"):
        prizes(tokenizer=lambda text: list(text.encode()))
    assert prizes(tokenizer=lambda text: [str(each) for each in text.encode()]).scope.closes_gaps


def test_a_tokenizer_of_other_data():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": SOME})
    with pytest.raises(
        InvalidInputError, match=r"a tokenizer only with a list of texts, got DataFrame; .*give one column"
    ):
        prizes(frame, tokenizer=str.split)
    assert len(prizes(frame["text"], tokenizer=str.split)) == len(SOME)
    with pytest.raises(InvalidInputError, match=r"give it to the space: Texts\(texts, tokenizer=...\)"):
        prizes(fp.Texts(SOME), tokenizer=str.split)
    with pytest.raises(InvalidInputError, match="a tokenizer only with a list of texts, got list"):
        prizes([[0, 1]], tokenizer=str.split)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"mask": "#", "vocabulary": ["a", "b"]}, "expected a mask, or a vocabulary .* got both"),
        ({"mask": 3}, r"expected mask to be a text such as '\[MASK\]', got 3"),
        ({"vocabulary": ["a"]}, "expected at least two tokens in vocabulary, each once, got 1"),
        ({"vocabulary": ["a", "a", "b"]}, "each once, got 3"),
        ({"join": " "}, "expected join to be a function from tokens to a text, got ' '"),
    ],
)
def test_texts_that_do_not_fit(how, message):
    with pytest.raises(InvalidInputError, match=message):
        fp.Texts(SOME, **how)
    with pytest.raises(InvalidInputError, match="expected a list of texts, got list"):
        fp.Texts([1, 2])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"mask": 9}, "expected a mask, which keeps tokens in their places, or gaps='closed', got both"),
        ({"padding": 5}, "expected padding behind the tokens for gaps='closed', got one behind padding in row 0"),
        ({"gaps": "open"}, "gaps"),
    ],
)
def test_tokens_that_do_not_fit(how, message):
    with pytest.raises(InvalidInputError, match=message):
        fp.Tokens(NUMBERS, **{"gaps": "closed"} | how)


def test_noise_that_does_not_delete():
    tokens = fp.Tokens(NUMBERS, 0, gaps="closed")
    with pytest.raises(
        InvalidInputError, match=r"expected FlipNoise\(0.0, p\), which deletes tokens, for gaps='closed'"
    ):
        tokens.sampler(fp.FlipNoise(0.1, 0.2), 0)


def test_noise_with_names_of_parts():
    joint = fp.JointNoise(tokens=fp.FlipNoise(0.0, 0.5))
    with pytest.raises(InvalidInputError, match=r"expected a FlipNoise for texts, such as FlipNoise\(0.0, 0.7\)"):
        prizes(SOME, joint)
    with pytest.raises(InvalidInputError, match=r"expected FlipNoise\(0.0, p\), which deletes tokens"):
        fp.Tokens(NUMBERS, 0, gaps="closed").sampler(joint, 0)


def test_reprs_are_short():
    assert repr(fp.Texts(SOME)) == f"Texts({len(SOME)} texts of {fp.Texts(SOME).codes.size} tokens)"
    assert repr(fp.Texts(SOME, mask="#")).endswith("tokens, mask='#')")
    assert len(TEXTS) == len(LABELS)


@pytest.mark.parametrize("texts", [[b"a b", b"c"], np.array([b"a b", b"c"])], ids=["list", "array"])
def test_bytes(texts):
    with pytest.raises(InvalidInputError, match=r"expected texts, got b'a b'; decode them: \[text.decode\(\) for"):
        prizes(texts)
    assert len(prizes([text.decode() for text in texts])) == 2


def test_lists_of_tokens():
    given = [["a", "b"], ["c"]]
    with pytest.raises(InvalidInputError, match=r"expected a text in each row, got a list of 2, .*join them: \['"):
        prizes(given)
    assert fp.Texts([" ".join(tokens) for tokens in given], tokenizer=str.split).tokens_of(0) == given[0]


def test_tokenizers_that_are_random():
    calls = itertools.count()
    with pytest.raises(InvalidInputError, match="cuts a text in the same way each time, got other tokens for text 0"):
        fp.Texts(["a b"], tokenizer=lambda text: [text, str(next(calls))])


def test_tokenizers_that_cut_off_or_fill_up():
    tokenizers = pytest.importorskip("tokenizers")
    cutting = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    cutting.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    cutting.enable_truncation(2)
    with pytest.raises(InvalidInputError, match=r"gives all tokens, got truncation: call no_truncation\(\)"):
        fp.Texts(["a b a"], tokenizer=cutting)
    cutting.no_truncation()
    assert fp.Texts(["a b a"], tokenizer=cutting).lengths.tolist() == [3]
