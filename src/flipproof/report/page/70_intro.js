// The top of a report: what is promised, what is not, and the main numbers.
flipproof.intro = (() => {
  const { element, folded, list, named, paragraph, section, table } = flipproof.dom;

  function promise(words) {
    const [first = "", ...others] = words.promise;
    return element(
      "div", { id: "promise", class: "promise" },
      element("h2", {}, "What is promised"), paragraph(first, "big"), ...others.map((sentence) => paragraph(sentence)),
    );
  }

  const notPromised = (words) => element(
    "div", { id: "not-promised", class: "not-promised" },
    element("h2", {}, "What is not promised"), list(words.not_promised),
  );

  const tile = ({ name, value, note }) => element(
    "div", { class: "tile" },
    element("dt", { dir: "auto" }, name), element("dd", { class: "value" }, value),
    note ? element("dd", { class: "note", dir: "auto" }, note) : null,
  );

  const tiles = (numbers, id) => element("dl", { id, class: "tiles" }, ...numbers.map(tile));

  /** Radii of one kind of change where all kinds together say more. */
  const details = (run) => (
    run.details.length === 0 ? null : folded("By kind of change", () => tiles(run.details, "kind-numbers"))
  );

  const byClass = (run) => (
    run.by_class === null ? null
      : element("div", { id: "by-class" }, element("h3", {}, "By class"),
        table("Results by class", run.by_class.head, run.by_class.rows.map(([name, ...cells]) => [named(name), ...cells])))
  );

  const cautions = (words) => (
    words.cautions.length === 0 ? null : element("div", { id: "cautions", class: "cautions" }, list(words.cautions))
  );

  function show(parent, run) {
    parent.append(element("div", { class: "words" }, promise(run.words), notPromised(run.words)));
    if (run.numbers.length === 0) return;
    parent.append(section(
      "summary", "In numbers", cautions(run.words), tiles(run.numbers, "numbers"), details(run), byClass(run),
    ));
  }

  return { show, promise, notPromised };
})();
