// How much trouble a stream or a group is in: points, so that the worst stands first.
//
// The points of all that is true of a group are added up; a stream is in the trouble of its worst group.
// What is unknown gives neither points nor a word. docs/monitoring.md has the table; penstock/top/trouble.py
// computes the same, and both must meet the cases of tests/package/top/trouble.json.

import { compareWords } from "./compare.js";
import { numberOf } from "./format.js";
import { idOf } from "./words.js";

const PATIENCE_MS = 60_000; // of a group without VISIBILITY
const MOST_FOR_SIZE = 40;
const WINDOW_MS = 60_000; // in which something grows, or not
const APART_MS = 5_000; // between two samples that are kept
const GROWS_AFTER_MS = 10_000; // a lag that has been watched for less may be a burst
const BAD = 500;
const WARN = 100;

export const EXPLANATION = [
  "Dead letters grow, within the last minute: 1000 points.",
  "Stuck, the oldest pending entry is older than the group's VISIBILITY (a minute without it) and its longest BACKOFF: 500.",
  "Nobody reads, there is something to do and no consumer: 300.",
  "Lag grows, within the last minute, and was never smaller in it: 200.",
  "Paused: 100. Dead letters that do not grow: 50.",
  "2 more for each digit of lag and of pending, 40 at most, so that of two equals the bigger one stands first.",
  "A stream has the points of its worst group. From 500 on it is red, from 100 on yellow.",
];

const digits = (number) => (number ? String(number).length : 0);

/** How long something may be pending without being late. */
export function patienceOf(policy) {
  let visibility = 0;
  let backoff = 0;
  let word = "";
  for (const each of policy ?? []) {
    const text = String(each);
    if (!/^\d+$/.test(text)) word = text.toUpperCase();
    else if (word === "VISIBILITY") visibility = Number(text);
    else if (word === "BACKOFF") backoff = Math.max(backoff, Number(text));
  }
  return (visibility || PATIENCE_MS) + backoff;
}

/** The samples of one group within the window, and what has become of it since they began. */
export class Samples {
  constructor() {
    this.all = [];
  }

  look(group, when) {
    const lag = numberOf(group.lag);
    const dead = numberOf(group["dead-lettered"]);
    this.all = this.all.filter((sample) => sample.when >= when - WINDOW_MS);
    const last = this.all.at(-1);
    if (last && dead !== null && last.dead !== null && dead < last.dead) this.all = []; // the server was restarted
    const [first] = this.all;
    const more = (one, other) => one !== null && other !== null && one > other;
    const growing = {
      dead: first !== undefined && more(dead, first.dead),
      lag: first !== undefined && when - first.when >= GROWS_AFTER_MS && more(lag, first.lag)
        && !this.all.some((sample) => more(first.lag, sample.lag)),
    };
    if (!this.all.length || when - this.all.at(-1).when >= APART_MS) this.all.push({ when, lag, dead });
    return growing;
  }
}

const STEADY = { dead: false, lag: false };

/** The trouble of a group; *dead* is how many entries its dead letters' stream has now, if that is known. */
export function troubleOfGroup(group, growing = STEADY, dead = null) {
  const [lag, pending] = [numberOf(group.lag), numberOf(group.pending)];
  const oldest = numberOf(group["oldest-pending-ms"]);
  const stuck = oldest !== null && oldest > patienceOf(group.policy);
  const unread = numberOf(group.consumers) === 0 && Boolean(lag || pending);
  const paused = Boolean(numberOf(group.paused));
  const hasDead = Boolean(dead) && !growing.dead;
  const signs = [
    [1000, "dead letters grow", growing.dead], [500, "stuck", stuck], [300, "nobody reads", unread],
    [200, "lag grows", growing.lag], [100, "paused", paused], [50, "dead letters", hasDead],
  ].filter(([, , isSo]) => isSo);
  const size = Math.min(MOST_FOR_SIZE, 2 * (digits(lag) + digits(pending)));
  return {
    points: signs.reduce((sum, [worth]) => sum + worth, size),
    reasons: signs.map(([, word]) => word),
    cells: {
      oldest: stuck ? BAD : 0,
      lag: unread || growing.lag ? WARN : 0,
      dead: growing.dead ? BAD : hasDead ? WARN : 0,
      groups: unread || paused ? WARN : 0,
    },
  };
}

const NONE = { points: 0, reasons: [], cells: {} };
const histories = new Map(); // of each stream that is watched: the samples of its groups, by name
const lengths = new Map(); // of each stream: for those that have dead letters there

/** A stream has gone, by its id. */
export function forgetTrouble(id) {
  histories.delete(id);
  lengths.delete(id);
}

/** What troubles this row, a stream or a group: {points, reasons, cells: {oldest: points, ...}}. */
export function troubleOf(row, when = Date.now()) {
  const groups = row["group-list"];
  if (!groups) return troubleOfGroup(row);
  lengths.set(row.id, numberOf(row.length));
  if (!groups.length) {
    histories.delete(row.id);
    return NONE;
  }
  const before = histories.get(row.id) ?? new Map();
  const samples = new Map(groups.map((group) => [idOf(group.name), before.get(idOf(group.name)) ?? new Samples()]));
  histories.set(row.id, samples);
  const all = groups.map((group) => {
    const place = group["dead-letter"];
    const dead = place ? lengths.get(idOf(place)) ?? null : null;
    return troubleOfGroup(group, samples.get(idOf(group.name)).look(group, when), dead);
  });
  return all.reduce((worst, each) => (each.points > worst.points ? each : worst), NONE);
}

export const groupsOf = (row) => row["group-list"] ?? [];

/** 0 to 4: how loudly points are shown. */
export function levelOf(points) {
  if (points <= MOST_FOR_SIZE) return 0;
  if (points >= 1000) return 4;
  if (points >= BAD) return 3;
  return points >= WARN ? 2 : 1;
}

/** A cell's tone. */
export const toneOf = (points) => (!points ? "" : points < BAD ? "warn" : "bad");

/** The order: points, then lag, then the name; what is not known comes last. */
export const byTrouble = (one, other) =>
  other.trouble.points - one.trouble.points
  || (numberOf(other.lag) ?? -1) - (numberOf(one.lag) ?? -1)
  || compareWords(one.name, other.name);
