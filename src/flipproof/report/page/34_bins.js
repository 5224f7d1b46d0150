// Bins for p_lower, on an even scale or on one that is stretched towards 1, where most of it is.
flipproof.bins = (() => {
  const BINS = 40;
  const MOST_NINES = 7;
  const LEAST_REST = 1e-12;

  const SCALES = {
    stretched: {
      place: (probability) => -Math.log10(Math.max(1 - probability, LEAST_REST)),
      probability: (place) => 1 - 10 ** -place,
    },
    even: { place: (probability) => probability, probability: (place) => place },
  };

  /** 0, 0.5, 0.9, 0.99, and so on. */
  const TICKS = [0, 0.5, ...Array.from({ length: MOST_NINES }, (_none, i) => Number(`0.${"9".repeat(i + 1)}`))];

  function counts(run, place, end) {
    const certified = new Array(BINS).fill(0);
    const abstained = new Array(BINS).fill(0);
    run.table.p_lower.values.forEach((probability, input) => {
      const bins = flipproof.inputs.isAbstained(run, input) ? abstained : certified;
      bins[Math.min(BINS - 1, Math.floor((place(probability) / end) * BINS))] += 1;
    });
    return { certified, abstained };
  }

  function axis(scale, end) {
    const range = [0, end * 1.01];
    if (scale === "even") return { range, dtick: 0.1, tickformat: ".1f" };
    const ticks = TICKS.map((probability) => [SCALES.stretched.place(probability), String(probability)])
      .filter(([place]) => place <= end);
    return { range, tickvals: ticks.map(([place]) => place), ticktext: ticks.map(([, text]) => text) };
  }

  /** {certified, abstained, middles, edges, axis} of the scale; all lists are one entry per bin. */
  function create(run, scale) {
    const { place, probability } = SCALES[scale];
    const end = scale === "even" ? 1 : run.table.p_lower.values.reduce((most, each) => Math.max(most, place(each)), 1);
    const digits = Math.ceil(end) + 2;
    const edge = (bin) => probability((bin / BINS) * end).toFixed(digits);
    return {
      ...counts(run, place, end),
      middles: Array.from({ length: BINS }, (_none, bin) => ((bin + 0.5) / BINS) * end),
      edges: Array.from({ length: BINS }, (_none, bin) => `${edge(bin)} to ${edge(bin + 1)}`),
      axis: axis(scale, end),
    };
  }

  return { create };
})();
