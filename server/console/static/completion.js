// What COMMAND DOCS knows: names to complete, syntax and summaries.

import { objectOf, pairsOf, run, isError } from "./api.js";
import { asText } from "./words.js";

const MOST = 12; // offers at a time

let loading = null;

function syntaxOf(args) {
  return (args ?? []).map((each) => {
    const arg = objectOf(each);
    const flags = (arg.flags?.set ?? arg.flags ?? []).map(asText);
    const inner = arg.arguments ? innerSyntax(asText(arg.type), arg.arguments) : "";
    const name = asText(arg.type) === "pure-token" ? "" : inner || asText(arg.display_text ?? arg.name);
    let text = [asText(arg.token ?? ""), name].filter(Boolean).join(" ");
    if (flags.includes("multiple")) text += ` [${flags.includes("multiple_token") ? text : name} ...]`;
    return flags.includes("optional") ? `[${text}]` : text;
  }).join(" ");
}

function innerSyntax(type, args) {
  if (type !== "oneof") return syntaxOf(args);
  return `<${args.map((each) => syntaxOf([each])).join(" | ")}>`;
}

function docOf([name, reply]) {
  const doc = objectOf(reply);
  const title = asText(name).replace("|", " ").toUpperCase();
  const own = { name: title, summary: asText(doc.summary ?? ""), syntax: syntaxOf(doc.arguments) };
  return [own, ...pairsOf(doc.subcommands ?? []).map(docOf).flat()];
}

/** All commands, by name. They are asked for once. */
export function commandDocs() {
  loading ??= run([["COMMAND", "DOCS"]]).then(([reply]) => {
    if (isError(reply)) return [];
    return pairsOf(reply).flatMap(docOf).sort((one, other) => (one.name < other.name ? -1 : 1));
  }, () => {
    loading = null;
    return [];
  });
  return loading;
}

/** Commands that begin with what was typed; those that have it in them come after. */
export function offersFor(docs, typed) {
  const text = typed.trimStart().toUpperCase();
  if (!text) return [];
  const starts = docs.filter((doc) => doc.name.startsWith(text));
  return starts.slice(0, MOST);
}

/** The command that a line is about, with its syntax. */
export function docFor(docs, line) {
  const words = line.trimStart().toUpperCase().split(/\s+/);
  const names = [words.slice(0, 2).join(" "), words[0]];
  return names.map((name) => docs.find((doc) => doc.name === name)).find(Boolean) ?? null;
}
