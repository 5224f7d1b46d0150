// One of many small graphs, read from the arrays of the page: its edges, the kinds of its nodes, its noisy copy.
flipproof.graphParts = (() => {
  const within = ({ values }, from, to) => values.subarray(from, to);

  /** [[a, b], ...] from an array of two rows. */
  function pairs({ shape, values }, from, to) {
    return Array.from({ length: to - from }, (_none, i) => [values[from + i], values[shape[1] + from + i]]);
  }

  /** The noisy copy: {number, kept, added, kinds}, or null when it was not drawn. */
  function copyOf({ copy }, input, [from, to], [first, last]) {
    if (copy === null || copy.drawn.values[input] === 0) return null;
    return {
      number: copy.number,
      kept: within(copy.kept, from, to),
      added: pairs(copy.added, ...within(copy.starts, input, input + 2)),
      kinds: copy.kinds === null ? null : within(copy.kinds, first, last),
    };
  }

  /** {size, edges, kinds, copy} with nodes numbered within the graph; kinds is null where they are not known. */
  function read(graphs, input) {
    const ends = within(graphs.starts, input, input + 2);
    const first = within(graphs.nodes, 0, input).reduce((sum, nodes) => sum + nodes, 0);
    const size = graphs.nodes.values[input];
    return {
      size,
      edges: pairs(graphs.edges, ...ends),
      kinds: graphs.kinds === null ? null : within(graphs.kinds, first, first + size),
      copy: copyOf(graphs, input, ends, [first, first + size]),
    };
  }

  return { read };
})();
