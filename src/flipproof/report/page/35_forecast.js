// What more samples would bring: sentences and a table.
flipproof.forecast = (() => {
  const { list, paragraph, section, table } = flipproof.dom;
  const { capital, count, duration, joined, plural, radius } = flipproof.format;
  const { units } = flipproof.inputs;

  const wordsOf = (run, name) => run.axes.find((axis) => axis.name === name)?.words ?? name;

  const times = (row, present) => Number((row.samples / present.samples).toFixed(1)).toLocaleString("en-US");

  const timeWords = ({ seconds }) => (seconds === null ? "" : ` (a run of ${duration(seconds)})`);

  function gains(run, row) {
    const isUnknown = row.axes.some(({ more }) => more === null);
    const gaining = row.axes.filter(({ more }) => more > 0);
    const parts = gaining.map(({ name, more }, index) => {
      const who = index === 0 ? `${units(run, more)} would be certified` : count(more);
      return `${who} for more ${wordsOf(run, name)}`;
    });
    if (parts.length > 0) return joined(parts);
    return isUnknown ? "radii beyond the limit of the search might grow" : `no ${run.unit} would gain`;
  }

  const rowSentence = (run, row, present) => (
    `With ${times(row, present)} times the samples${timeWords(row)}, ${gains(run, row)}.`
  );

  const capSentence = (run, { name, count: number }) => (
    `For ${wordsOf(run, name)}, ${units(run, number)} already ${number === 1 ? "has" : "have"}`
    + ` all that ${plural(run.forecast.samples, "sample", "samples")} can give.`
  );

  const capSentences = (run) => run.forecast.at_cap
    .filter((axis) => axis.count > 0).map((axis) => capSentence(run, axis));

  const capCell = (run, cap) => (cap < 0 ? "–" : radius(cap, run.limit));

  function axisCells(run, row, isPresent) {
    return row.axes.flatMap(({ more, mean, cap }) => [
      isPresent || more === null ? "–" : count(more), mean === null ? "–" : mean.toFixed(2), capCell(run, cap),
    ]);
  }

  function rowsTable(run) {
    const { rows } = run.forecast;
    const axes = rows[0].axes.map(({ name }) => [capital(wordsOf(run, name)), 3]);
    const heads = axes.flatMap(() => [`${run.units} that gain`, "mean radius", "cap"]);
    return table(
      "Forecast for more samples", ["samples", "time of a new run", ...heads, "abstained"],
      rows.map((row, index) => [
        index === 0 ? `${count(row.samples)} (now)` : count(row.samples),
        index === 0 || row.seconds === null ? "–" : duration(row.seconds),
        ...axisCells(run, row, index === 0), count(row.abstained),
      ]),
      [["", 2], ...axes, ["", 1]],
    );
  }

  function show(parent, run) {
    const [present, ...later] = run.forecast.rows;
    const sentences = [...capSentences(run), ...later.map((row) => rowSentence(run, row, present))];
    parent.append(section(
      "forecast", "What would it take", list(sentences), rowsTable(run),
      run.forecast.note ? paragraph(capital(run.forecast.note), "note") : null,
    ));
  }

  return { show };
})();
