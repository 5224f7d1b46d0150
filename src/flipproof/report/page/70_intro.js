// The top of a report: what is promised, what is not, and the main numbers.
flipproof.intro = (() => {
  const { element, list, paragraph, section } = flipproof.dom;

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

  function show(parent, run) {
    parent.append(element("div", { class: "words" }, promise(run.words), notPromised(run.words)));
    if (run.numbers.length === 0) return;
    const tiles = element("dl", { id: "numbers", class: "tiles" }, ...run.numbers.map(tile));
    parent.append(section("summary", "In numbers", tiles));
  }

  return { show, promise, notPromised };
})();
