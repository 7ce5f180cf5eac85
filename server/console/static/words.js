// Words of commands and replies: text, or {"base64": ".."} where the bytes are no UTF-8.

const ROUTE_BINARY = "~b64~";

/** Whether a word has bytes that are no text. */
export const isBinary = (word) => typeof word === "object" && word !== null && "base64" in word;

/** What a map may have as its key for this word. */
export const idOf = (word) => (isBinary(word) ? `b:${word.base64}` : `t:${word}`);

export const same = (one, other) => idOf(one) === idOf(other);

/** The bytes of a word. */
export function bytesOf(word) {
  if (!isBinary(word)) return new TextEncoder().encode(String(word));
  return Uint8Array.from(atob(word.base64), (letter) => letter.charCodeAt(0));
}

/** The word of these bytes: text if they are UTF-8. */
export function wordOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: btoa(String.fromCharCode(...bytes)) };
  }
}

const hex = (byte) => byte.toString(16).padStart(2, "0");

/** A word for the eye: what is no text, and what would move the cursor, as \xNN. */
export function asText(word) {
  if (word === null || word === undefined) return "";
  if (!isBinary(word)) {
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    return String(word).replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (c) => `\\x${hex(c.charCodeAt(0))}`);
  }
  return [...bytesOf(word)]
    .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${hex(byte)}`))
    .join("");
}

/** How many bytes a word has. */
export const sizeOf = (word) => bytesOf(word).length;

/** A word as a part of a route, and back. */
export function toRoute(word) {
  if (isBinary(word)) return encodeURIComponent(ROUTE_BINARY + word.base64);
  if (!String(word).startsWith(ROUTE_BINARY)) return encodeURIComponent(word);
  return encodeURIComponent(ROUTE_BINARY + btoa(String.fromCharCode(...bytesOf(word))));
}

export function fromRoute(part) {
  const text = decodeURIComponent(part);
  if (!text.startsWith(ROUTE_BINARY)) return text;
  return wordOf(bytesOf({ base64: text.slice(ROUTE_BINARY.length) }));
}

/** A pattern that matches this word alone, where commands take patterns. */
export function literalPattern(word) {
  const special = new Set([...'*?[]\\^'].map((letter) => letter.charCodeAt(0)));
  const bytes = [];
  for (const byte of bytesOf(word)) {
    if (special.has(byte)) bytes.push(92);
    bytes.push(byte);
  }
  return wordOf(Uint8Array.from(bytes));
}

/** What was typed into a filter, as a pattern: text without * and ? is looked for anywhere. */
export function patternOf(typed) {
  const text = typed.trim();
  if (!text) return "*";
  return /[*?[]/.test(text) ? text : `*${text.replace(/\\/g, "\\\\")}*`;
}

/** The pattern as a regular expression, for what is here already. */
export function expressionOf(pattern) {
  const parts = pattern.match(/\\.|\[[^\]]*\]|[\s\S]/g) ?? [];
  const source = parts.map((part) => {
    if (part === "*") return "[\\s\\S]*";
    if (part === "?") return "[\\s\\S]";
    if (part.length > 2 && part[0] === "[") return part.replace(/\\/g, "\\\\");
    return part.replace(/^\\(?=.)/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source.join("")}$`);
}
