// Lines of all runs over each axis: a run keeps its colour, dash and marker in every chart.
flipproof.compareLines = (() => {
  const { element, svg } = flipproof.dom;
  const DASHES = ["", "8 5", "2 4", "8 4 2 4", "14 5", "14 4 2 4"];

  /** A short piece of the run's line, to find it in the charts. */
  const sample = (index) => svg(
    "svg", { class: "line-sample", viewBox: "0 0 36 8", "aria-hidden": "true" },
    svg("line", {
      x1: 0, y1: 4, x2: 36, y2: 4, stroke: flipproof.theme.series(index), "stroke-width": 3,
      "stroke-dasharray": DASHES[index % DASHES.length],
    }),
  );

  /** The curves of one axis and one measure; a run that lacks them keeps its place. */
  const curvesOf = (runs, axis, measureName) => runs.map((run, index) => {
    const at = flipproof.commonAxes.indexIn(run, axis);
    const measure = run.measures.find(({ name }) => name === measureName);
    const isKnown = at >= 0 && measure !== undefined;
    return {
      name: run.name, colour: flipproof.theme.series(index),
      counts: isKnown ? run.axes[at].line_counts : [], shares: isKnown ? measure.lines[at] : [],
    };
  });

  function create(runs, axes) {
    const canvases = axes.map((_axis, index) => flipproof.plot.canvas(`compare-lines-${index}`, 300 + 24 * runs.length));
    const tables = axes.map(() => element("div"));
    const node = element("div", { id: "compare-lines", class: "columns" }, ...axes.map((axis, index) => element(
      "div", { class: "panel" }, canvases[index], tables[index],
    )));
    const paint = ({ measure }) => axes.map((axis, index) => {
      const curves = curvesOf(runs, axis, measure);
      tables[index].replaceChildren(flipproof.plot.asTable(() => flipproof.lines.numbers(axis, curves)));
      return flipproof.plot.draw(
        canvases[index], `Lines of the ${measure} of all runs over ${axis.words}`,
        (colours) => flipproof.lines.chart(canvases[index], axis, curves, colours),
      );
    });
    return { node, paint };
  }

  return { create, sample };
})();
