// The namespace of the page, and how nodes are made: text enters only as text, never as markup.
"use strict";

const flipproof = {};

flipproof.dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null));
    return node;
  }

  /** An HTML element; an attribute whose value is a function is a listener for the event of that name. */
  const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  const byId = (id) => document.getElementById(id);

  /** A name from the data: isolated, so that right-to-left text does not disturb its surroundings. */
  const named = (text) => element("bdi", { class: "name" }, flipproof.format.visible(text));

  const paragraph = (text, kind = null) => element("p", { class: kind, dir: "auto" }, text);

  const list = (sentences) => element("ul", {}, ...sentences.map((sentence) => element("li", { dir: "auto" }, sentence)));

  /** A `<select>` with its label; options are [value, text] pairs. */
  function choice(id, label, options, value, onChange) {
    const select = element(
      "select", { id, change: () => onChange(select.value) },
      ...options.map(([key, text]) => element("option", { value: key, dir: "auto" }, text)),
    );
    select.value = value;
    return element("label", { class: "control" }, label, select);
  }

  function section(id, title, ...children) {
    const heading = `${id}-title`;
    return element(
      "section", { id, "aria-labelledby": heading }, element("h2", { id: heading }, title), ...children,
    );
  }

  /**
   * A table in its own scrolling box; cells are texts or nodes, the first cell of a row is its header.
   * `groups` are [title, width] pairs above the head.
   */
  function table(caption, head, rows, groups = []) {
    const body = rows.map(([first, ...others]) => element(
      "tr", {}, element("th", { scope: "row" }, first), ...others.map((cell) => element("td", {}, cell)),
    ));
    return scrolling(caption, element(
      "table", {},
      element("caption", { class: "hidden" }, caption),
      element("thead", {}, groups.length === 0 ? null : groupRow(groups), element("tr", {}, ...head.map(headCell))),
      element("tbody", {}, ...body),
    ));
  }

  const headCell = (cell) => element("th", { scope: "col", dir: "auto" }, cell);

  const groupRow = (groups) => element("tr", { class: "groups" }, ...groups.map(([title, width]) => (
    title === "" ? element("td", { colspan: width }) : element("th", { scope: "colgroup", colspan: width }, title)
  )));

  /** A box that scrolls sideways, also by keyboard. */
  const scrolling = (label, content) => element(
    "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content,
  );

  /** A `<details>` whose content is made when it is first opened. */
  function folded(title, build) {
    const details = element("details", {}, element("summary", {}, title));
    details.addEventListener("toggle", () => details.append(build()), { once: true });
    return details;
  }

  return { element, svg, byId, named, paragraph, list, choice, section, table, scrolling, folded };
})();
