// The help: all keys, and how trouble is counted.

import { show } from "./dialog.js";
import { h } from "./dom.js";
import { KEYS, VIEWS } from "./keyboard.js";
import { EXPLANATION } from "./trouble.js";

const keyList = (rows) =>
  h("dl", { class: "keys" }, rows.map(([key, does]) => h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, does))));

export function showHelp() {
  const views = VIEWS.map(([, title, letter]) => [`g ${letter}`, title]);
  show("Keys and help",
    h("div", { class: "columns" },
      h("section", null, h("h3", null, "Everywhere"), keyList(KEYS)),
      h("section", null, h("h3", null, "Views"), keyList(views))),
    h("h3", null, "How trouble is counted"),
    h("ul", { class: "plain" }, EXPLANATION.map((line) => h("li", null, line))),
    h("p", { class: "soft" }, "A dash means that the server does not know. Pause stops what comes by itself; actions still work."),
  ).classList.add("wide");
}
