// Browsing a stream's entries: pages by id, newest first, a jump to a time, and what is new meanwhile.

import { askAll } from "./api.js";
import { button, h, setText } from "./dom.js";
import { EntryTable, PAGE, entryOf, markBar } from "./entries.js";
import { count, plural } from "./format.js";
import { HOW_TO, idMeant } from "./ids.js";
import { errorLine } from "./page.js";

export class Browser {
  /** acts: what can be done to marked entries, [label, act(ids), danger]. */
  constructor({ key, caption, acts }) {
    this.key = key;
    this.from = "+"; // the page begins here, and goes to older ones
    this.newest = null;
    this.error = errorLine();
    this.marks = markBar(() => this.table, acts);
    this.table = new EntryTable({ key, caption, empty: "No entries here.", onMarks: (number) => this.marks.marked(number) });
    this.build();
  }

  build() {
    const jump = h("input", { type: "text", "aria-label": `Go to. ${HOW_TO}`, placeholder: "Go to id, time or age", title: HOW_TO, "data-filter": true, autocomplete: "off" });
    const form = h("form", { class: "actions", onsubmit: (event) => { event.preventDefault(); this.jump(jump.value); } },
      jump, h("button", { type: "submit", class: "small" }, "Go"));
    this.where = h("span", { class: "soft" });
    this.first = button("Newest", () => this.open("+"), { class: "small" });
    this.newer = button("← Newer", () => this.pageNewer(), { class: "small" });
    this.older = button("Older →", () => this.open(`(${this.last.id}`), { class: "small" });
    this.fresh = h("p", { class: "fresh", hidden: true }, button("", () => this.open("+"), { class: "link" }));
    this.node = h("div", null,
      h("div", { class: "bar" }, form, h("span", { class: "grow" }), this.where, this.first, this.newer, this.older),
      this.error, this.marks, this.fresh, this.table.node);
  }

  get last() {
    return this.table.rows.at(-1);
  }

  async jump(typed) {
    if (!typed.trim()) return;
    const id = idMeant(typed);
    this.error.say(id ? null : `This is no id and no time. ${HOW_TO}`);
    if (id) await this.open(await this.pageAt(id));
  }

  /** The page whose oldest entry is the first one at, or after, that id; else it begins with the newest. */
  async pageAt(id) {
    const [page] = await askAll([["XRANGE", this.key, id, "+", "COUNT", PAGE, "NOFIELDS"]]);
    const ids = page.map((each) => (Array.isArray(each) ? each[0] : each));
    return ids.length === PAGE ? ids.at(-1) : "+";
  }

  async pageNewer() {
    const first = this.table.rows[0];
    if (first) await this.open(await this.pageAt(`(${first.id}`));
  }

  /** Show the page from that id on, older ones after it. */
  async open(from) {
    this.from = from;
    try {
      await this.read();
    } catch (failure) {
      this.error.say(failure.message);
    }
  }

  async read() {
    const [page, length] = await askAll([
      ["XREVRANGE", this.key, this.from, "-", "COUNT", PAGE],
      ["XLEN", this.key],
    ]);
    this.error.say(null);
    const rows = page.map(entryOf);
    const [newer] = rows.length ? await askAll([["XCOUNT", this.key, `(${rows[0].id}`, "+"]]) : [0];
    this.table.update(rows);
    this.newest = newer === 0 ? rows[0]?.id ?? null : null;
    this.fresh.hidden = true;
    this.first.disabled = newer === 0;
    this.newer.disabled = newer === 0;
    this.older.disabled = newer + rows.length >= length;
    this.marks.hidden = !rows.length;
    setText(this.where, rows.length ? `${count(newer + 1)}–${count(newer + rows.length)} of ${count(length)}` : "");
  }

  /** The stream's last id has changed: say how many are new, and let the person ask for them. */
  async advanced(lastId) {
    if (this.from !== "+" || lastId === this.newest) return;
    if (!this.table.rows.length) {
      await this.open("+");
      return;
    }
    const [number] = await askAll([["XCOUNT", this.key, `(${this.table.rows[0].id}`, "+"]]);
    this.fresh.hidden = number === 0;
    setText(this.fresh.firstChild, `${plural(number, "newer entry", "newer entries")}: show`);
  }
}
