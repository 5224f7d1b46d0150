// What all charts share: Plotly's settings, colours of the theme, and a text beside every picture.
flipproof.plot = (() => {
  const { element, folded } = flipproof.dom;
  const { forPlotly } = flipproof.format;
  const builders = new Map();
  const LONG = 30;
  const LEGEND = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
  const CONFIG = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage"]],
    toImageButtonOptions: { format: "svg", filename: "flipproof" },
  };

  function axisStyle(colours) {
    return {
      fixedrange: true, automargin: true, zeroline: false,
      gridcolor: colours.faint, linecolor: colours.line, tickcolor: colours.line,
    };
  }

  function completed(layout, colours) {
    const style = axisStyle(colours);
    return {
      margin: { l: 56, r: 16, t: 16, b: 48 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colours.ink },
      hoverlabel: {
        bgcolor: colours.surface, bordercolor: colours.line, align: "left",
        font: { color: colours.ink, size: 13 },
      },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.muted, activecolor: colours.ink },
      legend: LEGEND,
      dragmode: false,
      ...layout,
      xaxis: { ...style, ...layout.xaxis },
      yaxis: { ...style, ...layout.yaxis },
    };
  }

  function paint(node) {
    const colours = flipproof.theme.colours();
    const { data, layout } = builders.get(node)(colours);
    return Plotly.react(node, data, completed(layout, colours), CONFIG);
  }

  /** Draws, and draws again when the theme changes. `build` makes {data, layout} from the colours. */
  function draw(node, label, build) {
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", label);
    builders.set(node, build);
    return paint(node);
  }

  function forget(node) {
    if (builders.delete(node)) Plotly.purge(node);
  }

  const redraw = () => [...builders.keys()].forEach(paint);

  const canvas = (id, height) => element("div", { id, class: "chart", style: `height:${height}px` });

  /** Whole numbers as ticks, not more than fit into the width. */
  function countTicks(counts, pixels) {
    const most = Math.max(2, Math.floor(pixels / 38));
    return { tickformat: ",d", tick0: 0, dtick: niceStep((counts.at(-1) - counts[0]) / most) };
  }

  function niceStep(least) {
    for (let power = 1; ; power *= 10) {
      for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
    }
  }

  /** A long text in two lines, cut at the space that is nearest to its middle. */
  function lines(text) {
    const spaces = text.length > LONG ? [...text.matchAll(/ /g)].map(({ index }) => index) : [];
    if (spaces.length === 0) return [text];
    const far = (index) => Math.abs(2 * index - text.length);
    const nearest = spaces.reduce((one, other) => (far(other) < far(one) ? other : one));
    return [text.slice(0, nearest), text.slice(nearest + 1)];
  }

  /** A title for Plotly, which reads some HTML in its texts. */
  const title = (text) => ({ text: lines(text).map((line) => forPlotly(line, 60)).join("<br>") });

  /** The lines of a hover box; the strong one comes last, in bold. */
  function hover(lines, strong) {
    const plain = lines.map((line) => forPlotly(line, 60));
    return [...plain, `<b>${forPlotly(strong, 60)}</b>`].join("<br>");
  }

  const asTable = (build) => folded("Numbers as a table", build);

  return { LEGEND, draw, forget, redraw, canvas, countTicks, title, hover, asTable };
})();
