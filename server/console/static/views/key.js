// One key: its type, size and time to live, its value by type, and what can be done with it.

import { ask, askAll, isError, run } from "../api.js";
import { confirm, form } from "../dialog.js";
import { button, h } from "../dom.js";
import { bytes, count, duration, time } from "../format.js";
import * as losses from "../losses.js";
import { head, section } from "../page.js";
import { go, link } from "../router.js";
import { Facts } from "../rows.js";
import { asText } from "../words.js";
import { valueOfType } from "./key_values.js";

const SIZES = { string: "STRLEN", list: "LLEN", hash: "HLEN", set: "SCARD", zset: "ZCARD", stream: "XLEN" };

function changeTtl(key, ttl, again) {
  form({
    title: `When ${asText(key)} expires`,
    fields: [{ name: "seconds", label: "In seconds", value: ttl > 0 ? String(Math.ceil(ttl / 1000)) : "", hint: "Empty: never" }],
    submit: "Set",
    act: async ({ seconds }) => {
      const text = seconds.trim();
      if (text && !/^\d+(\.\d+)?$/.test(text)) throw new Error("A number of seconds, or nothing.");
      if (text && Number(text) === 0) throw new Error("0 would delete the key. There is a button for that.");
      const done = await (text ? ask("PEXPIRE", key, Math.round(Number(text) * 1000)) : ask("PERSIST", key));
      await again();
      if (text) return done ? `It expires in ${text} s` : "The key is gone";
      return "It does not expire";
    },
  });
}

function rename(key) {
  form({
    title: `Rename ${asText(key)}`,
    fields: [{ name: "name", label: "New name", value: typeof key === "string" ? key : "" }],
    submit: "Rename",
    act: async ({ name }) => {
      if (!name) throw new Error("The key needs a name.");
      if (!(await ask("RENAMENX", key, name))) throw new Error("There is a key of that name. Delete it first.");
      go("key", { key: name });
      return `Renamed to ${name}`;
    },
  });
}

async function remove(key, type) {
  confirm({
    title: `Delete the key ${asText(key)}?`,
    losses: await losses.ofKey(key, type),
    submit: "Delete the key",
    act: async () => {
      await ask("UNLINK", key);
      go("keys");
      return `${asText(key)} is deleted`;
    },
  });
}

function factsOf(type, [ttl, memory, encoding, size]) {
  const facts = new Facts("Facts of the key");
  const fine = (reply) => (isError(reply) ? null : reply);
  facts.update([
    ["Type", type, null, "big"],
    ["Size", fine(size) === null ? "–" : `${count(size)}${type === "string" ? " bytes" : ""}`, null, "big"],
    ["Memory", bytes(fine(memory)), null, "big"],
    ["Expires", ttl === -1 ? "never" : `in ${duration(ttl)}`, ttl > 0 ? time(Date.now() + ttl) : null, "big"],
    ["Encoding", asText(fine(encoding) ?? "–"), null, "big"],
  ]);
  return facts.node;
}

async function draw(place) {
  const { key } = place.words;
  const again = () => draw(place);
  const [type, ttl] = await askAll([["TYPE", key], ["PTTL", key]]);
  const name = asText(key);
  const trail = [["Keys", link("keys")]];
  if (type === "none") {
    place.root.replaceChildren(head(place, { trail, title: name, mono: true }), h("p", { class: "error" }, "There is no such key. It may have expired."));
    return;
  }
  const rest = await run([["MEMORY", "USAGE", key], ["OBJECT", "ENCODING", key], [SIZES[type] ?? "STRLEN", key]]);
  const value = await valueOfType(key, type, rest[2]);
  if (!place.isCurrent()) return;
  const actions = [
    button("Change expiry", () => changeTtl(key, ttl, again)),
    button("Rename", () => rename(key)),
    button("Delete", () => remove(key, type), { class: "danger" }),
  ];
  place.root.replaceChildren(head(place, { trail, title: name, mono: true, actions }),
    factsOf(type, [ttl, ...rest]), section("Value", value));
}

export async function show(place) {
  place.refresh = () => draw(place).catch(() => {});
  await draw(place);
}
