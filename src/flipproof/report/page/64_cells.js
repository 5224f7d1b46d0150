// A row of a table, column by column, and its values in the noisy copies.
flipproof.cells = (() => {
  const { element, named, table } = flipproof.dom;
  const { count, shorten } = flipproof.format;

  const LONGEST = 60;

  const nameOf = (columns, j) => named(columns[j] === undefined ? `column ${j}` : shorten(columns[j], LONGEST));

  /** Categories beyond those that the page has names of are called by their number. */
  function valueOf(names, value) {
    return names?.[value] === undefined ? count(value) : named(shorten(names[value], LONGEST));
  }

  function cell(names, before, now) {
    const value = valueOf(names, now);
    if (before === now) return value;
    return element("mark", { class: "word other" }, element("span", { class: "hidden" }, "changed: "), value);
  }

  function show(parent, rows, input) {
    const { columns, values, clean, noisy, copies } = rows;
    const width = clean.shape[1];
    const body = Array.from({ length: width }, (_none, j) => {
      const before = clean.values[input * width + j];
      const others = copies.map((_copy, c) => (
        cell(values[j], before, noisy.values[(c * rows.count + input) * width + j])
      ));
      return [nameOf(columns, j), element("strong", {}, valueOf(values[j], before)), ...others];
    });
    const head = ["column", "value", ...copies.map((copy) => `copy ${copy}`)];
    const box = table("The row and its noisy copies", head, body);
    box.classList.add("cells");
    parent.append(box, flipproof.copies.note(copies));
  }

  return { show };
})();
