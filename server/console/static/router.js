// Routes: which view a link names. #/stream/<key>/group/<name>?tab=dead&db=1

import { currentDatabase, useDatabase } from "./api.js";
import { fromRoute, toRoute } from "./words.js";

// The parts of a route: what begins with : is a word of the view.
const ROUTES = [
  ["streams", "streams"],
  ["stream", "stream/:key"],
  ["group", "stream/:key/group/:group"],
  ["entry", "stream/:key/entry/:id"],
  ["keys", "keys"],
  ["key", "key/:key"],
  ["clients", "clients"],
  ["slowlog", "slowlog"],
  ["latency", "latency"],
  ["memory", "memory"],
  ["replicas", "replicas"],
  ["server", "server"],
  ["command", "command"],
];

/** The link to a view: link("group", {key, group}, {tab: "dead"}). */
export function link(name, words = {}, query = {}) {
  const [, pattern] = ROUTES.find(([known]) => known === name);
  const path = pattern
    .split("/")
    .map((part) => (part[0] === ":" ? toRoute(words[part.slice(1)]) : part))
    .join("/");
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  if (currentDatabase()) search.set("db", currentDatabase());
  return `#/${path}${search.size ? `?${search}` : ""}`;
}

function wordsOf(pattern, parts) {
  const words = {};
  const names = pattern.split("/");
  if (names.length !== parts.length) return null;
  for (const [place, name] of names.entries()) {
    if (name[0] === ":") words[name.slice(1)] = fromRoute(parts[place]);
    else if (name !== parts[place]) return null;
  }
  return words;
}

/** The view, its words and its query, of a location's hash. Null if there is no such view. */
export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const query = Object.fromEntries(new URLSearchParams(search));
  if (!path) return { name: "streams", words: {}, query };
  for (const [name, pattern] of ROUTES) {
    try {
      const words = wordsOf(pattern, path.split("/"));
      if (words) return { name, words, query };
    } catch {
      return null; // no encoding of text
    }
  }
  return null;
}

export const go = (...where) => {
  location.hash = link(...where);
};

/** Put another query into this view's link, without opening it anew. */
export function amend(query) {
  const here = parse(location.hash);
  if (here) history.replaceState(null, "", link(here.name, here.words, query));
}

/** Have *open* called with each route that is opened, the present one first. */
export function follow(open) {
  const arrive = () => {
    const route = parse(location.hash);
    useDatabase(Number(route?.query.db ?? 0) || 0);
    open(route);
  };
  window.addEventListener("hashchange", arrive);
  arrive();
  return arrive;
}
