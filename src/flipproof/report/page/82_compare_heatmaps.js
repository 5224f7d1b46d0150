// One heatmap per run, all over the same axes with the same ranges and colours.
flipproof.compareHeatmaps = (() => {
  const { element, named, paragraph } = flipproof.dom;
  const { indexIn } = flipproof.commonAxes;

  /** Both axes shown are the run's, and no change that it does not count is held at more than none. */
  const hasAxes = (run, axes, view) => axes.every((axis, common) => {
    const isShown = common === view.x || common === view.y;
    return indexIn(run, axis) >= 0 || (!isShown && axis.counts[view.hold[common]] === 0);
  });

  /** The share at one count per axis of the run: 0 where no certificate goes, null where that is not known. */
  function shareAt(run, measure, wanted) {
    const cell = run.axes.map(({ counts }, index) => counts.indexOf(wanted[index]));
    const outside = run.axes.filter((_axis, index) => cell[index] < 0);
    if (outside.some((axis) => !flipproof.axes.goesOn(axis, run.limit))) return 0;
    return outside.length > 0 ? null : measure.grid.values[flipproof.grid.offset(measure.grid.shape, cell)];
  }

  /** The run over the common counts; null when it has no numbers for the choice. */
  function planeOf(run, axes, view) {
    const measure = flipproof.view.measureOf(run, view);
    if (measure === undefined || measure.grid === null || !hasAxes(run, axes, view)) return null;
    const [x, y] = [axes[view.x], axes[view.y]];
    const common = run.axes.map((_axis, index) => axes.findIndex((axis) => indexIn(run, axis) === index));
    const z = flipproof.grid.slice(view, x.counts.length, y.counts.length, (cell) => (
      shareAt(run, measure, common.map((at) => axes[at].counts[cell[at]]))
    ));
    return { run, measure, x, y, z };
  }

  function edgeWords({ run, x, y, z }) {
    const goingOn = [y, x].filter((axis) => flipproof.axes.goesOn(run.axes[indexIn(run, axis)], run.limit));
    const blank = z.flat().includes(null) ? " Blank cells: this run has no numbers there." : "";
    return flipproof.axes.edgeWords(goingOn.map(({ words }) => words)) + blank;
  }

  function scale() {
    const stops = flipproof.theme.SCALE.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ");
    return element(
      "p", { class: "scale" }, "share 0",
      element("span", { class: "scale-bar", style: `background:linear-gradient(to right, ${stops})` }), "1",
    );
  }

  function paintOne(box, canvas, run, axes, view) {
    const plane = planeOf(run, axes, view);
    flipproof.plot.forget(canvas);
    if (plane === null) {
      box.replaceChildren(paragraph("This run has no numbers for this choice.", "empty"));
      return null;
    }
    const table = flipproof.plot.asTable(() => flipproof.heatmap.numbers(plane));
    box.replaceChildren(canvas, paragraph(edgeWords(plane), "note"), table);
    return flipproof.heatmap.paint(canvas, plane, false);
  }

  function create(runs, axes) {
    const canvases = runs.map((_run, index) => flipproof.plot.canvas(`compare-heatmap-${index}`, 300));
    const boxes = runs.map(() => element("div"));
    const maps = element("div", { id: "compare-heatmaps", class: "columns narrow" }, ...runs.map((run, index) => element(
      "div", { class: "panel" }, element("h3", {}, named(run.name)), boxes[index],
    )));
    const paint = (view) => runs.map((run, index) => paintOne(boxes[index], canvases[index], run, axes, view));
    return { node: element("div", {}, scale(), maps), paint };
  }

  return { create };
})();
