"""Words, vocabularies, bags and sequences; messages that are there twice or have no words."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipproof as fp
from flipproof.datasets import TextDataset, Vocabulary
from flipproof.datasets.kinds.text_dataset import words_of

MESSAGES = ["Win £50 now! now", "call me", "Call NOW?", "me and you", "win 50"]


def test_words():
    assert " ".join(words_of("It's 5pm!! Pay $3.50 £2?")) == "it s 5 pm ! ! pay $ 3 50 £ 2 ?"
    assert words_of("Ünder_score, ÀÉ ...:-)") == ["ünder", "score", "àé"]
    assert words_of("Привет, 世界! \u0662\u0663x") == ["привет", "世界", "!", "\u0662\u0663", "x"]
    assert words_of("") == []


def test_the_most_frequent_come_first_then_the_alphabet():
    assert Vocabulary.learned(MESSAGES, least=2).words == ("(other)", "50", "call", "me", "now", "win")
    assert Vocabulary.learned(["b a", "b a", "b"], least=1).words == ("(other)", "b", "a")
    assert Vocabulary.learned(MESSAGES, least=1, most=3).words == ("(other)", "50", "call", "me")
    assert len(Vocabulary.learned(MESSAGES, least=1)) == 11


def test_bags_see_each_known_word_once():
    vocabulary = Vocabulary.learned(MESSAGES, least=2)
    bags = vocabulary.bags(["now NOW now 50", "nothing known", ""])
    assert bags.toarray().tolist() == [[0, 1, 0, 0, 1, 0], [0] * 6, [0] * 6]
    assert (bags.dtype, fp.SparseRows(bags).ones) == (np.float32, 2)


def test_sequences_are_cut_and_filled():
    vocabulary = Vocabulary.learned(MESSAGES, least=2)
    tokens = vocabulary.tokens(iter(["win you 50", "call me now now call"]), length=4)
    assert tokens.tolist() == [[5, 0, 1, 6], [2, 3, 4, 4]]
    assert tokens.dtype == np.int64
    assert vocabulary.tokens([], length=2).shape == (0, 2)
    for mask in (None, 6):
        assert fp.Tokens(tokens, padding=6, mask=mask).lengths.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda v: v.tokens(["me", "you", ":-)"], 3), "expected messages with words, got message 2 without any: ':-)'"),
        (lambda v: v.tokens(["me"], 0), "expected length from 1 to 16777216, got 0"),
        (lambda v: v.tokens("me", 3), "expected messages to be a list of texts, got 'me'"),
        (lambda v: v.bags(["me", 3]), "expected messages to be a list of texts, got one with 3"),
        (lambda v: v.bags(["me", None]), "expected messages to be a list of texts, got one with None"),
        (lambda v: Vocabulary.learned(["a", "b"], least=2), "expected a word that is in at least 2 messages, got none"),
        (lambda v: Vocabulary.learned(["a"], least=1, most=0), "got none"),
        (lambda v: Vocabulary(("(other)",)), "expected '(other)' and at least one word, got ('(other)',)"),
        (lambda v: Vocabulary(("me", "you")), "expected '(other)' and at least one word, got ('me', 'you')"),
        (lambda v: Vocabulary(("(other)", "me", "you", "me")), "expected every word once, got 'me' twice"),
        (lambda v: Vocabulary(("(other)", "Me")), "of digits, or one of £ $ ! ?, got 'Me'"),
        (lambda v: Vocabulary(("(other)", "Über")), "of digits, or one of £ $ ! ?, got 'Über'"),
        (lambda v: Vocabulary(("(other)", "ab12")), "of digits, or one of £ $ ! ?, got 'ab12'"),
        (lambda v: Vocabulary(("(other)", "")), "of digits, or one of £ $ ! ?, got ''"),
        (lambda v: Vocabulary(("(other)", 3)), "expected words to be a list of texts, got one with 3"),
    ],
)
def test_what_is_refused(call, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        call(Vocabulary.learned(MESSAGES, least=2))


def test_texts_that_are_there_twice_or_have_no_words():
    data = TextDataset("few", ("b", "...", "a", "b", "a", "c"), [1, 0, 0, 0, 1, 1], ("ham", "spam"))
    distinct = data.distinct()
    assert (distinct.messages, distinct.labels.tolist()) == (("b", "...", "a", "c"), [1, 0, 0, 1])
    assert (distinct.name, distinct.class_names) == ("few", ("ham", "spam"))
    assert data.with_words().distinct().messages == ("b", "a", "c")


@pytest.mark.parametrize(
    "nothing",
    [
        lambda: TextDataset("none", (":", "", "_"), [0, 0, 1]).with_words(),
        lambda: TextDataset("none", (), []).distinct(),
    ],
)
def test_nothing_is_left(nothing):
    with pytest.raises(fp.InvalidInputError, match=r"^expected messages with words, got none with any$"):
        nothing()


@given(st.text(max_size=20))
def test_words_of_any_text_are_words(text):
    """Lower case may be longer than what was written, or depend on what stands beside it."""
    for word in words_of(text):
        assert words_of(word) == [word]
        assert Vocabulary(("(other)", word)).tokens([word], 1).tolist() == [[1]]


@pytest.mark.skipif("FLIPPROOF_DATA" not in os.environ, reason="needs the datasets: set FLIPPROOF_DATA")
def test_bags_of_the_spam_collection_are_those_that_others_made():
    """A file with bags of the same messages, made elsewhere with its words in another order.

    It knows the letters from a to z alone, so that only messages without others are comparable: most of them.
    """
    path = Path(os.environ["FLIPPROOF_DATA"]) / "sms_spam_bow.npz"
    if not path.exists():
        pytest.skip("needs sms_spam_bow.npz")
    data = fp.datasets.load("sms_spam")
    assert len(data.distinct()) == 5171
    with np.load(path) as file:
        arrays = file["attr_data"], file["attr_indices"], file["attr_indptr"]
        theirs = sp.csr_array(arrays, shape=file["attr_shape"])
        places = {str(word): place for place, word in enumerate(file["vocab"])}
    plain = [number for number, message in enumerate(data.messages) if message.replace("£", "").isascii()]
    assert len(plain) == 5345
    messages, theirs = [data.messages[number] for number in plain], theirs[plain]
    vocabulary = Vocabulary.learned(messages, least=5)
    frequent = np.flatnonzero(theirs.sum(axis=0) >= 5)
    assert {places[word] for word in vocabulary.words[1:]} == set(frequent.tolist())
    ours = vocabulary.bags(messages)[:, 1:]
    assert (ours != theirs[:, [places[word] for word in vocabulary.words[1:]]]).nnz == 0
