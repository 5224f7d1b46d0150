"""The compiled loops of fused evaluation: noisy rows times weights without the noisy rows, and messages along edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.models.row_sums import add_rows, add_weighted_rows
from flipproof.noise.bitmaps import ONE, SIX, SIXTY_THREE, U64, clear_bits, set_bits
from flipproof.noise.kernels import (
    EVERY_ENTRY,
    SCATTERED,
    Block,
    choose_entries,
    draw_every_entry,
    keep_ones,
    next_block,
)
from flipproof.noise.philox import Place
from flipproof.theory.compiled import compiled, inlined


class Adjacency(NamedTuple):
    """A normalised adjacency matrix in CSR form: row i has the edges that lead to node i."""

    starts: Any
    columns: Any
    weights: Any


class WeightTable(NamedTuple):
    """Weights as integers, one row per attribute: unit c of row j is table[j, c] * steps[c]."""

    table: Any
    steps: Any


@compiled
def noisy_products(
    out: Any, stream: Any, samples: Any, rows: Any, data: Any, law: Any, scratch: Any, weights: Any
) -> None:
    """Noisy rows times weights, out[sample, row, unit], without the noisy rows.

    Row by row, all samples of one after the other: what is known about its ones serves all samples, and the weights
    of its ones stay close to the processor. Integers are summed, so that the order of a row does not matter.
    """
    starts, positions, entries, table, steps = data.starts, data.positions, data.entries, weights.table, weights.steps
    bitmap, words, places = scratch.bitmap, scratch.words, scratch.places
    p_plus, p_minus, high, low, guide = law.p_plus, law.p_minus, law.high, law.low, law.guide
    copies, size, fewest, method = samples[1] - samples[0], law.block_size, law.first, law.method
    taken, sums = np.zeros_like(bitmap), np.zeros((copies, table.shape[1]), np.int32)
    longest = entries.max() if method == EVERY_ENTRY else (starts[1:] - starts[:-1]).max() + places.size
    numbers = np.empty(longest + 1, np.uint32)
    for i in range(rows.size):
        row = rows[i]
        start, end, length = starts[row], starts[row + 1], entries[row]
        block = Block(0, 0, length, start, end)
        if method == SCATTERED:
            block = next_block(positions, end, length, size, Block(-1, 0, 0, start, start))
        while block.begin < length:
            if method == SCATTERED:
                set_bits(taken, positions, block.first, block.last, block.begin)
            for copy in range(copies):
                place = Place(stream.seed, stream.role, U64(samples[0] + copy), stream.part, U64(row))
                if method == EVERY_ENTRY:
                    found = draw_every_entry(numbers, 0, place, positions, start, end, length, p_plus, p_minus, words)
                else:
                    found = keep_ones(numbers, 0, place, positions, start, block.first, block.last, p_minus, words)
                if method == SCATTERED:
                    count = choose_entries(places, place, block.number, size, fewest, high, low, guide, bitmap, words)
                    found = _add_zeros(numbers, found, places, count, block, taken)
                    clear_bits(bitmap, places, count)
                add_rows(sums[copy], table, numbers, found)
            if method == SCATTERED:
                _forget_bits(taken, positions, block)
            block = next_block(positions, end, length, size if method == SCATTERED else length, block)
        for copy in range(copies):
            for unit in range(sums.shape[1]):
                out[copy, i, unit] = np.float32(sums[copy, unit]) * steps[unit]
                sums[copy, unit] = 0


@inlined
def _forget_bits(taken: Any, positions: Any, block: Any) -> None:
    for k in range(block.first, block.last):
        taken[U64(positions[k] - block.begin) >> SIX] = U64(0)


@inlined
def _add_zeros(numbers: Any, at: Any, places: Any, count: Any, block: Any, taken: Any) -> Any:
    """Writes the chosen entries of a block that are zeros of the row."""
    to, inside = U64(at), U64(block.stop - block.begin)
    for i in range(U64(count)):
        place = U64(places[i])
        numbers[to] = np.uint32(U64(block.begin) + place)
        to += ONE & ~(taken[place >> SIX] >> (place & SIXTY_THREE)) & U64(place < inside)
    return np.int64(to)


@compiled
def normalised(columns: Any, weights: Any, starts: Any, pairs: Any, nodes: Any, directed: Any) -> None:
    """Writes D^(-1/2) (A + I) D^(-1/2) of the edges with the given ranks, in order, with one loop at every node.

    Rows come out in order too, loops last: of the edges in order of their ranks, those from smaller nodes come first.
    """
    heads, tails = np.empty(pairs.size, np.uint32), np.empty(pairs.size, np.uint32)
    degrees = np.ones(nodes, np.int64)
    head, first, stop = 0, 0, nodes - 1  # pairs (head, ...) have the ranks from first to stop
    for k in range(pairs.size):
        while pairs[k] >= stop:
            head += 1
            first = stop
            stop += nodes - 1 if directed else nodes - 1 - head
        tail = pairs[k] - first
        tail += tail >= head if directed else head + 1
        heads[k], tails[k] = head, tail
        degrees[tail] += 1
        degrees[head] += 0 if directed else 1
    scale, place = np.empty(nodes, np.float32), np.empty(nodes, np.int64)
    starts[0] = 0
    for node in range(nodes):
        place[node] = starts[node]
        starts[node + 1] = starts[node] + degrees[node]
        scale[node] = np.float32(1) / np.sqrt(np.float32(degrees[node]))
    for k in range(pairs.size):
        head, tail = heads[k], tails[k]
        weight = scale[head] * scale[tail]
        columns[place[tail]], weights[place[tail]] = head, weight
        place[tail] += 1
        if not directed:
            columns[place[head]], weights[place[head]] = tail, weight
            place[head] += 1
    for node in range(nodes):
        columns[place[node]], weights[place[node]] = node, scale[node] * scale[node]


@compiled
def gcn_logits(logits: Any, products: Any, adjacency: Any, first_bias: Any, second: Any, second_bias: Any) -> None:
    """A relu(A X W + b) V + c from X W."""
    starts, columns, weights = adjacency.starts, adjacency.columns, adjacency.weights
    hidden, every = np.empty(products.shape[1], np.float32), np.arange(products.shape[1]).astype(np.uint32)
    messages = np.zeros((products.shape[0], second.shape[1]), np.float32)
    for node in range(products.shape[0]):
        hidden[:] = np.float32(0)
        add_weighted_rows(hidden, products, columns, weights, starts[node], starts[node + 1])
        _rectify(hidden, first_bias)
        add_weighted_rows(messages[node], second, every, hidden, 0, hidden.size)
    for node in range(products.shape[0]):
        logits[node] = np.float32(0)
        add_weighted_rows(logits[node], messages, columns, weights, starts[node], starts[node + 1])
        for c in range(logits.shape[1]):
            logits[node, c] += second_bias[c]


@inlined
def _rectify(hidden: Any, bias: Any) -> None:
    for unit in range(hidden.size):
        hidden[unit] = max(hidden[unit] + bias[unit], np.float32(0))


@compiled
def perceptron(out: Any, products: Any, first_bias: Any, second: Any, second_bias: Any) -> None:
    """Relu(X W + b) V + c from X W, for each node by itself."""
    hidden, every = np.empty(products.shape[1], np.float32), np.arange(products.shape[1]).astype(np.uint32)
    for node in range(products.shape[0]):
        hidden[:] = products[node]
        _rectify(hidden, first_bias)
        out[node] = second_bias
        add_weighted_rows(out[node], second, every, hidden, 0, hidden.size)


@compiled
def page_rank(state: Any, features: Any, adjacency: Any, steps: Any, teleport: Any) -> None:
    """Z <- (1 - teleport) A Z + teleport H, so many times, starting with H."""
    starts, columns, weights = adjacency.starts, adjacency.columns, adjacency.weights
    stay, before = np.float32(1.0 - teleport), np.empty_like(state)
    jump = np.float32(teleport)
    state[:] = features
    for _ in range(steps):
        before[:] = state
        for node in range(state.shape[0]):
            state[node] = np.float32(0)
            add_weighted_rows(state[node], before, columns, weights, starts[node], starts[node + 1])
            for c in range(state.shape[1]):
                state[node, c] = stay * state[node, c] + jump * features[node, c]


@compiled
def largest(labels: Any, logits: Any, classes: Any) -> Any:
    """The index of the largest of the first logits of each row, the first one on a tie; returns how many have NaN."""
    undefined = 0
    for row in range(logits.shape[0]):
        best, top = 0, logits[row, 0]
        for c in range(classes):
            if logits[row, c] > top:
                best, top = c, logits[row, c]
            if logits[row, c] != logits[row, c]:
                undefined += 1
                break
        labels[row] = best
    return undefined
