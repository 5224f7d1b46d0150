// The page for several runs: their numbers, lines and heatmaps beside each other.
flipproof.compare = (() => {
  const { element, named, paragraph, section, table } = flipproof.dom;
  const ASKED = /samples|alpha|failure probability/i;

  /** Facts under keys that hold their title too: two titles may have rows of the same name. */
  const factRows = (run) => run.facts.flatMap(({ title, rows }) => (
    rows.map(([name, value]) => [`${title}\n${name}`, value])
  ));

  /** Shown are noise, samples and alpha, and whatever differs, but for hashes. */
  function isShown([key, ...values]) {
    const [title, name] = key.split("\n");
    const differs = new Set(values).size > 1 && !values.some(flipproof.format.isHash);
    return title.toLowerCase() === "noise" || ASKED.test(name) || differs;
  }

  const factTable = (runs) => merged(runs.map(factRows), (value) => value).filter(isShown)
    .map(([key, ...values]) => [key.split("\n")[1], ...values]);

  const numberRows = (run) => run.numbers.map(({ name, value, note }) => [name, { value, note }]);

  /** One row per name, in the order of first appearance, one cell per run. */
  function merged(lists, cell) {
    const maps = lists.map((rows) => new Map(rows));
    const names = [...new Set(lists.flatMap((rows) => rows.map(([name]) => name)))];
    return names.map((name) => [name, ...maps.map((map) => (map.has(name) ? cell(map.get(name)) : "–"))]);
  }

  const numberCell = ({ value, note }) => element(
    "span", {}, element("strong", {}, value), note ? element("span", { class: "note block" }, note) : null,
  );

  const headCell = (run, index) => element("span", {}, flipproof.compareLines.sample(index), named(run.name));

  function numbers(runs) {
    const head = ["", ...runs.map(headCell)];
    const rows = [...merged(runs.map(numberRows), numberCell), ...factTable(runs)];
    return section("compare", "Side by side", table("The runs compared", head, rows));
  }

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

  /** All axes of all runs by name, each with every count that occurs. */
  function unionAxes(runs) {
    const axes = new Map();
    runs.flatMap((run) => run.axes).forEach(({ name, words, counts }) => {
      const known = axes.get(name)?.counts ?? [];
      axes.set(name, { name, words, counts: [...new Set([...known, ...counts])].sort((a, b) => a - b) });
    });
    return [...axes.values()];
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
    const axes = unionAxes(runs);
    const measures = unionMeasures(runs);
    parent.append(numbers(runs));
    if (axes.length > 1 && measures.length > 0) {
      const view = flipproof.view.start(axes, measures);
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
