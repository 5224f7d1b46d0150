// The table of inputs: search, filters, sortable headers, pages of 25 rows.
flipproof.table = (() => {
  const { element, named, scrolling } = flipproof.dom;
  const { count, lower, radius, shorten, upper } = flipproof.format;
  const facts = flipproof.inputs;
  const ROWS = 25;
  const CORNERS = 3;

  /** A name that is cut off when it is long; the whole of it is in its title. */
  function cut(text) {
    const node = named(shorten(text, 60));
    node.title = shorten(text, 300);
    return node;
  }

  const className = (run, index) => cut(run.classes[index]);

  function inputCell(run, input) {
    const name = facts.name(run, input);
    return name === "" ? [String(input)] : [`${input} `, cut(name)];
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

  /** The columns: {key, title, isNumber, cell}; a column without a key can't be sorted. */
  function columns(run) {
    const { table } = run;
    const radii = run.axes.map((axis, index) => ({
      key: axis.name, title: axis.name, hint: axis.words, isNumber: true,
      cell: (input) => (facts.isAbstained(run, input) ? "–" : radius(table.radius[index].values[input])),
    }));
    const frontier = {
      title: `frontier (${run.axes.slice(0, 2).map(({ name }) => name).join(", ")})`,
      cell: (input) => frontierCell(run, input),
    };
    return [
      { key: "input", title: run.unit, cell: (input) => inputCell(run, input) },
      { key: "label", title: "prediction", cell: (input) => predictionCell(run, input) },
      ...(table.truth === null ? [] : [{ key: "truth", title: "true label", cell: (input) => truthCell(run, input) }]),
      { key: "p_lower", title: "p_lower", isNumber: true, cell: (input) => lower(table.p_lower.values[input]) },
      { key: "p_upper", title: "p_upper", isNumber: true, cell: (input) => upper(table.p_upper.values[input]) },
      ...radii,
      ...(run.stairs === null ? [] : [frontier]),
    ];
  }

  function headCell(column, state, sortBy) {
    const kind = column.isNumber ? "number" : null;
    if (!column.key) return element("th", { scope: "col" }, column.title);
    const isSorted = state.column === column.key;
    const direction = state.descending ? "descending" : "ascending";
    const arrow = isSorted ? (state.descending ? "▼" : "▲") : "";
    return element(
      "th", { scope: "col", class: kind, "data-column": column.key, "aria-sort": isSorted ? direction : "none" },
      element(
        "button", { type: "button", title: column.hint, click: () => sortBy(column.key) },
        column.title, element("span", { class: "arrow", "aria-hidden": "true" }, arrow),
      ),
    );
  }

  function row(run, input, shownColumns) {
    const open = () => flipproof.dialog.open(input);
    const cells = shownColumns.map(({ cell, isNumber }, index) => element(
      index === 0 ? "th" : "td", { scope: index === 0 ? "row" : null, class: isNumber ? "number" : null }, cell(input),
    ));
    return element("tr", {
      "data-input": input, tabindex: "0", click: open,
      keydown: (event) => {
        if (event.key === "Enter") open();
      },
    }, ...cells);
  }

  /** A table that follows `rows`; `render` shows the page that holds position `start`. */
  function create(run, rows, sortBy) {
    const shownColumns = columns(run);
    const head = element("tr");
    const body = element("tbody");
    const node = element(
      "table", { id: "inputs" },
      element("caption", { class: "hidden" }, `All ${run.units}. Enter on a row opens it.`),
      element("thead", {}, head), body,
    );
    function render(order, page) {
      head.replaceChildren(...shownColumns.map((column) => headCell(column, rows.state, sortBy)));
      const shown = Array.from(order.subarray(page * ROWS, (page + 1) * ROWS));
      body.replaceChildren(...shown.map((input) => row(run, input, shownColumns)));
      if (shown.length === 0) {
        const note = element("td", { colspan: shownColumns.length, class: "empty" }, `No ${run.unit} matches.`);
        body.append(element("tr", {}, note));
      }
    }
    const pagesOf = (order) => Math.max(1, Math.ceil(order.length / ROWS));
    return { node: scrolling(`Table of ${run.units}`, node), render, pagesOf };
  }

  const found = (run, order) => `${count(order.length)} of ${facts.units(run, run.inputs)}`;

  return { create, found };
})();
