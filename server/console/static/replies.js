// Replies in full, as redis-cli writes them.

import { isBinary, bytesOf } from "./words.js";

const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\", "\x07": "\\a", "\b": "\\b" };

/** A text in quotes, with what would not be seen escaped. */
export function quoted(word) {
  if (isBinary(word)) {
    const letters = [...bytesOf(word)].map((byte) => {
      const letter = String.fromCharCode(byte);
      if (ESCAPES[letter]) return ESCAPES[letter];
      return byte >= 32 && byte < 127 ? letter : `\\x${byte.toString(16).padStart(2, "0")}`;
    });
    return `"${letters.join("")}"`;
  }
  // eslint-disable-next-line no-control-regex -- control characters are what is escaped
  return `"${word.replace(/[\x00-\x1f"\\\x7f]/g, (c) => ESCAPES[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
}

/** Lines, each with its number before it; what follows in a reply stands below, set in. */
function numbered(parts, mark) {
  const wide = String(parts.length).length;
  return parts.map((part, place) => {
    const number = `${String(place + 1).padStart(wide)}${mark} `;
    return number + part.replaceAll("\n", `\n${" ".repeat(number.length)}`);
  }).join("\n");
}

function mapText(pairs) {
  if (!pairs.length) return "(empty hash)";
  return numbered(pairs.map(([key, value]) => {
    const name = written(key);
    return `${name} => ${written(value).replaceAll("\n", `\n${" ".repeat(4)}`)}`;
  }), "#");
}

/** A reply as text. */
export function written(reply) {
  if (reply === null || reply === undefined) return "(nil)";
  if (typeof reply === "number") return Number.isInteger(reply) ? `(integer) ${reply}` : `(double) ${reply}`;
  if (typeof reply === "boolean") return reply ? "(true)" : "(false)";
  if (Array.isArray(reply)) return reply.length ? numbered(reply.map(written), ")") : "(empty array)";
  if (typeof reply === "string" || isBinary(reply)) return quoted(reply);
  if ("error" in reply) return `(error) ${reply.error}`;
  if ("number" in reply) return `(integer) ${reply.number}`;
  if ("map" in reply) return mapText(reply.map);
  if ("set" in reply) return reply.set.length ? numbered(reply.set.map(written), "~") : "(empty set)";
  return JSON.stringify(reply);
}

// Texts of lines, and words of the server's own, are written as they are, as redis-cli does.
const VERBATIM = /^(INFO|CLIENT (LIST|INFO)|CLUSTER (NODES|INFO)|LATENCY (DOCTOR|GRAPH)|MEMORY DOCTOR|LOLWUT|CONFIG HELP|TYPE)\b/i;

/** The reply to the command of these words. */
export function replyText(words, reply) {
  if (typeof reply === "string") {
    if (VERBATIM.test(words.join(" "))) return reply;
    if (reply === "OK" || reply === "PONG" || reply === "QUEUED") return reply;
  }
  return written(reply);
}

// ------------------------------------------------------------------ words that were typed

const SIMPLE = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

/**
 * The words of a line, as redis-cli takes them: "..." with escapes, '...' without.
 * Raises an error if a quote is not closed.
 */
export function wordsOfLine(line) {
  const words = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at])) {
      at += 1;
      continue;
    }
    const { word, next } = wordAt(line, at);
    words.push(word);
    at = next;
  }
  return words;
}

function wordAt(line, from) {
  const bytes = [];
  const add = (text) => bytes.push(...new TextEncoder().encode(text));
  let at = from;
  let quote = null;
  for (; at < line.length; at += 1) {
    const letter = line[at];
    if (quote === null && /\s/.test(letter)) break;
    if (quote === null && (letter === '"' || letter === "'") && at === from) quote = letter;
    else if (letter === quote) {
      if (line[at + 1] !== undefined && !/\s/.test(line[at + 1])) throw new Error("After a closing quote there has to be a space.");
      return { word: wordFrom(bytes), next: at + 1 };
    } else if (quote === '"' && letter === "\\") at = escaped(line, at, bytes, add);
    else if (quote === "'" && letter === "\\" && line[at + 1] === "'") {
      add("'");
      at += 1;
    } else {
      const whole = String.fromCodePoint(line.codePointAt(at));
      add(whole);
      at += whole.length - 1;
    }
  }
  if (quote !== null) throw new Error("A quote is not closed.");
  return { word: wordFrom(bytes), next: at };
}

/** What a backslash and the letters after it stand for; returns the place of the last one. */
function escaped(line, at, bytes, add) {
  const hex = /^x([0-9a-f]{2})/i.exec(line.slice(at + 1));
  if (hex) {
    bytes.push(parseInt(hex[1], 16));
    return at + 3;
  }
  const letter = line[at + 1] ?? "";
  add(SIMPLE[letter] ?? letter);
  return at + 1;
}

function wordFrom(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return { base64: btoa(String.fromCharCode(...bytes)) };
  }
}
