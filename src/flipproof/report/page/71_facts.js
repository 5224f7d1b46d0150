// How the run was made: facts to check it by, and the command to repeat it.
flipproof.facts = (() => {
  const { element, section } = flipproof.dom;
  const { isHash } = flipproof.format;

  const group = ({ title, rows }) => element(
    "div", { class: "fact-group" }, element("h3", { dir: "auto" }, title),
    element("dl", {}, ...rows.map(([name, value]) => element(
      "div", {}, element("dt", { dir: "auto" }, name),
      element("dd", { class: isHash(value) ? "mono" : null, dir: "auto" }, value),
    ))),
  );

  const groups = (run) => element("div", { class: "fact-groups" }, ...run.facts.map(group));

  /** The clipboard is missing in some browsers for files: then the text is selected, ready to copy. */
  async function copy(node, status) {
    try {
      await navigator.clipboard.writeText(node.textContent);
      status.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(node);
      status.textContent = "Selected: copy it with Ctrl+C or ⌘C.";
    }
  }

  function commandBox(command, id) {
    const text = element("pre", { id, class: "command", dir: "auto", tabindex: "0" }, command);
    const status = element("span", { class: "note", role: "status" });
    const button = element("button", { type: "button", click: () => copy(text, status) }, "Copy the command");
    return element("div", {}, text, element("div", { class: "pager" }, button, status));
  }

  function show(parent, run) {
    parent.append(section(
      "how", "How this was made", element("div", { id: "facts" }, groups(run)),
      run.command === null ? null : element("h3", {}, "The same again"),
      run.command === null ? null : commandBox(run.command, "command"),
    ));
  }

  return { show, groups, commandBox };
})();
