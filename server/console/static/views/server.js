// The server: all that INFO tells, and what it means, in a table that can be searched.

import { isError, run } from "../api.js";
import { h, setText } from "../dom.js";
import { count } from "../format.js";
import { infoOf } from "../lines.js";
import { head } from "../page.js";
import { DataTable } from "../rows.js";

const COLUMNS = [
  { name: "name", label: "Name", main: true, kind: "mono", text: (row) => row.name },
  { name: "value", label: "Value", kind: "wide", text: (row) => row.value || "–" },
  { name: "meaning", label: "Meaning", kind: "soft wide", text: (row) => row.meaning },
  { name: "section", label: "Section", kind: "soft", text: (row) => row.section },
];

/** What the fields mean, by section; they are files of the server's own version. */
async function meanings() {
  const response = await fetch("meanings.json").catch(() => null);
  return response?.ok ? response.json() : {};
}

export async function show(place) {
  const table = new DataTable({ caption: "INFO", columns: COLUMNS, keyOf: (row) => `${row.section} ${row.name}`, empty: "No field has this in its name, value or meaning.", className: "info" });
  const input = h("input", { type: "search", "data-filter": true, "aria-label": "Search INFO", placeholder: "Search: name, value, meaning", autocomplete: "off" });
  input.value = place.query.find ?? "";
  const said = h("p", { class: "summary" });
  const known = await meanings();
  if (!place.isCurrent()) return;
  let rows = [];
  const draw = () => {
    const wanted = input.value.trim().toLowerCase();
    const found = rows.filter((row) => `${row.section} ${row.name} ${row.value} ${row.meaning}`.toLowerCase().includes(wanted));
    table.update(found);
    setText(said, `${count(found.length)} of ${count(rows.length)} fields`);
  };
  const came = ([text]) => {
    if (isError(text)) throw new Error(text.error);
    rows = infoOf(text).map((row) => ({ ...row, meaning: known[row.section]?.[row.name] ?? "" }));
    draw();
  };
  input.addEventListener("input", draw);
  place.root.append(head(place, { title: "Server", actions: [input] }), said, table.node);
  const wanted = [["INFO", "everything"]];
  place.refresh = async () => came(await run(wanted));
  await place.refresh();
  place.watch({ watches: { info: wanted }, onWatch: (name, replies) => !isError(replies[0]) && came(replies) });
}
