// How much trouble a stream or a group is in: points, so that the worst stands first.
//
// Points are given for the age of the oldest pending entry, for the lag, for lag that nobody reads,
// for dead letters, and for a pause. Small changes of a figure give no other points, so the order is calm.

import { compareWords } from "./compare.js";
import { count, duration, numberOf } from "./format.js";

const MINUTE = 60_000;
const OLD = [[86_400_000, 4], [3_600_000, 3], [10 * MINUTE, 2], [MINUTE, 1]];
const LAG = [[100_000, 4], [10_000, 3], [1_000, 2], [100, 1]];
const DEAD = [[100, 3], [1, 2]];

export const EXPLANATION = [
  "Oldest pending entry: over a minute 1 point, ten minutes 2, an hour 3, a day 4.",
  "Lag of a group: over 100 entries 1 point, 1,000 2, 10,000 3, 100,000 4.",
  "Lag, and no consumer: 2 points more.",
  "Dead letters: 2 points, from 100 on 3.",
  "A paused group with lag: 1 point.",
  "Streams with the same points stand in the order of their names. The cells that give points are coloured.",
];

function pointsFor(value, steps) {
  const number = numberOf(value);
  if (number === null) return 0;
  return steps.find(([least]) => number >= least)?.[1] ?? 0;
}

/** What troubles this row: {points, cells: {oldest: points, ...}, reasons}. */
export function troubleOf(row) {
  const cells = {
    oldest: pointsFor(row["oldest-pending-ms"], OLD),
    lag: pointsFor(row.lag, LAG),
    dead: pointsFor(row["dead-lettered"], DEAD),
  };
  const reasons = [];
  if (cells.oldest) reasons.push(`oldest pending ${duration(row["oldest-pending-ms"])}`);
  if (cells.lag) reasons.push(`lag ${count(row.lag)}`);
  if (cells.dead) reasons.push(`${count(row["dead-lettered"])} dead`);
  const lag = numberOf(row.lag) ?? 0;
  if (lag > 0 && numberOf(row.consumers) === 0) {
    cells.groups = 2;
    reasons.push("no consumer");
  }
  if (lag > 0 && groupsOf(row).some((group) => numberOf(group.paused))) {
    cells.groups = (cells.groups ?? 0) + 1;
    reasons.push("paused");
  }
  const points = Object.values(cells).reduce((sum, each) => sum + each, 0);
  return { points, cells, reasons };
}

export const groupsOf = (row) => row["group-list"] ?? [];

/** 0 to 4: how loudly points are shown. */
export const levelOf = (points) => (points === 0 ? 0 : points < 2 ? 1 : points < 4 ? 2 : points < 6 ? 3 : 4);

/** A cell's tone. */
export const toneOf = (points) => (!points ? "" : points < 3 ? "warn" : "bad");

export const byTrouble = (one, other) =>
  other.trouble.points - one.trouble.points || compareWords(one.name, other.name);
