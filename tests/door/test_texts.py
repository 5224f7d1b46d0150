"""Raw texts through the front door: lists of strings, pipelines and functions, tokenizers, and what is certified."""

import gzip
import itertools
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import flipproof as fp
from chi_square import p_value
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import as_given, sampler_of, space_for
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.tokenizing import split_words
from flipproof.theory.scope import Scope
from tests.door.texts_and_models import (
    LABELS,
    LEARNED,
    REPLACED,
    SOME,
    TEXTS,
    about_prizes,
    fitted,
    prizes,
    scores_of_words,
    transformer,
    word_level,
)

DELETED = fp.FlipNoise(0.0, 0.4)


def own_counts(predict, space, noise, classes, samples):
    """How often `predict` gives each label to the noisy texts, drawn here one sample at a time."""
    sampler = sampler_of(space, noise, 0)
    rows = np.arange(sampler.rows)
    counts = np.zeros((rows.size, classes), dtype=int)
    for sample in range(samples):
        batch = as_given(sampler, sampler.draw(Role.ESTIMATE, range(sample, sample + 1), rows))
        counts[rows, predict(batch)] += 1
    return counts


def labels_of(model):
    """What a model itself says, as numbers of classes."""
    if hasattr(model, "classes_"):
        return lambda texts: np.searchsorted(model.classes_, model.predict(texts))
    return lambda texts: answer if (answer := model(texts)).ndim == 1 else answer.argmax(axis=1)


def pandas_series(texts):
    return pytest.importorskip("pandas").Series(texts)


def polars_series(texts):
    return pytest.importorskip("polars").Series(texts)


PAIRS = {
    "counts": lambda: (fitted("counts"), SOME, DELETED, {}),
    "pairs of words": lambda: (fitted("pairs of words"), SOME, DELETED, {}),
    "tf-idf": lambda: (fitted("tf-idf"), SOME, DELETED, {}),
    "hashes": lambda: (fitted("hashes"), SOME, DELETED, {}),
    "characters": lambda: (fitted("characters"), SOME, DELETED, {}),
    "labels": lambda: (about_prizes, SOME, DELETED, {"classes": 2}),
    "scores": lambda: (scores_of_words, SOME, DELETED, {}),
    "transformer": lambda: (transformer(), SOME, DELETED, {}),
    "masks": lambda: (fitted("counts"), fp.Texts(SOME, mask="[MASK]"), DELETED, {}),
    "substitutions": lambda: (fitted("tf-idf"), LEARNED, REPLACED, {}),
    "pandas": lambda: (fitted("counts"), pandas_series(SOME), DELETED, {}),
    "polars": lambda: (fitted("counts"), polars_series(SOME), DELETED, {}),
    "objects": lambda: (fitted("counts"), np.array(SOME, dtype=object), DELETED, {}),
    "unicode": lambda: (fitted("counts"), np.array(SOME), DELETED, {}),
    "own tokens": lambda: (fitted("counts"), SOME, DELETED, {"tokenizer": str.split}),
    "tokenizers": lambda: (about_prizes, SOME, DELETED, {"classes": 2, "tokenizer": word_level()}),
}
NEEDED = {"transformer": "transformers", "tokenizers": "tokenizers"}


@pytest.mark.parametrize("name", PAIRS)
def test_models_and_texts_go_in_as_they_are(name):
    pytest.importorskip("sklearn")
    pytest.importorskip(NEEDED.get(name, "sklearn"))
    model, texts, noise, options = PAIRS[name]()
    votes = fp.vote(model, texts, noise, 50, 200, progress=False, **options)
    certificates = fp.certify(votes, 0.05)
    space = space_for(texts, noise, options.get("tokenizer"))
    counts = own_counts(labels_of(model), space, noise, votes.classes, 200)
    assert (votes.estimation == counts).all()
    assert len(certificates) == len(SOME)


def test_pipelines_are_fitted_to_noisy_texts():
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    noise, rows = fp.FlipNoise(0.0, 0.8), np.arange(len(TEXTS))
    fitted_to_noise = fp.fit_estimator(make_pipeline(CountVectorizer(), MultinomialNB()), TEXTS, LABELS, rows, noise)
    assert (fitted_to_noise.predict(TEXTS) == LABELS).all()
    certificates = fp.certify(fp.vote(fitted_to_noise, TEXTS[:8], noise, 100, 1_000, progress=False))
    assert (certificates.label == LABELS[:8]).all()
    assert certificates.max_edit_distance().max() >= 1


def test_three_lines():
    predict, texts = fitted("counts").predict, SOME
    pipeline = fitted("counts")
    certificates = fp.certify(fp.vote(pipeline, texts, fp.FlipNoise(0.0, 0.8), 200, 2_000, progress=False))
    assert certificates.max_edit_distance().max() >= 1
    assert (pipeline.classes_[certificates.label] == predict(texts)).mean() > 0.5


def test_the_example_of_the_documents_prints_what_it_says(capsys):
    pytest.importorskip("sklearn")
    page = (Path(__file__).parents[2] / "docs" / "other-data.md").read_text()
    block = next(each for each in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "CountVectorizer" in each)
    exec(compile(block, "docs/other-data.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"(?:^print.*|^)# (.*)$", block, re.MULTILINE)


def test_spam():
    folder = os.environ.get("FLIPPROOF_DATA")
    if folder is None or not (path := Path(folder, "sms_spam.tsv.gz")).exists():
        pytest.skip("needs the datasets: set FLIPPROOF_DATA")
    sklearn = pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    assert sklearn
    lines = [line.split("\t", 1) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    labels, texts = np.array([line[0] for line in lines]), [line[1] for line in lines]
    words = [token for text in texts[:200] for token in split_words(text)]
    assert "".join(words) == "".join("".join(texts[:200]).split())
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=30.0)).fit(texts[1000:], labels[1000:])
    certificates = fp.certify(fp.vote(pipeline, texts[:60], fp.FlipNoise(0.0, 0.8), 100, 1_000, progress=False))
    assert (pipeline.classes_[certificates.label] == labels[:60]).mean() > 0.8
    assert (certificates.max_edit_distance() >= 1).mean() > 0.5


# Tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't, it\u2019s 'so'!", ["Don't", ",", "it\u2019s", "'", "so", "'", "!"]),
        ("50% off... at 3.5€/kg", ["50", "%", "off", ".", ".", ".", "at", "3", ".", "5", "€", "/", "kg"]),
        ("👍🏽👍 🇩🇪🇫🇷 👨‍👩‍👧❤️‍🔥", ["👍🏽", "👍", "🇩🇪", "🇫🇷", "👨‍👩‍👧", "❤️‍🔥"]),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣2 ☎️now", ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "2", "☎️", "now"]),
        ("cafe\u0301 नमस्ते e_mail", ["cafe\u0301", "नमस्ते", "e", "_", "mail"]),
        ("\tno\n\nspaces  ", ["no", "spaces"]),
        ("", []),
    ],
)
def test_words_marks_and_emojis_are_tokens(text, tokens):
    assert split_words(text) == tokens
    assert fp.Texts([text, "x"]).tokens_of(0) == tokens


def test_nothing_but_spaces_is_lost(rng):
    alphabet = [
        *"ab1 _'\u2019\n.,!",
        "\u0301",
        "\u200d",
        "\ufe0f",
        "\u20e3",
        "🇩",
        "👍",
        "🏽",
        "\U000e0067",
        "\u3042",
        "\x00",
    ]
    for _ in range(3_000):
        text = "".join(rng.choice(alphabet, size=int(rng.integers(12))))
        assert "".join(split_words(text)) == "".join(text.split())


def test_own_tokenizers_count_their_own_tokens():
    pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    text = "free prize, call!"
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=word_level(), unk_token="[UNK]")
    assert fp.Texts([text], list).lengths.tolist() == [len(text)]
    assert fp.Texts([text], str.split).tokens_of(0) == ["free", "prize,", "call!"]
    assert fp.Texts([text], word_level()).lengths.tolist() == [3]
    assert fp.Texts([text], fast).lengths.tolist() == [3]


def seen_by(space, noise, samples=200):
    """The noisy texts of all rows, sample by sample."""
    sampler = sampler_of(space, noise, 3)
    return as_given(sampler, sampler.draw(Role.ESTIMATE, range(samples), np.arange(sampler.rows)))


def test_a_model_sees_only_tokens():
    """Texts that differ in spaces alone give the same noisy texts, with noise and without."""
    some, same = ["Free  prize ,\tcall !", "see\n you"], ["Free prize,call!", " see you "]
    for noise in (DELETED, fp.FlipNoise(0.0, 0.0)):
        assert seen_by(fp.Texts(some), noise) == seen_by(fp.Texts(same), noise)
    assert seen_by(fp.Texts(same), fp.FlipNoise(0.0, 0.0), 1) == ["Free prize , call !", "see you"]


def test_tokens_are_joined_as_told():
    texts = fp.Texts(["a bc"], list, join="".join)
    assert seen_by(texts, fp.FlipNoise(0.0, 0.0), 1) == ["a bc"]
    masked = fp.Texts(["a b", "[gone] b"], str.split, mask="[gone]")
    assert seen_by(masked, fp.FlipNoise(0.0, 1.0), 1) == ["[gone] [gone]", "[gone] [gone]"]
    assert masked.scope(DELETED) == Scope([[0], [1]], [[2], [1]], makes_room=True)


# What is drawn


def law_of(tokens, change, p, vocabulary=()):
    """The exact probabilities of the noisy copies of a text."""
    law = Counter()
    options = {
        "deleted": lambda token: [((token,), 1 - p), ((), p)],
        "hidden": lambda token: [((token,), 1 - p), (("#",), p)],
        "replaced": lambda token: (
            [((other,), 1 - p if other == token else p / (len(vocabulary) - 1)) for other in vocabulary]
            if token in vocabulary
            else [((token,), 1.0)]
        ),
    }[change]
    for outcome in itertools.product(*map(options, tokens)):
        law[" ".join(token for part, _ in outcome for token in part)] += np.prod([chance for _, chance in outcome])
    return law


@pytest.mark.parametrize("change", ["deleted", "hidden", "replaced"])
def test_copies_have_the_exact_law(change):
    texts, p, vocabulary = ["a b a c", "c c", "", "b"], 0.3, ["a", "b", "d"]
    how = {"deleted": {}, "hidden": {"mask": "#"}, "replaced": {"vocabulary": vocabulary}}[change]
    noise = fp.FlipNoise(p, p, 3) if change == "replaced" else fp.FlipNoise(0.0, p)
    drawn = seen_by(fp.Texts(texts, **how), noise, 20_000)
    for row, text in enumerate(texts):
        law, seen = law_of(text.split(), change, p, vocabulary), Counter(drawn[row :: len(texts)])
        assert set(seen) <= set(law)
        assert p_value([seen[copy] for copy in law], list(law.values())) > 1e-6


def test_noisy_texts_written_down():
    """Saved votes and resumed runs rely on the streams never changing."""
    texts = ["one two three four five", "six seven"]
    assert seen_by(fp.Texts(texts), fp.FlipNoise(0.0, 0.5), 2) == WRITTEN["deleted"]
    assert seen_by(fp.Texts(texts, mask="_"), fp.FlipNoise(0.0, 0.5), 2) == WRITTEN["hidden"]
    assert seen_by(fp.Texts(texts), fp.FlipNoise(0.5, 0.5, 7), 2) == WRITTEN["replaced"]


WRITTEN = {
    "deleted": ["two five", "six", "one two three", "six"],
    "hidden": ["_ two _ _ five", "six _", "one two three _ _", "six _"],
    "replaced": ["five five three four five", "two two", "four two six one four", "five seven"],
}


@pytest.mark.parametrize("how", [{}, {"mask": "#"}, {"vocabulary": ["you", "free", "prize"]}])
def test_a_copy_does_not_depend_on_what_else_is_drawn(how):
    space = fp.Texts(SOME, **how)
    noise = fp.FlipNoise(0.5, 0.5, 3) if "vocabulary" in how else fp.FlipNoise(0.0, 0.5)
    sampler = sampler_of(space, noise, 3)
    together = np.array(seen_by(space, noise, 6)).reshape(6, len(SOME))
    for samples, rows in [(range(2, 4), [7, 0]), (range(5, 6), [8]), (range(6), [3, 9, 3])]:
        alone = as_given(sampler, sampler.draw(Role.ESTIMATE, samples, np.array(rows)))
        assert alone == together[samples.start : samples.stop][:, rows].ravel().tolist()


def test_votes_do_not_depend_on_chunks_and_workers():
    ways = [{}, {"chunk_size": 7}, {"chunk_size": 11, "workers": 2}, {"memory_limit": "1MB"}]
    votes = [fp.vote(about_prizes, SOME, DELETED, 20, 60, classes=2, progress=False, **way) for way in ways]
    assert all((each.estimation == votes[0].estimation).all() for each in votes)


# What is certified


def test_saved_votes_know_that_gaps_close(tmp_path):
    votes = prizes()
    votes.save(tmp_path / "votes.npz")
    loaded = fp.Votes.load(tmp_path / "votes.npz")
    assert loaded.scope.closes_gaps
    assert loaded.scope == votes.scope
    radii = fp.certify(votes).max_edit_distance()
    assert (fp.certify(loaded).max_edit_distance() == radii).all()
    assert radii.max() >= 1
    assert fp.certify(votes).selected([3, 8]).max_edit_distance().tolist() == radii[[3, 8]].tolist()


def test_other_noise_on_texts_has_no_edit_distance():
    certificates = fp.certify(prizes(fp.Texts(SOME, mask="#")))
    with pytest.raises(InvalidInputError, match="expected votes on sequences whose gaps close"):
        certificates.max_edit_distance()


def test_an_empty_text_withstands_insertions():
    votes = prizes()
    certificates, empty = fp.certify(votes), SOME.index("")
    assert votes.estimation[empty].tolist() == [2_000, 0]
    assert certificates.max_radius("add")[empty] == certificates.max_edit_distance()[empty] == 3
    assert certificates.max_radius("delete")[empty] == 0


def test_insertions_have_no_bound_but_the_noise():
    certificates = fp.certify(prizes(["x"], fp.FlipNoise(0.0, 1.0)))
    assert certificates.max_edit_distance().tolist() == certificates.max_radius("add").tolist() == [fp.UNBOUNDED]


def test_sentences_say_what_is_counted():
    certificates = fp.certify(prizes())
    said = fp.in_words(certificates, 4, unit="text", inputs=SOME, class_names=("other", "prize"))
    assert said == (
        "No attacker who inserts, deletes or replaces up to 3 words, as the tokenizer splits them, can change the "
        "prediction for this text from other to prize."
    )
    assert fp.in_words(certificates, 4, entries="tokens").startswith(
        "No attacker who inserts, deletes or replaces up to 3 tokens can"
    )


def test_words_outside_of_the_vocabulary_are_never_covered():
    """Not even if no text has any: one that an attacker writes would be the first."""
    texts, noise = fp.Texts(["a b", "b"]), fp.FlipNoise(0.4, 0.4)
    votes = fp.Votes.from_counts(selection=[[99, 1]] * 2, estimation=[[990, 10]] * 2, noise=noise, inputs=texts)
    said = fp.in_words(fp.certify(votes), 0)  # without the texts
    assert ", and leaves the words outside of the vocabulary alone, can change" in said


def test_a_report_of_texts(tmp_path):
    texts = fp.Texts(SOME)
    fp.write_report(tmp_path / "report.html", fp.certify(prizes(texts)), inputs=texts, texts=SOME, unit="text")
    page = (tmp_path / "report.html").read_text()
    assert "word inserted, deleted or replaced" in page
