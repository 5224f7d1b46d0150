// A whole small graph as one input, for example a molecule, above a noisy copy of it that was voted on.
flipproof.smallGraph = (() => {
  const { element, paragraph, svg } = flipproof.dom;
  const { isolated, visible } = flipproof.format;
  const { series } = flipproof.theme;
  const words = flipproof.graphWords;
  const MOST_LAID_OUT = 200;
  const MOST_WITH_LETTERS = 80;
  const [WIDTH, HEIGHT] = [400, 300];

  function placesOf(graph) {
    const { circle, stress, turned } = flipproof.layout;
    return fitted(graph.size <= MOST_LAID_OUT ? turned(stress(graph)) : circle(graph.size));
  }

  function fitted(places) {
    const reach = (key) => [Math.min(...places.map((p) => p[key])), Math.max(...places.map((p) => p[key]))];
    const [left, right] = reach("x");
    const [top, bottom] = reach("y");
    const scale = Math.min((WIDTH - 40) / Math.max(right - left, 1), (HEIGHT - 40) / Math.max(bottom - top, 1));
    return places.map(({ x, y }) => ({ x: (x - (left + right) / 2) * scale, y: (y - (top + bottom) / 2) * scale }));
  }

  /** Smaller discs where they are many. */
  const radiusOf = (places) => Math.max(4, Math.min(11, 75 / Math.sqrt(places.length)));

  const edge = (from, to, kind) => svg("line", { class: kind, x1: from.x, y1: from.y, x2: to.x, y2: to.y });

  const kindName = (names, kind) => (names[kind] === undefined ? `kind ${kind}` : visible(names[kind]));

  /** A name of one or two letters, such as that of an atom, or the first letter of a long one. */
  function letter(names, kind) {
    const characters = Array.from(names[kind] === undefined ? String(kind) : visible(names[kind]));
    return characters.slice(0, characters.length <= 2 ? 2 : 1).join("");
  }

  function letterOf(names, kind, { x, y }, size) {
    if (kind === null || kind < 0) return "";
    return svg("text", { x, y, class: "letter", "font-size": size * 1.15 }, letter(names, kind));
  }

  /** Nodes whose kind is lost, in a noisy copy, are hollow. */
  function node(names, place, number, kind, size, hasLetter) {
    const isLost = kind !== null && kind < 0;
    const name = isLost ? words.NO_KIND : isolated(kindName(names, kind));
    const fill = isLost ? "var(--surface)" : series(kind ?? 0);
    return svg(
      "g", {},
      svg(
        "circle", { cx: place.x, cy: place.y, r: size, class: "dot", fill },
        svg("title", {}, kind === null ? `node ${number}` : `node ${number}: ${name}`),
      ),
      hasLetter ? letterOf(names, kind, place, size) : "",
    );
  }

  /** Edges are [[a, b], class] pairs; kinds may be null. */
  function figure(caption, names, places, edges, kinds) {
    const size = radiusOf(places);
    const height = Math.max(40, ...places.map(({ y }) => 2 * Math.abs(y))) + 2 * size + 8;
    const viewBox = `${-WIDTH / 2} ${-height / 2} ${WIDTH} ${height}`;
    const kindOf = (i) => (kinds === null ? null : kinds[i]);
    return element("figure", {}, svg(
      "svg", { viewBox, class: "graph", role: "img", "aria-label": caption },
      ...edges.map(([[a, b], kind]) => edge(places[a], places[b], kind)),
      ...places.map((place, i) => node(names, place, i, kindOf(i), size, places.length <= MOST_WITH_LETTERS)),
    ), element("figcaption", {}, caption));
  }

  const observed = ({ names }, graph, places) => figure(
    `observed: ${words.size(graph)}`, names, places, graph.edges.map((pair) => [pair, "edge bond"]), graph.kinds,
  );

  function noisy(graphs, graph, places) {
    const { copy } = graph;
    const edges = [
      ...copy.added.map((pair) => [pair, "edge added"]),
      ...graph.edges.map((pair, i) => [pair, copy.kept[i] ? "edge bond" : "edge deleted"]),
    ];
    return figure(words.copy(graphs, graph), graphs.names, places, edges, copy.kinds ?? graph.kinds);
  }

  /** Kinds of both pictures; hollow nodes come last. */
  function legend({ names }, { kinds, copy }) {
    if (kinds === null) return "";
    const found = new Set([...kinds, ...(copy?.kinds ?? [])]);
    const known = [...found].filter((kind) => kind >= 0).sort((a, b) => a - b);
    return flipproof.legend.list([
      ...known.map((kind) => [series(kind), kindName(names, kind)]), ...(found.has(-1) ? [[null, words.NO_KIND]] : []),
    ]);
  }

  function show(parent, run, graphs, input) {
    const graph = flipproof.graphParts.read(graphs, input);
    if (graph.size === 0) {
      parent.append(paragraph("This graph has no nodes.", "empty"));
      return;
    }
    const places = placesOf(graph);
    parent.append(
      element(
        "div", { class: "molecules" },
        observed(graphs, graph, places), graph.copy === null ? null : noisy(graphs, graph, places),
      ),
      legend(graphs, graph), paragraph(words.proof(run, graphs, graph, input), "note"),
    );
  }

  return { show };
})();
