// The certificate of one input in words.
flipproof.inputWords = (() => {
  const { element, named } = flipproof.dom;
  const { capital, count, lower, upper } = flipproof.format;
  const facts = flipproof.inputs;

  const line = (...parts) => element("p", {}, ...parts);

  const className = (run, index) => named(run.classes[index]);

  /** The classes with most votes, all of them if several have as many. */
  function mostVoted(run, input) {
    if (run.table.votes === null) return [];
    const listed = facts.votes(run, input).filter(({ label }) => label !== null);
    const most = Math.max(...listed.map(({ number }) => number));
    if (most === 0) return [line("No sample voted.")];
    const names = listed.filter(({ number }) => number === most).map(({ name }) => named(name));
    return [line("Most votes: ", ...names.flatMap((name, i) => (i === 0 ? [name] : [", ", name])), ".")];
  }

  function abstainedWords(run, input) {
    const reason = run.table.reasons[run.table.abstention.values[input]];
    return [
      line(element("strong", {}, "Abstained"), `: ${facts.reasonWords(reason)}. There is no certificate.`),
      ...mostVoted(run, input),
    ];
  }

  /** One sentence for everybody. It goes on with class names when it has no full stop. */
  function sentence(run, input) {
    const { heads, index } = run.sentences;
    const head = heads[index.values[input]];
    if (head.endsWith(".")) return element("p", { id: "plain-words", class: "plain" }, head);
    const label = facts.prediction(run, input);
    const other = run.classes.length === 2 ? className(run, 1 - label) : "anything else";
    return element(
      "p", { id: "plain-words", class: "plain" }, `${head} from `, className(run, label), " to ", other, ".",
    );
  }

  function anyWords(run, input) {
    if (run.any === null) return [];
    const radius = run.any.radius.values[input];
    const most = radius < 0 ? "any number" : `up to ${count(radius)}`;
    return [line(`${capital(run.any.words)}: ${radius === 0 ? "no number" : most} is certified.`)];
  }

  function predictionWords(run, input) {
    return [line("Prediction: ", element("strong", {}, className(run, facts.prediction(run, input))), ".")];
  }

  function verdict(run, input) {
    if (facts.isAbstained(run, input)) return "";
    return facts.isWrong(run, input) ? " ✗ The prediction is wrong." : " ✓ The prediction is right.";
  }

  function truthWords(run, input) {
    const truth = facts.truth(run, input);
    if (truth < 0) return [];
    return [line("True label: ", className(run, truth), `.${verdict(run, input)}`)];
  }

  function boundWords(run, input) {
    const { table } = run;
    if (table.p_lower === null) return [];
    const low = `At least ${lower(table.p_lower.values[input])} of all noisy copies get the prediction (p_lower).`;
    if (run.classes.length < 2) return [line(low)];
    const high = ` Every other class gets at most ${upper(table.p_upper.values[input])} of them (p_upper)`;
    return [line(low, high, "; the runner-up is ", className(run, table.runner_up.values[input]), ".")];
  }

  function partWords(run, input) {
    return run.table.part === null ? [] : [line(`Part: ${run.table.parts[run.table.part.values[input]]}.`)];
  }

  function show(parent, run, input) {
    const isAbstained = facts.isAbstained(run, input);
    parent.append(element(
      "div", { class: "input-words" },
      isAbstained ? null : sentence(run, input),
      ...(isAbstained ? abstainedWords(run, input) : predictionWords(run, input)),
      ...truthWords(run, input), ...partWords(run, input),
      ...(isAbstained ? [] : [...boundWords(run, input), ...anyWords(run, input)]),
    ));
  }

  return { show };
})();
