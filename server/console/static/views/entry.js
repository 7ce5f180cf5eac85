// One entry's life: its fields, what each group has done with it, and its dead letters.

import { askAll, isError, objectOf, run } from "../api.js";
import { button, h } from "../dom.js";
import { entryOf } from "../entries.js";
import { fieldList, pairsOfFields } from "../fields.js";
import { count, duration, time, timeOfId } from "../format.js";
import { compare } from "../ids.js";
import { head, section } from "../page.js";
import { go, link } from "../router.js";
import { asText, idOf } from "../words.js";
import { acknowledge, claim, nack, redrive } from "./group_actions.js";
import { deleteEntries } from "./stream_actions.js";

const DEAD_SHOWN = 20; // dead letters of one entry, in each stream of them

const fieldOf = (pairs, name) => pairs.find(([field]) => asText(field) === name)?.[1];

/** The entry; or, if the id is one of the schedule, what will be added. */
async function find(key, id) {
  const [found, waiting] = await run([["XRANGE", key, id, id], ["XSCHEDULED", key, id, id]]);
  if (isError(found)) throw new Error(found.error);
  if (found.length) return { ...entryOf(found[0]), state: "here" };
  if (!isError(waiting) && waiting.length) return { id, fields: pairsOfFields(waiting[0][1]), state: "scheduled" };
  return { id, fields: null, state: "gone" };
}

/** What a group has to do with the entry: ahead, pending, or passed. */
async function inGroups(key, id) {
  const reply = (await run([["XINFO", "GROUPS", key]]))[0];
  const groups = isError(reply) ? [] : reply.map(objectOf);
  const held = groups.length ? await run(groups.map((group) => ["XPENDING", key, group.name, id, id, 1])) : [];
  return groups.map((group, place) => {
    const pending = isError(held[place]) ? [] : held[place];
    if (pending.length) {
      const [, consumer, idle, times] = pending[0];
      return { group, state: "pending", consumer: asText(consumer), idle, times };
    }
    return { group, state: compare(id, group["last-delivered-id"]) > 0 ? "ahead" : "passed" };
  });
}

function deadStreamOf(group) {
  const words = (group.policy ?? []).map(asText);
  const place = words.indexOf("DEADLETTER");
  return place < 0 ? null : group.policy[place + 1];
}

/** The dead letters that came from this entry, of all groups' dead-letter streams. */
async function deadLetters(key, id, groups) {
  const streams = new Map();
  for (const { group } of groups) {
    const stream = deadStreamOf(group);
    if (stream) streams.set(idOf(stream), stream);
  }
  const letters = [];
  for (const stream of streams.values()) {
    const [reply] = await run([["XREAD", "COUNT", DEAD_SHOWN, "WHERE", "dead-id", 1, id, "STREAMS", stream, "0"]]);
    if (reply === null || isError(reply)) continue;
    const entries = (Array.isArray(reply) ? reply : reply.map)[0]?.[1] ?? [];
    const mine = entries.map(entryOf).filter((each) => asText(fieldOf(each.fields, "dead-stream")) === asText(key));
    letters.push(...mine.map((letter) => ({ ...letter, stream })));
  }
  return letters;
}

// ------------------------------------------------------------------ what is shown

const step = (tone, state, ...more) => h("li", { class: tone }, h("div", null, h("div", { class: "state" }, state), more));

function added(entry) {
  if (entry.state === "scheduled") return step("now", "Scheduled", h("div", { class: "soft" }, `Due ${time(entry.id.split("-")[0])}; then it gets an id of the stream`));
  const when = timeOfId(entry.id);
  const gone = entry.state === "gone" ? "It is not in the stream any more, or never was." : null;
  return step("", when === "–" ? "Added" : `Added ${when}`, gone ? h("div", { class: "warn" }, gone) : null);
}

function groupStep(key, id, row, again) {
  const { group, state } = row;
  const name = asText(group.name);
  const to = h("a", { href: link("group", { key, group: group.name }, { tab: state === "pending" ? "pending" : "" }), "data-stop": true }, name);
  if (state === "ahead") return step("", [to, ": not delivered yet"], h("div", { class: "soft" }, `The group has read up to ${group["last-delivered-id"]}`));
  if (state === "passed") return step("now", [to, ": acknowledged, or passed"], h("div", { class: "soft" }, "It is not pending here, and the group has read further."));
  const acts = h("div", { class: "actions" },
    button("Acknowledge", () => acknowledge(key, group.name, [id], again), { class: "small" }),
    button("Give back", () => nack(key, group.name, [id], again), { class: "small" }),
    button("Claim for", () => claim(key, group.name, [id], again), { class: "small" }));
  const who = row.consumer ? `with ${row.consumer}` : "with nobody, for who reads next";
  return step("warn-dot", [to, `: pending ${who}`],
    h("div", { class: "soft" }, `since ${time(Date.now() - row.idle)}, for ${duration(row.idle)}; delivered ${count(row.times)} ${row.times === 1 ? "time" : "times"}`), acts);
}

function deadStep(letter, again) {
  const reason = asText(fieldOf(letter.fields, "dead-reason") ?? "");
  const group = asText(fieldOf(letter.fields, "dead-group") ?? "");
  return step("bad-dot", [group, ": given up, as ", h("a", { href: link("entry", { key: letter.stream, id: letter.id }), "data-stop": true }, letter.id)],
    h("div", { class: "soft" }, `${reason ? `${reason}; ` : ""}in ${asText(letter.stream)} since ${timeOfId(letter.id)}`),
    h("div", { class: "actions" }, button("Redrive", () => redrive(letter.stream, [letter.id], again), { class: "small" })));
}

/** A dead letter says itself where it comes from. */
function originStep(key, entry, again) {
  const origin = entry.fields && fieldOf(entry.fields, "dead-id");
  const stream = entry.fields && fieldOf(entry.fields, "dead-stream");
  if (!origin || !stream) return null;
  return step("bad-dot", ["A dead letter of ", h("a", { href: link("entry", { key: stream, id: asText(origin) }), "data-stop": true }, asText(origin))],
    h("div", { class: "soft" }, `of ${asText(stream)}, given up by ${asText(fieldOf(entry.fields, "dead-group") ?? "")}`),
    h("div", { class: "actions" }, button("Redrive", () => redrive(key, [entry.id], again), { class: "small" })));
}

async function neighbours(key, id) {
  const [older, newer] = await askAll([
    ["XREVRANGE", key, `(${id}`, "-", "COUNT", 1, "NOFIELDS"], ["XRANGE", key, `(${id}`, "+", "COUNT", 1, "NOFIELDS"]]);
  return [older, newer].map(([found]) => (Array.isArray(found) ? found[0] : found) ?? null);
}

function stepButton(key, label, id) {
  return button(label, () => go("entry", { key, id }), { disabled: id === null });
}

async function draw(place) {
  const { key, id } = place.words;
  const again = () => draw(place);
  const [entry, groups] = await Promise.all([find(key, id), inGroups(key, id)]);
  const letters = await deadLetters(key, id, groups);
  const [older, newer] = entry.state === "here" ? await neighbours(key, id) : [null, null];
  if (!place.isCurrent()) return;
  const actions = [stepButton(key, "← Older", older), stepButton(key, "Newer →", newer)];
  if (entry.state === "here") actions.push(button("Delete", () => deleteEntries(key, [id], again), { class: "danger" }));
  const trail = [["Streams", link("streams")], [asText(key), link("stream", { key })]];
  const gaveUp = new Set(letters.map((letter) => asText(fieldOf(letter.fields, "dead-group") ?? "")));
  const told = groups.filter((row) => row.state !== "passed" || !gaveUp.has(asText(row.group.name)));
  const groupSteps = entry.state === "scheduled" ? [] : told.map((row) => groupStep(key, id, row, again));
  place.root.replaceChildren(
    head(place, { trail, title: id, mono: true, actions }),
    section("Life", h("ol", { class: "life" }, [originStep(key, entry, again), added(entry), ...groupSteps].filter(Boolean), letters.map((letter) => deadStep(letter, again)))),
    section("Fields", entry.fields ? fieldList(entry.fields) : h("p", { class: "empty" }, "The fields are gone.")),
  );
}

export async function show(place) {
  place.refresh = () => draw(place).catch(() => {});
  await draw(place);
}
