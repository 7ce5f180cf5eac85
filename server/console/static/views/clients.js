// Clients: those that wait first, and on what; what they hold; and how one is ended.

import { ask, isError, run } from "../api.js";
import { confirm } from "../dialog.js";
import { button, h, setText } from "../dom.js";
import { bytes, count, duration } from "../format.js";
import { clientsOf, infoObject } from "../lines.js";
import { head } from "../page.js";

import { DataTable, Facts } from "../rows.js";

const SHOWN = 500; // clients in the table; the figures are of all

const isBlocked = (client) => client.flags.includes("b");

const FLAGS = {
  b: "waits", x: "in a transaction", P: "subscribed", O: "monitors", S: "a replica", M: "the primary",
  U: "a socket of this machine", t: "tracks keys", e: "not evicted", c: "leaves", A: "leaves now", d: "its keys have changed", r: "reads a cluster's replica",
};

/** A key as it is: CLIENT LIST has %XX for what could be taken for something else. */
function spelled(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // no text
  }
}

/** What a client does, in words: what it waits for, where the server tells. */
function doing(client) {
  const command = (client.cmd ?? "NULL").replace("|", " ");
  const words = command === "NULL" ? "nothing yet" : command;
  if (!isBlocked(client)) return words;
  return client.waits ? `${words} for ${client.waits.split(",").map(spelled).join(", ")}` : words;
}

const flagsOf = (client) => [...client.flags].map((flag) => FLAGS[flag]).filter(Boolean).join(", ");

function kill(client, again) {
  confirm({
    title: `End the client ${client.id}?`,
    losses: [`its connection from ${client.addr}${client.name ? `, named ${client.name}` : ""}`, isBlocked(client) ? `what it waits for, ${doing(client)}` : null].filter(Boolean),
    note: "Most clients connect again by themselves.",
    submit: "End the client",
    act: async () => {
      const ended = await ask("CLIENT", "KILL", "ID", client.id);
      await again();
      return ended ? `The client ${client.id} is ended` : `The client ${client.id} had left`;
    },
  });
}

const columns = (again) => [
  { name: "id", label: "Id", kind: "num", text: (row) => row.id },
  { name: "client", label: "Client", main: true, signature: (row) => `${row.addr} ${row.name} ${row.user}`,
    node: (row) => [h("span", null, row.name || row.addr), h("div", { class: "soft" }, [row.name ? row.addr : null, row.user, row["lib-name"]].filter(Boolean).join(" · "))] },
  { name: "state", label: "State", text: (row) => flagsOf(row) || "–", tone: (row) => (isBlocked(row) ? "warn" : "soft") },
  { name: "doing", label: "Command, and on what it waits", kind: "mono wide", text: doing },
  { name: "age", label: "Connected", kind: "num", text: (row) => duration(row.age * 1000) },
  { name: "idle", label: "Idle", kind: "num", text: (row) => duration(row.idle * 1000) },
  { name: "db", label: "Db", kind: "num", text: (row) => row.db },
  { name: "memory", label: "Memory", kind: "num", text: (row) => bytes(row["tot-mem"]) },
  { name: "acts", label: "", kind: "acts", signature: (row) => row.id, node: (row) => button("End", () => kill(row, again), { class: "small", "aria-label": `End the client ${row.id}`, "data-stop": true }) },
];

/** Those that wait first, longest first; then by id. */
function inOrder(one, other) {
  const waits = isBlocked(other) - isBlocked(one);
  if (waits) return waits;
  return isBlocked(one) ? other.idle - one.idle || one.id - other.id : one.id - other.id;
}

class Clients {
  constructor(place) {
    this.place = place;
    this.filter = "";
    this.facts = new Facts("Figures of clients");
    this.table = new DataTable({ caption: "Clients", columns: columns(() => this.refresh()), keyOf: (row) => row.id, empty: "No client has this in its line." });
    const input = h("input", { type: "search", "data-filter": true, "aria-label": "Filter clients", placeholder: "Filter: name, address, user", autocomplete: "off" });
    input.addEventListener("input", () => { this.filter = input.value.trim().toLowerCase(); this.show(); });
    this.said = h("p", { class: "summary" });
    place.root.append(head(place, { title: "Clients", actions: [input] }), this.facts.node, h("div", { class: "part" }, this.said, this.table.node));
    place.refresh = () => this.refresh();
    this.text = "";
  }

  async refresh() {
    this.came(await run([["CLIENT", "LIST"], ["INFO", "clients"]]));
  }

  came([list, info]) {
    if (isError(list)) throw new Error(list.error);
    this.text = list;
    this.info = isError(info) ? {} : infoObject(info);
    this.show();
  }

  show() {
    const lines = String(this.text).split("\n").filter((line) => line.trim());
    const found = clientsOf(lines.filter((line) => line.toLowerCase().includes(this.filter)).join("\n")).sort(inOrder);
    const { info } = this;
    this.facts.update([
      ["Clients", count(info.connected_clients), null, "big"],
      ["They wait", count(info.blocked_clients), null, "big"],
      ["Keys waited for", count(info.total_blocking_keys), null, "big"],
      ["Subscribed", count(info.pubsub_clients), null, "big"],
      ["Limit", count(info.maxclients), null, "big"],
    ]);
    setText(this.said, found.length > SHOWN ? `The first ${count(SHOWN)} of ${count(found.length)}: a filter finds the others.` : `${count(found.length)} of ${count(lines.length)}`);
    this.table.update(found.slice(0, SHOWN));
  }
}

export async function show(place) {
  const view = new Clients(place);
  await view.refresh();
  place.watch({
    watches: { clients: [["CLIENT", "LIST"], ["INFO", "clients"]] },
    onWatch: (name, replies) => !isError(replies[0]) && !place.root.querySelector("td button:hover") && view.came(replies),
  });
}

