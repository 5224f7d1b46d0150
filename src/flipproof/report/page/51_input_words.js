// The certificate of one input in words.
flipproof.inputWords = (() => {
  const { element, named } = flipproof.dom;
  const { lower, upper } = flipproof.format;
  const facts = flipproof.inputs;

  const line = (...parts) => element("p", {}, ...parts);

  const className = (run, index) => named(run.classes[index]);

  function mostVoted(run, input) {
    const votes = facts.votes(run, input);
    return votes.indexOf(Math.max(...votes));
  }

  function abstainedWords(run, input) {
    const reason = run.table.reasons[run.table.abstention.values[input]];
    return [
      line(element("strong", {}, "Abstained"), `: ${reason}. There is no certificate.`),
      line("Most votes: ", className(run, mostVoted(run, input)), "."),
    ];
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
      ...(isAbstained ? abstainedWords(run, input) : predictionWords(run, input)),
      ...truthWords(run, input), ...partWords(run, input),
      ...(isAbstained ? [] : boundWords(run, input)),
    ));
  }

  return { show };
})();
