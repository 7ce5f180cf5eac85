// Memory: what it is used for, and by which types of values, as far as the server tells.

import { isError, objectOf, pairsOf, run } from "../api.js";
import { h, svg } from "../dom.js";
import { bytes, count, numberOf } from "../format.js";
import { infoObject } from "../lines.js";
import { head, section } from "../page.js";
import { DataTable, Facts } from "../rows.js";
import { asText } from "../words.js";

// MEMORY STATS: what lies side by side in the total.
const PARTS = [
  ["dataset.bytes", "Values and keys"],
  ["overhead.db.hashtable.lut", "Tables of keys"],
  ["clients.normal", "Clients"],
  ["clients.slaves", "Replicas' buffers"],
  ["replication.backlog", "Replication backlog"],
  ["aof.buffer", "Append-only file's buffer"],
  ["lua.caches", "Scripts"],
  ["functions.caches", "Functions"],
  ["startup.allocated", "The server itself, at its start"],
];

function meter(label, value, most) {
  const part = most ? Math.min(100, (value / most) * 100) : 0;
  const bar = svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: part.toFixed(2), height: 8 }));
  return h("div", { class: "meter" }, h("span", null, label), bar, h("span", { class: "num" }, bytes(value)));
}

/** The types of values, the largest first: [name, keys, bytes] of each line of INFO types. */
function byType(info) {
  const lines = Object.entries(info).map(([name, text]) => [/^penstock_type_([a-z]+)$/.exec(name)?.[1], String(text)]);
  const rows = lines.filter(([type]) => type).map(([type, text]) => {
    const [keys, memory] = ["keys", "memory"].map((figure) => numberOf(new RegExp(`(?:^|,)${figure}=(\\d+)`).exec(text)?.[1]));
    return [type, keys, memory];
  });
  return rows.sort((a, b) => b[2] - a[2]);
}

const STATS = [
  { name: "name", label: "Figure", main: true, text: (row) => row.name },
  { name: "value", label: "Value", kind: "num", text: (row) => row.text },
];

function statText(name, value) {
  if (typeof value !== "number") return asText(value);
  if (/percentage|ratio|fragmentation$/.test(name)) return String(Number(value.toPrecision(4)));
  return /count/.test(name) ? count(value) : bytes(value);
}

const isMap = (value) => value !== null && !Array.isArray(value) && typeof value === "object" && "map" in value;

function flatten(pairs, prefix = "") {
  return pairs.flatMap(([name, value]) => (isMap(value)
    ? flatten(value.map, `${prefix}${asText(name)}.`) : [{ name: prefix + asText(name), value }]));
}

export async function show(place) {
  const facts = new Facts("Memory");
  const meters = h("div");
  const types = h("div");
  const typePart = section("By type", types);
  const table = new DataTable({ caption: "Figures of memory", columns: STATS, keyOf: (row) => row.name, className: "narrow" });
  place.root.append(head(place, { title: "Memory" }), facts.node, section("What it is used for", meters), typePart, section("All figures", table.node));
  const came = ([stats, text, typesText]) => {
    if (isError(stats) && isError(text)) throw new Error(stats.error);
    const info = isError(text) ? {} : infoObject(text);
    const figures = isError(stats) ? {} : objectOf(stats);
    facts.update([
      ["In use", bytes(info.used_memory), null, "big"],
      ["Most so far", bytes(info.used_memory_peak), null, "big"],
      ["Of the system", bytes(info.used_memory_rss), "Resident: with what the allocator keeps", "big"],
      ["Limit", numberOf(info.maxmemory) ? bytes(info.maxmemory) : "none", null, "big"],
      ["Beyond it", info.maxmemory_policy ?? "–", null, "big"],
      ["Keys", count(figures["keys.count"]), null, "big"],
    ]);
    const parts = PARTS.map(([name, label]) => [label, numberOf(figures[name])]).filter(([, value]) => value !== null);
    const most = Math.max(...parts.map(([, value]) => value), 0);
    meters.replaceChildren(...parts.map(([label, value]) => meter(label, value, most)));
    const typed = byType(isError(typesText) ? {} : infoObject(typesText));
    const largest = Math.max(...typed.map(([, , size]) => size), 0);
    types.replaceChildren(...typed.map(([type, keys, size]) => meter(`${type}, ${count(keys)} ${keys === 1 ? "key" : "keys"}`, size, largest)));
    typePart.hidden = !typed.length;
    table.update(flatten(isError(stats) ? [] : pairsOf(stats)).map(({ name, value }) => ({ name, text: statText(name, value) })));
  };
  const wanted = [["MEMORY", "STATS"], ["INFO", "memory"], ["INFO", "types"]];
  place.refresh = async () => came(await run(wanted));
  await place.refresh();
  place.watch({ watches: { memory: wanted }, onWatch: (name, replies) => came(replies) });
}
