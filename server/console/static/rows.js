// Small tables and lists of facts whose cells change only where their values do.

import { arrange, h, setAttribute, setClass, setText } from "./dom.js";

/** What a cell shows: text, or a node that is made anew when its signature changes. */
function fillCell(cell, column, row) {
  if (!column.node) {
    setText(cell, column.text(row));
    return;
  }
  const signature = column.signature?.(row) ?? column.text?.(row) ?? JSON.stringify(row);
  if (cell.signature === signature) return;
  cell.signature = signature;
  cell.replaceChildren(...[column.node(row)].flat().filter((node) => node !== null && node !== undefined));
}

/**
 * A table. columns: [{name, label, kind: "num", text(row) | node(row), signature(row), tone(row)}];
 * the column with `main` names the row.
 */
export class DataTable {
  constructor({ caption, columns, keyOf, empty = "None.", className = "" }) {
    Object.assign(this, { columns, keyOf });
    this.made = new Map();
    const headings = columns.map((column) => h("th", { scope: "col", class: column.kind, title: column.hint },
      column.label || h("span", { class: "unseen" }, column.name)));
    this.body = h("tbody");
    this.table = h("table", { class: `data ${className}` }, h("caption", { class: "unseen" }, caption),
      h("thead", null, h("tr", null, headings)), this.body);
    this.empty = h("p", { class: "empty" }, empty);
    this.node = h("div", { class: "scrolls" }, this.table, this.empty);
    this.update([]);
  }

  update(rows) {
    const nodes = rows.map((row) => {
      const key = this.keyOf(row);
      const node = this.made.get(key) ?? this.make(key);
      this.paint(node, row);
      return node;
    });
    const kept = new Set(nodes);
    for (const [key, node] of this.made) if (!kept.has(node)) this.made.delete(key);
    arrange(this.body, nodes);
    this.table.hidden = !rows.length;
    this.empty.hidden = rows.length > 0;
  }

  make(key) {
    const cells = this.columns.map((column) => (column.main
      ? h("th", { scope: "row", "data-label": column.label }) : h("td", { "data-label": column.label })));
    const node = h("tr", null, cells);
    node.cells_ = cells;
    this.made.set(key, node);
    return node;
  }

  paint(node, row) {
    node.row = row;
    this.columns.forEach((column, place) => {
      const cell = node.cells_[place];
      setClass(cell, [column.kind, column.tone?.(row)].filter(Boolean).join(" "));
      fillCell(cell, column, row);
    });
  }
}

/** Names and values: facts of a stream, a group, a client. */
export class Facts {
  constructor(label, size = "") {
    this.node = h("dl", { class: `facts ${size}`, "aria-label": label });
    this.made = new Map();
  }

  /** pairs: [name, text or node, hint, tone]; a null pair is left out. */
  update(pairs) {
    const nodes = pairs.filter(Boolean).map(([name, value, hint, tone]) => {
      const node = this.made.get(name) ?? this.make(name);
      setAttribute(node, "title", hint ?? null);
      setClass(node.value_, tone ?? "");
      if (typeof value === "string") setText(node.value_, value);
      else if (node.value_.firstChild !== value) node.value_.replaceChildren(value);
      return node;
    });
    arrange(this.node, nodes);
  }

  make(name) {
    const value = h("dd");
    const node = h("div", null, h("dt", null, name), value);
    node.value_ = value;
    this.made.set(name, node);
    return node;
  }
}
