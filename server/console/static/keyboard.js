// The keys of the whole console: views by g and a letter, rows by j and k, and the rest.

import { link } from "./router.js";

const CHORD_MS = 1500; // in which the letter after g has to come

// The views of the rail: their names, titles, and letters after g.
export const VIEWS = [
  ["streams", "Streams", "s"],
  ["keys", "Keys", "k"],
  ["clients", "Clients", "c"],
  ["slowlog", "Slow log", "l"],
  ["latency", "Latency", "t"],
  ["memory", "Memory", "m"],
  ["replicas", "Replicas", "r"],
  ["server", "Server", "i"],
  ["command", "Command line", "x"],
];

export const KEYS = [
  ["j  k  ↓  ↑", "the next row, the row before"],
  ["Enter", "open the row"],
  ["Home End", "the first row, the last one"],
  ["Space", "mark the row"],
  ["/", "filter or search"],
  ["r", "sort by trouble again; ask again"],
  ["p", "pause, and go on"],
  ["Esc", "leave a field, a row, a dialog; then one level up"],
  ["?", "this help"],
];

const keysOfView = new Map();
let pressedG = 0;

/** The keys of the view that is shown: {r: function}. */
export function viewKeys(keys) {
  keysOfView.clear();
  for (const [key, act] of Object.entries(keys)) keysOfView.set(key, act);
}

const typing = (target) =>
  target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;

/** The rows that j and k go through, where no virtual list does that itself. */
function stops() {
  return [...document.querySelectorAll("#main [data-stop]")].filter(
    (node) => node.offsetParent !== null,
  );
}

function step(by) {
  const all = stops();
  if (!all.length) return;
  const here = all.findIndex((node) => node === document.activeElement || node.contains(document.activeElement));
  const there = here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, here + by));
  all[there].focus();
  all[there].scrollIntoView({ block: "nearest" });
}

function mark() {
  const row = document.activeElement.closest("tr, [role=row], li");
  const box = row?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
}

function leave(up) {
  const focused = document.activeElement;
  if (focused && focused !== document.body && focused.id !== "main") focused.blur();
  else up();
}

function chord(event) {
  if (!pressedG || Date.now() - pressedG > CHORD_MS) return false;
  pressedG = 0;
  const view = VIEWS.find(([, , letter]) => letter === event.key);
  if (view) location.hash = link(view[0]);
  return Boolean(view);
}

function filter() {
  const field = document.querySelector("#main [data-filter]");
  field?.focus();
  field?.select?.();
  return Boolean(field);
}

/** Hear the keys. *acts* has pause, help, theme and up. */
export function startKeyboard(acts) {
  const moves = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
  const plain = { p: acts.pause, "?": acts.help };
  const act = (event) => {
    const { key } = event;
    if (chord(event)) return true;
    if (key === "g") pressedG = Date.now();
    else if (keysOfView.has(key)) return keysOfView.get(key)(event) !== false;
    else if (key in moves) step(moves[key]);
    else if (key in plain) plain[key]();
    else if (key === "/") return filter();
    else if (key === " " && !document.activeElement.closest("button, input, a[role=button]")) return mark();
    else return false;
    return true;
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") leave(acts.up);
    else if (!typing(event.target) && act(event)) event.preventDefault();
  });
}
