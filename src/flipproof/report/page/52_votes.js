// The votes of one input: bars per class, with both bounds marked.
flipproof.votes = (() => {
  const { element, table } = flipproof.dom;
  const { count, forPlotly, lower, plural, share, upper } = flipproof.format;
  const facts = flipproof.inputs;

  function barTrace(run, votes, predicted, colours) {
    const { samples } = run.table;
    return {
      type: "bar", orientation: "h", showlegend: false,
      x: votes.map(({ number }) => number / samples), y: votes.map((_vote, i) => i),
      marker: { color: votes.map(({ label }) => (label === predicted ? colours.accent : colours.muted)) },
      hoverinfo: "text",
      hovertext: votes.map(({ name, number }) => (
        flipproof.plot.hover([name], `${count(number)} of ${plural(samples, "sample", "samples")}`)
      )),
    };
  }

  /** The mark of a bound: at `x` on the bar of a class; nothing when that class is not drawn. */
  function boundTrace(name, x, label, votes, symbol, colours) {
    const y = votes.findIndex((vote) => vote.label === label);
    return y < 0 ? [] : [{
      type: "scatter", mode: "markers", name, x: [x], y: [y], hoverinfo: "text", hovertext: [name], cliponaxis: false,
      marker: { symbol, size: 16, color: colours.second, line: { width: 3, color: colours.second } },
    }];
  }

  function boundTraces(run, input, votes, colours) {
    if (facts.isAbstained(run, input)) return [];
    const low = run.table.p_lower.values[input];
    const high = run.table.p_upper.values[input];
    const marks = boundTrace(`p_lower ${lower(low)}`, low, facts.prediction(run, input), votes, "line-ns", colours);
    if (run.classes.length === 1) return marks;
    const runnerUp = run.table.runner_up.values[input];
    return [...marks, ...boundTrace(`p_upper ${upper(high)}`, high, runnerUp, votes, "x-thin", colours)];
  }

  function chart(run, input, votes, colours) {
    const predicted = facts.isAbstained(run, input) ? -1 : facts.prediction(run, input);
    const names = votes.map(({ name }) => forPlotly(name, 16));
    return {
      data: [barTrace(run, votes, predicted, colours), ...boundTraces(run, input, votes, colours)],
      layout: {
        showlegend: true,
        xaxis: { title: { text: "share of samples" }, range: [0, 1.02], dtick: 0.2, tickformat: ".1f" },
        yaxis: { tickvals: names.map((_name, i) => i), ticktext: names, autorange: "reversed", showgrid: false },
      },
    };
  }

  function numbers(run, votes) {
    const rows = votes.map(({ name, number }) => (
      [flipproof.dom.named(name), count(number), share(number / run.table.samples)]
    ));
    return table("Votes per class", ["class", "votes", "share"], rows);
  }

  function show(parent, run, input) {
    const votes = facts.votes(run, input);
    const node = flipproof.plot.canvas("dialog-votes", 130 + 26 * votes.length);
    parent.append(element("h3", {}, "Votes"), node, flipproof.plot.asTable(() => numbers(run, votes)));
    const label = `Votes of ${facts.title(run, input)} per class`;
    flipproof.plot.draw(node, label, (colours) => chart(run, input, votes, colours));
  }

  return { show };
})();
