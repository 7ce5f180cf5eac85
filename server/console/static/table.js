// A table of very many rows, of which only those in sight are in the document.
//
//   columns   [{name, label, kind, text(row), paint(cell, row), tone(row), sort, hint}]
//   rows      a map of ids to rows; the order is that of `compare`, or of the map
//
// The order is held while the pointer or the focus is in the table: what is new stands at its end,
// what has gone stays as a faint row. A hint says so, and `r`, or leaving, sorts again.

import { arrange, button, h, setAttribute, setClass, setText } from "./dom.js";

const SPARE_ROWS = 6; // above and below those in sight

/** The name of a column whose heading is not written. */
const unseen = (column) => h("span", { class: "unseen" }, column.name);

export class VirtualTable {
  constructor({ label, columns, compare = null, href, empty = "Nothing here.", sortable = false, className = "" }) {
    Object.assign(this, { columns, compare, href, sortable });
    this.rows = new Map();
    this.order = [];
    this.places = new Map(); // of ids in the order
    this.shown = new Map(); // ids to row elements
    this.current = 0;
    this.sortedBy = null;
    this.pointerInside = false;
    this.onSort = null;
    this.build(label, empty, className);
    this.listen();
  }

  build(label, empty, className) {
    this.hint = h("p", { class: "hold", hidden: true },
      h("span", null, "The order is held while you are here. "),
      button("Sort again", () => this.sortAgain(), { class: "link", "aria-keyshortcuts": "r" }));
    this.empty = h("p", { class: "empty" }, empty);
    this.head = h("div", { role: "row", class: "vrow vhead", "aria-rowindex": 1 },
      this.columns.map((column) => this.heading(column)));
    this.space = h("div", { class: "vspace", role: "rowgroup" });
    this.scroller = h("div", { class: "vscroll", role: "presentation" }, this.space);
    this.grid = h("div", { class: "vgrid", role: "table", "aria-label": label,
      "aria-colcount": this.columns.length }, h("div", { role: "rowgroup", class: "vheads" }, this.head), this.scroller);
    this.node = h("div", { class: `vtable ${className}` }, this.hint, this.grid, this.empty);
  }

  heading(column) {
    const cell = h("div", { role: "columnheader", class: `cell ${column.kind ?? ""} c-${column.name}`, title: column.hint });
    if (this.sortable && column.sort) {
      cell.append(button(column.label || unseen(column), () => this.sortBy(column), { class: "sort" }));
      setAttribute(cell, "aria-sort", "none");
    } else {
      cell.append(column.label ? h("span", null, column.label) : unseen(column));
    }
    column.heading = cell;
    return cell;
  }

  listen() {
    this.scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    this.scroller.addEventListener("pointerenter", () => { this.pointerInside = true; });
    this.scroller.addEventListener("pointerleave", () => { this.pointerInside = false; this.settle(); });
    this.scroller.addEventListener("focusout", () => setTimeout(() => this.settle(), 0));
    this.scroller.addEventListener("focusin", (event) => this.focused(event.target));
    this.space.addEventListener("click", (event) => this.clicked(event));
    this.resizing = new ResizeObserver(() => { this.measured = 0; this.render(); });
    this.resizing.observe(this.scroller);
  }

  close() {
    this.resizing.disconnect();
  }

  // ---------------------------------------------------------------- order

  get held() {
    return this.pointerInside || this.scroller.contains(document.activeElement);
  }

  sortBy(column) {
    const again = this.sortedBy === column;
    this.sortedBy = again ? null : column; // a second time: as it was
    for (const each of this.columns) {
      if (each.sort) setAttribute(each.heading, "aria-sort", each === this.sortedBy ? "descending" : "none");
    }
    this.sortAgain();
  }

  /** The rows as they are now. */
  update(rows) {
    this.rows = rows;
    if (this.held && this.order.length) this.keepOrder();
    else this.sort();
    this.render();
  }

  sorted() {
    const ids = [...this.rows.keys()];
    const by = this.sortedBy?.sort ?? this.compare;
    if (by) ids.sort((one, other) => by(this.rows.get(one), this.rows.get(other)));
    return ids;
  }

  sort() {
    this.place(this.sorted());
    this.hint.hidden = true;
  }

  place(order) {
    this.order = order;
    this.places = new Map(order.map((id, place) => [id, place]));
  }

  keepOrder() {
    const fresh = [...this.rows.keys()].filter((id) => !this.places.has(id));
    if (fresh.length) this.place([...this.order, ...fresh]);
    const wanted = this.sorted();
    const old = wanted.length !== this.order.length || wanted.some((id, place) => id !== this.order[place]);
    this.hint.hidden = !old;
  }

  /** Sort although the pointer is here; the focus stays on its row. */
  sortAgain() {
    const id = this.order[this.current];
    const inside = this.scroller.contains(document.activeElement);
    this.sort();
    if (inside) this.focusRow(Math.max(0, this.places.get(id) ?? 0));
    else this.render();
    this.onSort?.();
  }

  /** The pointer or the focus has left. */
  settle() {
    if (this.held || this.hint.hidden) return;
    this.sort();
    this.render();
  }

  // ---------------------------------------------------------------- what is in sight

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  }

  get rowHeight() {
    this.measured ||= parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 30;
    return this.measured;
  }

  render() {
    const height = this.rowHeight;
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / height) - SPARE_ROWS);
    const count = Math.ceil(this.scroller.clientHeight / height) + 2 * SPARE_ROWS;
    const until = Math.min(this.order.length, from + count);
    const tall = `${this.order.length * height}px`;
    if (this.space.style.height !== tall) this.space.style.height = tall;
    setAttribute(this.grid, "aria-rowcount", this.order.length + 1);
    this.empty.hidden = this.order.length > 0;
    const wanted = new Map();
    for (let place = from; place < until; place += 1) wanted.set(this.order[place], place);
    this.pin(wanted);
    this.change(wanted);
  }

  /** The row that has the focus stays, wherever it is. */
  pin(wanted) {
    if (!this.space.contains(document.activeElement)) return;
    const id = document.activeElement.closest(".vrow")?.rowId;
    const place = this.places.get(id);
    if (place !== undefined) wanted.set(id, place);
  }

  change(wanted) {
    for (const [id, node] of this.shown) {
      if (!wanted.has(id)) {
        node.remove();
        this.shown.delete(id);
      }
    }
    const height = this.rowHeight;
    for (const [id, place] of wanted) {
      const node = this.shown.get(id) ?? this.make(id);
      const where = `translateY(${place * height}px)`;
      if (node.style.transform !== where) node.style.transform = where;
      setAttribute(node, "aria-rowindex", place + 2);
      setAttribute(node.link, "tabindex", place === Math.min(this.current, this.order.length - 1) ? 0 : -1);
      this.paint(node, this.rows.get(id));
    }
    this.inOrder(wanted);
  }

  /** The document has the rows in their order, for those who read it. */
  inOrder(wanted) {
    const ids = [...wanted].sort((one, other) => one[1] - other[1]).map(([id]) => id);
    const nodes = ids.map((id) => this.shown.get(id));
    if (nodes.some((node, place) => this.space.childNodes[place] !== node)) {
      const focused = document.activeElement;
      arrange(this.space, nodes);
      if (this.space.contains(focused) && focused !== document.activeElement) focused.focus({ preventScroll: true });
    }
  }

  make(id) {
    const node = h("div", { role: "row", class: "vrow" });
    node.rowId = id;
    node.cells = this.columns.map((column) => {
      const cell = h("div", { role: column.main ? "rowheader" : "cell", "data-label": column.label });
      if (column.main) {
        node.link = h("a", { class: "open", tabindex: -1 });
        cell.append(node.link);
      }
      node.append(cell);
      return cell;
    });
    this.shown.set(id, node);
    return node;
  }

  paint(node, row) {
    setClass(node, row ? "vrow" : "vrow gone");
    if (!row) return;
    setAttribute(node.link, "href", this.href(row));
    this.columns.forEach((column, place) => {
      const cell = node.cells[place];
      setClass(cell, `cell ${column.kind ?? ""} c-${column.name} ${column.tone?.(row) ?? ""}`);
      if (column.paint) column.paint(cell, row);
      else setText(column.main ? node.link : cell, column.text(row));
    });
  }

  // ---------------------------------------------------------------- keys and pointer

  focused(target) {
    const place = this.places.get(target.closest(".vrow")?.rowId);
    if (place !== undefined) this.current = place;
  }

  clicked(event) {
    if (event.target.closest("a, button, input") || getSelection().toString()) return;
    event.target.closest(".vrow")?.link.click();
  }

  focusRow(place) {
    if (!this.order.length) return;
    this.current = Math.max(0, Math.min(this.order.length - 1, place));
    const height = this.rowHeight;
    const top = this.current * height;
    const room = this.scroller.clientHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + height > this.scroller.scrollTop + room) this.scroller.scrollTop = top + height - room;
    this.render();
    this.shown.get(this.order[this.current])?.link.focus({ preventScroll: true });
  }

  /** The keys that a view with this table hears. */
  keys() {
    const inside = () => this.scroller.contains(document.activeElement);
    const step = (by) => () => this.focusRow(inside() ? this.current + by : this.current);
    const page = () => Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 1);
    return {
      j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1),
      Home: () => this.focusRow(0), End: () => this.focusRow(this.order.length - 1),
      PageDown: () => this.focusRow(this.current + page()), PageUp: () => this.focusRow(this.current - page()),
      r: () => this.sortAgain(),
    };
  }
}
