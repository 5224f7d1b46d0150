// What pictures say about noisy copies.
flipproof.copies = (() => {
  const { element, paragraph } = flipproof.dom;
  const VOTED_ON = "The classifier votes on noisy copies such as these.";
  const UNKNOWN = "The noisy copies that were voted on are not known.";

  const note = (copies) => paragraph(copies.length > 0 ? VOTED_ON : UNKNOWN, "note");

  /** The words of a copy under its caption. */
  const block = (caption, words) => element(
    "figure", { class: "copy" }, element("figcaption", {}, caption),
    element("p", { class: "words-of", dir: "auto" }, ...words),
  );

  const numbered = (copy) => `noisy copy number ${copy}`;

  return { note, block, numbered };
})();
