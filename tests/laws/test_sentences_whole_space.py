"""No sentence claims too much: random tiny inputs of every space and law, and all that a sentence speaks of is tried.

The votes are drawn from the exact probabilities of the smoothed classifier, which is known at every point, parts that
get no noise included. A reader who knows nothing of certificates says which inputs a sentence speaks of.
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from reading import reached, read, spoken_of
from worlds import ahead, entry_law

import flipproof as fp
from flipproof.noise.laws import counts_of
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.words.known_inputs import unit_of
from flipproof.report.words.promises import Sentences
from flipproof.report.writing import change_words
from flipproof.smoothing.run import Run, versions
from flipproof.smoothing.voting.drawn_samples import SampleRanges

ALPHA = 1e-7
"""That any certificate of one call is wrong: with 10^5 calls, by chance with a probability below 1 %."""

CLASSES = 3
PAIRS = {
    "rows": 30_000,
    "levels": 40_000,
    "tokens": 12_000,
    "masked": 12_000,
    "texts": 12_000,
    "edited": 12_000,
    "table": 8_000,
    "frame": 4_000,
    "graphs": 8_000,
    "nodes": 400,
}
"""How many pairs of an input and a changed one the sentences about every kind of data must speak of."""

MANY_TIMES = 100
"""How many times as many in the slow tests."""


@dataclass(frozen=True, eq=False)
class Tiny:
    """All points of a space, entries without noise included.

    Attributes:
        laws: for each entry the probabilities [value, noisy value].
        space_of: the inputs of some points.
        names: which entries a noun names, given the clean point.
        possible: whether a point is an input.
        empty: the value that is no token.
        inputs: how many points are inputs at once.
    """

    noise: fp.FlipNoise | fp.JointNoise
    laws: list[np.ndarray]
    space_of: Callable
    names: Callable
    possible: Callable = lambda points: np.ones(len(points), dtype=bool)
    empty: int | None = None
    inputs: int = 60

    @property
    def sizes(self):
        return [len(law) for law in self.laws]

    @functools.cached_property
    def points(self):
        return np.array(list(itertools.product(*map(range, self.sizes))))

    def covered(self, reading, clean):
        """Which points a sentence about a clean one speaks of."""
        return spoken_of(reading, self.names, clean, self.points, self.empty)

    def smoothed(self, labels):
        votes = np.eye(CLASSES)[labels].reshape(*self.sizes, CLASSES)
        for axis, law in enumerate(self.laws):
            votes = np.moveaxis(np.tensordot(law, votes, axes=(1, axis)), 0, axis)
        return votes.reshape(len(labels), CLASSES)


# Probabilities, laws


def probability(rng, most=0.6):
    return float(rng.choice([0.0, rng.uniform(0.01, most), rng.uniform(0.05, 0.4), rng.uniform(0.3, 0.95)]))


def flip_noise(rng, categories=2):
    p_plus, p_minus = probability(rng, 0.3), probability(rng)
    if rng.random() < 0.4:
        p_plus = p_minus = float(rng.uniform(0.1, 0.8))
    return fp.FlipNoise(p_plus, p_minus, categories)


def everything(noun, clean):
    return np.ones(clean.shape, dtype=bool)


def rows(rng):
    noise, entries = flip_noise(rng), int(rng.integers(4, 9))
    make = rng.choice([fp.DenseRows, lambda points: fp.SparseRows(sp.csr_array(points))])
    return Tiny(noise, [entry_law(noise, 2)] * entries, make, everything)


def levels(rng):
    noise, entries = flip_noise(rng, int(rng.integers(3, 5))), int(rng.integers(3, 5))
    return Tiny(noise, [entry_law(noise, noise.categories)] * entries, fp.DenseRows, everything)


def tokens(rng):
    """The last value is padding, which noise never touches, and which a layman may well write into."""
    noise, places = flip_noise(rng, int(rng.integers(2, 4))), int(rng.integers(3, 6))
    padding = noise.categories

    def names(noun, clean):
        return clean == padding if noun == "the padding" else np.ones(clean.shape, dtype=bool)

    return Tiny(
        noise,
        [entry_law(noise, padding + 1)] * places,
        lambda points: fp.Tokens(points, padding=padding),
        names,
        rng.choice([lambda points: (points != padding).any(axis=1), lambda points: (points != padding).all(axis=1)]),
    )


def masked(rng):
    words, places = int(rng.integers(1, 3)), int(rng.integers(3, 5))
    noise, law = fp.FlipNoise(0.0, float(rng.uniform(0.3, 0.95))), np.eye(words + 1)
    law *= 1.0 - noise.p_minus
    law[:, words] = noise.p_minus
    law[words, words] = 1.0
    some = lambda points: (points != words).any(axis=1)  # noqa: E731
    return Tiny(noise, [law] * places, lambda points: fp.Tokens(points, mask=words), everything, some, empty=words)


WORDS = np.array(list("abcdef"))


def as_texts(points, **how):
    """Words that stand for numbers, with an end that is no word."""
    return fp.Texts([" ".join(WORDS[point]) for point in points], str.split, **how)


def texts(rng):
    """Words are hidden, or replaced by others of the vocabulary; the last one is the mask, or outside of it."""
    places, words = int(rng.integers(3, 5)), int(rng.integers(2, 4))
    if rng.random() < 0.5:
        world = masked(rng)
        mask = str(WORDS[world.empty])
        return dataclasses.replace(world, space_of=lambda points: as_texts(points, mask=mask))
    noise = flip_noise(rng, words)
    vocabulary = WORDS[:words].tolist()

    def names(noun, clean):
        return clean == words if noun == "the words outside of the vocabulary" else np.ones(clean.shape, dtype=bool)

    return Tiny(
        noise,
        [entry_law(noise, words + 1)] * places,
        lambda points: as_texts(points, vocabulary=vocabulary),
        names,
        lambda points: (points != words).any(axis=1),
    )


@dataclass(frozen=True, eq=False)
class Edited(Tiny):
    """All sequences of at most so many tokens; the last value stands behind their ends."""

    @functools.cached_property
    def points(self):
        end, longest = self.empty, len(self.laws)
        every = (seq for length in range(longest + 1) for seq in itertools.product(range(end), repeat=length))
        return np.array([(*sequence, *[end] * (longest - len(sequence))) for sequence in every])

    @functools.cached_property
    def sequences(self):
        return [tuple(point[point != self.empty].tolist()) for point in self.points]

    def smoothed(self, labels):
        number = {sequence: i for i, sequence in enumerate(self.sequences)}
        probabilities, p = np.zeros((len(labels), CLASSES)), self.noise.p_minus
        for i, sequence in enumerate(self.sequences):
            for kept in itertools.product((False, True), repeat=len(sequence)):
                left = tuple(itertools.compress(sequence, kept))
                probabilities[i, labels[number[left]]] += np.prod(np.where(kept, 1.0 - p, p))
        return probabilities

    def covered(self, reading, clean):
        found = reached(reading, tuple(clean[clean != self.empty].tolist()), self.empty, len(self.laws))
        return np.array([sequence in found for sequence in self.sequences])


def edited(rng):
    """Sequences of words or numbers, of which noise deletes some, and the gaps close."""
    tokens, longest = ((1, 5), (2, 4), (3, 3))[int(rng.integers(3))]
    noise = fp.FlipNoise(0.0, float(rng.choice([rng.uniform(0.3, 0.95), 1.0], p=[0.9, 0.1])))
    whole = lambda points: [point[point != tokens] for point in points]  # noqa: E731
    spaces = [
        lambda points: as_texts(whole(points)),
        lambda points: fp.Tokens(points, padding=tokens, gaps="closed"),
    ]
    return Edited(noise, [np.eye(tokens + 1)] * longest, rng.choice(spaces), everything, empty=tokens)


def table(rng):
    """Columns of several cardinalities, of which some may get no noise at all."""
    categories = rng.choice([2, 2, 3, 4], size=int(rng.integers(3, 6))).tolist()
    parts = [f"k{count}" for count in categories]
    noisy = [part for part in dict.fromkeys(parts) if rng.random() < 0.7] or parts[:1]
    even = float(rng.uniform(0.1, 0.7))
    laws = {part: flip_noise(rng, int(part[1:])) for part in noisy}
    if rng.random() < 0.5:
        laws = {part: fp.FlipNoise(even, even, int(part[1:])) for part in noisy}
    columns = np.array(parts)

    def names(noun, clean):
        count = re.search(r"with (\d+) values", noun)
        return columns == f"k{count[1]}" if count else np.ones(clean.shape, dtype=bool)

    single = len(set(parts)) == 1
    return Tiny(
        laws[parts[0]] if single else fp.JointNoise(**laws),
        [entry_law(laws[p], k) if p in laws else np.eye(k) for p, k in zip(parts, categories, strict=True)],
        lambda points: fp.Table(points, categories),
        names,
    )


def frame(rng):
    """Named columns, of which some are held fixed, and others are in groups with or without noise."""
    pd = pytest.importorskip("pandas")
    size = int(rng.integers(3, 5))
    categories = rng.choice([2, 2, 3, 4], size=size).tolist()
    columns = [f"c{j}" for j in range(size)]
    fixed = [name for name in columns[1:] if rng.random() < 0.3]
    groups = {"pair": [name for name in columns if name not in fixed][:2]} if rng.random() < 0.5 else {}
    values = {name: [str(value) for value in range(count)] for name, count in zip(columns, categories, strict=True)}

    def space_of(points):
        cells = {name: [str(value) for value in points[:, j]] for j, name in enumerate(columns)}
        known = {name: values[name] for name in columns if name not in fixed}
        return fp.Table.from_pandas(
            pd.DataFrame(cells), fixed=fixed, categories=known, zeros=dict.fromkeys(known, "0"), groups=groups
        )

    parts = space_of(np.array(list(itertools.product(*map(range, categories))))).columns
    noisy = [part for part in dict.fromkeys(parts) if part and rng.random() < 0.7] or parts[:1]
    even = float(rng.uniform(0.1, 0.7)) if rng.random() < 0.5 else None
    sizes = dict(zip(parts, categories, strict=True))
    laws = {p: flip_noise(rng, sizes[p]) if even is None else fp.FlipNoise(even, even, sizes[p]) for p in noisy}

    def names(noun, clean):
        if re.fullmatch("the set of (known values of|values that occur in) each column", noun):  # all points keep to it
            return np.zeros(clean.shape, dtype=bool)
        if part := re.fullmatch(r"cells? of part (\w+)", noun):
            return np.array(parts) == part[1]
        named, count = re.findall(r"'(\w+)'", noun), re.search(r"with (\d+) values", noun)
        if named:
            return np.isin(columns, named)
        found = np.isin(columns, groups["pair"]) if "pair" in noun else np.ones(clean.shape, dtype=bool)
        return found & (np.array(categories) == int(count[1])) if count else found

    return Tiny(
        laws[parts[0]] if len({part for part in parts if part}) == 1 else fp.JointNoise(**laws),
        [entry_law(laws[p], k) if p in laws else np.eye(k) for p, k in zip(parts, categories, strict=True)],
        space_of,
        names,
    )


def graphs(rng):
    """Pairs of nodes, self-loops, attributes: only some of it gets noise; attributes are bits or kinds."""
    nodes, directed = int(rng.integers(2, 4)), False
    noisy = str(rng.choice(["structure", "attributes", "both"]))
    pairs = list(itertools.combinations(range(nodes), 2))
    kinds = 2 if nodes == 3 else int(rng.integers(2, 4))
    laws = {"structure": flip_noise(rng), "attributes": flip_noise(rng, kinds)}
    used = {part: law for part, law in laws.items() if noisy in (part, "both")}
    if noisy == "both" and rng.random() < 0.3:
        used = {str(part := rng.choice(list(used))): used[str(part)]}  # a part that may get noise, and gets none
    entries = np.array(["structure"] * len(pairs) + ["loop"] * nodes + ["attributes"] * nodes)
    values = [2] * (len(pairs) + nodes) + [kinds] * nodes

    def graph(point):
        bits = point[: len(pairs) + nodes].astype(bool)
        ends = [pair for pair, bit in zip(pairs, bits, strict=False) if bit]
        ends += [pair[::-1] for pair in ends]
        ends += [(node, node) for node in range(nodes) if bits[len(pairs) + node]]
        attributes = point[-nodes:, None]
        made = sp.csr_array(attributes) if kinds == 2 else fp.DenseRows(attributes)
        if noisy == "structure":
            made = attributes.astype(float)
        index = np.array(ends, dtype=int).reshape(-1, 2).T
        return fp.Graph.from_edge_index(index, nodes, made, noisy=noisy, directed=directed)

    called = {
        "edge": ("structure", "loop"),
        "self-loop": ("loop",),
        "attribute": ("attributes",),
        "the edge": ("structure", "loop"),
        "the attribute": ("attributes",),
        "node": ("attributes",),
        "kind of node": ("attributes",),
        "entries of part structure": ("structure", "loop"),
        "entries of part attribute": ("attributes",),
        "entry of part structure": ("structure", "loop"),
        "entry of part attribute": ("attributes",),
        "entrie": ("structure", "loop", "attributes"),
        "entry": ("structure", "loop", "attributes"),
    }

    def names(noun, clean):
        found = np.zeros(clean.shape, dtype=bool)
        for each in noun.replace("kinds of", "kind of").split(" or "):
            found |= np.isin(entries, called[each.removesuffix("s")])
        return found

    noise = used[noisy] if noisy != "both" else fp.JointNoise(**used)
    return Tiny(
        noise,
        [entry_law(used[e], k) if e in used else np.eye(k) for e, k in zip(entries, values, strict=True)],
        lambda points: fp.Graphs([graph(point) for point in points]),
        names,
    )


def nodes(rng):
    """A node of a graph, which an attacker may change anywhere."""
    world = graphs(rng)
    return dataclasses.replace(world, space_of=lambda points: world.space_of(points).graphs[0], inputs=1)


KINDS = {each.__name__: each for each in (rows, levels, tokens, masked, texts, edited, table, frame, graphs, nodes)}


# The check


def labels_of(world, rng):
    """With some structure, so that there is something to certify, and every entry matters, noisy or not."""
    size, points = len(world.laws), world.points
    weights = rng.normal(size=(size, CLASSES)) * rng.choice([0.2, 1.0, 3.0], size=(size, 1)) / np.sqrt(size)
    offset = rng.choice([0.2, 1.0, 2.0]) * rng.permutation(CLASSES)
    return (points @ weights + offset + rng.normal(size=(len(points), CLASSES)) / 3).argmax(axis=1)


def drawn(world, rng):
    """Certificates of some points from votes on the exact smoothed classifier, and where each label is ahead."""
    probabilities = world.smoothed(labels_of(world, rng)).clip(0.0)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    chosen = rng.permutation(np.flatnonzero(world.possible(world.points)))[: world.inputs]
    counts = [rng.multinomial(n, probabilities[chosen]) for n in (300, 20_000)]
    space = world.space_of(world.points[chosen])
    votes = fp.Votes.from_counts(selection=counts[0], estimation=counts[1], noise=world.noise, inputs=space)
    certificates = fp.certify(votes, ALPHA, str(rng.choice(["multi-class", "two-class"])), simultaneous=True)
    return certificates, space, world.points[chosen], ahead(np.where(probabilities < 1e-12, 0.0, probabilities))


def as_of_a_run(certificates, space):
    """The same certificates, whose votes know of what kind the data are, as those of `vote` do."""
    votes = certificates.votes
    select, estimate = SampleRanges.of(range(votes.n_select)), SampleRanges.of(range(votes.n_estimate))
    identity = {"model": "", "data": "", "noise": votes.noise.record(), "seed": 0, "classes": CLASSES, "chunk size": 1}
    run = Run(identity | {"checked": True}, select, estimate, 0.0, versions(), 0.0, 0, counts_of(space))
    return dataclasses.replace(certificates, votes=dataclasses.replace(votes, run=run))


def violations(world, rng, reword=lambda sentence: sentence, at_hand=True):
    """How many pairs the sentences speak of, and those of them where the prediction is another.

    The data are at hand, or the words are what votes know without them.
    """
    certificates, space, points, first = drawn(world, rng)
    if not at_hand:
        certificates, space = as_of_a_run(certificates, space), None
    described = DescribedInputs(unit=unit_of(certificates, space), **change_words(certificates, space, None))
    said = Sentences.of(CertifiedInputs(certificates, described))
    if world.inputs > 1:  # of a graph, votes are about all nodes at once
        assert fp.in_words(certificates, 0, inputs=space).startswith(said.heads[said.index[0]])
    pairs, wrong = 0, []
    for number, clean in enumerate(points):
        sentence = reword(said.heads[said.index[number]])
        reading = read(sentence)
        if reading is None:
            continue
        covered = world.covered(reading, clean)
        pairs += int(covered.sum()) - 1
        others = np.flatnonzero(covered & ~first[:, certificates.label[number]])
        wrong += [f"{sentence} {clean} -> {world.points[other]} under {world.noise}" for other in others[:1]]
    return pairs, wrong


def tried(make, rng, least, at_hand=True):
    pairs = 0
    while pairs < least:
        found, wrong = violations(make(rng), rng, at_hand=at_hand)
        assert not wrong, wrong[0]
        pairs += found


def test_the_shares_add_up():
    assert KINDS.keys() == PAIRS.keys()
    assert sum(PAIRS.values()) >= 100_000


@pytest.mark.parametrize("name", KINDS)
def test_no_sentence_claims_too_much(name, rng):
    tried(KINDS[name], rng, PAIRS[name])


@pytest.mark.parametrize("name", KINDS)
def test_no_sentence_claims_too_much_without_the_data(name, rng):
    tried(KINDS[name], rng, PAIRS[name] // 4, at_hand=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_no_sentence_claims_too_much_in_many_worlds(name, rng):
    tried(KINDS[name], rng, MANY_TIMES * PAIRS[name])


def one_more(sentence):
    """Claims one change more, where that is possible."""
    return re.sub(r"(up to|any or all) (\d+)", lambda found: f"up to {int(found[2]) + 1}", sentence)


def without_exemption(sentence):
    """Does not say what must be left alone."""
    return re.sub(r",? and leaves [^,]+ alone,", "", sentence)


@pytest.mark.parametrize(
    ("name", "reword"),
    [(name, one_more) for name in KINDS]
    + [(name, without_exemption) for name in ("tokens", "table", "frame", "graphs")],
)
def test_a_false_wording_is_found_out(name, reword, rng):
    assert any(violations(KINDS[name](rng), rng, reword)[1] for _ in range(300))
