// Which combinations of changes are certified for one input: its staircase and the frontier of it.
flipproof.stairs = (() => {
  /** A function from cell to "is it certified" for one input. */
  function certifier(run, input) {
    const { index, height } = run.stairs;
    const stair = index.values[input];
    return (cell) => {
      const others = cell.slice(0, -1);
      return cell.at(-1) < height.values[flipproof.grid.offset(height.shape, [stair, ...others])];
    };
  }

  /** How many counts of `axis` are certified while the others stay at `cell`. */
  function reach(isCertified, cell, axis, length) {
    const at = cell.slice();
    let steps = 0;
    while (steps < length) {
      at[axis] = steps;
      if (!isCertified(at)) break;
      steps += 1;
    }
    return steps;
  }

  /** A certified count at the edge of the grid may go on beyond it: "20+". */
  function countText(run, input, axis, index) {
    const { counts } = run.axes[axis];
    const isLast = index === counts.length - 1;
    const goesOn = flipproof.axes.isBeyond(run.table.radius[axis].values[input], run.axes[axis], run.limit);
    return isLast && goesOn ? `${counts[index]}+` : String(counts[index]);
  }

  /** Maximal certified pairs of the two first axes, all others at their first count. */
  function frontier(run, input) {
    const [first, second] = run.axes;
    const isCertified = certifier(run, input);
    const reaches = first.counts.map((_count, i) => {
      const cell = run.axes.map(() => 0);
      cell[0] = i;
      return reach(isCertified, cell, 1, second.counts.length);
    });
    return reaches.flatMap((steps, i) => (
      steps > 0 && steps > (reaches[i + 1] ?? 0)
        ? [`(${countText(run, input, 0, i)}, ${countText(run, input, 1, steps - 1)})`] : []
    ));
  }

  return { certifier, frontier };
})();
