// A key's value, by its type; long ones a page at a time.

import { ask, isError } from "../api.js";
import { button, h, setText } from "../dom.js";
import { valueNode } from "../fields.js";
import { bytes, count, plural } from "../format.js";
import { errorLine } from "../page.js";
import { link } from "../router.js";
import { DataTable } from "../rows.js";
import { asText, idOf } from "../words.js";

const PAGE = 100;
const STRING_SHOWN = 65_536; // bytes that are asked for at first

async function string(key, size) {
  const holder = h("div");
  const all = async () => holder.replaceChildren(valueNode(await ask("GET", key)));
  if (isError(size) || size <= STRING_SHOWN) {
    await all();
    return holder;
  }
  holder.append(valueNode(await ask("GETRANGE", key, 0, STRING_SHOWN - 1)),
    h("p", { class: "bar" }, `The first ${bytes(STRING_SHOWN)} of ${bytes(size)}.`, button("Ask for all of it", all, { class: "small" })));
  return holder;
}

/** Pages that are reached by a cursor: read(cursor) gives [next cursor, rows]; "0" is the end. */
async function paged({ caption, columns, keyOf, read, size, what }) {
  const rows = new Map();
  const table = new DataTable({ caption, columns, keyOf, empty: "Nothing in it." });
  const said = h("span", { class: "soft" });
  const error = errorLine();
  const more = button("More", () => next().catch((failure) => error.say(failure.message)), { class: "small" });
  let cursor = "0";
  async function next() {
    const [after, found] = await read(cursor);
    cursor = String(after);
    for (const row of found) rows.set(keyOf(row), row);
    table.update([...rows.values()]);
    more.hidden = cursor === "0";
    setText(said, `${count(rows.size)} of ${isError(size) ? "–" : plural(size, what)}`);
    error.say(null);
  }
  await next();
  return h("div", null, table.node, error, h("div", { class: "bar after" }, said, more));
}

const value = (name, label, field) => ({
  name, label, kind: "wide", signature: (row) => idOf(row[field]), node: (row) => valueNode(row[field]),
});
const plain = (name, label, field) => ({ name, label, kind: "mono wide", text: (row) => asText(row[field]) });

const pairs = (flat, make) => {
  const rows = [];
  for (let place = 0; place + 1 < flat.length; place += 2) rows.push(make(flat[place], flat[place + 1]));
  return rows;
};

const hash = (key, size) => paged({
  caption: "Fields", size, what: "field", keyOf: (row) => idOf(row.field),
  columns: [{ ...plain("field", "Field", "field"), main: true }, value("value", "Value", "value")],
  read: async (cursor) => {
    const [after, flat] = await ask("HSCAN", key, cursor, "COUNT", PAGE);
    return [after, pairs(flat, (field, text) => ({ field, value: text }))];
  },
});

const set = (key, size) => paged({
  caption: "Members", size, what: "member", keyOf: (row) => idOf(row.member),
  columns: [{ ...plain("member", "Member", "member"), main: true }],
  read: async (cursor) => {
    const [after, members] = await ask("SSCAN", key, cursor, "COUNT", PAGE);
    return [after, members.map((member) => ({ member }))];
  },
});

/** Pages by index: the cursor is where the next one begins. */
const byIndex = async (cursor, size, ask_) => {
  const from = Number(cursor);
  const rows = await ask_(from, from + PAGE - 1);
  const next = from + PAGE;
  return [rows.length < PAGE || (!isError(size) && next >= size) ? "0" : next, rows];
};

const list = (key, size) => paged({
  caption: "Elements", size, what: "element", keyOf: (row) => row.index,
  columns: [{ name: "index", label: "Index", kind: "num", main: true, text: (row) => count(row.index) }, value("value", "Element", "value")],
  read: (cursor) => byIndex(cursor, size, async (from, until) =>
    (await ask("LRANGE", key, from, until)).map((element, place) => ({ index: from + place, value: element }))),
});

/** Members with scores come as pairs, or flat. */
function scored(reply) {
  if (Array.isArray(reply[0])) return reply.map(([member, score]) => ({ member, score }));
  return pairs(reply, (member, score) => ({ member, score }));
}

const zset = (key, size) => paged({
  caption: "Members", size, what: "member", keyOf: (row) => idOf(row.member),
  columns: [{ name: "score", label: "Score", kind: "num", text: (row) => String(row.score?.number ?? row.score) }, { ...plain("member", "Member", "member"), main: true }],
  read: (cursor) => byIndex(cursor, size, async (from, until) => scored(await ask("ZRANGE", key, from, until, "WITHSCORES"))),
});

const stream = (key) => h("p", null, "A stream has ", h("a", { href: link("stream", { key }) }, "a view of its own"), ".");

const TYPES = { string, hash, set, list, zset, stream };

/** The node that shows a value of that type. */
export async function valueOfType(key, type, size) {
  const show = TYPES[type];
  return show ? show(key, size) : h("p", { class: "empty" }, `The console cannot show a ${type}.`);
}
