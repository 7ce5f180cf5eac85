// What a stream adds later: scheduled entries and recurring jobs, and how they are forgotten.

import { ask, isError, objectOf, run } from "../api.js";
import { confirm } from "../dialog.js";
import { button, h } from "../dom.js";
import { fieldLine, pairsOfFields } from "../fields.js";
import { count, duration, time } from "../format.js";
import { section } from "../page.js";
import { link } from "../router.js";
import { DataTable } from "../rows.js";
import { asText } from "../words.js";

const SHOWN = 50;

function when(job) {
  if (job.cron) return `${asText(job.cron)}${job.tz ? ` ${asText(job.tz)}` : ""}`;
  return `every ${duration(job.every)}`;
}

function forget(key, what, words, again) {
  confirm({
    title: `Forget ${what}?`, losses: [`${what}: it will not be added`], submit: "Forget",
    act: async () => {
      const number = await ask("XUNSCHEDULE", key, ...words);
      again();
      return number ? `${what} is forgotten` : `${what} was not there any more`;
    },
  });
}

/** The part of a stream's view; it is hidden while nothing is scheduled. */
export function scheduleSection(key) {
  const entries = new DataTable({
    caption: "Scheduled entries", keyOf: (row) => row.id, empty: "",
    columns: [
      { name: "due", label: "Due", kind: "when", text: (row) => time(row.id.split("-")[0]) },
      { name: "id", label: "Id in the schedule", kind: "id", main: true, signature: (row) => row.id,
        node: (row) => h("a", { href: link("entry", { key, id: row.id }), "data-stop": true }, row.id) },
      { name: "fields", label: "Fields", kind: "fields mono", signature: (row) => JSON.stringify(row.fields), node: (row) => fieldLine(row.fields) },
      { name: "forget", label: "", kind: "acts", signature: (row) => row.id, node: (row) => button("Forget", () => forget(key, row.id, [row.id], refresh), { class: "small", "aria-label": `Forget ${row.id}` }) },
    ],
  });
  const jobs = new DataTable({
    caption: "Recurring jobs", keyOf: (row) => asText(row.name), empty: "",
    columns: [
      { name: "job", label: "Job", main: true, text: (row) => asText(row.name) },
      { name: "when", label: "When", text: when },
      { name: "next", label: "Next", kind: "when", text: (row) => time(row.next) },
      { name: "fields", label: "Fields", kind: "fields mono", signature: (row) => JSON.stringify(row.fields), node: (row) => fieldLine(pairsOfFields(row.fields ?? [])) },
      { name: "forget", label: "", kind: "acts", signature: (row) => asText(row.name), node: (row) => button("Forget", () => forget(key, asText(row.name), ["NAMES", row.name], refresh), { class: "small", "aria-label": `Forget the job ${asText(row.name)}` }) },
    ],
  });
  const more = h("p", { class: "soft" });
  const part = section("Added later", entries.node, more, jobs.node);
  part.hidden = true;
  let known = null;

  async function refresh() {
    const [due, named, facts] = await run([["XSCHEDULED", key, "COUNT", SHOWN], ["XSCHEDULES", key], ["XINFO", "STREAM", key]]);
    const rows = isError(due) ? [] : due.map(([id, flat]) => ({ id, fields: pairsOfFields(flat) }));
    const all = isError(named) ? [] : named.map(objectOf);
    const total = isError(facts) ? rows.length : Number(objectOf(facts).scheduled ?? rows.length);
    entries.update(rows);
    jobs.update(all);
    entries.node.hidden = !rows.length;
    jobs.node.hidden = !all.length;
    more.textContent = total > rows.length ? `The first ${count(rows.length)} of ${count(total)}.` : "";
    part.hidden = !rows.length && !all.length;
  }

  /** So many are scheduled now: if that is another number, ask again. */
  const changed = (number) => {
    if (known !== null && number !== known) refresh().catch(() => {});
    known = number;
  };
  return { node: part, refresh, changed };
}
