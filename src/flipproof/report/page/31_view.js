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

  const axisLabel = (axes, axis) => capital(flipproof.axes.words(axes, axis));

  function axisChoice(axes, view, side, changed) {
    const options = axes.map((axis, index) => [String(index), axisLabel(axes, axis)]);
    const label = side === "x" ? "To the right" : "Upwards";
    return choice(`heatmap-${side}`, label, options, String(view[side]), (index) => {
      choose(view, side, Number(index));
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

  const measureOf = (run, view) => run.measures.find(({ name }) => name === view.measure);

  return { controls, measureOf };
})();
