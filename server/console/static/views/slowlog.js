// The slow log: the commands that took longest, newest first.

import { ask, askAll, isError, objectOf, run } from "../api.js";
import { confirm } from "../dialog.js";
import { button, h, setText } from "../dom.js";
import { count, time } from "../format.js";
import { head } from "../page.js";
import { DataTable } from "../rows.js";
import { asText } from "../words.js";

const SHOWN = 128;
const LINE = 180; // letters of a command

const micros = (value) => (value >= 1000 ? `${(value / 1000).toFixed(value >= 100_000 ? 0 : 1)} ms` : `${value} µs`);

/** A command; a long one is cut, until all of it is asked for. */
function commandNode(text) {
  if (text.length <= LINE) return h("span", null, text);
  const node = h("span", null, `${text.slice(0, LINE)}… `);
  node.append(button("all", () => node.replaceChildren(text), { class: "link", "aria-label": "Show all of the command" }));
  return node;
}

const COLUMNS = [
  { name: "id", label: "No.", kind: "num", text: (row) => String(row.id) },
  { name: "when", label: "When", kind: "when", text: (row) => time(row.at * 1000) },
  { name: "took", label: "Took", kind: "num", text: (row) => micros(row.micros) },
  { name: "command", label: "Command", kind: "mono wide", main: true, signature: (row) => row.id, node: (row) => commandNode(row.words.map(asText).join(" ")) },
  { name: "client", label: "Client", kind: "when", text: (row) => [row.name, row.address].filter(Boolean).map(asText).join(" · ") || "–" },
];

const rowOf = ([id, at, took, words, address, name]) => ({ id, at, micros: took, words, address, name });

export async function show(place) {
  const table = new DataTable({ caption: "Slow commands", columns: COLUMNS, keyOf: (row) => row.id, empty: "No command was slow." });
  const said = h("p", { class: "summary" });
  const threshold = objectOf((await run([["CONFIG", "GET", "slowlog-log-slower-than"]]))[0])["slowlog-log-slower-than"];
  const limit = threshold === undefined ? "" : ` · what takes ${micros(Number(threshold))} or longer is noted`;
  const came = ([log, length]) => {
    if (isError(log)) throw new Error(log.error);
    table.update(log.map(rowOf));
    setText(said, `${count(isError(length) ? log.length : length)} noted${limit}`);
  };
  const refresh = async () => came(await askAll([["SLOWLOG", "GET", SHOWN], ["SLOWLOG", "LEN"]]));
  const reset = async () => {
    const length = await ask("SLOWLOG", "LEN");
    confirm({ title: "Empty the slow log?", losses: [`${count(length)} noted commands`], submit: "Empty it",
      act: async () => {
        await ask("SLOWLOG", "RESET");
        await refresh();
        return "The slow log is empty";
      } });
  };
  place.root.append(head(place, { title: "Slow log", actions: [button("Empty it", reset, { class: "danger" })] }), said, table.node);
  place.refresh = refresh;
  await refresh();
  place.watch({
    watches: { slowlog: [["SLOWLOG", "GET", SHOWN], ["SLOWLOG", "LEN"]] },
    onWatch: (name, replies) => !isError(replies[0]) && came(replies),
  });
}
