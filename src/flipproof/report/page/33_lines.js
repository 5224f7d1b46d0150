// Measures along one axis at a time: both measures of a run, or one measure of several runs.
flipproof.lines = (() => {
  const { byId, element, named, paragraph, section, table } = flipproof.dom;
  const { amount, capital, count, forPlotly, plural, radius, share } = flipproof.format;
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "cross", "x", "star"];
  const MOST_MARKERS = 30;
  const ALONE = "Each chart has changes of one kind only. All other kinds are at zero.";
  const ANY = " The last one counts changes of all kinds together.";

  /**
   * One curve: {name, colour, counts, shares}; number `index` fixes its dash and its marker.
   * Steps, because there is nothing between whole counts.
   */
  function trace({ name, colour, counts, shares }, index, words) {
    return {
      type: "scatter", mode: "lines+markers", name: forPlotly(name, 48),
      x: counts, y: shares, cliponaxis: false,
      line: { color: colour, width: 2, shape: "hv", dash: DASHES[index % DASHES.length] },
      marker: { color: colour, size: 7, symbol: SYMBOLS[index % SYMBOLS.length], maxdisplayed: MOST_MARKERS },
      hoverinfo: "text",
      hovertext: shares.map((value, i) => (
        flipproof.plot.hover([name, amount(counts[i], words)], share(value))
      )),
    };
  }

  const isOnChart = (cap, last) => cap >= 0 && cap <= Math.max(last * 1.3, last + 2);

  function capMark(cap, last, samples, colours) {
    return {
      shapes: [{
        type: "line", x0: cap, x1: cap, y0: 0, y1: 1, yref: "paper",
        line: { color: colours.muted, width: 1.5, dash: "dot" },
      }],
      annotations: [{
        x: cap, y: 1, yref: "paper", yanchor: "top", xanchor: cap > last / 2 ? "right" : "left",
        showarrow: false, font: { color: colours.muted, size: 12 },
        text: `cap of ${plural(samples, "sample", "samples")}: ${count(cap)}`,
      }],
    };
  }

  /** A chart of curves over one axis; `cap` is drawn when it is given and near. */
  function chart(node, axis, curves, colours, cap = null) {
    const last = Math.max(1, ...curves.map(({ counts }) => counts.at(-1) ?? 0));
    const hasCap = cap !== null && isOnChart(cap.count, last);
    const end = hasCap ? Math.max(last, cap.count) : last;
    return {
      data: curves.map((curve, index) => trace(curve, index, axis.words)),
      layout: {
        ...(hasCap ? capMark(cap.count, end, cap.samples, colours) : {}),
        showlegend: curves.length > 1,
        xaxis: {
          title: flipproof.plot.title(capital(axis.words)), range: [-end * 0.02, end * 1.03],
          ...flipproof.plot.countTicks([0, end], node.clientWidth - 80),
        },
        yaxis: { range: [0, hasCap ? 1.14 : 1.03], dtick: 0.2, tickformat: ".1f", title: { text: "share" } },
      },
    };
  }

  /** The kinds of change one by one; last, if it is known, all of them in any mixture. */
  const drawnAxes = (run) => (run.any === null ? run.axes : [...run.axes, run.any]);

  const curvesOf = (run, index, colours) => run.measures.map((measure, number) => ({
    name: measure.name,
    colour: number === 0 ? colours.accent : colours.second,
    counts: drawnAxes(run)[index].line_counts,
    shares: measure.lines[index],
  }));

  function radiusWords(run, { mean, largest, cap }) {
    const average = mean === null ? "" : `Mean radius ${mean.toFixed(2)}. `;
    const most = cap < 0 ? ""
      : ` The most that ${plural(run.table.samples, "sample", "samples")} can certify is ${count(cap)}.`;
    return `${average}Largest radius ${radius(largest, run.limit)}.${most}`;
  }

  function numbers(axis, curves) {
    const known = [...new Set(curves.flatMap(({ counts }) => counts))].sort((a, b) => a - b);
    const shareAt = ({ counts, shares }, value) => (counts.includes(value) ? share(shares[counts.indexOf(value)]) : "–");
    const rows = known.map((value) => [String(value), ...curves.map((curve) => shareAt(curve, value))]);
    return table(capital(axis.words), [axis.words, ...curves.map(({ name }) => named(name))], rows);
  }

  const panel = (run, axis, index) => element(
    "div", { class: "panel" }, flipproof.plot.canvas(`lines-${index}`, 320),
    paragraph(radiusWords(run, axis), "note"),
    flipproof.plot.asTable(() => numbers(axis, curvesOf(run, index, flipproof.theme.colours()))),
  );

  function paint(run, axis, index) {
    const node = byId(`lines-${index}`);
    const cap = { count: axis.cap, samples: run.table.samples };
    return flipproof.plot.draw(
      node, `Lines of ${run.measures.map(({ name }) => name).join(" and ")} over ${axis.words}`,
      (colours) => chart(node, axis, curvesOf(run, index, colours), colours, cap),
    );
  }

  function show(parent, run) {
    const axes = drawnAxes(run);
    const panels = axes.map((axis, index) => panel(run, axis, index));
    parent.append(section(
      "along", "One kind of change at a time", paragraph(`${ALONE}${run.any === null ? "" : ANY}`, "lead"),
      element("div", { id: "lines", class: "columns" }, ...panels),
    ));
    return Promise.all(axes.map((axis, index) => paint(run, axis, index)));
  }

  return { show, chart, numbers };
})();
