// Light, dark or as the system says; the charts take their colours from the style sheet.
flipproof.theme = (() => {
  const root = document.documentElement;
  const COLOURS = ["ink", "muted", "line", "surface", "accent", "second", "faint"];

  /** Cividis, readable with every kind of colour vision. */
  const SCALE = [
    [0, "#00224e"], [0.125, "#1a386f"], [0.25, "#434e6c"], [0.375, "#61656f"], [0.5, "#7d7c78"],
    [0.625, "#9b9476"], [0.75, "#bcae6c"], [0.875, "#dec958"], [1, "#fee838"],
  ];

  /** Colours for things that are told apart: classes and runs. */
  const SERIES = [
    "#3b82c4", "#cf7106", "#0f9d76", "#c2569b", "#7c6bd6", "#c2410c", "#5b8a1e", "#0891b2", "#a16207", "#8b8b94",
  ];

  const series = (index) => SERIES[index % SERIES.length];

  /** The colours as they are now; a probe turns the names of the style sheet into values for Plotly. */
  function colours() {
    const probe = flipproof.dom.element("span", { hidden: true });
    document.body.append(probe);
    const values = COLOURS.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    });
    probe.remove();
    return Object.fromEntries(values);
  }

  function choose(value) {
    if (value === "auto") delete root.dataset.theme;
    else root.dataset.theme = value;
  }

  /** Calls `redraw` whenever the colours change: by the switch, by the system, for printing. */
  function watch(redraw) {
    const select = flipproof.dom.byId("theme");
    const show = (value) => {
      choose(value);
      redraw();
    };
    select.addEventListener("change", () => show(select.value));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    addEventListener("beforeprint", () => show("light"));
    addEventListener("afterprint", () => show(select.value));
  }

  return { SCALE, series, colours, watch };
})();
