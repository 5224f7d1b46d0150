// How sure the smoothed classifier is: the distribution of p_lower, and why inputs abstained.
flipproof.bounds = (() => {
  const { choice, element, list, paragraph, section, table } = flipproof.dom;
  const { count, lower } = flipproof.format;
  const { LEGEND, asTable, canvas, draw, hover, title } = flipproof.plot;
  const { isAbstained, units } = flipproof.inputs;
  const BINS = 40;

  const binOf = (probability) => Math.min(BINS - 1, Math.floor(probability * BINS));

  function histogram(run) {
    const certified = new Array(BINS).fill(0);
    const abstained = new Array(BINS).fill(0);
    run.table.p_lower.values.forEach((probability, input) => {
      const bins = isAbstained(run, input) ? abstained : certified;
      bins[binOf(probability)] += 1;
    });
    return { certified, abstained };
  }

  const edges = (bin) => `${(bin / BINS).toFixed(3)} to ${((bin + 1) / BINS).toFixed(3)}`;

  function bars(run, counts, name, marker) {
    return {
      type: "bar", name, marker, y: counts, x: counts.map((_count, bin) => (bin + 0.5) / BINS),
      hoverinfo: "text",
      hovertext: counts.map((value, bin) => hover([`p_lower ${edges(bin)}`, name], units(run, value))),
    };
  }

  function chart(run, { certified, abstained }, scale, colours) {
    const data = [bars(run, certified, "with a certificate", { color: colours.accent })];
    if (abstained.some((value) => value > 0)) {
      data.push(bars(run, abstained, "abstained", {
        color: colours.second, line: { color: colours.second, width: 1 },
        pattern: { shape: "/", fgcolor: colours.second, bgcolor: colours.surface, size: 6, solidity: 0.4 },
      }));
    }
    return {
      data,
      layout: {
        barmode: scale === "log" ? "group" : "stack", bargap: 0.08, showlegend: true,
        legend: { ...LEGEND, traceorder: "normal" },
        xaxis: { title: { text: "p_lower" }, range: [0, 1.005], nticks: 11, tickformat: ".1f", showgrid: false },
        yaxis: {
          title: title(run.units), type: scale, tickformat: ",d", rangemode: "tozero",
          dtick: scale === "log" ? 1 : null,
        },
      },
    };
  }

  function quantileWords(run) {
    const sorted = run.table.p_lower.values.slice().sort();
    const largest = sorted.at(-1);
    const atLargest = sorted.length - sorted.indexOf(largest);
    const median = sorted[Math.floor((sorted.length - 1) / 2)];
    return "p_lower is the proven lower bound on the share of noisy copies that get the prediction. "
      + `Half of the ${run.units} have at least ${lower(median)}. `
      + `The largest is ${lower(largest)} (${units(run, atLargest)}).`;
  }

  function abstentionWords(run) {
    const total = run.abstentions.reduce((sum, { count: number }) => sum + number, 0);
    if (total === 0) return [paragraph(`No ${run.unit} abstained.`)];
    const verb = total === 1 ? "gets" : "get";
    return [
      paragraph(`${units(run, total)} of ${count(run.inputs)} ${verb} no certificate, because:`),
      list(run.abstentions.map(({ reason, count: number }) => `${reason} (${units(run, number)})`)),
    ];
  }

  function numbers(run, { certified, abstained }) {
    const rows = certified.map((value, bin) => [edges(bin), count(value), count(abstained[bin])]);
    return table("Distribution of p_lower", ["p_lower", "with a certificate", "abstained"], rows);
  }

  function show(parent, run) {
    const bins = histogram(run);
    const node = canvas("bounds", 300);
    const paint = (scale) => draw(node, "Histogram of p_lower", (colours) => chart(run, bins, scale, colours));
    const scales = [["linear", "linear"], ["log", "logarithmic"]];
    parent.append(section(
      "certainty", "How sure the classifier is", paragraph(quantileWords(run), "lead"),
      element("div", { class: "controls" }, choice("bounds-scale", "Scale of the counts", scales, "linear", paint)), node,
      asTable(() => numbers(run, bins)),
      element("div", { id: "abstentions" }, element("h3", {}, "Abstained"), ...abstentionWords(run)),
    ));
    return paint("linear");
  }

  return { show };
})();
