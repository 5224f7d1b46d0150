// A small graph, its noisy copy and what is proved about its edges, in words.
flipproof.graphWords = (() => {
  const { count, plural } = flipproof.format;
  const facts = flipproof.inputs;
  const NO_KIND = "no kind or several";

  const size = (graph) => `${plural(graph.size, "node", "nodes")} and ${plural(graph.edges.length, "edge", "edges")}`;

  function changedEdges({ copy: { kept, added }, edges }) {
    const lost = edges.length - kept.reduce((sum, each) => sum + each, 0);
    return [`${plural(lost, "edge", "edges")} deleted (dotted)`, `${count(added.length)} added (dashed)`];
  }

  /** Nodes with a single kind that is not their own, and those that have lost theirs. */
  function changedKinds({ copy: { kinds: now }, kinds: before }) {
    if (before === null || now === null) return ["attributes not drawn"];
    const lost = now.filter((kind) => kind < 0).length;
    const other = now.filter((kind, i) => kind >= 0 && kind !== before[i]).length;
    const hollow = lost > 0 ? [`${count(lost)} of ${NO_KIND} (hollow)`] : [];
    return [`${plural(other, "node", "nodes")} of another kind`, ...hollow];
  }

  /** Only what noise touches is counted. */
  function copy({ noisy }, graph) {
    const changes = [
      ...(noisy === "attributes" ? [] : changedEdges(graph)), ...(noisy === "structure" ? [] : changedKinds(graph)),
    ];
    return `${flipproof.copies.numbered(graph.copy.number)}: ${changes.join(", ")}`;
  }

  function deletions(radius, number) {
    if (radius === 0 || number === 0) return [];
    if (radius > 0 && radius < number) {
      return [`any ${count(radius)} of these ${count(number)} edges ${radius === 1 ? "is" : "are"} deleted`];
    }
    return [number === 1 ? "its only edge is deleted" : `any or all of these ${count(number)} edges are deleted`];
  }

  function additions(radius) {
    if (radius === 0) return [];
    return [radius < 0 ? "any number of edges are added" : `any ${plural(radius, "edge is", "edges are")} added`];
  }

  /** Deletions and additions each by themselves; loops are never touched. */
  function edges(run, { noisy }, graph, input) {
    if (facts.isAbstained(run, input) || noisy === "attributes") return "";
    const part = noisy === "both" ? "structure." : "";
    const number = graph.edges.filter(([a, b]) => a !== b).length;
    const proved = [
      ...deletions(facts.radiiOf(run, `${part}delete`)[input], number),
      ...additions(facts.radiiOf(run, `${part}add`)[input]),
    ];
    if (proved.length === 0) return "No change of its edges is certified. ";
    return `Proved: the prediction stays if ${proved.join(", or if instead ")}. `;
  }

  /** What else is certified: everything when noise touches attributes alone, attributes when it touches both. */
  function others(run, { noisy }, input) {
    const isAll = noisy === "attributes" || facts.isAbstained(run, input);
    if (isAll) return facts.budgetWords(run, input, "in this graph");
    const attributes = facts.budget(run, input, ({ name }) => name.startsWith("attributes."));
    return attributes === "" ? "" : `Or if instead one of these is kept: ${attributes}.`;
  }

  const proof = (run, graphs, graph, input) => `${edges(run, graphs, graph, input)}${others(run, graphs, input)}`;

  return { NO_KIND, size, copy, proof };
})();
