"""The compiled loops of fused evaluation: products with noisy rows that are never made, and messages on edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flipproof.base.compiled import compiled, data_address, fetch_ahead, inlined
from flipproof.models.fused.row_sums import add_first_rows, add_rows, add_weighted_rows
from flipproof.noise.sampling.bit_kernels import draw_every_entry, keep_ones
from flipproof.noise.sampling.bit_law import EVERY_ENTRY, SCATTERED
from flipproof.noise.sampling.block_kernels import Block, Lookup, begin_block, choose_zeros, next_block
from flipproof.noise.sampling.counter import NONZEROS, U64, Place
from flipproof.noise.sampling.philox import fill_tile

_AHEAD = 2
"""The rows of a node's neighbours are prefetched this number of nodes before they are summed."""
_WIDE = 32
"""Rows with at least this many numbers are worth prefetching."""


class Adjacency(NamedTuple):
    """A normalised adjacency matrix in CSR form: row i holds the edges that lead to node i."""

    starts: Any
    columns: Any
    weights: Any


class WeightTable(NamedTuple):
    """Weights as integers: the weight of attribute j for unit c is table[j, c] * steps[c]."""

    table: Any
    steps: Any


@compiled
def noisy_products(
    out: Any, stream: Any, samples: Any, rows: Any, data: Any, law: Any, scratch: Any, weights: Any
) -> None:
    """Writes noisy rows times weights to out[sample, row, unit], without making the noisy rows.

    The loop draws all samples of one row before the next row: they share the information about its ones, and the
    weights of its ones stay in the processor's cache. It sums integers, so the order within a row does not matter.
    """
    starts, positions, entries, words = data.starts, data.positions, data.entries, scratch.words
    p_plus, p_minus, high, low, guide = law.p_plus, law.p_minus, law.high, law.low, law.guide
    copies, size, fewest, method = samples[1] - samples[0], law.block_size, law.first, law.method
    table, steps, width = weights.table, weights.steps, weights.table.shape[1]
    most = entries.max() if method == EVERY_ENTRY else (starts[1:] - starts[:-1]).max() + fewest + high.size + 1
    numbers, sums = np.empty(most + 8, np.uint32), np.zeros((copies, width), np.int32)
    state, turn, candidates = np.zeros(size + 1, np.uint8), U64(0), np.empty(64, np.uint32)
    pitch = U64(4 * width)
    numbers_at, sums_at, table_at = data_address(numbers), data_address(sums), data_address(table)
    for i in range(rows.size):
        row = rows[i]
        start, end, length = starts[row], starts[row + 1], entries[row]
        block = Block(0, 0, length, start, end)
        if method == SCATTERED:
            block = next_block(positions, end, length, size, Block(-1, 0, 0, start, start))
        while block.begin < length:
            if method == SCATTERED:
                _mark_ones(state, positions, block, size)
            for copy in range(copies):
                place, found = Place(stream.seed, stream.role, U64(samples[0] + copy), stream.part, U64(row)), 0
                if method == EVERY_ENTRY:
                    found = draw_every_entry(numbers, 0, place, positions, start, end, length, p_plus, p_minus, words)
                elif method == SCATTERED:
                    turn = _next_turn(state, turn)
                    begin_block(words, place, start, block)
                    lookup = Lookup(table_at + U64(block.begin) * pitch, pitch if width >= _WIDE else U64(0))
                    found = choose_zeros(
                        numbers, place, block, size, fewest, high, low, guide, state, turn, words, candidates, lookup
                    )
                else:
                    fill_tile(words, 0, place, NONZEROS, 0)
                if method != EVERY_ENTRY:
                    found = keep_ones(numbers, found, place, positions, start, block.first, block.last, p_minus, words)
                add_rows(sums_at + U64(4 * copy * width), table_at, width, numbers_at, found)
            if method == SCATTERED:
                _forget_ones(state, positions, block, size)
            block = next_block(positions, end, length, size if method == SCATTERED else length, block)
        for copy in range(copies):
            for unit in range(width):
                out[copy, i, unit] = np.float32(sums[copy, unit]) * steps[unit]
                sums[copy, unit] = 0


@inlined
def _next_turn(state: Any, turn: Any) -> Any:
    """The number of the next turn; when the numbers start again, the records of earlier turns are cleared."""
    if turn < U64(127):
        return turn + U64(1)
    for k in range(state.size):
        state[k] &= np.uint8(128)
    return U64(1)


@inlined
def _mark_ones(state: Any, positions: Any, block: Any, size: Any) -> None:
    """Marks the ones of a block and the entries past the end of the row."""
    for k in range(block.stop - block.begin, size):
        state[k] |= np.uint8(128)
    for k in range(block.first, block.last):
        state[positions[k] - block.begin] |= np.uint8(128)


@inlined
def _forget_ones(state: Any, positions: Any, block: Any, size: Any) -> None:
    for k in range(block.stop - block.begin, size):
        state[k] &= np.uint8(127)
    for k in range(block.first, block.last):
        state[positions[k] - block.begin] &= np.uint8(127)


@compiled
def normalised(columns: Any, weights: Any, starts: Any, pairs: Any, nodes: Any, directed: Any) -> None:
    """Writes D^(-1/2) (A + I) D^(-1/2) for the edges with the given sorted ranks, with one loop at every node.

    Rows come out sorted, with loops last, because edges sorted by rank list edges from smaller nodes first.
    """
    heads, tails = np.empty(pairs.size, np.uint32), np.empty(pairs.size, np.uint32)
    degrees = np.ones(nodes, np.int64)
    head, first, stop = 0, 0, nodes - 1  # pairs (head, ...) have the ranks first to stop - 1
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
def gcn_logits(
    logits: Any, products: Any, adjacency: Any, first_bias: Any, second: Any, second_bias: Any, distant: bool
) -> None:
    """A relu(A X W + b) V + c from X W; `distant` says that X W may be too large for the processor's cache."""
    nodes, width, classes = products.shape[0], products.shape[1], second.shape[1]
    hidden, messages, pitch = np.empty(width, np.float32), np.zeros((nodes, classes), np.float32), U64(4 * width)
    starts, columns, weights = adjacency.starts, data_address(adjacency.columns), data_address(adjacency.weights)
    products_at, hidden_at, second_at, messages_at = (
        data_address(products), data_address(hidden), data_address(second), data_address(messages)
    )  # fmt: skip
    for node in range(nodes):
        hidden[:] = np.float32(0)
        edges, degree = U64(4 * starts[node]), starts[node + 1] - starts[node]
        if distant and width >= _WIDE:
            later = min(node + _AHEAD, nodes - 1)
            for edge in range(starts[later], starts[later + 1]):
                fetch_ahead(products_at + U64(adjacency.columns[edge]) * pitch)
        add_weighted_rows(hidden_at, products_at, width, columns + edges, weights + edges, degree)
        _rectify(hidden, first_bias)
        add_first_rows(messages_at + U64(4 * classes * node), second_at, classes, hidden_at, width)
    _propagate(logits, messages, adjacency)
    for node in range(nodes):
        for c in range(classes):
            logits[node, c] += second_bias[c]


@inlined
def _propagate(out: Any, rows: Any, adjacency: Any) -> None:
    """Writes A times the rows."""
    starts, columns, weights = adjacency.starts, data_address(adjacency.columns), data_address(adjacency.weights)
    out_at, rows_at, width = data_address(out), data_address(rows), rows.shape[1]
    out[:] = np.float32(0)
    for node in range(out.shape[0]):
        edges, degree = U64(4 * starts[node]), starts[node + 1] - starts[node]
        add_weighted_rows(out_at + U64(4 * width * node), rows_at, width, columns + edges, weights + edges, degree)


@inlined
def _rectify(hidden: Any, bias: Any) -> None:
    for unit in range(hidden.size):
        hidden[unit] = max(hidden[unit] + bias[unit], np.float32(0))


@compiled
def perceptron(out: Any, products: Any, first_bias: Any, second: Any, second_bias: Any) -> None:
    """Writes relu(X W + b) V + c from X W, for each node separately."""
    width, classes = products.shape[1], second.shape[1]
    hidden = np.empty(width, np.float32)
    out_at, hidden_at, second_at = data_address(out), data_address(hidden), data_address(second)
    for node in range(products.shape[0]):
        hidden[:] = products[node]
        _rectify(hidden, first_bias)
        out[node] = second_bias
        add_first_rows(out_at + U64(4 * classes * node), second_at, classes, hidden_at, width)


@compiled
def page_rank(state: Any, features: Any, adjacency: Any, steps: Any, teleport: Any) -> None:
    """Z <- (1 - teleport) A Z + teleport H, `steps` times, starting with H."""
    stay, jump, before = np.float32(1.0 - teleport), np.float32(teleport), np.empty_like(state)
    state[:] = features
    for _ in range(steps):
        before[:] = state
        _propagate(state, before, adjacency)
        for node in range(state.shape[0]):
            for c in range(state.shape[1]):
                state[node, c] = stay * state[node, c] + jump * features[node, c]


@compiled
def largest(labels: Any, places: Any, logits: Any, classes: Any) -> Any:
    """Writes the index of the largest of the first `classes` logits of each row, the first index on a tie.

    The index of row i goes to labels[places[i]]. Returns the number of rows with NaN.
    """
    undefined = 0
    for row in range(logits.shape[0]):
        best, top = 0, logits[row, 0]
        for c in range(classes):
            if logits[row, c] > top:
                best, top = c, logits[row, c]
            if logits[row, c] != logits[row, c]:
                undefined += 1
                break
        labels[places[row]] = best
    return undefined
