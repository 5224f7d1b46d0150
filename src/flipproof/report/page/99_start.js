// Reads the data, draws everything, and says so when something fails.
flipproof.start = (() => {
  const { byId, element, paragraph, section } = flipproof.dom;

  function fail(error) {
    console.error(error);
    const box = byId("error");
    box.hidden = false;
    box.textContent = `This report could not be drawn completely: ${error.message}`;
    document.documentElement.dataset.ready = "failed";
  }

  function contents(parent) {
    const links = [...parent.querySelectorAll("section[id] > h2")].map((heading) => element(
      "a", { href: `#${heading.parentElement.id}` }, heading.textContent,
    ));
    byId("contents").append(...links);
  }

  async function showCharts(parent, run, view) {
    if (run.axes.length > 1 && run.measures.length > 0) {
      // Where all kinds of change together come first, combinations of single kinds are details.
      const isDetail = run.details.length > 0;
      if (isDetail) await flipproof.lines.show(parent, run);
      if (run.measures[0].grid !== null) await flipproof.heatmap.show(parent, run, view);
      if (!isDetail) await flipproof.lines.show(parent, run);
    }
    if (run.axes.length === 1 && run.measures.length > 0) await flipproof.lines.show(parent, run);
    if (run.table.p_lower !== null) await flipproof.bounds.show(parent, run);
    if (run.forecast !== null && run.forecast.rows.length > 0) flipproof.forecast.show(parent, run);
  }

  async function showRun(parent, run) {
    flipproof.intro.show(parent, run);
    if (run.inputs === 0) {
      parent.append(section("empty", "Nothing to draw", paragraph("This run has no inputs.", "empty")));
      flipproof.facts.show(parent, run);
      return;
    }
    const view = { ...flipproof.grid.startView(run.axes), measure: run.measures[0]?.name };
    await showCharts(parent, run, view);
    const browser = flipproof.browser.show(parent, run);
    flipproof.facts.show(parent, run);
    flipproof.dialog.start(run, view, browser.order);
  }

  async function start() {
    try {
      const { version, runs } = await flipproof.data.read();
      const main = byId("main");
      byId("version").textContent = version;
      byId("title").append(runs.length === 1 ? flipproof.dom.named(runs[0].name) : `Comparison of ${runs.length} runs`);
      byId("loading").remove();
      flipproof.theme.watch(flipproof.plot.redraw);
      await (runs.length === 1 ? showRun(main, runs[0]) : flipproof.compare.show(main, runs));
      contents(main);
      document.documentElement.dataset.ready = "yes";
    } catch (error) {
      fail(error);
    }
  }

  return start;
})();

flipproof.start();
