// The certified combinations of one input as filled cells, over the axes of the main heatmap.
flipproof.staircase = (() => {
  const { element, paragraph, table } = flipproof.dom;
  const { amount, capital } = flipproof.format;

  const cellsOf = (run, view, input) => flipproof.grid.slice(
    view, run.axes[view.x].counts.length, run.axes[view.y].counts.length,
    ((isCertified) => (cell) => (isCertified(cell) ? 1 : 0))(flipproof.stairs.certifier(run, input)),
  );

  function hoverText(x, y, i, j, value) {
    const changes = [amount(y.counts[j], y.words), amount(x.counts[i], x.words)];
    return flipproof.plot.hover(changes, value ? "certified" : "not certified");
  }

  function chart(run, view, cells, node, colours) {
    const x = run.axes[view.x];
    const y = run.axes[view.y];
    const { countTicks: ticks, title } = flipproof.plot;
    return {
      data: [{
        type: "heatmap", x: x.counts, y: y.counts, z: cells, zmin: 0, zmax: 1, xgap: 2, ygap: 2, showscale: false,
        colorscale: [[0, colours.faint], [1, colours.accent]], hoverinfo: "text",
        hovertext: cells.map((row, j) => row.map((value, i) => hoverText(x, y, i, j, value))),
      }],
      layout: {
        xaxis: { title: title(capital(x.words)), showgrid: false, ...ticks(x.counts, node.clientWidth - 90) },
        yaxis: { title: title(capital(y.words)), showgrid: false, ...ticks(y.counts, 180) },
      },
    };
  }

  function numbers(run, view, cells) {
    const x = run.axes[view.x];
    const y = run.axes[view.y];
    const rows = cells.map((row, j) => [String(y.counts[j]), ...row.map((value) => (value ? "yes" : "no"))]);
    return table("Certified combinations", [`${y.words} ↓  ${x.words} →`, ...x.counts.map(String)], rows);
  }

  const others = (run) => (run.axes.length > 2 ? " Kinds and counts are those chosen above the heatmap." : "");

  function summary(run, view, cells) {
    const held = flipproof.grid.heldWords(run.axes, view);
    return cells.flat().some(Boolean)
      ? `Filled: the prediction provably stays the same under all these changes at once${held}.${others(run)}`
      : `No combination shown here is certified${held}.${others(run)}`;
  }

  /** The radii of this input that go on beyond the chart. */
  const edgeWords = (run, view, input) => flipproof.axes.edgeWords([view.y, view.x]
    .filter((axis) => flipproof.axes.isBeyond(run.table.radius[axis].values[input], run.axes[axis], run.limit))
    .map((axis) => run.axes[axis].words));

  function whyMissing(run, input) {
    if (run.stairs === null) return "The report does not hold them.";
    return flipproof.inputs.isAbstained(run, input) ? `This ${run.unit} abstained: nothing is certified.` : null;
  }

  function show(parent, run, view, input) {
    parent.append(element("h3", {}, "Certified combinations"));
    const missing = whyMissing(run, input);
    if (missing !== null) {
      parent.append(element("div", { id: "dialog-stairs" }, paragraph(missing, "empty")));
      return;
    }
    const cells = cellsOf(run, view, input);
    const node = flipproof.plot.canvas("dialog-stairs", 260);
    parent.append(
      node, paragraph(`${summary(run, view, cells)} ${edgeWords(run, view, input)}`, "note"),
      flipproof.plot.asTable(() => numbers(run, view, cells)),
    );
    flipproof.plot.draw(
      node, `Certified combinations of ${flipproof.inputs.title(run, input)}`,
      (colours) => chart(run, view, cells, node, colours),
    );
  }

  return { show };
})();
