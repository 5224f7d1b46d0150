// Grids with one dimension per axis: two-dimensional slices, and which two axes are shown.
flipproof.grid = (() => {
  const MOST_ZEROS = 3;

  /** Position of a cell in a C-order array. */
  const offset = (shape, cell) => cell.reduce((sum, index, axis) => sum * shape[axis] + index, 0);

  /** z[y][x] of `valueAt(cell)`, with the other axes held at `view.hold` (indices into their counts). */
  function slice(view, width, height, valueAt) {
    return Array.from({ length: height }, (_row, y) => Array.from({ length: width }, (_column, x) => {
      const cell = view.hold.slice();
      cell[view.x] = x;
      cell[view.y] = y;
      return valueAt(cell);
    }));
  }

  const measureSlice = (run, measure, view) => slice(
    view, run.axes[view.x].counts.length, run.axes[view.y].counts.length,
    (cell) => measure.grid.values[offset(measure.grid.shape, cell)],
  );

  const firstEnding = (axes, ending) => axes.findIndex((axis) => axis.name.endsWith(ending));

  /** The view at the start: additions upwards, deletions to the right, all else at no change. */
  function startView(axes) {
    const y = Math.max(0, firstEnding(axes, "add"));
    const deletion = firstEnding(axes, "delete");
    const x = deletion >= 0 && deletion !== y ? deletion : axes.findIndex((_axis, index) => index !== y);
    return { x, y, hold: axes.map(() => 0) };
  }

  const heldAxes = (axes, view) => axes
    .map((axis, index) => ({ axis, index }))
    .filter(({ index }) => index !== view.x && index !== view.y);

  /** ", together with edges added: 1 and edges deleted: 0", or nothing when all axes are shown; many zeros are one. */
  function heldWords(axes, view) {
    const held = heldAxes(axes, view).map(({ axis, index }) => ({ axis, count: axis.counts[view.hold[index]] }));
    const zeros = held.filter(({ count }) => count === 0).length;
    const named = zeros <= MOST_ZEROS ? held : held.filter(({ count }) => count > 0);
    const parts = named.map(({ axis, count }) => flipproof.format.amount(count, axis.words));
    if (named.length < held.length) parts.push(`all ${parts.length === 0 ? "" : "other "}kinds that are not shown: 0`);
    return parts.length === 0 ? "" : `, together with ${flipproof.format.joined(parts)}`;
  }

  return { offset, slice, measureSlice, startView, heldAxes, heldWords };
})();
