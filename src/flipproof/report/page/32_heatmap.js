// The heatmap of a measure over two axes, with contour lines, for one run and for comparisons.
flipproof.heatmap = (() => {
  const { element, paragraph, section, table } = flipproof.dom;
  const { amount, capital, count, share } = flipproof.format;

  /** About how wide the cells are in all, without ticks and colour bar. */
  const plotWidth = (node) => Math.max(100, node.clientWidth - 140);

  function hoverText(run, measure, view, value, x, y) {
    const inputs = `${count(Math.round(value * measure.count))} of ${count(measure.count)} ${run.units}`;
    const changes = [[view.y, y], [view.x, x]]
      .map(([axis, index]) => amount(run.axes[axis].counts[index], run.axes[axis].words));
    return flipproof.plot.hover([...changes, inputs], `${measure.name} ${share(value)}`);
  }

  function traces(run, measure, view, pixels, colours) {
    const x = run.axes[view.x].counts;
    const y = run.axes[view.y].counts;
    const z = flipproof.grid.measureSlice(run, measure, view);
    const cells = {
      type: "heatmap", x, y, z, zmin: 0, zmax: 1, colorscale: flipproof.theme.SCALE,
      hoverinfo: "text",
      hovertext: z.map((row, j) => row.map((value, i) => hoverText(run, measure, view, value, i, j))),
      colorbar: {
        title: { text: "share", side: "top" }, thickness: 12, outlinewidth: 0, tickformat: ".1f",
        tickcolor: colours.line, len: 1, xpad: 8, ypad: 0,
      },
    };
    return [cells, ...flipproof.contours.traces(x, y, z, pixels)];
  }

  function layout(axes, view, node, limits) {
    const x = axes[view.x];
    const y = axes[view.y];
    const { title } = flipproof.plot;
    const range = (axis) => [axis.counts[0] - 0.5, (limits?.[axis.name] ?? axis.counts.at(-1)) + 0.5];
    const ticks = (axis, pixels) => flipproof.plot.countTicks(axis.counts, pixels);
    return {
      xaxis: { title: title(capital(x.words)), showgrid: false, range: range(x), ...ticks(x, plotWidth(node)) },
      yaxis: { title: title(capital(y.words)), showgrid: false, range: range(y), ...ticks(y, 300) },
    };
  }

  /** Draws into `node`; `limits` fixes the largest count per axis name, `showScale` shows the colour bar. */
  function paint(node, run, view, { limits = null, showScale = true } = {}) {
    const measure = flipproof.view.measureOf(run, view);
    const label = `Heatmap of the ${measure.name} over ${run.axes[view.x].words} and ${run.axes[view.y].words}`;
    return flipproof.plot.draw(node, label, (colours) => {
      const data = traces(run, measure, view, plotWidth(node), colours);
      data[0].showscale = showScale;
      return { data, layout: layout(run.axes, view, node, limits) };
    });
  }

  function numbers(run, view) {
    const measure = flipproof.view.measureOf(run, view);
    const x = run.axes[view.x];
    const y = run.axes[view.y];
    const rows = flipproof.grid.measureSlice(run, measure, view)
      .map((row, j) => [String(y.counts[j]), ...row.map(share)]);
    return table(capital(measure.name), [`${y.words} ↓  ${x.words} →`, ...x.counts.map(String)], rows);
  }

  function explanation(run, view) {
    const measure = flipproof.view.measureOf(run, view);
    const isRight = measure.name.includes("accuracy") ? "is right and " : "";
    return `The share of ${run.units} whose prediction ${isRight}provably stays the same under any attack with that many`
      + ` ${run.axes[view.y].words} and ${run.axes[view.x].words} at once${flipproof.grid.heldWords(run.axes, view)}`
      + ` (${measure.of}). White lines enclose shares of at least 0.9, 0.7, 0.5 and 0.3.`;
  }

  function show(parent, run, view) {
    const node = flipproof.plot.canvas("heatmap", 420);
    const words = paragraph("", "lead");
    const tableBox = element("div");
    const update = () => {
      words.textContent = explanation(run, view);
      tableBox.replaceChildren(flipproof.plot.asTable(() => numbers(run, view)));
      return paint(node, run, view);
    };
    const controls = flipproof.view.controls(run.axes, run.measures, view, update);
    parent.append(section("robustness", "How much is certified", words, controls, node, tableBox));
    return update();
  }

  return { show, paint, numbers };
})();
