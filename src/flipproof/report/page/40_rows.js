// Which inputs the table lists, and in which order. Works on index permutations, so it stays quick.
flipproof.rows = (() => {
  const facts = flipproof.inputs;

  /** Sort keys: one number per input; what is missing comes first. */
  function keys(run, column) {
    const { table } = run;
    const axis = run.axes.findIndex(({ name }) => name === column);
    if (axis >= 0) return (input) => radiusKey(run, axis, input);
    return {
      input: (input) => input,
      label: (input) => (facts.isAbstained(run, input) ? -1 : table.label.values[input]),
      truth: (input) => facts.truth(run, input),
      p_lower: (input) => table.p_lower.values[input],
      p_upper: (input) => table.p_upper.values[input],
    }[column];
  }

  function radiusKey(run, axis, input) {
    if (facts.isAbstained(run, input)) return -1;
    const radius = run.table.radius[axis].values[input];
    return radius < 0 ? Infinity : radius;
  }

  function haystack(run, input) {
    const classes = [facts.isAbstained(run, input) ? "abstained" : run.classes[facts.prediction(run, input)]];
    if (facts.truth(run, input) >= 0) classes.push(run.classes[facts.truth(run, input)]);
    const text = run.pictures?.texts?.[input] ?? "";
    return `${input}\n${facts.name(run, input)}\n${classes.join("\n")}\n${text}`.toLowerCase();
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

    const contains = (input, needle) => {
      haystacks ??= Array.from({ length: run.inputs }, (_none, i) => haystack(run, i));
      return haystacks[input].includes(needle);
    };

    function matches(input) {
      const needle = state.search.trim().toLowerCase();
      return KINDS[state.kind](run, input)
        && (state.part === "" || run.table.part.values[input] === Number(state.part))
        && (state.label === "" || facts.prediction(run, input) === Number(state.label))
        && (needle === "" || contains(input, needle));
    }

    function order() {
      const chosen = Uint32Array.from({ length: run.inputs }, (_none, i) => i).filter(matches);
      const key = Float64Array.from({ length: run.inputs }, (_none, i) => keys(run, state.column)(i));
      const sign = state.descending ? -1 : 1;
      return chosen.sort((a, b) => (key[a] === key[b] ? a - b : sign * (key[a] < key[b] ? -1 : 1)));
    }

    return { state, order };
  }

  return { create };
})();
