// What the axes of a run count, and whether its certificates go on beyond the counts that are drawn.
flipproof.axes = (() => {
  /** What an axis counts; with its name when another axis of the run counts the same. */
  function words(axes, axis) {
    const isUnique = axes.filter((other) => other.words === axis.words).length === 1;
    return isUnique ? axis.words : `${axis.words} (${axis.name})`;
  }

  /** A radius goes on beyond the last count; one at the limit of the search does so as well. */
  const isBeyond = (radius, { counts }, limit) => radius < 0 || radius > counts.at(-1) || radius >= limit;

  const goesOn = (axis, limit) => isBeyond(axis.largest, axis, limit);

  const edgeWords = (names) => (
    names.length === 0 ? "" : `Some certificates go on beyond the edge: ${flipproof.format.joined(names)}.`
  );

  return { words, isBeyond, goesOn, edgeWords };
})();
