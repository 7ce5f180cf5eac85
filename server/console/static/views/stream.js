// One stream: its figures and policies, its groups, what it adds later, and its entries.

import { ask, isError, objectOf } from "../api.js";
import { Browser } from "../browse.js";
import { button, h } from "../dom.js";
import { bytes, count, duration, numberOf, rate, time, timeOfId } from "../format.js";
import { live, now } from "../live.js";
import { head, section } from "../page.js";
import { Rates } from "../rates.js";
import { link } from "../router.js";
import { DataTable, Facts } from "../rows.js";
import { toneOf, troubleOf } from "../trouble.js";
import { asText, idOf, literalPattern } from "../words.js";
import { scheduleSection } from "./schedule.js";
import { addEntry, createGroup, deleteEntries, deleteStream, trim } from "./stream_actions.js";
import { grow, rowOf } from "./streams.js";

const OPTION = /^(VISIBILITY|BACKOFF|DEADLETTER|RELEASED|PAUSED|ACTIVE|TIMEOUT|CONSUMERTIMEOUT|ORDERBY|MAX[A-Z]+)$/;

/** A policy as words: ["VISIBILITY", "30000"] is "visibility 30000"; names stay as they are. */
export const policyText = (words) => (words?.length
  ? words.map(asText).map((word) => (OPTION.test(word) ? word.toLowerCase() : word)).join(" ") : "none");

const REDRAW_MS = 1000;
const DEFAULTS = new Set(["0", "no", "", "100"]);

/** What XCFGGET says, without what is as it always is. */
function ownPolicy(reply) {
  if (isError(reply)) return "–";
  const set = Object.entries(objectOf(reply)).filter(([name, value]) =>
    !(name.startsWith("idmp-") && DEFAULTS.has(String(value))) && !["0", "no", ""].includes(String(value)));
  return set.length ? set.map(([name, value]) => `${name} ${asText(value)}`).join(", ") : "keeps everything";
}

const groupFigure = (name, label, field, show, cell) => ({
  name, label, kind: "num", text: (row) => show(row[field]),
  tone: (row) => toneOf(cell ? troubleOf(row).cells[cell] : 0),
});

const groupColumns = (key) => [
  { name: "group", label: "Group", main: true, signature: (row) => asText(row.name),
    node: (row) => h("a", { href: link("group", { key, group: row.name }), "data-stop": true }, asText(row.name)) },
  groupFigure("lag", "Lag", "lag", count, "lag"),
  groupFigure("pending", "Pending", "pending", count),
  groupFigure("oldest", "Oldest", "oldest-pending-ms", duration, "oldest"),
  groupFigure("consumers", "Consumers", "consumers", count, "groups"),
  groupFigure("redelivered", "Redelivered", "redelivered", count),
  groupFigure("dead", "Dead", "dead-lettered", count, "dead"),
  { name: "policy", label: "By itself", kind: "soft wide", text: (row) => (numberOf(row.paused) ? "paused; " : "") + policyText(row.policy) },
];

class Stream {
  constructor(place) {
    this.place = place;
    this.key = place.words.key;
    this.name = asText(this.key);
    this.rates = new Rates();
    this.figures = new Facts(`Figures of ${this.name}`);
    this.facts = new Facts(`Facts of ${this.name}`, "small");
    this.policy = "";
    this.groups = new DataTable({ caption: "Groups", columns: groupColumns(this.key), keyOf: (row) => idOf(row.name), empty: "No group reads this stream." });
    this.browser = new Browser({ key: this.key, caption: "Entries",
      acts: [["Delete", (ids) => deleteEntries(this.key, ids, () => this.refresh()), true]] });
    this.schedule = scheduleSection(this.key);
  }

  build() {
    const again = () => this.refresh();
    const actions = [
      button("Add an entry", () => addEntry(this.key, again)),
      button("Create a group", () => createGroup(this.key, again)),
      button("Trim", () => trim(this.key, again)),
      button("Delete", () => deleteStream(this.key), { class: "danger" }),
    ];
    this.missing = h("p", { class: "error", hidden: true }, "There is no such stream. An entry makes one.");
    this.place.root.append(
      head(this.place, { trail: [["Streams", link("streams")]], title: this.name, mono: true, actions }),
      this.missing, this.figures.node, this.facts.node, section("Groups", this.groups.node), this.schedule.node, section("Entries", this.browser.node));
  }

  async start() {
    this.build();
    this.place.refresh = () => this.refresh();
    const timer = setInterval(() => this.older(), REDRAW_MS);
    this.place.onClose(() => clearInterval(timer));
    const type = await ask("TYPE", this.key);
    if (type !== "stream" && type !== "none") throw new Error(`${this.name} is no stream, but a ${type}.`);
    this.missing.hidden = type !== "none";
    if (type === "stream") await this.refresh();
    this.place.watch({
      watches: { policy: [["XCFGGET", this.key], ["XINFO", "STREAM", this.key]] },
      streams: { match: literalPattern(this.key) },
      onStreams: (data) => this.came(data),
      onWatch: (name, replies) => this.watched(replies),
    });
  }

  async refresh() {
    this.missing.hidden = true;
    await Promise.all([this.browser.open(this.browser.from), this.schedule.refresh()]);
  }

  /** A second has passed: ages grow, and the rate changes. */
  older() {
    if (!this.row || live.paused) return;
    this.groups.update(grow(this.row, now())["group-list"]);
    this.show();
  }

  watched([policy, info]) {
    this.policy = ownPolicy(policy);
    this.info = isError(info) ? {} : objectOf(info);
    this.show();
  }

  came({ rows, gone }) {
    const mine = rows.map((raw) => rowOf(raw)).find((row) => row.name === this.name);
    if (gone.some((key) => asText(key) === this.name)) this.missing.hidden = false;
    if (!mine) return;
    this.missing.hidden = true;
    this.row = mine;
    this.rates.add("", Date.now(), numberOf(mine["entries-added"]) ?? 0);
    this.groups.update(mine["group-list"]);
    this.browser.advanced(mine["last-generated-id"]).catch(() => {});
    this.schedule.changed(numberOf(mine.scheduled));
    this.show();
  }

  show() {
    const row = this.row ?? {};
    const info = this.info ?? {};
    const cells = this.row ? row.trouble.cells : {};
    this.figures.update([
      ["Length", count(row.length ?? info.length), null, "big"],
      ["Bytes", bytes(row.bytes), null, "big"],
      ["Rate", rate(this.rates.rate("", now())), "Entries added a second, over ten seconds", "big"],
      ["Pending", count(row.pending), null, "big"],
      ["Oldest pending", duration(row["oldest-pending-ms"]), null, `big ${toneOf(cells.oldest)}`],
      ["Dead letters", count(row["dead-lettered"]), "Given up by its groups since the server started", `big ${toneOf(cells.dead)}`],
    ]);
    this.facts.update([
      ["Entries added", count(row["entries-added"])],
      ["Last id", String(row["last-generated-id"] ?? "–")],
      ["Last added", timeOfId(row["last-generated-id"] ?? "")],
      ["Scheduled", count(row.scheduled)],
      info["next-due"] ? ["Next is due", time(info["next-due"])] : null,
      ["Retention", this.policy || "–"],
    ]);
  }
}

export async function show(place) {
  await new Stream(place).start();
}

