// Entries in a table: ids, times and fields, marked by check boxes for what is done to several.

import { h, setText } from "./dom.js";
import { fieldLine, pairsOfFields } from "./fields.js";
import { count, timeOfId } from "./format.js";
import { link } from "./router.js";
import { DataTable } from "./rows.js";

export const PAGE = 50; // entries at a time

/** An entry of a reply as {id, fields}. */
export const entryOf = ([id, flat]) => ({ id, fields: flat === null ? null : pairsOfFields(flat) });

export class EntryTable {
  /** columns are put between the time and the fields. onMarks hears how many are marked. */
  constructor({ key, caption, columns = [], empty, onMarks = null }) {
    this.key = key;
    this.marked = new Set();
    this.onMarks = onMarks;
    const own = [
      onMarks ? { name: "Mark", label: "", kind: "mark", signature: (row) => row.id, node: (row) => this.box(row) } : null,
      { name: "id", label: "Id", kind: "id", main: true, signature: (row) => `${row.stream ?? ""} ${row.id}`, node: (row) => this.link(row) },
      { name: "time", label: "Added", kind: "when", text: (row) => timeOfId(row.id) },
      ...columns,
      { name: "fields", label: "Fields", kind: "fields mono", signature: (row) => JSON.stringify(row.fields), node: (row) => fieldLine(row.fields) },
    ].filter(Boolean);
    this.table = new DataTable({ caption, columns: own, keyOf: (row) => row.id, empty, className: "entries" });
    this.node = this.table.node;
    this.rows = [];
  }

  link(row) {
    return h("a", { href: link("entry", { key: row.stream ?? this.key, id: row.id }), "data-stop": true }, row.id);
  }

  box(row) {
    const box = h("input", { type: "checkbox", "aria-label": `Mark ${row.id}` });
    box.checked = this.marked.has(row.id);
    box.addEventListener("change", () => {
      if (box.checked) this.marked.add(row.id);
      else this.marked.delete(row.id);
      this.onMarks(this.marked.size);
    });
    return box;
  }

  update(rows) {
    this.rows = rows;
    const ids = new Set(rows.map((row) => row.id));
    for (const id of this.marked) if (!ids.has(id)) this.marked.delete(id);
    this.table.update(rows);
    this.onMarks?.(this.marked.size);
  }

  /** Mark all of this page, or none. */
  toggleAll() {
    const boxes = [...this.node.querySelectorAll("td.mark input")];
    const all = boxes.every((box) => box.checked);
    for (const box of boxes) if (box.checked === all) box.click();
  }

  marks() {
    return this.rows.filter((row) => this.marked.has(row.id)).map((row) => row.id);
  }
}

/** Buttons that act on what is marked; they rest while nothing is. */
export function markBar(table, acts) {
  const said = h("span", { "aria-live": "polite" }, "");
  const all = h("button", { type: "button", class: "small", onclick: () => table().toggleAll() }, "Mark all");
  const buttons = acts.map(([label, act, danger]) =>
    h("button", { type: "button", class: `small ${danger ? "danger" : ""}`, disabled: true, onclick: () => act(table().marks()) }, label));
  const node = h("div", { class: "bar" }, all, said, buttons);
  node.marked = (number) => {
    setText(said, number ? `${count(number)} marked` : "");
    for (const each of buttons) each.disabled = !number;
  };
  return node;
}
