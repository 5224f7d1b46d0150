"""Small texts, and models of them that are trained or made in place."""

import functools

import numpy as np

import flipproof as fp

TEXTS = [
    "Free entry! Win a prize now",
    "call now to claim your FREE prize",
    "you have won cash, call us",
    "urgent: your prize is waiting 🎁",
    "are you coming to lunch?",
    "see you at noon then",
    "I'll call you when I'm home",
    "the meeting is at five",
] * 4
LABELS = np.array([1, 1, 1, 1, 0, 0, 0, 0] * 4)
SOME = [*TEXTS[:8], "", "see you 👋🏽👋🏽"]
"""The texts that are voted on: one is empty, one has words that no model has seen."""

LEARNED = fp.Texts(SOME)
REPLACED = fp.FlipNoise(0.2, 0.2, categories=LEARNED.categories)
NUMBERS = [[5, 1, 2, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
"""Sequences with 0 behind their ends."""


@functools.cache
def fitted(name):
    """A scikit-learn pipeline from texts to labels."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    steps = {
        "counts": (CountVectorizer(), LogisticRegression()),
        "pairs of words": (CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+"), MultinomialNB()),
        "tf-idf": (TfidfVectorizer(), LinearSVC()),
        "hashes": (HashingVectorizer(n_features=256), SGDClassifier(random_state=0)),
        "characters": (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)), LogisticRegression()),
    }
    return make_pipeline(*steps[name]).fit(TEXTS, np.array(["ham", "spam"])[LABELS])


def about_prizes(texts):
    """Labels from texts."""
    return np.array([int("prize" in text.lower() or "cash" in text.lower()) for text in texts])


def prizes(texts=SOME, noise=None, **options):
    """Votes of `about_prizes`."""
    noise = fp.FlipNoise(0.0, 0.8) if noise is None else noise
    return fp.vote(about_prizes, texts, noise, 100, 2_000, classes=2, progress=False, **options)


def scores_of_words(texts):
    """Scores of three classes from texts."""
    words = [text.lower().split() for text in texts]
    return np.array([[0.5, each.count("you"), each.count("prize") + each.count("free")] for each in words], dtype=float)


@functools.cache
def word_level():
    """A tokenizer of the library `tokenizers` that knows the words of the texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({word for text in TEXTS for word in text.lower().split()})
    names = {name: number for number, name in enumerate(["[PAD]", "[UNK]", "[CLS]", *words])}
    tokenizer = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


@functools.cache
def transformer():
    """A function from texts to logits: a tiny network of transformers with random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = word_level()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32, initializer_range=0.5,
    )  # fmt: skip
    model = BertForSequenceClassification(config).eval()

    def logits(texts):
        ids = [tokenizer.encode(f"[CLS] {text.lower()}").ids[:32] for text in texts]
        padded = torch.tensor([row + [0] * (32 - len(row)) for row in ids])
        with torch.no_grad():
            return model(padded, attention_mask=(padded > 0).long()).logits.numpy()

    return logits
