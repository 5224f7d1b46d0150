// Contour lines of a share over two counts. Counts are whole, so the lines run along the borders of cells.
flipproof.contours = (() => {
  const LEVELS = [0.9, 0.7, 0.5, 0.3];
  const LABEL_PIXELS = 34;

  /** Borders of the cells: half-way between counts. */
  function borders(counts) {
    const between = counts.slice(1).map((value, i) => (counts[i] + value) / 2);
    return [counts[0] - 0.5, ...between, counts.at(-1) + 0.5];
  }

  /** How many cells of a row, from its start, reach the level. */
  function reach(row, level) {
    const first = row.findIndex((value) => value < level);
    return first < 0 ? row.length : first;
  }

  /** The border of all cells that reach the level, from the right end of the lowest row to the left side. */
  function outline(x, y, z, level) {
    const [right, top] = [borders(x), borders(y)];
    const points = [];
    for (let j = 0; j < z.length; j += 1) {
      const steps = reach(z[j], level);
      points.push([right[steps], top[j]]);
      if (steps === 0) break;
      points.push([right[steps], top[j + 1]]);
    }
    return points;
  }

  const line = (points, color, width) => ({
    type: "scatter", mode: "lines", x: points.map(([x]) => x), y: points.map(([, y]) => y),
    line: { color, width }, hoverinfo: "skip", showlegend: false,
  });

  /** Where the label of a level goes: beside its line, each level in a row of its own if the line is high enough. */
  function place(points, level, number, z, width) {
    const row = Math.min(number, Math.floor(points.length / 2) - 1);
    const steps = reach(z[row], level);
    const isInside = steps >= width;
    const isBright = z[row][isInside ? steps - 1 : steps] > 0.55;
    return { level, row, x: points[2 * row][0], isInside, colour: isBright ? "#000" : "#fff" };
  }

  /** Labels that would cover another one in their row are left out. */
  const withoutOverlap = (places, width) => places.filter(({ row, x }, i) => (
    places.slice(0, i).every((other) => other.row !== row || Math.abs(other.x - x) >= width)
  ));

  const labels = (places, y) => ({
    type: "scatter", mode: "text", hoverinfo: "skip", showlegend: false,
    x: places.map(({ x }) => x), y: places.map(({ row }) => y[row]),
    text: places.map(({ level }) => ` <b>${level}</b> `),
    textposition: places.map(({ isInside }) => (isInside ? "middle left" : "middle right")),
    textfont: { size: 12, color: places.map(({ colour }) => colour) },
  });

  /** Traces for the share z[y][x], drawn `pixels` wide. */
  function traces(x, y, z, pixels) {
    const found = LEVELS.filter((level) => z[0][0] >= level).map((level) => ({ level, points: outline(x, y, z, level) }));
    const width = (LABEL_PIXELS * x.length) / pixels;
    const places = found.map(({ level, points }, number) => place(points, level, number, z, width));
    return [
      ...found.flatMap(({ points }) => [line(points, "rgba(0,0,0,0.6)", 4), line(points, "#fff", 2)]),
      labels(withoutOverlap(places, width), y),
    ];
  }

  return { traces };
})();
