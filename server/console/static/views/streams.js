// All streams in one table, those in trouble first, live.

import { objectOf } from "../api.js";
import { byFigure, byName } from "../compare.js";
import { h, setClass, setText } from "../dom.js";
import { bytes, count, duration, numberOf, rate } from "../format.js";
import { live, now } from "../live.js";
import { head } from "../page.js";
import { Rates } from "../rates.js";
import { amend, link } from "../router.js";
import { draw, sparkline } from "../spark.js";
import { VirtualTable } from "../table.js";
import { byTrouble, forgetTrouble, levelOf, toneOf, troubleOf } from "../trouble.js";
import { asText, expressionOf, idOf, patternOf } from "../words.js";
import { createStream } from "./stream_actions.js";

const FILTER_MS = 200; // after the last letter, until the server is asked
const REDRAW_MS = 1000;
const MANY = 500; // streams
const MANY_PAUSE_MS = 200; // between two times in which so many are shown anew

const figure = (name) => (row) => row[name];
const zero = (name, cell) => (row) => {
  const value = numberOf(row[name]);
  if (value === 0 || value === null) return "none";
  return cell ? toneOf(row.trouble.cells[cell]) : "";
};

const numeric = (name, label, field, { show = count, cell, hint } = {}) => ({
  name, label, kind: "num", hint,
  text: (row) => show(row[field]),
  tone: zero(field, cell),
  sort: byFigure(figure(field)),
});

/** The mark of trouble: four bars, of which as many are lit as it is loud. */
function paintTrouble(cell, row) {
  if (!cell.bars) {
    cell.bars = h("span", { class: "bars", role: "img" }, h("i"), h("i"), h("i"), h("i"));
    cell.append(cell.bars);
  }
  const { points, reasons } = row.trouble;
  const text = reasons.length ? `${points} points: ${reasons.join(", ")}` : "no trouble";
  if (cell.bars.title === text) return;
  cell.bars.title = text;
  cell.bars.setAttribute("aria-label", text);
  setClass(cell.bars, `bars level${levelOf(points)}`);
}

function paintRate(rates) {
  return (cell, row) => {
    if (!cell.spark) {
      cell.spark = sparkline();
      cell.figure = h("span");
      cell.append(cell.spark, cell.figure);
    }
    draw(cell.spark, rates.points(row.id, now()));
    const value = rates.rate(row.id, now());
    setText(cell.figure, rate(value));
    setClass(cell.figure, value ? "" : "none");
  };
}

const columns = (rates) => [
  { name: "trouble", label: "", hint: "Trouble: see the help (?)", paint: paintTrouble, sort: byTrouble },
  { name: "stream", label: "Stream", main: true, text: (row) => row.name, sort: (a, b) => byName(b, a) * -1 },
  { name: "rate", label: "Rate", kind: "num", hint: "Entries added a second, over ten seconds; the line: the last minute",
    paint: paintRate(rates), sort: byFigure((row) => rates.rate(row.id, now())) },
  numeric("length", "Length", "length"),
  numeric("bytes", "Bytes", "bytes", { show: bytes }),
  numeric("groups", "Groups", "groups", { cell: "groups" }),
  numeric("lag", "Lag", "lag", { cell: "lag", hint: "The largest lag of its groups: entries not delivered yet" }),
  numeric("pending", "Pending", "pending", { hint: "Delivered, not acknowledged" }),
  numeric("oldest", "Oldest", "oldest-pending-ms", { show: duration, cell: "oldest", hint: "Since when the oldest pending entry is with its consumer" }),
  numeric("dead", "Dead", "dead-lettered", { cell: "dead", hint: "Entries given up since the server started" }),
  numeric("scheduled", "Scheduled", "scheduled"),
];

/** A row as it came at that moment, with what is derived from it. */
export function rowOf(raw, when = Date.now()) {
  const groups = (raw["group-list"] ?? []).map((group) => (Array.isArray(group) || group.map ? objectOf(group) : { ...group }));
  const row = { ...raw, "group-list": groups, id: idOf(raw.key), name: asText(raw.key) };
  for (const each of [row, ...groups]) {
    const age = numberOf(each["oldest-pending-ms"]);
    each.oldestSince = age === null ? null : when - age;
  }
  row.trouble = troubleOf(row, when);
  return row;
}

/** Let the ages of a row grow: it is only sent again when something else has changed. */
export function grow(row, when) {
  for (const each of [row, ...row["group-list"]]) {
    if (each.oldestSince !== null) each["oldest-pending-ms"] = Math.max(0, when - each.oldestSince);
  }
  row.trouble = troubleOf(row, when);
  return row;
}

class Streams {
  constructor(place) {
    this.place = place;
    this.all = new Map();
    this.rates = new Rates();
    this.complete = false;
    this.filter = place.query.match ?? "";
    this.table = new VirtualTable({
      label: "Streams", className: "streams", columns: columns(this.rates), compare: byTrouble, sortable: true,
      href: (row) => link("stream", { key: row.key }), empty: "The streams are being gathered.",
    });
    this.build();
  }

  build() {
    const input = h("input", { type: "search", "data-filter": true, "aria-label": "Filter streams by pattern", placeholder: "Filter: orders:*  ( / )", autocomplete: "off", spellcheck: "false" });
    input.value = this.filter;
    input.addEventListener("input", () => this.filtered(input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "ArrowDown") this.table.focusRow(0);
    });
    this.summary = h("p", { class: "summary", "aria-live": "off" });
    const add = h("button", { type: "button", onclick: () => createStream() }, "Add an entry");
    this.place.root.classList.add("full");
    this.place.root.append(head(this.place, { title: "Streams", actions: [input, add] }), this.summary, this.table.node);
  }

  start() {
    this.watch();
    this.place.refresh = () => this.watch();
    this.place.keys({ ...this.table.keys() });
    const timer = setInterval(() => !live.paused && !document.hidden && this.older(), REDRAW_MS);
    this.place.onClose(() => {
      clearInterval(timer);
      clearTimeout(this.typing);
      clearTimeout(this.showing);
      this.table.close();
    });
  }

  /** A second has passed: ages grow, and with them trouble. */
  older() {
    const when = now();
    for (const row of this.all.values()) if (row.oldestSince !== null) grow(row, when);
    if (this.complete) this.show();
  }

  watch() {
    const pattern = patternOf(this.filter);
    this.expression = expressionOf(pattern);
    this.complete = false;
    this.seen = new Set();
    this.place.watch({ streams: { match: pattern }, onStreams: (data) => this.came(data) });
  }

  filtered(typed) {
    this.filter = typed;
    this.expression = expressionOf(patternOf(typed));
    amend({ match: typed.trim() });
    this.show();
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.watch(), FILTER_MS);
  }

  came({ rows, gone, complete, error, most }) {
    const when = Date.now();
    this.refusal = error ?? "";
    this.most = most;
    for (const raw of rows) {
      const row = rowOf(raw, when);
      this.all.set(row.id, row);
      this.seen?.add(row.id);
      this.rates.add(row.id, when, numberOf(row["entries-added"]) ?? 0);
    }
    for (const key of gone) this.drop(idOf(key));
    if (complete && !this.complete) this.settle();
    this.showSoon();
  }

  /** Many rows come in many events: they are sorted and counted once for all that came in a while. */
  showSoon() {
    const pauseMs = this.all.size > MANY ? MANY_PAUSE_MS : 0;
    this.showing ||= setTimeout(() => {
      this.showing = 0;
      this.show();
    }, pauseMs);
  }

  /** All has been told: what was known before, and has not come again, has gone. */
  settle() {
    for (const [id, row] of this.all) {
      if (!this.seen.has(id) && this.expression.test(row.name)) this.drop(id);
    }
    this.seen = null;
    this.complete = true;
  }

  drop(id) {
    this.all.delete(id);
    forgetTrouble(id);
    this.rates.forget(id);
  }

  show() {
    const shown = new Map();
    for (const [id, row] of this.all) if (this.expression.test(row.name)) shown.set(id, row);
    setText(this.table.empty, this.emptyText());
    this.table.update(shown);
    setText(this.summary, this.summaryText([...shown.values()]));
  }

  emptyText() {
    if (this.refusal) return this.refusal;
    if (!this.complete) return "The streams are being gathered.";
    return this.filter ? "No stream has a name like this." : "There is no stream in this database.";
  }

  summaryText(rows) {
    if (!rows.length) return "";
    if (this.refusal) return this.refusal;
    const troubled = rows.filter((row) => row.trouble.reasons.length).length;
    const streams = `${count(rows.length)} stream${rows.length === 1 ? "" : "s"}`;
    const sum = (name) => rows.reduce((total, row) => total + (numberOf(row[name]) ?? 0), 0);
    const parts = [streams, `${count(troubled)} in trouble`, `${count(sum("pending"))} pending`, bytes(sum("bytes"))];
    if (this.most) parts.push(`the first ${count(this.most)} only: a filter finds the others`);
    return this.complete ? parts.join(" · ") : `${streams} so far`;
  }
}

export async function show(place) {
  new Streams(place).start();
}

