// What can be done in a group: acknowledge, give back, claim, redrive, pause, delete.

import { ask, objectOf } from "../api.js";
import { confirm, form } from "../dialog.js";
import { count, numberOf, plural } from "../format.js";
import * as losses from "../losses.js";
import { go } from "../router.js";
import { asText } from "../words.js";

const entries = (number) => plural(number, "entry", "entries");
const some = (ids) => (ids.length === 1 ? ids[0] : entries(ids.length));

export function acknowledge(key, group, ids, again) {
  form({
    title: `Acknowledge ${some(ids)}?`,
    intro: "They count as done: no consumer is given them again.",
    submit: "Acknowledge",
    act: async () => {
      const number = await ask("XACK", key, group, ...ids);
      await again();
      return `${entries(number)} acknowledged`;
    },
  });
}

const MODES = [
  ["FAIL", "Failed: it counts, and waits as the group has it"],
  ["SILENT", "Released: it does not count, and may be had at once"],
  ["FATAL", "Given up: it becomes a dead letter now"],
];

/** The words of XNACK after the ids. */
function nackOptions({ mode, reason, delay }) {
  const words = [];
  if (delay.trim() && mode !== "FATAL") words.push("DELAY", delay.trim());
  if (reason.trim() && mode !== "SILENT") words.push("REASON", reason.trim());
  return words;
}

export function nack(key, group, ids, again) {
  form({
    title: `Give ${some(ids)} back to the group`,
    fields: [
      { name: "mode", label: "As", kind: "choice", options: MODES },
      { name: "delay", label: "Hold it for ms", hint: "Empty: as the group has it", placeholder: "60000" },
      { name: "reason", label: "Reason", hint: "What a dead letter says" },
    ],
    submit: "Give back",
    act: async (values) => {
      const number = await ask("XNACK", key, group, values.mode, "IDS", ids.length, ...ids, ...nackOptions(values));
      await again();
      return `${entries(number)} given back`;
    },
  });
}

export function claim(key, group, ids, again) {
  form({
    title: `Claim ${some(ids)} for a consumer`,
    fields: [
      { name: "consumer", label: "Consumer", hint: "It is made if it is not there" },
      { name: "idle", label: "Only what has been idle for ms", value: "0" },
    ],
    submit: "Claim",
    act: async ({ consumer, idle }) => {
      if (!consumer) throw new Error("Which consumer is to have them?");
      const got = await ask("XCLAIM", key, group, consumer, idle.trim() || "0", ...ids, "JUSTID");
      await again();
      return `${entries(got.length)} claimed for ${consumer}`;
    },
  });
}

export function redrive(stream, ids, again) {
  form({
    title: `Redrive ${some(ids)}?`,
    intro: `What is dead in ${asText(stream)} goes back to the stream it came from, as new entries.`,
    submit: "Redrive",
    act: async () => {
      const number = await ask("XREDRIVE", stream, ...ids);
      await again();
      return `${entries(number)} sent back`;
    },
  });
}

export async function redriveAll(stream, again) {
  const length = await ask("XLEN", stream);
  form({
    title: `Redrive all of ${asText(stream)}?`,
    intro: `${entries(length)} go back where they came from, as new entries: also those of other groups that share this stream.`,
    submit: "Redrive all",
    act: async () => {
      const number = length ? await ask("XREDRIVE", stream, "COUNT", length) : 0;
      await again();
      return `${entries(number)} sent back`;
    },
  });
}

export function pauseOrResume(key, group, paused, again) {
  const name = asText(group);
  form({
    title: paused ? `Resume ${name}?` : `Pause ${name}?`,
    intro: paused ? "Consumers are given entries again." : "Consumers get nothing of this group until it is resumed. They may acknowledge what they have.",
    submit: paused ? "Resume the group" : "Pause the group",
    act: async () => {
      await ask("XGROUP", paused ? "RESUME" : "PAUSE", key, group);
      await again();
      return paused ? `${name} delivers again` : `${name} is paused`;
    },
  });
}

export async function deleteConsumer(key, group, consumer, again) {
  const mine = (await ask("XINFO", "CONSUMERS", key, group)).map(objectOf).find((each) => asText(each.name) === asText(consumer));
  const pending = numberOf(mine?.pending) ?? 0;
  form({
    title: `Delete the consumer ${asText(consumer)}?`,
    intro: pending ? `It has ${plural(pending, "pending entry", "pending entries")}.` : "It has nothing pending.",
    fields: pending ? [{ name: "what", label: "What it has", kind: "choice", options: [
      ["hand", "goes back to the group, uncounted"], ["drop", `is lost: ${count(pending)} never delivered again`],
    ] }] : [],
    submit: "Delete the consumer",
    danger: true,
    act: async ({ what }) => {
      const words = ["XGROUP", "DELCONSUMER", key, group, consumer];
      if (what !== "drop") words.push("HANDOVER");
      await ask(...words);
      await again();
      return `${asText(consumer)} is deleted`;
    },
  });
}

export async function deleteGroup(key, group) {
  const name = asText(group);
  confirm({
    title: `Delete the group ${name} of ${asText(key)}?`,
    losses: await losses.ofGroup(key, group),
    note: "The entries of the stream stay.",
    submit: "Delete the group",
    act: async () => {
      await ask("XGROUP", "DESTROY", key, group);
      go("stream", { key });
      return `The group ${name} is deleted`;
    },
  });
}

