// The controls of a heatmap: measure, the two axes shown, and where all other axes are held.
flipproof.view = (() => {
  const { element, choice } = flipproof.dom;
  const { capital } = flipproof.format;

  /** A pair of axes stays a pair: choosing the other's axis swaps them. */
  function choose(view, side, index) {
    const other = side === "x" ? "y" : "x";
    if (view[other] === index) view[other] = view[side];
    view[side] = index;
  }

  /** What an axis is called; with its name when another one has the same words. */
  function axisLabel(axes, { name, words }) {
    const isUnique = axes.filter((axis) => axis.words === words).length === 1;
    return capital(isUnique ? words : `${words} (${name})`);
  }

  function axisChoice(axes, view, side, changed) {
    const options = axes.map((axis) => [axis.name, axisLabel(axes, axis)]);
    const label = side === "x" ? "To the right" : "Upwards";
    return choice(`heatmap-${side}`, label, options, axes[view[side]].name, (name) => {
      choose(view, side, axes.findIndex((axis) => axis.name === name));
      changed();
    });
  }

  function holdChoice(axes, { axis, index }, view, changed) {
    const options = axis.counts.map((count) => [String(count), String(count)]);
    const held = String(axis.counts[view.hold[index]]);
    return choice(`heatmap-hold-${index}`, `${axisLabel(axes, axis)}, held at`, options, held, (count) => {
      view.hold[index] = axis.counts.indexOf(Number(count));
      changed();
    });
  }

  function measureChoice(measures, view, changed) {
    const options = measures.map(({ name }) => [name, capital(name)]);
    return choice("heatmap-measure", "Measure", options, view.measure, (name) => {
      view.measure = name;
      changed();
    });
  }

  /** A box of controls that keeps itself in step with `view` and calls `onChange` after each change. */
  function controls(axes, measures, view, onChange) {
    const box = element("div", { class: "controls" });
    const fill = (focus = null) => {
      const changed = () => {
        const active = document.activeElement.id;
        fill(active);
        onChange();
      };
      const parts = measures.length > 1 ? [measureChoice(measures, view, changed)] : [];
      if (axes.length > 2) {
        parts.push(axisChoice(axes, view, "x", changed), axisChoice(axes, view, "y", changed));
        parts.push(...flipproof.grid.heldAxes(axes, view).map((held) => holdChoice(axes, held, view, changed)));
      }
      box.replaceChildren(...parts);
      if (focus) box.querySelector(`#${focus}`)?.focus();
    };
    fill();
    return box;
  }

  const start = (axes, measures) => ({ ...flipproof.grid.startView(axes), measure: measures[0]?.name });

  const measureOf = (run, view) => run.measures.find(({ name }) => name === view.measure);

  return { controls, start, measureOf };
})();
