// What is known about one input, and how to say it.
flipproof.inputs = (() => {
  const { amount, capital, count, joined } = flipproof.format;

  const isAbstained = (run, input) => run.table.abstention.values[input] !== 0;

  const truth = (run, input) => (run.table.truth === null ? -1 : run.table.truth.values[input]);

  const prediction = (run, input) => run.table.label.values[input];

  const isWrong = (run, input) => (
    truth(run, input) >= 0 && !isAbstained(run, input) && truth(run, input) !== prediction(run, input)
  );

  const name = (run, input) => (run.table.name === null ? "" : run.table.name[input] ?? "");

  const title = (run, input) => `${capital(run.unit)} ${input}`;

  const votes = (run, input) => {
    const classes = run.classes.length;
    return run.table.votes.values.subarray(input * classes, (input + 1) * classes);
  };

  /** "up to 1 edge added, or up to 6 edges deleted", or an empty text when no radius is above 0. */
  function budget(run, input) {
    const parts = run.axes
      .map((axis, index) => ({ words: axis.words, radius: run.table.radius[index].values[input] }))
      .filter(({ radius }) => radius !== 0)
      .map(({ words, radius }) => (radius < 0 ? "" : "up to ") + amount(radius, words));
    return joined(parts, "or");
  }

  const units = (run, number) => `${count(number)} ${number === 1 ? run.unit : run.units}`;

  return { isAbstained, truth, prediction, isWrong, name, title, votes, budget, units };
})();
