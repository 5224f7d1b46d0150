// A sequence of words, or a bag of them, and what noise made of it.
flipproof.words = (() => {
  const { element, named } = flipproof.dom;
  const { count, plural, shorten } = flipproof.format;
  const { block, note, numbered } = flipproof.copies;
  const MOST = 300;
  const LONGEST = 40;

  /** Words beyond those that the page holds are called by their number. */
  const nameOf = (words, number) => (words[number] === undefined ? `#${number}` : shorten(words[number], LONGEST));

  const plainWord = (text) => element("span", { class: "word" }, named(text));

  const spaced = (nodes) => nodes.flatMap((node) => [node, " "]);

  /** A mark that is heard as well as seen. */
  const marked = (tag, kind, heard, text) => element(
    tag, { class: `word ${kind}` }, element("span", { class: "hidden" }, `${heard} `), named(text),
  );

  const blank = () => element("span", { class: "word blank", role: "img", "aria-label": "hidden word" });

  /** At most MOST words, and how many are left out. */
  function cut(nodes) {
    const more = nodes.length - MOST;
    return more <= 0 ? spaced(nodes) : [...spaced(nodes.slice(0, MOST)), `… and ${count(more)} more`];
  }

  /** Positions without a word in the observed sequence are left out. */
  function positions(values, start, length, draw) {
    return Array.from({ length }, (_none, i) => i).flatMap((i) => (
      values[start + i] === 0 ? [] : [draw(values[start + i] - 1, i)]
    ));
  }

  function copiedWord(words, before, now) {
    if (now === 0) return blank();
    const text = nameOf(words, now - 1);
    return now - 1 === before ? plainWord(text) : marked("mark", "other", "substituted:", text);
  }

  /** "7 words substituted", or hidden where noise hides them. */
  function changeWords(nodes, hides) {
    const changed = nodes.filter((node) => node.classList.contains(hides ? "blank" : "other")).length;
    return `${plural(changed, "word", "words")} ${hides ? "hidden" : "substituted"}`;
  }

  function showSequence(parent, sequences, input) {
    const { words, hides, clean, noisy, copies } = sequences;
    const length = clean.shape[1];
    const drawn = (draw) => positions(clean.values, input * length, length, draw);
    const plain = drawn((word) => plainWord(nameOf(words, word)));
    const blocks = copies.map((copy, c) => {
      const start = (c * sequences.count + input) * length;
      const nodes = drawn((word, i) => copiedWord(words, word, noisy.values[start + i]));
      return block(`${numbered(copy)}: ${changeWords(nodes, hides)}`, cut(nodes));
    });
    parent.append(block(`observed: ${plural(plain.length, "word", "words")}`, cut(plain)), ...blocks, note(copies));
  }

  /** The words of one bag in the copy at this place: kept ones, removed ones, the first of those added. */
  function copiedBag(bags, input, c) {
    const [from, to] = bags.starts.values.subarray(input, input + 2);
    const place = c * bags.count + input;
    const total = bags.clean.values.length;
    const kept = (i) => bags.kept.values[c * total + i] === 1;
    const own = Array.from({ length: to - from }, (_none, i) => {
      const text = nameOf(bags.words, bags.clean.values[from + i]);
      return kept(from + i) ? plainWord(text) : marked("del", "gone", "removed:", text);
    });
    const [first, last] = bags.added_starts.values.subarray(place, place + 2);
    const added = Array.from(bags.added.values.subarray(first, last), (number) => (
      marked("ins", "new", "added:", nameOf(bags.words, number))
    ));
    return { own, added, more: bags.added_counts.values[place] - added.length };
  }

  function bagBlock(bags, input, copy, c) {
    const { own, added, more } = copiedBag(bags, input, c);
    const gone = own.filter((node) => node.tagName === "DEL").length;
    const caption = `${numbered(copy)}: ${plural(gone, "word", "words")} removed, ${count(added.length + more)} added`;
    return block(caption, [...cut(own), ...spaced(added), more > 0 ? `… and ${count(more)} more added` : ""]);
  }

  function showBag(parent, bags, input) {
    const [from, to] = bags.starts.values.subarray(input, input + 2);
    const plain = Array.from(bags.clean.values.subarray(from, to), (number) => plainWord(nameOf(bags.words, number)));
    parent.append(
      block(`observed: ${plural(plain.length, "different word", "different words")}`, cut(plain)),
      ...bags.copies.map((copy, c) => bagBlock(bags, input, copy, c)), note(bags.copies),
    );
  }

  return { showSequence, showBag };
})();
