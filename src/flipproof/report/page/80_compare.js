// The page for several runs: their numbers, lines and heatmaps beside each other.
flipproof.compare = (() => {
  const { element, named, paragraph, section } = flipproof.dom;

  const detailsOf = (run) => element(
    "details", { class: "card" }, element("summary", {}, named(run.name)),
    element("div", { class: "words" }, flipproof.intro.promise(run.words), flipproof.intro.notPromised(run.words)),
    flipproof.facts.groups(run), run.command === null ? null : flipproof.facts.commandBox(run.command, null),
  );

  /** Ids are for one run only. */
  function withoutIds(node) {
    node.querySelectorAll("[id]").forEach((inner) => inner.removeAttribute("id"));
    return node;
  }

  function unionMeasures(runs) {
    return [...new Set(runs.flatMap((run) => run.measures.map(({ name }) => name)))].map((name) => ({ name }));
  }

  /** Runs with the same name get a number before it. */
  function numbered(runs) {
    const isUnique = new Set(runs.map(({ name }) => name)).size === runs.length;
    return isUnique ? runs : runs.map((run, index) => ({ ...run, name: `${index + 1}. ${run.name}` }));
  }

  async function show(parent, given) {
    const runs = numbered(given);
    const axes = flipproof.commonAxes.union(runs);
    const measures = unionMeasures(runs);
    flipproof.compareTable.show(parent, runs);
    if (axes.length > 1 && measures.length > 0) {
      const view = { ...flipproof.commonAxes.startView(runs, axes), measure: measures[0].name };
      const lines = flipproof.compareLines.create(runs, axes);
      const heatmaps = flipproof.compareHeatmaps.create(runs, axes);
      const update = () => Promise.all([...lines.paint(view), ...heatmaps.paint(view)]);
      const controls = flipproof.view.controls(axes, measures, view, update);
      const lead = paragraph("All other kinds of change are at zero.", "lead");
      parent.append(
        section("robustness", "How much is certified", controls, heatmaps.node),
        section("along", "One kind of change at a time", lead, lines.node),
      );
      await update();
    }
    parent.append(section("promises", "What each run promises", ...runs.map((run) => withoutIds(detailsOf(run)))));
  }

  return { show };
})();
