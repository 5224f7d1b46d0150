// Which inputs the table lists, and in which order. Works on index permutations, so it stays quick.
flipproof.rows = (() => {
  const facts = flipproof.inputs;

  /** The place of every class when their names are sorted. */
  function nameRanks(classes) {
    const { compare } = new Intl.Collator("en", { numeric: true });
    const ranks = new Array(classes.length);
    classes.map((_name, label) => label).sort((a, b) => compare(classes[a], classes[b]))
      .forEach((label, rank) => { ranks[label] = rank; });
    return ranks;
  }

  /** How a column is sorted: a function from input to number; what is missing comes first. */
  function sortKey(run, column) {
    const { table } = run;
    const radii = facts.radiiOf(run, column);
    if (radii !== null) return (input) => radiusKey(run, radii, input);
    const ranks = nameRanks(run.classes);
    return {
      input: (input) => facts.id(run, input),
      label: (input) => (facts.isAbstained(run, input) ? -1 : ranks[facts.prediction(run, input)]),
      truth: (input) => ranks[facts.truth(run, input)] ?? -1,
      p_lower: (input) => table.p_lower.values[input],
      p_upper: (input) => table.p_upper.values[input],
    }[column];
  }

  function radiusKey(run, radii, input) {
    if (facts.isAbstained(run, input)) return -1;
    return radii[input] < 0 ? Infinity : radii[input];
  }

  function haystack(run, input) {
    const classes = [facts.isAbstained(run, input) ? "abstained" : run.classes[facts.prediction(run, input)]];
    if (facts.truth(run, input) >= 0) classes.push(run.classes[facts.truth(run, input)]);
    const text = run.pictures?.texts?.[input] ?? "";
    return `${facts.id(run, input)}\n${facts.name(run, input) ?? ""}\n${classes.join("\n")}\n${text}`.toLowerCase();
  }

  const KINDS = {
    all: () => true,
    abstained: facts.isAbstained,
    wrong: facts.isWrong,
  };

  /** A list of inputs that can be searched, filtered and sorted. */
  function create(run) {
    let haystacks = null;
    const state = { search: "", part: "", kind: "all", label: "", column: "input", descending: false };

    /** "#17" is the input with this number; anything else is looked for in all that is known of an input. */
    const contains = (input, needle) => {
      if (/^#\d+$/.test(needle)) return facts.id(run, input) === Number(needle.slice(1));
      haystacks ??= Array.from({ length: run.inputs }, (_none, i) => haystack(run, i));
      return haystacks[input].includes(needle);
    };

    /** Abstained inputs have no prediction to be found by. */
    const isPredicted = (input, label) => !facts.isAbstained(run, input) && facts.prediction(run, input) === label;

    function matcher() {
      const needle = state.search.trim().toLowerCase();
      return (input) => KINDS[state.kind](run, input)
        && (state.part === "" || run.table.part.values[input] === Number(state.part))
        && (state.label === "" || isPredicted(input, Number(state.label)))
        && (needle === "" || contains(input, needle));
    }

    function order() {
      const inputs = Uint32Array.from({ length: run.inputs }, (_none, i) => i);
      const key = Float64Array.from(inputs, sortKey(run, state.column));
      const sign = state.descending ? -1 : 1;
      return inputs.filter(matcher())
        .sort((a, b) => (key[a] === key[b] ? a - b : sign * (key[a] < key[b] ? -1 : 1)));
    }

    return { state, order };
  }

  return { create };
})();
