// A group's backlog as entries, in three lists: not delivered yet, pending, dead.
//
// A list is asked again by itself while nobody is in it and nothing is marked; otherwise it stays
// as it is, and says that it is old.

import { ask, isError, objectOf, run } from "../api.js";
import { button, h } from "../dom.js";
import { EntryTable, PAGE, entryOf, markBar } from "../entries.js";
import { count, duration, time } from "../format.js";
import { errorLine } from "../page.js";
import { link } from "../router.js";
import { asText } from "../words.js";
import { acknowledge, claim, nack, redrive, redriveAll } from "./group_actions.js";

class List {
  /** read(after, group) gives a page of rows that come after that one; acts are for marked rows. */
  constructor({ key, caption, empty, columns = [], acts = [], read, signature, extra = null }) {
    Object.assign(this, { read, signature, emptyText: empty });
    this.after = null;
    this.table = new EntryTable({ key, caption, columns, empty, onMarks: acts.length ? (number) => this.marks.marked(number) : null });
    this.marks = acts.length ? markBar(() => this.table, acts) : h("div", { class: "bar" });
    this.error = errorLine();
    this.old = h("p", { class: "fresh", hidden: true }, button("This has changed: show it again", () => this.show(this.group, true), { class: "link", "aria-keyshortcuts": "r" }));
    this.first = button("First", () => this.open(null), { class: "small" });
    this.next = button("Next →", () => this.open(this.table.rows.at(-1)), { class: "small" });
    this.marks.append(h("span", { class: "grow" }), extra ?? "", this.first, this.next);
    this.node = h("div", null, this.error, this.marks, this.old, this.table.node);
  }

  async show(group, again = false) {
    this.group = group;
    if (again || this.shown === undefined || this.shown !== this.mark()) await this.open(this.after);
  }

  async open(after) {
    this.after = after;
    this.shown = this.mark();
    try {
      const rows = await this.read(after, this.group);
      this.table.update(rows);
      this.error.say(null);
      this.first.disabled = after === null;
      this.next.disabled = rows.length < PAGE;
      this.old.hidden = true;
    } catch (failure) {
      this.table.update([]);
      this.error.say(failure.message);
    }
  }

  mark() {
    return this.group ? JSON.stringify(this.signature(this.group)) : undefined;
  }

  get busy() {
    const { node } = this.table;
    return this.table.marked.size > 0 || node.matches(":hover") || node.contains(document.activeElement) || this.after !== null;
  }

  /** The group's figures have changed. */
  changed(group) {
    this.group = group;
    if (this.shown === this.mark()) return;
    if (this.busy && this.shown !== undefined) this.old.hidden = false;
    else this.open(this.after);
  }
}

// ------------------------------------------------------------------ not delivered

export const ahead = (key, group) => new List({
  key, caption: "Entries not delivered yet", empty: "Everything has been delivered.",
  signature: (row) => [row.lag, row["last-delivered-id"]],
  read: async (after) => {
    const mine = (await ask("XINFO", "GROUPS", key)).map(objectOf).find((each) => asText(each.name) === asText(group));
    if (!mine) throw new Error("There is no such group.");
    const from = `(${after?.id ?? mine["last-delivered-id"]}`;
    return (await ask("XRANGE", key, from, "+", "COUNT", PAGE)).map(entryOf);
  },
});

// ------------------------------------------------------------------ pending

const pendingColumns = [
  { name: "consumer", label: "With", text: (row) => row.consumer || "nobody", tone: (row) => (row.consumer ? "" : "soft") },
  { name: "since", label: "Since", kind: "when", text: (row) => time(row.since) },
  { name: "for", label: "For", kind: "num", text: (row) => duration(row.idle) },
  { name: "times", label: "Times", kind: "num", text: (row) => count(row.times), tone: (row) => (row.times > 1 ? "warn" : "") },
];

/** Pending entries with their fields, which the stream may not have any more. */
async function pendingRows(key, group, after) {
  const from = after ? `(${after.id}` : "-";
  const held = await ask("XPENDING", key, group, from, "+", PAGE);
  const entries = held.length ? await run(held.map(([id]) => ["XRANGE", key, id, id])) : [];
  return held.map(([id, consumer, idle, times], place) => {
    const found = isError(entries[place]) ? undefined : entries[place][0];
    const fields = found ? entryOf(found).fields : null;
    return { id, consumer: asText(consumer), idle, since: Date.now() - idle, times, fields };
  });
}

export const pending = (key, group, again) => new List({
  key, caption: "Pending entries", empty: "Nothing is pending.", columns: pendingColumns,
  signature: (row) => [row.pending, row.redelivered, row.lag],
  read: (after) => pendingRows(key, group, after),
  acts: [
    ["Acknowledge", (ids) => acknowledge(key, group, ids, again)],
    ["Give back", (ids) => nack(key, group, ids, again)],
    ["Claim for", (ids) => claim(key, group, ids, again)],
  ],
});

// ------------------------------------------------------------------ dead

const fieldOf = (row, name) => asText(row.fields.find(([field]) => asText(field) === name)?.[1] ?? "");

const deadColumns = [
  { name: "origin", label: "Was", kind: "id", signature: (row) => row.id, node: (row) => h("a", { href: link("entry", { key: row.origin, id: fieldOf(row, "dead-id") }) }, fieldOf(row, "dead-id")) },
  { name: "reason", label: "Reason", kind: "wide", text: (row) => fieldOf(row, "dead-reason") },
  { name: "times", label: "Times", kind: "num", text: (row) => count(fieldOf(row, "dead-deliveries")) },
];

/** The dead-letter stream of a group: by its figures, or by its policy. */
async function deadStream(key, group, row) {
  if (row?.["dead-letter"]) return row["dead-letter"];
  const policy = objectOf(await ask("XGROUP", "CFGGET", key, group));
  return policy.deadletter || null;
}

/** The entries of the only stream of XREAD's reply, which is a map or, to older clients, a list. */
function entriesOfRead(reply) {
  if (reply === null) return [];
  const streams = Array.isArray(reply) ? reply : reply.map;
  return streams[0]?.[1] ?? [];
}

async function deadRows(key, group, after, row) {
  const stream = await deadStream(key, group, row);
  if (!stream) return [];
  const reply = await ask("XREAD", "COUNT", PAGE, "WHERE", "dead-group", 1, group, "STREAMS", stream, after?.id ?? "0");
  return entriesOfRead(reply).map(entryOf)
    .filter((each) => fieldOf(each, "dead-stream") === asText(key))
    .map((each) => ({ ...each, stream, origin: key }));
}

export function dead(key, group, again) {
  let known = null;
  const stream = async () => deadStream(key, group, known);
  const all = button("Redrive all", async () => redriveAll(await stream(), again), { class: "small" });
  const list = new List({
    key, caption: "Dead letters", empty: "No dead letters.", columns: deadColumns, extra: all,
    signature: (row) => [row["dead-lettered"], row.pending],
    read: async (after, row) => {
      known = row;
      const target = await stream();
      all.disabled = !target;
      list.table.table.empty.textContent = target ? "No dead letters." : "This group gives nothing up: it has no dead-letter stream.";
      return deadRows(key, group, after, row);
    },
    acts: [["Redrive", async (ids) => redrive(await stream(), ids, again)]],
  });
  return list;
}
