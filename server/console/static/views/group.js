// One group: its figures and policy, its consumers, and its backlog as entries.

import { ask, objectOf } from "../api.js";
import { button, freshId, h, setAttribute, setText } from "../dom.js";
import { count, duration, numberOf, timeOfId } from "../format.js";
import { live, now } from "../live.js";
import { head, section } from "../page.js";
import { amend, link } from "../router.js";
import { DataTable, Facts } from "../rows.js";
import { toneOf, troubleOf } from "../trouble.js";
import { asText, literalPattern } from "../words.js";
import { ahead, dead, pending } from "./backlog.js";
import { deleteConsumer, deleteGroup, pauseOrResume } from "./group_actions.js";
import { moveGroup } from "./group_move.js";
import { policyText } from "./stream.js";
import { grow, rowOf } from "./streams.js";

const REDRAW_MS = 1000;

const TABS = [
  ["ahead", "Not delivered", ahead, (group) => group.lag],
  ["pending", "Pending", pending, (group) => group.pending],
  ["dead", "Dead", dead, (group) => group["dead-lettered"]],
];

const consumerColumns = (key, group, again) => [
  { name: "consumer", label: "Consumer", main: true, text: (row) => asText(row.name) },
  { name: "pending", label: "Pending", kind: "num", text: (row) => count(row.pending) },
  { name: "idle", label: "Last asked", kind: "num", text: (row) => duration(row.idle), hint: "How long ago it last read, claimed or acknowledged" },
  { name: "inactive", label: "Last got", kind: "num", text: (row) => (numberOf(row.inactive) < 0 ? "never" : duration(row.inactive)), hint: "How long ago it last was given something" },
  { name: "acts", label: "", kind: "acts", signature: (row) => asText(row.name),
    node: (row) => button("Delete", () => deleteConsumer(key, group, row.name, again), { class: "small", "aria-label": `Delete the consumer ${asText(row.name)}` }) },
];

class Group {
  constructor(place) {
    this.place = place;
    Object.assign(this, { key: place.words.key, group: place.words.group });
    this.name = asText(this.group);
    this.numbers = new Facts(`Figures of ${this.name}`);
    this.facts = new Facts(`Facts of ${this.name}`, "small");
    this.consumers = new DataTable({ caption: "Consumers", keyOf: (row) => asText(row.name), empty: "No consumer has read yet.",
      columns: consumerColumns(this.key, this.group, () => this.refresh()) });
    this.lists = Object.fromEntries(TABS.map(([tab, , make]) => [tab, make(this.key, this.group, () => this.refresh())]));
    this.tab = TABS.some(([tab]) => tab === place.query.tab) ? place.query.tab : "ahead";
  }

  build() {
    this.pauseButton = button("Pause the group", () => pauseOrResume(this.key, this.group, Boolean(numberOf(this.row?.paused)), () => this.refresh()));
    const actions = [
      button("Move", () => moveGroup(this.key, this.group, () => this.refresh())),
      this.pauseButton,
      button("Delete", () => deleteGroup(this.key, this.group), { class: "danger" }),
    ];
    this.missing = h("p", { class: "error", hidden: true }, "There is no such group.");
    const trail = [["Streams", link("streams")], [asText(this.key), link("stream", { key: this.key })]];
    this.place.root.append(head(this.place, { trail, title: this.name, mono: true, actions }),
      this.missing, this.numbers.node, this.facts.node, this.tabs(), this.panel, section("Consumers", this.consumers.node));
  }

  /** The tabs of the backlog; arrows go from one to the next. */
  tabs() {
    this.panel = h("div", { role: "tabpanel", class: "panel", id: freshId("panel") });
    this.figures = {};
    this.tabButtons = TABS.map(([tab, label]) => {
      this.figures[tab] = h("span", { class: "figure" });
      return h("button", { type: "button", role: "tab", id: freshId("tab"), "data-tab": tab, "aria-controls": this.panel.id, onclick: () => this.chosen(tab) }, label, this.figures[tab]);
    });
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Backlog" }, this.tabButtons);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const place = TABS.findIndex(([tab]) => tab === this.tab);
      this.chosen(TABS[(place + step + TABS.length) % TABS.length][0], true);
    });
    return list;
  }

  /** A person has chosen this tab: the link has it, too. */
  chosen(tab, focus = false) {
    amend({ ...this.place.query, tab });
    this.choose(tab, focus);
  }

  choose(tab, focus = false) {
    this.tab = tab;
    for (const each of this.tabButtons) {
      const chosen = each.dataset.tab === tab;
      setAttribute(each, "aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      if (chosen) setAttribute(this.panel, "aria-labelledby", each.id);
      if (chosen && focus) each.focus();
    }
    this.panel.replaceChildren(this.lists[tab].node);
    this.lists[tab].show(this.row).catch(() => {});
  }

  async start() {
    this.build();
    this.place.refresh = () => this.refresh();
    await ask("XINFO", "CONSUMERS", this.key, this.group);
    this.choose(this.tab);
    const timer = setInterval(() => this.row && !live.paused && this.show(grow(this.stream, now())), REDRAW_MS);
    this.place.onClose(() => clearInterval(timer));
    this.place.watch({
      watches: { consumers: [["XINFO", "CONSUMERS", this.key, this.group]] },
      streams: { match: literalPattern(this.key) },
      onStreams: (data) => this.came(data),
      onWatch: (name, [reply]) => Array.isArray(reply) && this.consumers.update(reply.map(objectOf)),
    });
  }

  async refresh() {
    await this.lists[this.tab].show(this.row, true);
  }

  came({ rows }) {
    const stream = rows.map((raw) => rowOf(raw)).find((row) => row.name === asText(this.key));
    if (!stream) return;
    const mine = stream["group-list"].find((group) => asText(group.name) === this.name);
    this.missing.hidden = Boolean(mine);
    if (!mine) return;
    this.stream = stream;
    this.row = mine;
    this.show(stream);
    this.lists[this.tab].changed(mine);
  }

  show(stream) {
    const { row } = this;
    const { cells } = troubleOf(row);
    const paused = Boolean(numberOf(row.paused));
    for (const [tab, , , figure] of TABS) setText(this.figures[tab], count(figure(row)));
    setText(this.pauseButton, paused ? "Resume the group" : "Pause the group");
    this.numbers.update([
      ["Lag", count(row.lag), "Entries not delivered yet", `big ${toneOf(cells.lag)}`],
      ["Pending", count(row.pending), null, "big"],
      ["Oldest pending", duration(row["oldest-pending-ms"]), null, `big ${toneOf(cells.oldest)}`],
      ["Redelivered", count(row.redelivered), null, "big"],
      ["Dead letters", count(row["dead-lettered"]), null, `big ${toneOf(cells.dead)}`],
      ["State", paused ? "paused" : "delivers", null, paused ? "big warn" : "big"],
    ]);
    this.facts.update([
      ["Has read up to", String(row["last-delivered-id"] ?? "–")],
      ["Added", timeOfId(row["last-delivered-id"] ?? "")],
      ["Stream's last", String(stream["last-generated-id"] ?? "–")],
      ["Dead letters go to", row["dead-letter"] ? h("a", { href: link("stream", { key: row["dead-letter"] }) }, asText(row["dead-letter"])) : "–"],
      ["By itself", policyText(row.policy)],
    ]);
  }
}

export async function show(place) {
  await new Group(place).start();
}
