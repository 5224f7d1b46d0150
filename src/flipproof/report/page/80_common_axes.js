// Axes of several runs. They are the same when they count the same ("edges added"), whatever their names are.
flipproof.commonAxes = (() => {
  const wordsOf = (run, axis) => flipproof.axes.words(run.axes, axis);

  /** All that is counted by any run, each with every count that occurs. */
  function union(runs) {
    const counts = new Map();
    runs.forEach((run) => run.axes.forEach((axis) => {
      const words = wordsOf(run, axis);
      counts.set(words, new Set([...(counts.get(words) ?? []), ...axis.counts]));
    }));
    return [...counts].map(([words, known]) => ({ words, counts: [...known].sort((a, b) => a - b) }));
  }

  /** Where the run has this axis; -1 when it does not count such changes. */
  const indexIn = (run, { words }) => run.axes.findIndex((axis) => wordsOf(run, axis) === words);

  const pairs = (axes) => axes.flatMap((_y, y) => axes.flatMap((_x, x) => (x === y ? [] : [{ x, y }])));

  /** Two axes that as many runs as possible have; additions upwards and deletions to the right, if it can be. */
  function startView(runs, axes) {
    const hasKind = ({ words }, kind) => Number(words.includes(kind));
    const worth = ({ x, y }) => (
      3 * runs.filter((run) => indexIn(run, axes[x]) >= 0 && indexIn(run, axes[y]) >= 0).length
      + hasKind(axes[y], "added") + hasKind(axes[x], "deleted")
    );
    const best = pairs(axes).reduce((first, second) => (worth(second) > worth(first) ? second : first));
    return { ...best, hold: axes.map(() => 0) };
  }

  return { union, indexIn, startView };
})();
