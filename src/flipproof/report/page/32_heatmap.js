// The heatmap of a measure over two axes, with contour lines, for one run and for comparisons.
// A plane is what it draws: {run, measure, x, y, z}, with z[y][x] null where there is no number.
flipproof.heatmap = (() => {
  const { element, paragraph, section, table } = flipproof.dom;
  const { amount, capital, count, share } = flipproof.format;

  /** About how wide the cells are in all, without ticks and colour bar. */
  const plotWidth = (node) => Math.max(100, node.clientWidth - 140);

  function planeOf(run, view) {
    const measure = flipproof.view.measureOf(run, view);
    const z = flipproof.grid.measureSlice(run, measure, view);
    return { run, measure, x: run.axes[view.x], y: run.axes[view.y], z };
  }

  function hoverText({ run, measure, x, y }, value, i, j) {
    const changes = [amount(y.counts[j], y.words), amount(x.counts[i], x.words)];
    if (value === null) return flipproof.plot.hover(changes, "no number");
    const inputs = `${count(Math.round(value * measure.count))} of ${flipproof.inputs.units(run, measure.count)}`;
    return flipproof.plot.hover([...changes, inputs], `${measure.name} ${share(value)}`);
  }

  function traces(plane, pixels, colours, showScale) {
    const x = plane.x.counts;
    const y = plane.y.counts;
    const cells = {
      type: "heatmap", x, y, z: plane.z, zmin: 0, zmax: 1, colorscale: flipproof.theme.SCALE, showscale: showScale,
      hoverinfo: "text",
      hovertext: plane.z.map((row, j) => row.map((value, i) => hoverText(plane, value, i, j))),
      colorbar: {
        title: { text: "share", side: "top" }, thickness: 12, outlinewidth: 0, tickformat: ".1f",
        tickcolor: colours.line, len: 1, xpad: 8, ypad: 0,
      },
    };
    return [cells, ...flipproof.contours.traces(x, y, plane.z, pixels)];
  }

  function layout({ x, y }, node) {
    const side = ({ words, counts }, pixels) => ({
      title: flipproof.plot.title(capital(words)), showgrid: false, range: [counts[0] - 0.5, counts.at(-1) + 0.5],
      ...flipproof.plot.countTicks(counts, pixels),
    });
    return { xaxis: side(x, plotWidth(node)), yaxis: side(y, 300) };
  }

  function paint(node, plane, showScale = true) {
    const label = `Heatmap of the ${plane.measure.name} over ${plane.x.words} and ${plane.y.words}`;
    return flipproof.plot.draw(node, label, (colours) => ({
      data: traces(plane, plotWidth(node), colours, showScale), layout: layout(plane, node),
    }));
  }

  function numbers({ measure, x, y, z }) {
    const rows = z.map((row, j) => [
      String(y.counts[j]), ...row.map((value) => (value === null ? "–" : share(value))),
    ]);
    return table(capital(measure.name), [`${y.words} ↓  ${x.words} →`, ...x.counts.map(String)], rows);
  }

  function explanation({ run, measure, x, y }, view) {
    const isRight = measure.name.includes("accuracy") ? "is right and " : "";
    return `The share of ${run.units} whose prediction ${isRight}provably stays the same under any attack with that many`
      + ` ${y.words} and ${x.words} at once${flipproof.grid.heldWords(run.axes, view)}`
      + ` (${measure.of}). White lines enclose shares of at least 0.9, 0.7, 0.5 and 0.3.`;
  }

  const edgeWords = ({ run, x, y }) => flipproof.axes.edgeWords(
    [y, x].filter((axis) => flipproof.axes.goesOn(axis, run.limit)).map(({ words }) => words),
  );

  function show(parent, run, view) {
    const node = flipproof.plot.canvas("heatmap", 420);
    const words = paragraph("", "lead");
    const edge = paragraph("", "note");
    const tableBox = element("div");
    const update = () => {
      const plane = planeOf(run, view);
      words.textContent = explanation(plane, view);
      edge.textContent = edgeWords(plane);
      tableBox.replaceChildren(flipproof.plot.asTable(() => numbers(plane)));
      return paint(node, plane);
    };
    const controls = flipproof.view.controls(run.axes, run.measures, view, update);
    parent.append(section("robustness", "How much is certified", words, controls, node, edge, tableBox));
    return update();
  }

  return { show, paint, numbers };
})();
