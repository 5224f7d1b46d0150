// The table of inputs: sortable headers, pages of 25 rows.
flipproof.table = (() => {
  const { element, scrolling } = flipproof.dom;
  const { count } = flipproof.format;
  const ROWS = 25;

  function headCell(column, state, sortBy) {
    const kind = column.isNumber ? "number" : null;
    if (!column.key) return element("th", { scope: "col", title: column.hint }, column.title);
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

  /** A click anywhere opens the input; the button in the first cell is for the keyboard and for readers. */
  function row(run, input, shownColumns) {
    const open = () => flipproof.dialog.open(input);
    const cells = shownColumns.map(({ cell, isNumber }, index) => element(
      index === 0 ? "th" : "td", { scope: index === 0 ? "row" : null, class: isNumber ? "number" : null }, cell(input),
    ));
    const byKey = (event) => {
      if (event.target !== event.currentTarget || ![" ", "Enter"].includes(event.key)) return;
      event.preventDefault();
      open();
    };
    return element("tr", { "data-input": input, tabindex: "-1", click: open, keydown: byKey }, ...cells);
  }

  /** A table that follows `rows`; `render` shows the page that holds position `start`. */
  function create(run, rows, sortBy) {
    const shownColumns = flipproof.columns.create(run);
    const head = element("tr");
    const body = element("tbody");
    const node = element(
      "table", { id: "inputs" },
      element("caption", { class: "hidden" }, `All ${run.units}. The number in the first cell opens one.`),
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

  const found = (run, order) => `${count(order.length)} of ${flipproof.inputs.units(run, run.inputs)}`;

  return { create, found };
})();
