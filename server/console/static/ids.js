// Ids of entries: what a person types for one, which is an id, a time, or an age.

export const FIRST = "0-0";
const ID = /^(\d{1,20})(?:-(\d{1,20}))?$/;
const AGE = /^-?\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)(?:\s+ago)?$/i;
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z)?)?$/;
const UNITS = { ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** -1, 0 or 1: which of two ids comes first. */
export function compare(one, other) {
  const [a, b] = [one, other].map((id) => String(id).split("-").map(BigInt));
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  const [x, y] = [a[1] ?? 0n, b[1] ?? 0n];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** The id right before this one. */
export function before(id) {
  const [ms, step] = String(id).split("-").map(BigInt);
  if (step) return `${ms}-${step - 1n}`;
  return ms ? `${ms - 1n}-18446744073709551615` : FIRST;
}

/** The id right after *id*. */
export function after(id) {
  const [ms, step] = String(id).split("-").map(BigInt);
  return step < 2n ** 64n - 1n ? `${ms}-${step + 1n}` : `${ms + 1n}-0`;
}

const thousandths = (text) => Number((text ?? "0").padEnd(3, "0"));

function clockMs(match, now) {
  const [, hours, minutes, seconds = 0, parts] = match;
  const day = new Date(now);
  day.setHours(Number(hours), Number(minutes), Number(seconds), thousandths(parts));
  return day.getTime();
}

function dateMs(match) {
  const [, year, month, day, hours = 0, minutes = 0, seconds = 0, parts, utc] = match;
  const numbers = [year, month - 1, day, hours, minutes, seconds].map(Number);
  const at = [...numbers, thousandths(parts)];
  return utc ? Date.UTC(...at) : new Date(...at).getTime();
}

/** The unix time in ms that is meant; null if none is. */
export function momentOf(typed, now = Date.now()) {
  const text = typed.trim();
  const age = AGE.exec(text);
  if (age) return Math.round(now - Number(age[1]) * UNITS[age[2].toLowerCase()]);
  const clock = CLOCK.exec(text);
  if (clock) return clockMs(clock, now);
  const date = DATE.exec(text);
  return date ? dateMs(date) : null;
}

/** The id that is meant: an id, or the first one of a time. Null if it is neither. */
export function idMeant(typed, now = Date.now()) {
  const text = typed.trim();
  const match = ID.exec(text);
  if (match) return `${match[1]}-${match[2] ?? 0}`;
  const moment = momentOf(text, now);
  return moment === null || Number.isNaN(moment) || moment < 0 ? null : `${moment}-0`;
}

export const HOW_TO = "An id (1700000000000-0), a time (14:05, 2026-11-25 14:05), or an age (15m, 2h, 3d)";
