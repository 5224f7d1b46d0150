// One heatmap per run, all over the same axes with the same ranges and colours.
flipproof.compareHeatmaps = (() => {
  const { element, named, paragraph } = flipproof.dom;

  /** The common view as the indices of one run's axes; null when the run lacks something of it. */
  function viewOf(run, axes, view) {
    const indexOf = (common) => run.axes.findIndex(({ name }) => name === axes[common].name);
    const hold = run.axes.map(({ name, counts }) => {
      const common = axes.findIndex((axis) => axis.name === name);
      return common === view.x || common === view.y ? 0 : counts.indexOf(axes[common].counts[view.hold[common]]);
    });
    const lacksHeld = axes.some((axis, common) => (
      indexOf(common) < 0 && common !== view.x && common !== view.y && axis.counts[view.hold[common]] > 0
    ));
    const own = { x: indexOf(view.x), y: indexOf(view.y), hold, measure: view.measure };
    const isComplete = !lacksHeld && own.x >= 0 && own.y >= 0 && hold.every((index) => index >= 0);
    return isComplete && flipproof.view.measureOf(run, own) ? own : null;
  }

  function scale() {
    const stops = flipproof.theme.SCALE.map(([at, colour]) => `${colour} ${at * 100}%`).join(", ");
    return element(
      "p", { class: "scale" }, "share 0",
      element("span", { class: "scale-bar", style: `background:linear-gradient(to right, ${stops})` }), "1",
    );
  }

  function paintOne(box, canvas, run, axes, view) {
    const own = viewOf(run, axes, view);
    flipproof.plot.forget(canvas);
    if (own === null) {
      box.replaceChildren(paragraph("This run has no numbers for this choice.", "empty"));
      return null;
    }
    box.replaceChildren(canvas, flipproof.plot.asTable(() => flipproof.heatmap.numbers(run, own)));
    const limits = Object.fromEntries(axes.map(({ name, counts }) => [name, counts.at(-1)]));
    return flipproof.heatmap.paint(canvas, run, own, { limits, showScale: false });
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
