// The dialog for one input: opened from a row, a neighbour, or a link such as #input-17.
flipproof.dialog = (() => {
  const { byId, element, named } = flipproof.dom;
  const facts = flipproof.inputs;
  let run = null;
  let view = null;
  let order = null;
  let current = null;

  const charts = () => byId("dialog-body").querySelectorAll(".chart");

  function clear() {
    charts().forEach(flipproof.plot.forget);
    byId("dialog-body").replaceChildren();
  }

  /** Inputs before and after this one in the table, or by number when the table does not list it. */
  function neighbours() {
    const listed = order();
    const position = listed.indexOf(current);
    if (position >= 0) return { previous: listed[position - 1], next: listed[position + 1] };
    const known = (input) => (input >= 0 && input < run.inputs ? input : undefined);
    return { previous: known(current - 1), next: known(current + 1) };
  }

  function step(side) {
    const target = neighbours()[side];
    if (target !== undefined) open(target);
  }

  function updateHead() {
    const name = facts.name(run, current);
    byId("dialog-title").replaceChildren(facts.title(run, current));
    if (name !== null) byId("dialog-title").append(" ", named(flipproof.format.shorten(name, 120)));
    const { previous, next } = neighbours();
    byId("dialog-previous").disabled = previous === undefined;
    byId("dialog-next").disabled = next === undefined;
    if (document.activeElement?.disabled) byId("dialog-title").focus();
  }

  function fillBody() {
    const left = element("div");
    const right = element("div");
    byId("dialog-body").append(element("div", { class: "columns" }, left, right));
    byId("dialog").scrollTop = 0;
    flipproof.inputWords.show(left, run, current);
    if (run.table.votes !== null) flipproof.staircase.show(left, run, view, current);
    const hasPicture = flipproof.pictures.show(right, run, current);
    if (run.table.votes !== null) flipproof.votes.show(hasPicture ? left : right, run, current);
  }

  function open(input) {
    current = input;
    clear();
    updateHead();
    if (!byId("dialog").open) byId("dialog").showModal();
    fillBody();
    const link = `#input-${facts.id(run, input)}`;
    if (location.hash !== link) history.replaceState(null, "", link);
  }

  /** Back to the row of the input shown last, when the table shows it. */
  function closed() {
    clear();
    history.replaceState(null, "", location.href.split("#")[0]);
    byId("inputs").querySelector(`tr[data-input="${current}"] button`)?.focus();
  }

  function openLinked() {
    const match = location.hash.match(/^#input-(\d+)$/);
    const linked = match === null ? undefined : facts.withId(run, Number(match[1]));
    if (linked !== undefined) open(linked);
  }

  /** Arrows turn to other inputs, unless they are needed where the focus is. */
  function turn(event) {
    const isTaken = event.target.closest("select, input, .scroll, .text") !== null;
    if (isTaken || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "ArrowLeft") step("previous");
    if (event.key === "ArrowRight") step("next");
  }

  function listen() {
    const dialog = byId("dialog");
    byId("dialog-close").addEventListener("click", () => dialog.close());
    byId("dialog-previous").addEventListener("click", () => step("previous"));
    byId("dialog-next").addEventListener("click", () => step("next"));
    dialog.addEventListener("close", closed);
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("keydown", turn);
    addEventListener("hashchange", openLinked);
  }

  /** Must be called once; `shownOrder` gives the inputs as the table lists them. */
  function start(theRun, theView, shownOrder) {
    run = theRun;
    view = theView;
    order = shownOrder;
    listen();
    openLinked();
  }

  return { start, open };
})();
