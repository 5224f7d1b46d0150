// The section around the table of inputs: search box, filters, page buttons.
flipproof.browser = (() => {
  const { byId, choice, element, paragraph, section } = flipproof.dom;
  const { shorten } = flipproof.format;
  const PAUSE = 150;

  function debounced(action) {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(action, PAUSE);
    };
  }

  function searchBox(state, changed) {
    const box = element("input", {
      id: "search", type: "search", placeholder: "name, label or text; #17 for a number", autocomplete: "off",
    });
    box.addEventListener("input", debounced(() => {
      state.search = box.value;
      changed();
    }));
    return element("label", { class: "control grow" }, "Search", box);
  }

  function filters(run, state, changed) {
    const filter = (key, label, options) => choice(`filter-${key}`, label, options, state[key], (value) => {
      state[key] = value;
      changed();
    });
    const kinds = [["all", `all ${run.units}`], ["abstained", "only abstained"]];
    if (run.table.truth !== null) kinds.push(["wrong", "only wrong"]);
    const labels = run.classes.map((name, index) => [String(index), shorten(name, 40)]);
    const parts = [...new Set(run.table.part?.values)].sort((a, b) => a - b);
    return [
      filter("kind", "Show", kinds),
      filter("label", "Prediction", [["", "any"], ...labels]),
      parts.length === 0 ? null
        : filter("part", "Part", [["", "all"], ...parts.map((index) => [String(index), run.table.parts[index]])]),
    ];
  }

  function pager(turn) {
    const button = (id, text, step) => element("button", { id, type: "button", click: () => turn(step) }, text);
    const position = element("span", { id: "page-number" });
    const node = element(
      "div", { class: "pager" },
      button("page-previous", "Previous", -1), position, button("page-next", "Next", 1),
    );
    const update = (page, pages) => {
      position.textContent = `Page ${(page + 1).toLocaleString("en-US")} of ${pages.toLocaleString("en-US")}`;
      byId("page-previous").disabled = page === 0;
      byId("page-next").disabled = page >= pages - 1;
    };
    return { node, update };
  }

  function show(parent, run) {
    const rows = flipproof.rows.create(run);
    let order = rows.order();
    let page = 0;
    const found = paragraph("", "note");
    found.setAttribute("role", "status");

    const table = flipproof.table.create(run, rows, (column) => {
      rows.state.descending = rows.state.column === column && !rows.state.descending;
      rows.state.column = column;
      changed();
      byId("inputs").querySelector(`th[data-column="${CSS.escape(column)}"] button`).focus();
    });
    const pages = pager((step) => {
      page += step;
      render();
    });

    function render() {
      table.render(order, page);
      found.textContent = flipproof.table.found(run, order);
      pages.update(page, table.pagesOf(order));
    }

    function changed() {
      order = rows.order();
      page = 0;
      render();
    }

    parent.append(section(
      "browse", `All ${run.units}`,
      paragraph(run.table.votes === null ? "Open a row to read its certificate."
        : "Open a row to see the votes, the certified combinations and the picture.", "lead"),
      element("div", { class: "controls" }, searchBox(rows.state, changed), ...filters(run, rows.state, changed)),
      found, table.node, pages.node,
    ));
    render();
    return { order: () => order };
  }

  return { show };
})();
