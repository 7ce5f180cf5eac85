// What can be done to a stream: add, trim with a preview, delete, create a group.

import { ask, askAll } from "../api.js";
import { confirm, form } from "../dialog.js";
import { h } from "../dom.js";
import { count, plural, timeOfId } from "../format.js";
import { HOW_TO, after, idMeant } from "../ids.js";
import * as losses from "../losses.js";
import { Pairs } from "../pairs.js";
import { go } from "../router.js";
import { asText } from "../words.js";

const options = ({ id, delay, expire }) => [
  ...(delay ? ["DELAY", delay] : []),
  ...(expire ? ["EXPIRE", expire] : []),
  id.trim() || "*",
];

const ADD_FIELDS = [
  { name: "id", label: "Id", value: "*", hint: "* has the server give one" },
  { name: "delay", label: "Add it later, after ms", hint: "Empty: now", placeholder: "60000" },
  { name: "expire", label: "It expires after ms", hint: "Empty: never" },
];

async function add(key, pairs, values) {
  const id = await ask("XADD", key, ...options(values), ...pairs.words());
  return values.delay ? `Scheduled as ${id}` : `Added ${id}`;
}

/** Add an entry to the stream; *done* is called then. */
export function addEntry(key, done = () => {}) {
  const pairs = new Pairs();
  form({
    title: `Add an entry to ${asText(key)}`,
    fields: [{ node: pairs.node }, ...ADD_FIELDS],
    submit: "Add",
    act: async (values) => {
      const said = await add(key, pairs, values);
      done();
      return said;
    },
  });
}

/** Add an entry to a stream that is named; so a new stream is made. */
export function createStream() {
  const pairs = new Pairs();
  form({
    title: "Add an entry",
    fields: [{ name: "key", label: "Stream", hint: "It is made if it is not there" }, { node: pairs.node }, ...ADD_FIELDS],
    submit: "Add",
    act: async (values) => {
      if (!values.key) throw new Error("The stream needs a name.");
      const said = await add(values.key, pairs, values);
      go("stream", { key: values.key });
      return said;
    },
  });
}

// ------------------------------------------------------------------ trim

const HOWS = [
  ["MAXLEN", "Keep so many of the newest"],
  ["MINID", "Keep what is not older than"],
];

/** How many go, and the id before which they go: null if that is none, or all that are there. */
async function trimming(key, { how, value }) {
  if (how === "MAXLEN") {
    if (!/^\d+$/.test(value.trim())) throw new Error("How many entries are to stay?");
    const [length] = await askAll([["XLEN", key]]);
    const gone = Math.max(0, length - Number(value));
    const [kept] = gone && gone < length ? await ask("XNTH", key, gone) : [];
    return { gone, cut: entryId(kept), length };
  }
  const cut = idMeant(value);
  if (!cut) throw new Error(HOW_TO);
  const [gone, length] = await askAll([["XCOUNT", key, "-", `(${cut}`], ["XLEN", key]]);
  return { gone, cut, length };
}

const entryId = (entry) => (Array.isArray(entry) ? entry[0] : entry) ?? null;

async function edges(key, gone) {
  const [[first], [last]] = await askAll([["XNTH", key, 0], ["XNTH", key, gone - 1]]);
  return [entryId(first), entryId(last)];
}

async function trimPreview(key, values) {
  const { gone, cut, length } = await trimming(key, values);
  if (!gone) return { nodes: h("p", null, "Nothing would go."), plan: null };
  const [first, last] = await edges(key, gone);
  const lost = await (cut ? losses.before(key, cut) : losses.before(key, "18446744073709551615-18446744073709551615"));
  const nodes = [
    h("p", null, h("strong", null, plural(gone, "entry", "entries")), ` of ${count(length)} would go.`),
    h("p", { class: "soft" }, `From ${first} (${timeOfId(first)}) to ${last} (${timeOfId(last)})`),
    lost.length ? h("ul", { class: "losses" }, lost.map((line) => h("li", null, line))) : null,
  ];
  return { nodes, plan: cut ?? after(last) };
}

export function trim(key, done = () => {}) {
  form({
    title: `Trim ${asText(key)}`,
    fields: [
      { name: "how", label: "What stays", kind: "choice", options: HOWS },
      { name: "value", label: "How many, or since when", hint: `A number of entries. Or: ${HOW_TO}` },
    ],
    submit: "Trim",
    danger: true,
    preview: async (values) => (values.value.trim() ? trimPreview(key, values) : null),
    act: async (_values, cut) => {
      const removed = cut ? await ask("XTRIM", key, "MINID", "=", cut) : 0;
      done();
      return `${plural(removed, "entry", "entries")} removed`;
    },
  });
}

// ------------------------------------------------------------------ delete

export async function deleteEntries(key, ids, done = () => {}) {
  confirm({
    title: `Delete ${ids.length === 1 ? ids[0] : plural(ids.length, "entry", "entries")} of ${asText(key)}?`,
    losses: await losses.ofEntries(key, ids),
    note: "What is pending stays so in its group, without its fields, until it is acknowledged.",
    submit: ids.length === 1 ? "Delete the entry" : `Delete ${count(ids.length)} entries`,
    act: async () => {
      const removed = await ask("XDEL", key, ...ids);
      done();
      return `${plural(removed, "entry", "entries")} deleted`;
    },
  });
}

export async function deleteStream(key) {
  confirm({
    title: `Delete the stream ${asText(key)}?`,
    losses: await losses.ofStream(key),
    submit: "Delete the stream",
    act: async () => {
      await ask("UNLINK", key);
      go("streams");
      return `${asText(key)} is deleted`;
    },
  });
}

// ------------------------------------------------------------------ groups

export function createGroup(key, done = () => {}) {
  form({
    title: `Create a group of ${asText(key)}`,
    fields: [
      { name: "group", label: "Name" },
      { name: "from", label: "It reads after", value: "$", hint: `$: what comes from now on. 0: all that is there. ${HOW_TO}` },
    ],
    submit: "Create",
    act: async ({ group, from }) => {
      if (!group) throw new Error("The group needs a name.");
      const id = from.trim() === "$" ? "$" : idMeant(from);
      if (!id) throw new Error(HOW_TO);
      await ask("XGROUP", "CREATE", key, group, id, "MKSTREAM");
      done();
      return `The group ${group} is created`;
    },
  });
}
