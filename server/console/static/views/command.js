// The command line: history, completion by COMMAND DOCS, replies as redis-cli writes them.

import { isError, run } from "../api.js";
import { commandDocs, docFor, offersFor } from "../completion.js";
import { confirm } from "../dialog.js";
import { freshId, h, setAttribute, setText } from "../dom.js";
import { head } from "../page.js";
import { replyText, wordsOfLine } from "../replies.js";
import { recall, remember } from "../store.js";
import { asText } from "../words.js";

const KEPT = 200; // lines of the history
const SHOWN = 400; // lines and replies on the page
const REPLY_MOST = 200_000; // letters of a reply

// What cannot be taken back, and what it does. SCRIPT FLUSH is harmless enough.
const DANGEROUS = {
  FLUSHALL: "deletes all keys of all databases",
  FLUSHDB: "deletes all keys of this database",
  SHUTDOWN: "stops the server",
  DEBUG: "is for tests of the server; it may stop or block it",
  SWAPDB: "exchanges two databases for all clients",
  REPLICAOF: "makes the server follow another, whose data replace its own",
  SLAVEOF: "makes the server follow another, whose data replace its own",
  FAILOVER: "hands the role of the primary over",
  KEYS: "holds all others up while it looks at every key; SCAN does not",
  "CONFIG SET": "changes how the server works, for all clients",
  "CONFIG REWRITE": "writes the configuration file",
  "CLIENT KILL": "ends connections",
  "CLIENT PAUSE": "holds all clients up",
  "ACL SETUSER": "changes rights",
  "ACL DELUSER": "takes a user away and ends its connections",
  "ACL LOAD": "replaces all users",
  "FUNCTION FLUSH": "deletes all functions",
  "FUNCTION RESTORE": "may replace functions",
};

/** What is dangerous about the command of these words; undefined if nothing is. */
const dangerOf = (words) => {
  const [first = "", second = ""] = words.map((word) => asText(word).toUpperCase());
  return DANGEROUS[`${first} ${second}`] ?? DANGEROUS[first];
};

class CommandLine {
  constructor(place) {
    this.place = place;
    this.history = recall("history", []);
    this.at = this.history.length;
    this.docs = [];
    this.offers = [];
    this.chosen = -1;
    this.build();
    commandDocs().then((docs) => {
      this.docs = docs;
      if (this.input?.value) this.typed(); // what was typed before they came
    });
  }

  build() {
    this.output = h("div", { class: "output", role: "log", tabindex: "0", "aria-label": "Replies" });
    this.list = h("ul", { class: "offers", role: "listbox", id: freshId("offers"), "aria-label": "Commands", hidden: true });
    this.input = h("input", { type: "text", role: "combobox", "aria-label": "Command", "aria-autocomplete": "list", "aria-controls": this.list.id, "aria-expanded": "false",
      placeholder: "XINFO STREAMS 0  ( / )", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "data-filter": true });
    this.syntax = h("p", { class: "syntax" });
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.close());
    const form = h("form", { class: "prompt", onsubmit: (event) => { event.preventDefault(); this.enter(); } },
      this.list, this.input, h("button", { type: "submit", class: "primary" }, "Run"));
    this.place.root.classList.add("line");
    this.place.root.append(head(this.place, { title: "Command line" }), this.output, form, this.syntax);
    this.input.focus();
  }

  // ---------------------------------------------------------------- completion

  typed() {
    const { value } = this.input;
    this.offers = value.trim() ? offersFor(this.docs, value) : [];
    if (this.offers.length === 1 && this.offers[0].name === value.trim().toUpperCase()) this.offers = [];
    this.chosen = -1;
    this.show();
    const doc = docFor(this.docs, value);
    setText(this.syntax, doc ? `${doc.name} ${doc.syntax} · ${doc.summary}` : "");
  }

  show() {
    const items = this.offers.map((doc, place) => {
      const item = h("li", { role: "option", id: `${this.list.id}-${place}`, "aria-selected": String(place === this.chosen) },
        h("b", null, doc.name), h("span", null, doc.summary));
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); this.take(doc); });
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.hidden = !items.length;
    setAttribute(this.input, "aria-expanded", String(items.length > 0));
    setAttribute(this.input, "aria-activedescendant", this.chosen >= 0 ? items[this.chosen].id : null);
    items[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.offers = [];
    this.chosen = -1;
    this.show();
  }

  take(doc) {
    this.input.value = `${doc.name} `;
    this.typed();
    this.close();
  }

  // ---------------------------------------------------------------- keys

  key(event) {
    const { key } = event;
    if (key === "Tab" && this.offers.length && !event.shiftKey) this.take(this.offers[Math.max(0, this.chosen)]);
    else if (key === "Enter" && this.chosen >= 0) this.take(this.offers[this.chosen]);
    else if (key === "Escape" && this.offers.length) this.close();
    else if (key === "ArrowDown" || key === "ArrowUp") this.arrow(key === "ArrowDown" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Through the offers; if there are none, through the history. */
  arrow(by) {
    if (this.offers.length) {
      this.chosen = (this.chosen + by + this.offers.length) % this.offers.length;
      this.show();
      return;
    }
    this.at = Math.max(0, Math.min(this.history.length, this.at + by));
    this.input.value = this.history[this.at] ?? "";
    const doc = docFor(this.docs, this.input.value);
    setText(this.syntax, doc ? `${doc.name} ${doc.syntax}` : "");
  }

  // ---------------------------------------------------------------- commands

  note(line) {
    if (this.history.at(-1) !== line) this.history.push(line);
    this.history = this.history.slice(-KEPT);
    this.at = this.history.length;
    if (!/^\s*(AUTH|HELLO|ACL\s+SETUSER|CONFIG\s+SET|MIGRATE)\b/i.test(line)) remember("history", this.history.filter((each) => !/^\s*(AUTH|HELLO|ACL\s+SETUSER|CONFIG\s+SET|MIGRATE)\b/i.test(each)));
  }

  enter() {
    const line = this.input.value.trim();
    if (!line) return;
    this.close();
    let words;
    try {
      words = wordsOfLine(line);
    } catch (failure) {
      this.say(line, failure.message, true);
      return;
    }
    const danger = dangerOf(words);
    if (danger) this.askFirst(line, words, danger);
    else this.carryOut(line, words);
  }

  askFirst(line, words, danger) {
    confirm({
      title: `${asText(words[0]).toUpperCase()} ${danger}`, losses: [line], note: "It is done at once.", submit: "Run it",
      act: async () => {
        await this.carryOut(line, words);
        return "";
      },
    });
  }

  async carryOut(line, words) {
    this.note(line);
    this.input.value = "";
    setText(this.syntax, "");
    try {
      const [reply] = await run([words]);
      this.say(line, replyText(words.map(asText), reply), isError(reply));
    } catch (failure) {
      this.say(line, failure.message, true);
    }
  }

  say(line, text, wrong) {
    const cut = text.length > REPLY_MOST ? `${text.slice(0, REPLY_MOST)}\n… ${text.length - REPLY_MOST} letters more` : text;
    this.output.append(h("pre", { class: "asked" }, `> ${line}`), h("pre", { class: wrong ? "wrong" : null }, cut));
    while (this.output.childElementCount > SHOWN) this.output.firstChild.remove();
    this.output.scrollTop = this.output.scrollHeight;
  }
}

export async function show(place) {
  new CommandLine(place);
}
