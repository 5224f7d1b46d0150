// The table of several runs: one column per run, one row per number or fact.
flipproof.compareTable = (() => {
  const { element, named, section, table } = flipproof.dom;
  const ASKED = /samples|alpha|failure probability/i;

  /** One row per key (a list of texts), in the order of first appearance: {key, values}, one value or null per run. */
  function merged(lists) {
    const maps = lists.map((entries) => new Map(entries.map(([key, value]) => [JSON.stringify(key), value])));
    const keys = [...new Set(maps.flatMap((map) => [...map.keys()]))];
    return keys.map((key) => ({ key: JSON.parse(key), values: maps.map((map) => map.get(key) ?? null) }));
  }

  /** Numbers are alike when they have the same name; what they count is part of it. */
  const numberEntries = (run) => run.numbers.map(({ name, value, note }) => [[name], { value, note }]);

  const numberCell = (number) => (number === null ? "–" : element(
    "span", {}, element("strong", {}, number.value),
    number.note ? element("span", { class: "note block", dir: "auto" }, number.note) : null,
  ));

  const numberRows = (runs) => merged(runs.map(numberEntries))
    .map(({ key, values }) => [element("bdi", {}, key[0]), ...values.map(numberCell)]);

  /** Keys hold the title too: two titles may have rows of the same name. */
  const factEntries = (run) => run.facts.flatMap(({ title, rows }) => rows.map(([name, value]) => [[title, name], value]));

  /** Shown are noise, samples and alpha, and whatever differs, but for hashes. */
  function isShown({ key: [title, name], values }) {
    const differs = new Set(values).size > 1 && !values.some(flipproof.format.isHash);
    return title.toLowerCase() === "noise" || ASKED.test(name) || differs;
  }

  const factRows = (runs) => merged(runs.map(factEntries)).filter(isShown)
    .map(({ key, values }) => [key[1], ...values].map((text) => element("bdi", {}, text ?? "–")));

  const headCell = (run, index) => element("span", {}, flipproof.compareLines.sample(index), named(run.name));

  function show(parent, runs) {
    const rows = [...numberRows(runs), ...factRows(runs)];
    parent.append(section("compare", "Side by side", table("The runs compared", ["", ...runs.map(headCell)], rows)));
  }

  return { show };
})();
