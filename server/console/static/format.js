// How figures, sizes, ages and times are written. Unknown is a dash, never zero.

export const UNKNOWN = "–";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const SIZES = ["B", "KB", "MB", "GB", "TB"];
const FIRST_REAL_MS = 1e11; // 1973: ids below are numbers that somebody chose, no times

export const known = (value) => value !== null && value !== undefined && value !== "";

/** A reply's number, also one beyond 2^53; null if it is none. */
export function numberOf(value) {
  if (!known(value)) return null;
  const number = Number(typeof value === "object" ? value.number : value);
  return Number.isNaN(number) ? null : number;
}

export function count(value) {
  const number = numberOf(value);
  return number === null ? UNKNOWN : WHOLE.format(number);
}

export function bytes(value) {
  let number = numberOf(value);
  if (number === null) return UNKNOWN;
  let step = 0;
  while (Math.abs(number) >= 1024 && step < SIZES.length - 1) {
    number /= 1024;
    step += 1;
  }
  return `${step ? FINE.format(number) : WHOLE.format(number)} ${SIZES[step]}`;
}

export function rate(value) {
  if (value === null) return UNKNOWN;
  return `${value >= 100 ? WHOLE.format(value) : FINE.format(value)}/s`;
}

/** An age or a span of time, in one unit. */
export function duration(value) {
  const ms = numberOf(value);
  if (ms === null || ms < 0) return UNKNOWN;
  if (ms < 1000) return `${WHOLE.format(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${WHOLE.format(Math.floor(seconds / 86400))} d`;
}

const two = (number) => String(number).padStart(2, "0");

/** A unix time in ms as local time, with the date unless it is today. */
export function time(value) {
  const ms = numberOf(value);
  if (ms === null || ms <= 0) return UNKNOWN;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return UNKNOWN;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const exact = `${clock}.${String(at.getMilliseconds()).padStart(3, "0")}`;
  return at.toDateString() === new Date().toDateString() ? exact : `${day} ${exact}`;
}

/** When an entry was added, by its id; a dash if its id is no time. */
export function timeOfId(id) {
  const ms = Number(String(id).split("-")[0]);
  return ms >= FIRST_REAL_MS && ms < 8.64e15 ? time(ms) : UNKNOWN;
}

/** "1 entry", "2 entries". */
export const plural = (number, one, many = `${one}s`) =>
  `${count(number)} ${Number(number) === 1 ? one : many}`;
