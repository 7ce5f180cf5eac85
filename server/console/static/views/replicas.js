// Replicas: the server's role, who follows it or whom it follows, and how far they are.

import { isError, run } from "../api.js";
import { count, duration, numberOf } from "../format.js";
import { infoObject } from "../lines.js";
import { head, section } from "../page.js";
import { DataTable, Facts } from "../rows.js";

const COLUMNS = [
  { name: "replica", label: "Replica", main: true, text: (row) => `${row.ip}:${row.port}` },
  { name: "state", label: "State", text: (row) => row.state ?? "–", tone: (row) => (row.state === "online" ? "" : "warn") },
  { name: "offset", label: "Offset", kind: "num", text: (row) => count(row.offset) },
  { name: "missing", label: "Not yet acknowledged", kind: "num", text: (row) => (row.missing === null ? "–" : `${count(row.missing)} bytes`) },
  { name: "lag", label: "Last heard", kind: "num", text: (row) => (numberOf(row.lag) === null ? "–" : duration(row.lag * 1000)) },
];

/** slave0:ip=127.0.0.1,port=7001,state=online,offset=10,lag=0 */
function replicasOf(info) {
  const own = numberOf(info.master_repl_offset);
  return Object.entries(info).filter(([name]) => /^slave\d+$/.test(name)).map(([name, line]) => {
    const row = Object.fromEntries(line.split(",").map((word) => word.split("=")));
    const offset = numberOf(row.offset);
    return { name, ...row, missing: own === null || offset === null ? null : Math.max(0, own - offset) };
  });
}

function primaryFacts(info) {
  const up = info.master_link_status === "up";
  return [
    ["Role", "replica", null, "big"],
    ["Follows", `${info.master_host}:${info.master_port}`, null, "big"],
    ["Link", info.master_link_status ?? "–", null, up ? "big" : "big bad"],
    ["Last heard", numberOf(info.master_last_io_seconds_ago) < 0 ? "–" : duration(numberOf(info.master_last_io_seconds_ago) * 1000), null, "big"],
    ["Loading a copy", info.master_sync_in_progress === "1" ? "yes" : "no"],
    ["Offset", count(info.slave_repl_offset)],
    ["Read only", info.slave_read_only === "1" ? "yes" : "no"],
  ];
}

const ownFacts = (info) => [
  ["Role", info.role === "master" ? "primary" : info.role ?? "–", null, "big"],
  ["Replicas", count(info.connected_slaves), null, "big"],
  ["Offset", count(info.master_repl_offset), null, "big"],
  ["Failover", info.master_failover_state ?? "–", null, "big"],
  ["Backlog", info.repl_backlog_active === "1" ? `${count(info.repl_backlog_histlen)} of ${count(info.repl_backlog_size)} bytes` : "none"],
  ["History", info.master_replid ? `${info.master_replid.slice(0, 12)}…` : "–", info.master_replid],
];

export async function show(place) {
  const facts = new Facts("Replication");
  const table = new DataTable({ caption: "Replicas", columns: COLUMNS, keyOf: (row) => row.name, empty: "No replica follows this server." });
  place.root.append(head(place, { title: "Replicas" }), facts.node, section("Who follows", table.node));
  const came = ([text]) => {
    if (isError(text)) throw new Error(text.error);
    const info = infoObject(text);
    facts.update(info.role === "slave" ? primaryFacts(info) : ownFacts(info));
    table.update(replicasOf(info));
  };
  const wanted = [["INFO", "replication"]];
  place.refresh = async () => came(await run(wanted));
  await place.refresh();
  place.watch({ watches: { replicas: wanted }, onWatch: (name, replies) => !isError(replies[0]) && came(replies) });
}

