// The columns of the table of inputs: {key, title, hint, isNumber, cell}; a column without a key can't be sorted.
flipproof.columns = (() => {
  const { element, named } = flipproof.dom;
  const { isolated, lower, radius, shorten, upper } = flipproof.format;
  const facts = flipproof.inputs;
  const CORNERS = 3;

  /** A name that is cut off when it is long; the whole of it is in its title. */
  function cut(text) {
    const node = named(shorten(text, 60));
    node.title = isolated(shorten(text, 300));
    return node;
  }

  const className = (run, index) => cut(run.classes[index]);

  /** The button has no listener: its click reaches the row. */
  function inputCell(run, input) {
    const name = facts.name(run, input);
    const id = facts.id(run, input);
    const label = `Open ${run.unit} ${id}`;
    const button = element("button", { type: "button", class: "open", "aria-label": label }, String(id));
    return name === null ? [button] : [button, " ", cut(name)];
  }

  function predictionCell(run, input) {
    if (facts.isAbstained(run, input)) return element("em", { class: "abstained" }, "abstained");
    return className(run, facts.prediction(run, input));
  }

  function truthCell(run, input) {
    if (facts.truth(run, input) < 0) return "–";
    const name = className(run, facts.truth(run, input));
    return facts.isWrong(run, input)
      ? element("span", { class: "wrong" }, "✗ ", name, element("span", { class: "hidden" }, " (prediction is wrong)"))
      : name;
  }

  function frontierCell(run, input) {
    if (facts.isAbstained(run, input)) return "–";
    const corners = flipproof.stairs.frontier(run, input);
    const shown = corners.length <= CORNERS ? corners : [...corners.slice(0, CORNERS - 1), "…", corners.at(-1)];
    return element("span", { title: corners.join(" ") }, shown.join(" ") || "–");
  }

  function frontierColumn(run) {
    const [first, second] = run.axes;
    const others = run.axes.length > 2 ? "; others 0" : "";
    return {
      title: `frontier (${first.name}, ${second.name}${others})`,
      hint: `the largest certified combinations of ${first.words} and ${second.words}`,
      cell: (input) => frontierCell(run, input),
    };
  }

  const radiusColumn = (run, name, words) => ({
    key: name, title: name, hint: words, isNumber: true,
    cell: (input) => (
      facts.isAbstained(run, input) ? "–" : radius(facts.radiiOf(run, name)[input], run.limit)
    ),
  });

  const radiusColumns = (run) => [
    ...run.axes.map(({ name, words }) => radiusColumn(run, name, words)),
    ...(run.any === null ? [] : [radiusColumn(run, "any", run.any.words)]),
  ];

  /** Only certificates from votes have bounds on probabilities. */
  const boundColumns = (table) => (table.p_lower === null ? [] : [
    { key: "p_lower", title: "p_lower", isNumber: true, cell: (input) => lower(table.p_lower.values[input]) },
    { key: "p_upper", title: "p_upper", isNumber: true, cell: (input) => upper(table.p_upper.values[input]) },
  ]);

  function create(run) {
    const { table } = run;
    return [
      { key: "input", title: run.unit, cell: (input) => inputCell(run, input) },
      { key: "label", title: "prediction", cell: (input) => predictionCell(run, input) },
      ...(table.truth === null ? [] : [{ key: "truth", title: "true label", cell: (input) => truthCell(run, input) }]),
      ...boundColumns(table),
      ...radiusColumns(run),
      ...(run.stairs === null ? [] : [frontierColumn(run)]),
    ];
  }

  return { create };
})();
