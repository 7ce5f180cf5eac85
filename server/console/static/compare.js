// Orders of names and figures; what is unknown stands last.

import { numberOf } from "./format.js";

export const compareWords = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** Largest first, by a figure of the rows. */
export const byFigure = (figure) => (one, other) => {
  const [a, b] = [numberOf(figure(one)), numberOf(figure(other))];
  if (a === b) return compareWords(one.name, other.name);
  if (a === null) return 1;
  return b === null ? -1 : b - a;
};

export const byName = (one, other) => compareWords(one.name, other.name);
