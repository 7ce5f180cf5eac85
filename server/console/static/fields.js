// Values for the eye: JSON set out, bytes as hex, long ones cut, a traceparent as a link.

import { form } from "./dialog.js";
import { button, h } from "./dom.js";
import { bytes, count } from "./format.js";
import { recall, remember } from "./store.js";
import { asText, bytesOf, isBinary, sizeOf } from "./words.js";

const SHOWN = 4000; // letters of a value, until all of it is asked for
const SHOWN_BYTES = 512; // of what is no text
const JSON_MOST = 1_000_000; // letters that are still set out
const LINE = 160; // letters of a value in a list
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** The text set out as JSON; null if it is none. */
function setOut(text) {
  if (!/^\s*[[{]/.test(text) || text.length > JSON_MOST) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** Bytes as lines of offset, hex and letters. */
export function hexLines(data) {
  const lines = [];
  for (let at = 0; at < data.length; at += 16) {
    const row = [...data.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

/** A value that is cut, with a button for all of it. */
function cut(whole, most, note) {
  const pre = h("pre", { tabindex: whole.length > 600 ? "0" : null }, whole.slice(0, most));
  if (whole.length <= most) return { pre, more: null };
  const more = button(`Show all (${note})`, () => {
    pre.textContent = whole;
    more.remove();
  }, { class: "link" });
  return { pre, more };
}

function hexNode(word) {
  const data = bytesOf(word);
  const pre = h("pre", { class: "hex" }, hexLines(data.subarray(0, SHOWN_BYTES)));
  if (data.length <= SHOWN_BYTES) return { pre, more: null };
  const more = button(`Show all (${bytes(data.length)})`, () => {
    pre.textContent = hexLines(data);
    more.remove();
  }, { class: "link" });
  return { pre, more };
}

/** A value as it is, set out; it can be shown as hex, too. */
export function valueNode(word) {
  if (word === null || word === undefined) return h("div", { class: "soft" }, "nothing");
  const holder = h("div", { class: "shown" });
  const show = (asHex) => {
    const text = isBinary(word) ? "" : String(word);
    const pretty = asHex ? null : setOut(text);
    const { pre, more } = asHex ? hexNode(word) : cut(pretty ?? asText(text), SHOWN, bytes(sizeOf(word)));
    const notes = [more];
    if (pretty) notes.push(h("span", null, "JSON"));
    if (isBinary(word)) notes.push(h("span", null, `${count(sizeOf(word))} bytes, no text`));
    else if (text.length) notes.push(button(asHex ? "text" : "hex", () => show(!asHex), { class: "link", "aria-label": asHex ? "Show it as text" : "Show it as hex" }));
    holder.replaceChildren(pre, h("div", { class: "note" }, notes));
  };
  show(isBinary(word));
  return holder;
}

// ------------------------------------------------------------------ traces

const traceOf = (word) => (isBinary(word) ? null : TRACEPARENT.exec(String(word)));

function traceLink(trace) {
  const template = recall("trace", "");
  if (!template) return null;
  try {
    const to = new URL(template.replaceAll("{trace}", trace[1]).replaceAll("{span}", trace[2]));
    return ["http:", "https:"].includes(to.protocol) ? to.href : null;
  } catch {
    return null;
  }
}

function configure(show) {
  form({
    title: "Where traces are shown",
    fields: [{ name: "template", label: "Address", value: recall("trace", ""), placeholder: "https://tempo.example/trace/{trace}", hint: "{trace} and {span} stand for the ids. This browser keeps it." }],
    submit: "Keep",
    act: async ({ template }) => {
      if (template && !/^https?:\/\/[^/]+.*\{trace\}/.test(template)) throw new Error("An address begins with https:// and has {trace} in it.");
      remember("trace", template);
      show();
      return "";
    },
  });
}

/** A traceparent: its trace and span, and a link to where traces are shown. */
function traceNode(trace) {
  const holder = h("div", { class: "shown" });
  const show = () => {
    const to = traceLink(trace);
    const id = to
      ? h("a", { href: to, target: "_blank", rel: "noreferrer noopener", class: "mono" }, trace[1])
      : h("span", { class: "mono" }, trace[1]);
    holder.replaceChildren(
      h("div", null, h("span", { class: "soft" }, "trace "), id, h("span", { class: "soft" }, " span "), h("span", { class: "mono" }, trace[2])),
      h("div", { class: "note" }, button(to ? "Change where traces are shown" : "Link traces", () => configure(show), { class: "link" })),
    );
  };
  show();
  return holder;
}

// ------------------------------------------------------------------ fields

/** [[name, value]] of a flat list of fields. */
export function pairsOfFields(flat) {
  const pairs = [];
  for (let place = 0; place + 1 < flat.length; place += 2) pairs.push([flat[place], flat[place + 1]]);
  return pairs;
}

/** All fields of an entry, each with its value set out. */
export function fieldList(pairs) {
  if (!pairs.length) return h("p", { class: "empty" }, "No fields.");
  return h("dl", { class: "values" }, pairs.map(([name, value]) => {
    const trace = asText(name) === "traceparent" ? traceOf(value) : null;
    return h("div", { class: "value" }, h("dt", null, asText(name)), h("dd", null, trace ? traceNode(trace) : valueNode(value)));
  }));
}

const short = (word) => {
  const text = asText(isBinary(word) ? word : String(word).slice(0, LINE + 1));
  return text.length > LINE ? `${text.slice(0, LINE)}…` : text;
};

/** Fields in one line, for lists. */
export function fieldLine(pairs) {
  if (pairs === null) return [h("span", { class: "soft" }, "not in the stream any more")];
  return pairs.slice(0, 8).flatMap(([name, value], place) => [
    place ? h("span", { class: "gap" }) : null,
    h("span", { class: "name" }, `${short(name)} `), short(value),
  ]);
}
