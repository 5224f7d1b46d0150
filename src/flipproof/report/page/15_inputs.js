// What is known about one input, and how to say it.
flipproof.inputs = (() => {
  const { capital, plural, radius } = flipproof.format;

  const REASONS = new Map([
    ["p_lower does not exceed p_upper", "the samples do not show which label is the most probable"],
    ["no selection votes", "no sample voted when the label was to be chosen"],
    ["no estimation votes", "no sample voted when the votes for the label were to be counted"],
  ]);

  const isAbstained = (run, input) => run.table.abstention.values[input] !== 0;

  const truth = (run, input) => (run.table.truth === null ? -1 : run.table.truth.values[input]);

  const prediction = (run, input) => run.table.label.values[input];

  const isWrong = (run, input) => (
    truth(run, input) >= 0 && !isAbstained(run, input) && truth(run, input) !== prediction(run, input)
  );

  /** The radii of all inputs along an axis, or of changes of any kinds ("any"); null for other names. */
  function radiiOf(run, name) {
    const axis = run.axes.findIndex((each) => each.name === name);
    if (axis >= 0) return run.table.radius[axis].values;
    return name === "any" ? run.any?.radius.values ?? null : null;
  }

  /** Null when the input has only a number. */
  const name = (run, input) => run.table.name?.[input] ?? null;

  /** What an input is called: its number in the data, of which the report may have only some. */
  const id = (run, input) => (run.table.id === null ? input : run.table.id.values[input]);

  /** The input with this id, or undefined. */
  function withId(run, wanted) {
    const input = run.table.id === null ? wanted : run.table.id.values.indexOf(wanted);
    return input >= 0 && input < run.inputs ? input : undefined;
  }

  const title = (run, input) => `${capital(run.unit)} ${id(run, input)}`;

  /** [{label, name, number}], one per class that the report lists; the last one, with label null, may be all others. */
  function votes(run, input) {
    const { classes, counts, others } = run.table.votes;
    const width = classes.shape[1];
    const listed = Array.from({ length: width }, (_none, i) => {
      const label = classes.values[input * width + i];
      return { label, name: run.classes[label], number: counts.values[input * width + i] };
    });
    if (width === run.classes.length) return listed;
    return [...listed, { label: null, name: "all others", number: others.values[input] }];
  }

  const most = (value, limit) => (value < 0 ? "any number" : `at most ${radius(value, limit)}`);

  /** "edges added, at most 1; edges deleted, at most 6", or an empty text when no radius is above 0. */
  const budget = (run, input, isMeant = () => true) => run.axes.filter(isMeant)
    .map(({ name: axis, words }) => ({ words, value: radiiOf(run, axis)[input] }))
    .filter(({ value }) => value !== 0)
    .map(({ words, value }) => `${words}, ${most(value, run.limit)}`).join("; ");

  /** What an attacker may do `where` ("anywhere in the graph") in vain. */
  function budgetWords(run, input, where) {
    if (isAbstained(run, input)) return "Abstained: nothing is certified.";
    const allowed = budget(run, input);
    if (allowed === "") return "No change is certified.";
    return `Certified against any attacker ${where} who keeps to one of these: ${allowed}.`
      + " For several kinds at once see the certified combinations.";
  }

  const units = (run, number) => plural(number, run.unit, run.units);

  const reasonWords = (reason) => (REASONS.has(reason) ? `${REASONS.get(reason)} (${reason})` : reason);

  return {
    isAbstained, truth, prediction, isWrong, radiiOf, id, withId, name, title, votes, budget, budgetWords, units,
    reasonWords,
  };
})();
