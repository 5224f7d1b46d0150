"""The samplers once more, in plain Python integers and fractions: slow, short, and without a compiled loop."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import count

from flipproof.noise.sampling.samplers import Role

NONZEROS, ENTRIES, POSITIONS, VALUES = 0, 1, 2, 3
MASK = 2**32 - 1


@lru_cache(maxsize=64)
def philox(counter, key):
    """Philox4x32-10 as in Salmon et al., figure 4."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


@dataclass(frozen=True)
class Words:
    """The random words of one row of one sample."""

    seed: int
    role: Role
    sample: int
    row: int
    part: int = 0

    def group(self, purpose, block, group):
        counter = (
            group + 2**24 * purpose + 2**30 * self.part,
            self.row,
            self.sample % 2**32,
            self.sample // 2**32 + 2**8 * self.role + 2**10 * block,
        )
        return philox(counter, (self.seed % 2**32, self.seed // 2**32))

    def word(self, purpose, number):
        block, group = divmod(number // 32 * 8 + number % 8, 2**24)
        return self.group(purpose, block, group)[number // 8 % 4]

    def crosswise(self, purpose, number):
        """The word made of one bit of each of the 32 pairs of words of a tile, most significant first."""
        tile = [self.word(purpose, number // 64 * 64 + i) for i in range(64)]
        pairs = [low + (high << 32) for low, high in zip(tile[::2], tile[1::2], strict=True)]
        return sum((pair >> number % 64 & 1) << (31 - i) for i, pair in enumerate(pairs))

    def first(self, purpose, number):
        """The first 32 binary digits of a coin."""
        return self.crosswise(purpose, number) if purpose == NONZEROS else self.word(purpose, number)

    def further(self, purpose, number, digit):
        block, group = divmod(number, 2**24)
        return self.group(16 * (purpose + 1) + (digit - 1) // 4, block, group)[(digit - 1) % 4]

    def coin(self, purpose, number, probability):
        """Is the number with the word and its further words as binary digits below the probability?"""
        threshold, uniform, scale = Fraction(probability), self.first(purpose, number), 2**32
        for digit in range(1, 34):
            if uniform != threshold * scale // 1:
                break
            uniform, scale = uniform * 2**32 + self.further(purpose, number, digit), scale * 2**32
        return uniform < threshold * scale

    def from_number(self, purpose, number):
        return (self.word(purpose, i) for i in count(number))


def below(limit, numbers, bits=32):
    """A uniform integer from the next numbers; those that would favour some integers are passed over."""
    while True:
        whole, rest = divmod(next(numbers) * limit, 2**bits)
        if rest >= 2**bits % limit:
            return whole


def halves(words):
    """The lower and the upper half of each word."""
    for word in words:
        yield word % 2**16
        yield word // 2**16


def binomial_count(uniform, n, p):
    """The smallest k whose distribution function, from the left and to 400 decimal places, is above the number."""
    with localcontext(prec=400):
        one, zero = Decimal(p), 1 - Decimal(p)
        limit, k = Decimal(uniform.numerator) / uniform.denominator, 0
        weight = cumulated = zero**n
        while cumulated <= limit:
            weight *= (n - k) * one / ((k + 1) * zero)
            cumulated += weight
            k += 1
    return k


def noisy_bits(words, ones, length, noise, block_size):
    """The ones of a noisy row as a set."""
    if noise.p_plus >= 0.125:
        flipped = {j for j in range(length) if words.coin(ENTRIES, j, noise.p_minus if j in ones else noise.p_plus)}
        return set(ones) ^ flipped
    kept = {one for i, one in enumerate(sorted(ones)) if not words.coin(NONZEROS, i, noise.p_minus)}
    if noise.p_plus == 0.0:
        return kept
    marked = set()
    for block in range(-(-length // block_size)):
        marked |= {block * block_size + place for place in _marked(words, block, block_size, noise.p_plus)}
    return kept | {position for position in marked if position < length and position not in ones}


def _marked(words, block, block_size, p_plus):
    """Which entries of a block would flip if all were zeros: its first four words say how many, the next which."""
    source = words.from_number(POSITIONS, block * 2**26)
    w0, w1, w2, w3 = (next(source) for _ in range(4))
    uniform = Fraction((w0 << 96) + (w1 << 64) + (w2 << 32) + w3, 2**128)
    flips, marked = binomial_count(uniform, block_size, p_plus), set()
    numbers, bits = (halves(source), 16) if block_size <= 4096 else (source, 32)
    while len(marked) < flips:
        marked.add(below(block_size, numbers, bits))
    return marked


def noisy_values(words, values, noises):
    """A noisy row of categories; noises has None where noise never flips."""
    source, result = words.from_number(VALUES, 0), []
    for j, (value, noise) in enumerate(zip(values, noises, strict=True)):
        if noise is not None and words.coin(ENTRIES, j, noise.p_minus if value else noise.p_plus):
            value = _other_value(value, noise.categories, source)
        result.append(value)
    return result


def _other_value(value, categories, source):
    if categories == 2:
        return 1 - value
    other = below(categories - 1, source)
    return other + (other >= value)
