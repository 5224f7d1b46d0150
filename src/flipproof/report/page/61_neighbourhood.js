// A node of the graph among its neighbours: a ring around it, coloured by prediction.
flipproof.neighbourhood = (() => {
  const { paragraph, svg } = flipproof.dom;
  const { count, isolated, plural, shorten, visible } = flipproof.format;
  const facts = flipproof.inputs;
  const MOST = 40;
  const MOST_WITH_TEXT = 12;
  const RING = 105;
  const VIEW = "-220 -134 440 268";

  const neighboursOf = ({ starts, neighbours }, node) => (
    neighbours.values.subarray(starts.values[node], starts.values[node + 1])
  );

  /** Abstained nodes have no prediction: they are drawn hollow. */
  const predictionOf = (run, node) => (facts.isAbstained(run, node) ? null : facts.prediction(run, node));

  const predictionText = (run, node) => {
    const label = predictionOf(run, node);
    return label === null ? "abstained" : visible(run.classes[label]);
  };

  /** Nodes are ordered by prediction, abstained ones last. */
  const rank = (run, node) => predictionOf(run, node) ?? run.classes.length;

  function colourOf(run, node) {
    const label = predictionOf(run, node);
    return label === null ? null : flipproof.theme.series(label);
  }

  function ring(run, nodes) {
    const sorted = Array.from(nodes).sort((a, b) => rank(run, a) - rank(run, b) || a - b);
    return sorted.map((node, i) => {
      const angle = (2 * Math.PI * i) / sorted.length - Math.PI / 2;
      return { node, x: RING * Math.cos(angle), y: RING * Math.sin(angle) };
    });
  }

  function edgesAmong(graph, places) {
    const at = new Map(places.map((place) => [place.node, place]));
    return places.flatMap((place) => Array.from(neighboursOf(graph, place.node))
      .filter((other) => other > place.node && at.has(other))
      .map((other) => edge(place, at.get(other), "edge faint")));
  }

  const edge = (from, to, kind) => svg("line", { class: kind, x1: from.x, y1: from.y, x2: to.x, y2: to.y });

  const dot = (run, { node, x, y }, size) => svg("circle", {
    cx: x, cy: y, r: size, class: "dot", fill: colourOf(run, node) ?? "var(--surface)",
  });

  function sideText(run, { node, x, y }) {
    const side = Math.abs(x) < 20 ? "middle" : x > 0 ? "start" : "end";
    const dx = side === "middle" ? 0 : Math.sign(x) * 13;
    const dy = side === "middle" ? Math.sign(y) * 20 + 4 : 4;
    const name = isolated(shorten(predictionText(run, node), 8));
    return svg("text", { x: x + dx, y: y + dy, "text-anchor": side }, `${node}: ${name}`);
  }

  /** A link to the neighbour; the mouse and a reader find its number and prediction in the title. */
  function neighbour(run, place, hasText) {
    return svg(
      "a", { href: `#input-${place.node}` },
      svg("title", {}, `${run.unit} ${place.node}: ${isolated(predictionText(run, place.node))}`),
      svg("circle", { cx: place.x, cy: place.y, r: 16, class: "target" }),
      dot(run, place, 8), hasText ? sideText(run, place) : "",
    );
  }

  function drawing(run, graph, input, nodes) {
    const places = ring(run, nodes);
    const centre = { node: input, x: 0, y: 0 };
    return svg(
      "svg", { viewBox: VIEW, class: "graph", role: "group", "aria-label": `Neighbours of ${facts.title(run, input)}` },
      ...edgesAmong(graph, places), ...places.map((place) => edge(centre, place, "edge")),
      ...places.map((place) => neighbour(run, place, places.length <= MOST_WITH_TEXT)),
      svg("circle", { cx: 0, cy: 0, r: 18, class: "halo" }), dot(run, centre, 12),
    );
  }

  function legend(run, nodes) {
    const labels = new Map(nodes.map((node) => [rank(run, node), node]));
    const entries = [...labels.keys()].sort((a, b) => a - b).map((key) => labels.get(key));
    return flipproof.legend.list(entries.map((node) => [colourOf(run, node), predictionText(run, node)]));
  }

  function countWords(shown, more) {
    if (more === 0) return `${plural(shown, "neighbour", "neighbours")}.`;
    return `${shown} neighbours are drawn, ${count(more)} more ${more === 1 ? "is" : "are"} not.`;
  }

  function show(parent, run, graph, input) {
    const all = neighboursOf(graph, input);
    const shown = all.subarray(0, MOST);
    const budget = facts.budgetWords(run, input, "anywhere in the graph");
    parent.append(
      all.length === 0 ? paragraph(`This ${run.unit} has no neighbours.`, "empty") : drawing(run, graph, input, shown),
      legend(run, [input, ...shown]),
      paragraph(`${countWords(shown.length, all.length - shown.length)} ${budget}`, "note"),
    );
  }

  return { show };
})();
