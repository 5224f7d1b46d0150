// A whole small graph as one input, for example a molecule: springs find the places of its nodes.
flipproof.smallGraph = (() => {
  const { paragraph, svg } = flipproof.dom;
  const { plural } = flipproof.format;
  const facts = flipproof.inputs;
  const ROUNDS = 200;
  const MOST_WITH_SPRINGS = 150;

  /** Nodes and edges of one graph; edges are numbered within it. */
  function graphOf(graphs, input) {
    const size = graphs.nodes.values[input];
    const [from, to] = graphs.starts.values.subarray(input, input + 2);
    const total = graphs.edges.shape[1];
    const edges = Array.from({ length: to - from }, (_none, i) => (
      [graphs.edges.values[from + i], graphs.edges.values[total + from + i]]
    ));
    return { size, edges };
  }

  const circle = (size) => Array.from({ length: size }, (_none, i) => {
    const angle = (2 * Math.PI * i) / size;
    return { x: Math.cos(angle), y: Math.sin(angle) };
  });

  /** Moves a and b apart (positive strength) or together (negative strength). */
  function push(moves, places, a, b, strength) {
    const dx = places[a].x - places[b].x;
    const dy = places[a].y - places[b].y;
    const distance = Math.max(0.01, Math.hypot(dx, dy));
    const force = strength(distance) / distance;
    moves[a].x += dx * force;
    moves[a].y += dy * force;
    moves[b].x -= dx * force;
    moves[b].y -= dy * force;
  }

  /** Fruchterman and Reingold: all nodes repel, edges pull, steps get smaller. */
  function springs({ size, edges }) {
    const places = circle(size);
    const ideal = 2 / Math.sqrt(size);
    for (let round = 0; round < ROUNDS; round += 1) {
      const moves = places.map(() => ({ x: 0, y: 0 }));
      for (let a = 0; a < size; a += 1) {
        for (let b = 0; b < a; b += 1) push(moves, places, a, b, (distance) => ideal ** 2 / distance);
      }
      edges.forEach(([a, b]) => a !== b && push(moves, places, a, b, (distance) => -(distance ** 2) / ideal));
      const longest = 0.2 * (1 - round / ROUNDS);
      moves.forEach((move, i) => {
        const length = Math.max(1e-9, Math.hypot(move.x, move.y));
        places[i].x += (move.x / length) * Math.min(length, longest);
        places[i].y += (move.y / length) * Math.min(length, longest);
      });
    }
    return places;
  }

  function fitted(places) {
    const reach = (key) => [Math.min(...places.map((p) => p[key])), Math.max(...places.map((p) => p[key]))];
    const [left, right] = reach("x");
    const [top, bottom] = reach("y");
    const scale = Math.min(360 / Math.max(right - left, 0.1), 260 / Math.max(bottom - top, 0.1));
    return places.map(({ x, y }) => ({ x: (x - (left + right) / 2) * scale, y: (y - (top + bottom) / 2) * scale }));
  }

  const edge = (from, to) => svg("line", { class: "edge", x1: from.x, y1: from.y, x2: to.x, y2: to.y });

  const dot = ({ x, y }, number) => svg(
    "circle", { cx: x, cy: y, r: 7, class: "dot", fill: flipproof.theme.series(0) }, svg("title", {}, `node ${number}`),
  );

  function drawing(graph) {
    const places = fitted(graph.size <= MOST_WITH_SPRINGS ? springs(graph) : circle(graph.size));
    return svg(
      "svg", { viewBox: "-200 -150 400 300", class: "graph", role: "img", "aria-label": sizeWords(graph) },
      ...graph.edges.map(([a, b]) => edge(places[a], places[b])),
      ...places.map(dot),
    );
  }

  const sizeWords = ({ size, edges }) => (
    `${plural(size, "node", "nodes")} and ${plural(edges.length, "edge", "edges")}`
  );

  function show(parent, run, graphs, input) {
    const graph = graphOf(graphs, input);
    if (graph.size === 0) {
      parent.append(paragraph("This graph has no nodes.", "empty"));
      return;
    }
    const budget = facts.budgetWords(run, input, "in this graph");
    parent.append(drawing(graph), paragraph(`${sizeWords(graph)}. ${budget}`, "note"));
  }

  return { show };
})();
