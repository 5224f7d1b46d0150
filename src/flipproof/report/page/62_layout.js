// Places for the nodes of a small graph: as far apart on paper as in steps along edges, as chemists draw molecules.
flipproof.layout = (() => {
  const ROUNDS = 150;
  const POWER_ROUNDS = 60;

  function neighboursOf({ size, edges }) {
    const lists = Array.from({ length: size }, () => []);
    edges.forEach(([a, b]) => {
      if (a === b) return;
      lists[a].push(b);
      lists[b].push(a);
    });
    return lists;
  }

  /** Steps from one node to all others; Infinity where there is no way. */
  function stepsFrom(start, lists) {
    const steps = new Array(lists.length).fill(Infinity);
    steps[start] = 0;
    const queue = [start];
    for (const node of queue) {
      for (const next of lists[node]) {
        if (steps[next] !== Infinity) continue;
        steps[next] = steps[node] + 1;
        queue.push(next);
      }
    }
    return steps;
  }

  /** What is not joined is a little further apart than what is. */
  function distances(graph) {
    const lists = neighboursOf(graph);
    const all = lists.map((_list, node) => stepsFrom(node, lists));
    const longest = Math.max(1, ...all.flat().filter(Number.isFinite));
    const apart = Math.min(longest + 1, 2 + Math.sqrt(graph.size));
    return all.map((row) => row.map((steps) => (steps === Infinity ? apart : steps)));
  }

  const circle = (size) => Array.from({ length: size }, (_none, i) => {
    const angle = (2 * Math.PI * i) / size;
    return { x: Math.cos(angle), y: Math.sin(angle) };
  });

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  /** Scalar products whose points have these distances (Torgerson). */
  function products(steps) {
    const squares = steps.map((row) => row.map((each) => each * each));
    const rows = squares.map(mean);
    const all = mean(rows);
    return squares.map((row, i) => row.map((each, j) => (rows[i] + rows[j] - all - each) / 2));
  }

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  /** The leading direction of a symmetric matrix, apart from another one, times the root of its weight. */
  function direction(matrix, start, other) {
    let vector = start;
    for (let round = 0; round < POWER_ROUNDS; round += 1) {
      const share = other === null ? 0 : dot(vector, other) / Math.max(1e-12, dot(other, other));
      const apart = other === null ? vector : vector.map((value, i) => value - share * other[i]);
      const next = matrix.map((row) => dot(row, apart));
      const length = Math.max(1e-12, Math.sqrt(dot(next, next)));
      vector = next.map((value) => value / length);
    }
    const weight = Math.max(0, dot(vector, matrix.map((row) => dot(row, vector))));
    return vector.map((value) => value * Math.sqrt(weight));
  }

  /** Where to begin; a bit of the circle keeps paths from lying on a line for ever. */
  function start(steps) {
    const around = circle(steps.length);
    const matrix = products(steps);
    const first = direction(matrix, around.map(({ x }, i) => x + 0.01 * i), null);
    const second = direction(matrix, around.map(({ y }, i) => y + 0.01 * (i % 7)), first);
    return around.map(({ x, y }, i) => ({ x: first[i] + 0.2 * x, y: second[i] + 0.2 * y }));
  }

  /** One round of stress majorisation: every node goes where the others want it, near ones above all. */
  function better(places, steps) {
    return places.map((place, i) => {
      let [x, y, weights] = [0, 0, 0];
      places.forEach((other, j) => {
        if (i === j) return;
        const weight = 1 / steps[i][j] ** 2;
        const stretch = steps[i][j] / Math.max(1e-6, Math.hypot(place.x - other.x, place.y - other.y));
        x += weight * (other.x + (place.x - other.x) * stretch);
        y += weight * (other.y + (place.y - other.y) * stretch);
        weights += weight;
      });
      return weights === 0 ? place : { x: x / weights, y: y / weights };
    });
  }

  function stress(graph) {
    const steps = distances(graph);
    let places = start(steps);
    for (let round = 0; round < ROUNDS; round += 1) places = better(places, steps);
    return places;
  }

  /** Turns the places so that the picture is wider than high. */
  function turned(places) {
    const [midX, midY] = [mean(places.map(({ x }) => x)), mean(places.map(({ y }) => y))];
    const from = places.map(({ x, y }) => ({ x: x - midX, y: y - midY }));
    const sum = (value) => from.reduce((total, place) => total + value(place), 0);
    const angle = Math.atan2(2 * sum(({ x, y }) => x * y), sum(({ x, y }) => x * x - y * y)) / 2;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return from.map(({ x, y }) => ({ x: x * cos + y * sin, y: y * cos - x * sin }));
  }

  return { circle, stress, turned };
})();
