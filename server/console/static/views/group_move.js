// Move a group to an entry, an id or a time, after a preview of what is skipped or delivered again.

import { ask, askAll, objectOf } from "../api.js";
import { form } from "../dialog.js";
import { h } from "../dom.js";
import { entryOf } from "../entries.js";
import { fieldLine } from "../fields.js";
import { count, numberOf, plural, timeOfId } from "../format.js";
import { FIRST, HOW_TO, before, compare, idMeant } from "../ids.js";
import { asText } from "../words.js";

const WAYS = [
  ["with", "Continue with the entry, or from the time"],
  ["after", "Continue after the entry"],
  ["beginning", "From the beginning: everything again"],
  ["end", "To the end: nothing that is there"],
];

/** The last id that is to count as delivered. Raises an error that says what to type. */
async function target(key, { way, to }) {
  if (way === "beginning") return FIRST;
  if (way === "end") return objectOf(await ask("XINFO", "STREAM", key))["last-generated-id"];
  const id = idMeant(to);
  if (!id) throw new Error(`${to.trim() ? "This is no id and no time. " : ""}${HOW_TO}`);
  return way === "with" ? before(id) : id;
}

async function positionOf(key, group) {
  const mine = (await ask("XINFO", "GROUPS", key)).map(objectOf).find((each) => asText(each.name) === asText(group));
  if (!mine) throw new Error("There is no such group.");
  return { last: mine["last-delivered-id"], pending: numberOf(mine.pending) ?? 0 };
}

/** What lies between where a group is and where it would be. */
async function between(key, low, high) {
  const [number, first, last] = await askAll([
    ["XCOUNT", key, `(${low}`, high],
    ["XRANGE", key, `(${low}`, high, "COUNT", 1],
    ["XREVRANGE", key, high, `(${low}`, "COUNT", 1],
  ]);
  return { number, first: first[0], last: last[0] };
}

function entryRow(label, entry) {
  const { id, fields } = entryOf(entry);
  return h("div", { class: "value" }, h("dt", null, label),
    h("dd", null, h("div", { class: "mono" }, id), h("div", { class: "soft" }, timeOfId(id)), h("div", { class: "mono fields" }, fieldLine(fields))));
}

const entries = (number) => plural(number, "entry", "entries");

function verdict(back, number) {
  if (!number) return h("p", null, "No entry lies between: nothing is skipped, and nothing delivered again.");
  const what = back ? " would be delivered again." : " would be skipped: the group never gets them.";
  return h("p", { class: back ? "warn" : "bad" }, h("strong", null, entries(number)), what);
}

async function preview(key, group, values) {
  if (!values.to.trim() && ["with", "after"].includes(values.way)) return null;
  const [id, { last, pending }] = await Promise.all([target(key, values), positionOf(key, group)]);
  const back = compare(id, last) < 0;
  const [low, high] = back ? [id, last] : [last, id];
  const found = await between(key, low, high);
  const [lag] = await askAll([["XCOUNT", key, `(${id}`, "+"]]);
  const nodes = [
    verdict(back, found.number),
    found.number ? h("dl", { class: "values" }, entryRow("first", found.first), found.number > 1 ? entryRow("last", found.last) : null) : null,
    h("p", { class: "soft" }, `From ${last} to ${id}. Then ${entries(lag)} ${lag === 1 ? "is" : "are"} not delivered yet.`),
    pending ? h("p", { class: "soft" }, values.clear
      ? `${count(pending)} pending would be forgotten: nobody is given them again.`
      : `${count(pending)} pending stay pending.`) : null,
  ];
  return { nodes, plan: id };
}

/** How many entries count as read, so that the lag is known afterwards. */
async function entriesRead(key, id) {
  const [info, lag] = await askAll([["XINFO", "STREAM", key], ["XCOUNT", key, `(${id}`, "+"]], { transaction: true });
  const added = numberOf(objectOf(info)["entries-added"]);
  return added === null || added < lag ? [] : ["ENTRIESREAD", added - lag];
}

export function moveGroup(key, group, again) {
  const name = asText(group);
  form({
    title: `Move ${name}`,
    wide: true,
    fields: [
      { name: "way", label: "How", kind: "choice", options: WAYS },
      { name: "to", label: "Entry or time", hint: HOW_TO },
      { name: "clear", label: "Forget what is pending", kind: "checkbox" },
    ],
    submit: "Move the group",
    danger: true,
    preview: (values) => preview(key, group, values),
    act: async (values, id) => {
      const words = [...(await entriesRead(key, id)), ...(values.clear ? ["CLEAR"] : [])];
      await ask("XGROUP", "SETID", key, group, id, ...words);
      await again();
      return `${name} continues after ${id}`;
    },
  });
}
