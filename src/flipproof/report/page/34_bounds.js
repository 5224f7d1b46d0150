// How sure the smoothed classifier is: the distribution of p_lower, and why inputs abstained.
flipproof.bounds = (() => {
  const { choice, element, list, paragraph, section, table } = flipproof.dom;
  const { count, lower } = flipproof.format;
  const { LEGEND, asTable, canvas, countTicks, draw, hover, title } = flipproof.plot;
  const { reasonWords, units } = flipproof.inputs;

  function bars(run, bins, counts, name, marker) {
    return {
      type: "bar", name, marker, y: counts, x: bins.middles, hoverinfo: "text",
      hovertext: counts.map((value, bin) => hover([`p_lower ${bins.edges[bin]}`, name], units(run, value))),
    };
  }

  function chart(run, bins, scale, colours) {
    const data = [bars(run, bins, bins.certified, "with a certificate", { color: colours.accent })];
    if (bins.abstained.some((value) => value > 0)) {
      data.push(bars(run, bins, bins.abstained, "abstained", {
        color: colours.second,
        pattern: { shape: "/", fgcolor: colours.second, bgcolor: colours.surface, size: 6, solidity: 0.4 },
      }));
    }
    const most = bins.certified.reduce((high, value, bin) => Math.max(high, value + bins.abstained[bin]), 1);
    const ticks = scale === "log" ? { tickformat: ",d", dtick: 1 } : countTicks([0, most], 180);
    return {
      data,
      layout: {
        barmode: scale === "log" ? "group" : "stack", bargap: 0.08, showlegend: true,
        legend: { ...LEGEND, traceorder: "normal" },
        xaxis: { title: { text: "p_lower" }, showgrid: false, ticks: "outside", ...bins.axis },
        yaxis: { title: title(run.units), type: scale, rangemode: "tozero", ...ticks },
      },
    };
  }

  function quantileWords(run) {
    const sorted = run.table.p_lower.values.slice().sort();
    const largest = sorted.at(-1);
    const atLargest = sorted.length - sorted.indexOf(largest);
    const median = sorted[Math.floor((sorted.length - 1) / 2)];
    return "p_lower is the proven lower bound on the share of noisy copies that get the prediction. "
      + `Its median is ${lower(median)}, its largest value is ${lower(largest)} (${units(run, atLargest)}).`;
  }

  function abstentionWords(run) {
    const total = run.abstentions.reduce((sum, { count: number }) => sum + number, 0);
    if (total === 0) return [paragraph(`No ${run.unit} abstained.`)];
    const verb = total === 1 ? "gets" : "get";
    return [
      paragraph(`${units(run, total)} of ${count(run.inputs)} ${verb} no certificate, because:`),
      list(run.abstentions.map(({ reason, count: number }) => `${units(run, number)}: ${reasonWords(reason)}`)),
    ];
  }

  function numbers({ certified, abstained, edges }) {
    const rows = certified.map((value, bin) => [edges[bin], count(value), count(abstained[bin])]);
    return table("Distribution of p_lower", ["p_lower", "with a certificate", "abstained"], rows);
  }

  function scaleChoices(chosen, update) {
    const change = (key) => (value) => {
      chosen[key] = value;
      update();
    };
    const widths = [["stretched", "stretched towards 1"], ["even", "even"]];
    const heights = [["linear", "linear"], ["log", "logarithmic"]];
    return element(
      "div", { class: "controls" },
      choice("bounds-places", "Scale of p_lower", widths, chosen.places, change("places")),
      choice("bounds-scale", "Scale of the counts", heights, chosen.counts, change("counts")),
    );
  }

  function show(parent, run) {
    const node = canvas("bounds", 300);
    const tableBox = element("div");
    const chosen = { places: "stretched", counts: "linear" };
    const update = () => {
      const bins = flipproof.bins.create(run, chosen.places);
      tableBox.replaceChildren(asTable(() => numbers(bins)));
      return draw(node, "Histogram of p_lower", (colours) => chart(run, bins, chosen.counts, colours));
    };
    parent.append(section(
      "certainty", "How sure the classifier is", paragraph(quantileWords(run), "lead"),
      scaleChoices(chosen, update), node, tableBox,
      element("div", { id: "abstentions" }, element("h3", {}, "Abstained"), ...abstentionWords(run)),
    ));
    return update();
  }

  return { show };
})();
