// What would be lost: counted before it is asked for.

import { ask, isError, objectOf, pairsOf, run } from "./api.js";
import { count, numberOf, plural } from "./format.js";
import { compare } from "./ids.js";
import { asText } from "./words.js";

export const MOST = 1000; // pending entries that are counted one by one

/** The groups of a stream, as objects with name, pending, lag, last-delivered-id, policy. */
export async function groupsOf(key) {
  return (await ask("XINFO", "GROUPS", key)).map(objectOf);
}

const atLeast = (number) => (number >= MOST ? `at least ${count(number)}` : count(number));

/** Lines for the loss of the whole key, if it is a stream. */
export async function ofStream(key) {
  const [length, groups, facts] = await run([["XLEN", key], ["XINFO", "GROUPS", key], ["XINFO", "STREAM", key]]);
  const lines = [isError(length) ? "its entries" : plural(length, "entry", "entries")];
  for (const group of isError(groups) ? [] : groups.map(objectOf)) {
    const pending = numberOf(group.pending);
    lines.push(`the group ${asText(group.name)}${pending ? `, with ${plural(pending, "pending entry", "pending entries")}` : ""}`);
  }
  const { scheduled, jobs } = objectOf(facts);
  if (numberOf(scheduled)) lines.push(plural(scheduled, "scheduled entry", "scheduled entries"));
  if (numberOf(jobs)) lines.push(plural(jobs, "recurring job"));
  return lines;
}

/** Lines for the loss of these entries: in which groups they are pending, or not delivered yet. */
export async function ofEntries(key, ids) {
  const groups = await groupsOf(key);
  const lines = [plural(ids.length, "entry", "entries")];
  for (const group of groups) {
    const pending = await run(ids.map((id) => ["XPENDING", key, group.name, id, id, 1]));
    const held = pending.filter((reply) => !isError(reply) && reply.length).length;
    const ahead = ids.filter((id) => compare(id, group["last-delivered-id"]) > 0).length;
    if (held) lines.push(`${count(held)} of them pending in the group ${asText(group.name)}`);
    if (ahead) lines.push(`${count(ahead)} of them not delivered yet in the group ${asText(group.name)}`);
  }
  return lines;
}

/** Lines for what groups lose when all entries before *cut* go: pending, and not delivered yet. */
export async function before(key, cut) {
  const lines = [];
  for (const group of await groupsOf(key)) {
    const name = asText(group.name);
    const [pending, ahead] = await run([
      ["XPENDING", key, group.name, "-", `(${cut}`, MOST],
      ["XCOUNT", key, `(${group["last-delivered-id"]}`, `(${cut}`],
    ]);
    if (!isError(pending) && pending.length) lines.push(`${atLeast(pending.length)} of them pending in the group ${name}`);
    if (!isError(ahead) && ahead) lines.push(`${count(ahead)} of them not delivered yet in the group ${name}`);
  }
  return lines;
}

/** Lines for the loss of a group. */
export async function ofGroup(key, name) {
  const group = (await groupsOf(key)).find((each) => asText(each.name) === asText(name)) ?? {};
  const consumers = numberOf(group.consumers) ?? 0;
  const lines = ["how far it has read"];
  const pending = numberOf(group.pending) ?? 0;
  if (pending) lines.push(`${plural(pending, "pending entry", "pending entries")}: which they are, and who has them`);
  if (consumers) lines.push(plural(consumers, "consumer"));
  if (group.policy && (pairsOf(group.policy).length || group.policy.length)) lines.push("what it does by itself: its policy");
  return lines;
}

// How each type is counted, and what its parts are called.
const PARTS = {
  string: ["STRLEN", "byte", "bytes"],
  list: ["LLEN", "element", "elements"],
  hash: ["HLEN", "field", "fields"],
  set: ["SCARD", "member", "members"],
  zset: ["ZCARD", "member", "members"],
};

/** Lines for the loss of a key of any type. */
export async function ofKey(key, type) {
  if (type === "stream") return ofStream(key);
  const [command, one, many] = PARTS[type] ?? [];
  if (!command) return [`its value, a ${type}`];
  const [size] = await run([[command, key]]);
  return [isError(size) ? `its value, a ${type}` : `a ${type} of ${plural(size, one, many)}`];
}
