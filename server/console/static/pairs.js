// An editor of fields and values, for a form that adds an entry.

import { button, h } from "./dom.js";

export class Pairs {
  constructor() {
    this.list = h("div", { class: "pairs" });
    const more = button("One more field", () => this.add().querySelector("input").focus(), { class: "small" });
    this.node = h("fieldset", { class: "fieldset" }, h("legend", { class: "soft" }, "Fields"), this.list, more);
    this.add();
  }

  add() {
    const number = this.list.childElementCount + 1;
    const pair = h("div", { class: "pair" },
      h("input", { "aria-label": `Field ${number}`, placeholder: "field", class: "mono", autocomplete: "off", spellcheck: "false" }),
      h("textarea", { "aria-label": `Value ${number}`, placeholder: "value", class: "mono", rows: 1, spellcheck: "false" }),
      button("×", () => this.drop(pair), { "aria-label": `Take field ${number} away`, class: "quiet" }));
    this.list.append(pair);
    return pair;
  }

  drop(pair) {
    pair.remove();
    if (!this.list.childElementCount) this.add();
  }

  /** [field, value, ...]; raises an error if there is none. */
  words() {
    const words = [];
    for (const pair of this.list.children) {
      const field = pair.querySelector("input").value;
      const value = pair.querySelector("textarea").value;
      if (field || value) words.push(field, value);
    }
    if (!words.length) throw new Error("An entry needs a field.");
    return words;
  }
}
