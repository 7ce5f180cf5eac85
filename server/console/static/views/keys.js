// Keys by pattern: SCAN, a page at a time, with type, size and time to live.

import { ask, isError, run } from "../api.js";
import { button, h, setText } from "../dom.js";
import { bytes, count, duration, numberOf } from "../format.js";
import { errorLine, head } from "../page.js";
import { amend, link } from "../router.js";
import { VirtualTable } from "../table.js";
import { asText, idOf, patternOf } from "../words.js";

const PAGE = 500; // keys that are looked for, before a person has to ask for more
const SCAN_COUNT = 500;
const STEPS = 40; // of SCAN, in vain, before a person has to ask for more
const TYPES = ["", "string", "hash", "list", "set", "zset", "stream"];

const COLUMNS = [
  { name: "key", label: "Key", main: true, text: (row) => row.name },
  { name: "type", label: "Type", text: (row) => row.type ?? "–", tone: () => "soft" },
  { name: "size", label: "Memory", kind: "num", text: (row) => bytes(row.size) },
  { name: "ttl", label: "Expires in", kind: "num", text: (row) => (row.ttl === -1 ? "never" : duration(row.ttl)), tone: (row) => (row.ttl === -1 ? "none" : "") },
];

class Keys {
  constructor(place) {
    this.place = place;
    this.rows = new Map();
    this.turn = 0;
    this.table = new VirtualTable({ label: "Keys", className: "keys", columns: COLUMNS, empty: "",
      href: (row) => (row.type === "stream" ? link("stream", { key: row.key }) : link("key", { key: row.key })) });
    this.build();
  }

  build() {
    const { query } = this.place;
    this.pattern = h("input", { type: "search", "data-filter": true, "aria-label": "Pattern of keys", placeholder: "Pattern: user:*  ( / )", autocomplete: "off", spellcheck: "false" });
    this.pattern.value = query.match ?? "";
    this.type = h("select", { "aria-label": "Type" }, TYPES.map((type) => h("option", { value: type }, type || "all types")));
    this.type.value = TYPES.includes(query.type) ? query.type : "";
    this.more = button("More", () => this.read(), { hidden: true });
    this.summary = h("p", { class: "summary" });
    this.error = errorLine();
    const form = h("form", { class: "actions", role: "search", onsubmit: (event) => { event.preventDefault(); this.begin(); } },
      this.pattern, this.type, h("button", { type: "submit" }, "Look"));
    this.type.addEventListener("change", () => this.begin());
    this.place.root.classList.add("full");
    this.place.root.append(head(this.place, { title: "Keys", actions: [form] }),
      h("div", { class: "bar" }, this.summary, this.more), this.error, this.table.node);
    this.place.keys({ ...this.table.keys(), r: () => this.begin() });
    this.place.refresh = () => this.begin();
    this.place.onClose(() => this.table.close());
  }

  async begin() {
    this.turn += 1;
    this.rows = new Map();
    this.cursor = "0";
    amend({ match: this.pattern.value.trim(), type: this.type.value });
    this.total = numberOf((await run([["DBSIZE"]]))[0]);
    await this.read();
  }

  /** Look on, until a page is full or the keys are over. */
  async read() {
    const mine = this.turn;
    this.more.hidden = true;
    setText(this.summary, "Looking …");
    try {
      const until = this.rows.size + PAGE;
      for (let step = 0; step < STEPS && this.rows.size < until; step += 1) {
        await this.step(mine);
        if (mine !== this.turn || !this.place.isCurrent()) return;
        if (this.cursor === "0") break;
      }
      this.error.say(null);
    } catch (failure) {
      this.error.say(failure.message);
    }
    this.done();
  }

  async step(mine) {
    const words = ["SCAN", this.cursor, "MATCH", patternOf(this.pattern.value), "COUNT", SCAN_COUNT];
    if (this.type.value) words.push("TYPE", this.type.value);
    const [cursor, keys] = await ask(...words);
    const facts = keys.length ? await run(keys.flatMap((key) => [["TYPE", key], ["MEMORY", "USAGE", key], ["PTTL", key]])) : [];
    if (mine !== this.turn) return;
    this.cursor = String(cursor);
    keys.forEach((key, place) => {
      const [type, size, ttl] = facts.slice(place * 3, place * 3 + 3).map((fact) => (isError(fact) ? null : fact));
      this.rows.set(idOf(key), { key, name: asText(key), type, size, ttl });
    });
    this.table.update(this.rows);
    setText(this.summary, `${count(this.rows.size)} so far …`);
  }

  done() {
    const over = this.cursor === "0";
    this.more.hidden = over;
    setText(this.table.empty, over ? "No key has a name like this." : "None found yet.");
    this.table.update(this.rows);
    const of = this.total === null ? "" : ` of ${count(this.total)}`;
    setText(this.summary, `${count(this.rows.size)}${of} keys${over ? "" : ", and there may be more"}`);
  }
}

export async function show(place) {
  await new Keys(place).begin();
}
