// The votes of one input: bars per class, with both bounds marked.
flipproof.votes = (() => {
  const { element, table } = flipproof.dom;
  const { count, forPlotly, lower, share, upper } = flipproof.format;
  const facts = flipproof.inputs;
  const MOST = 15;

  /** The classes to draw, in their own order; with very many, those with most votes. */
  function shownClasses(votes) {
    const all = Array.from(votes.keys());
    if (all.length <= MOST) return all;
    return all.sort((a, b) => votes[b] - votes[a]).slice(0, MOST);
  }

  function barTrace(run, votes, classes, predicted, colours) {
    const { samples } = run.table;
    return {
      type: "bar", orientation: "h", showlegend: false,
      x: classes.map((index) => votes[index] / samples), y: classes.map((_class, i) => i),
      marker: { color: classes.map((index) => (index === predicted ? colours.accent : colours.muted)) },
      hoverinfo: "text",
      hovertext: classes.map((index) => (
        flipproof.plot.hover([run.classes[index]], `${count(votes[index])} of ${count(samples)} samples`)
      )),
    };
  }

  /** The mark of a bound: at `x` on the bar of a class; nothing when that class is not drawn. */
  function boundTrace(name, x, label, classes, symbol, colours) {
    const y = classes.indexOf(label);
    return y < 0 ? [] : [{
      type: "scatter", mode: "markers", name, x: [x], y: [y], hoverinfo: "text", hovertext: [name], cliponaxis: false,
      marker: { symbol, size: 16, color: colours.second, line: { width: 3, color: colours.second } },
    }];
  }

  function boundTraces(run, input, classes, colours) {
    if (facts.isAbstained(run, input)) return [];
    const low = run.table.p_lower.values[input];
    const high = run.table.p_upper.values[input];
    const marks = boundTrace(`p_lower ${lower(low)}`, low, facts.prediction(run, input), classes, "line-ns", colours);
    if (run.classes.length === 1) return marks;
    const runnerUp = run.table.runner_up.values[input];
    return [...marks, ...boundTrace(`p_upper ${upper(high)}`, high, runnerUp, classes, "x-thin", colours)];
  }

  function chart(run, input, classes, colours) {
    const votes = facts.votes(run, input);
    const predicted = facts.isAbstained(run, input) ? -1 : facts.prediction(run, input);
    const names = classes.map((index) => forPlotly(run.classes[index], 16));
    return {
      data: [barTrace(run, votes, classes, predicted, colours), ...boundTraces(run, input, classes, colours)],
      layout: {
        showlegend: true,
        xaxis: { title: { text: "share of samples" }, range: [0, 1.02], dtick: 0.2, tickformat: ".1f" },
        yaxis: { tickvals: names.map((_name, i) => i), ticktext: names, autorange: "reversed", showgrid: false },
      },
    };
  }

  function numbers(run, input) {
    const votes = facts.votes(run, input);
    const rows = Array.from(votes, (value, index) => [
      flipproof.dom.named(run.classes[index]), count(value), share(value / run.table.samples),
    ]);
    return table("Votes per class", ["class", "votes", "share"], rows);
  }

  function show(parent, run, input) {
    const classes = shownClasses(facts.votes(run, input));
    const node = flipproof.plot.canvas("dialog-votes", 130 + 26 * classes.length);
    const more = run.classes.length - classes.length;
    parent.append(
      element("h3", {}, "Votes"), node,
      more > 0 ? flipproof.dom.paragraph(`And ${count(more)} more classes with fewer votes.`, "note") : "",
      flipproof.plot.asTable(() => numbers(run, input)),
    );
    const label = `Votes of ${facts.title(run, input)} per class`;
    flipproof.plot.draw(node, label, (colours) => chart(run, input, classes, colours));
  }

  return { show };
})();
