// Everything that can be shown of an input itself: image, neighbours, graph, text, words, row.
flipproof.pictures = (() => {
  const { element, paragraph } = flipproof.dom;
  const { plural } = flipproof.format;

  function showText(parent, text) {
    const words = text.split(/\s+/).filter((word) => word !== "").length;
    parent.append(
      element("blockquote", { class: "text", dir: "auto", tabindex: "0" }, text),
      paragraph(`${plural(words, "word", "words")}.`, "note"),
    );
  }

  /** [isHeld, title, draw] for all that the report holds about this input. */
  function parts(run, input) {
    const { images, graph, graphs, texts, sequences, bags, rows } = run.pictures ?? {};
    return [
      [images && input < images.count, "Image", (box) => flipproof.image.show(box, images, input)],
      [graph, "Neighbourhood", (box) => flipproof.neighbourhood.show(box, run, graph, input)],
      [graphs && input < graphs.nodes.values.length, "Graph", (box) => flipproof.smallGraph.show(box, run, graphs, input)],
      [texts && input < texts.length, "Text", (box) => showText(box, texts[input])],
      [sequences && input < sequences.count, "Words", (box) => flipproof.words.showSequence(box, sequences, input)],
      [bags && input < bags.count, "Words", (box) => flipproof.words.showBag(box, bags, input)],
      [rows && input < rows.count, "Row", (box) => flipproof.cells.show(box, rows, input)],
    ].filter(([isHeld]) => isHeld);
  }

  /** Shows what there is, and says whether that was anything. */
  function show(parent, run, input) {
    const box = element("div", { id: "dialog-picture" });
    const found = parts(run, input);
    found.forEach(([, title, draw]) => {
      box.append(element("h3", {}, title));
      draw(box);
    });
    parent.append(box);
    return found.length > 0;
  }

  return { show };
})();
