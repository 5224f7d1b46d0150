// What the colours of dots mean: a list of swatches with names.
flipproof.legend = (() => {
  const { element, named } = flipproof.dom;
  const { shorten } = flipproof.format;

  const swatch = (colour) => element("span", {
    class: "swatch", style: colour === null ? null : `background:${colour}`,
  });

  /** Entries are [colour, name] pairs; null for a hollow dot. */
  const list = (entries) => element("ul", { class: "legend" }, ...entries.map(([colour, name]) => element(
    "li", {}, swatch(colour), named(shorten(name, 40)),
  )));

  return { list };
})();
