// Latency: the server's own events over time, and how long commands take, as histograms.

import { ask, isError, objectOf, pairsOf, run } from "../api.js";
import { button, h, setText } from "../dom.js";
import { count, time } from "../format.js";
import { errorLine, head, section } from "../page.js";
import { DataTable } from "../rows.js";
import { columns, timeline } from "../spark.js";
import { asText } from "../words.js";

const CHARTS = 24; // commands that are drawn, those with the most calls

const ms = (value) => `${count(value)} ms`;
const micros = (value) => (value >= 1000 ? `${Number((value / 1000).toPrecision(3))} ms` : `${value} µs`);

const EVENTS = [
  { name: "event", label: "Event", main: true, text: (row) => row.name },
  { name: "last", label: "Last", kind: "num", text: (row) => ms(row.last) },
  { name: "most", label: "Most", kind: "num", text: (row) => ms(row.most) },
  { name: "when", label: "When last", kind: "when", text: (row) => time(row.at * 1000) },
  { name: "chart", label: "The last 160", signature: (row) => JSON.stringify(row.history), node: (row) => chartOf(row) },
];

const chartOf = (row) => (row.history.length
  ? timeline(row.history, { label: `${row.name}: ${row.history.length} times, at most ${ms(row.most)}`, name: (when, value) => `${ms(value)} at ${time(when * 1000)}` })
  : h("span", { class: "soft" }, "–"));

async function events() {
  const latest = await ask("LATENCY", "LATEST");
  const histories = latest.length ? await run(latest.map(([name]) => ["LATENCY", "HISTORY", name])) : [];
  return latest.map(([name, at, last, most], place) => ({
    name: asText(name), at, last, most, history: isError(histories[place]) ? [] : histories[place],
  }));
}

/** Bounds and how many calls lie between: the reply counts all up to each bound. */
function between(cumulative) {
  let before = 0;
  return pairsOf(cumulative).map(([bound, upTo]) => {
    const number = upTo - before;
    before = upTo;
    return { bound: Number(bound), number };
  });
}

/** The bound that so large a part of all calls does not exceed. */
function quantile(buckets, calls, part) {
  let seen = 0;
  for (const { bound, number } of buckets) {
    seen += number;
    if (seen >= calls * part) return bound;
  }
  return buckets.at(-1)?.bound ?? 0;
}

function histogram([name, reply]) {
  const { calls, histogram_usec: cumulative } = objectOf(reply);
  const buckets = between(cumulative);
  const [half, most] = [quantile(buckets, calls, 0.5), quantile(buckets, calls, 0.99)];
  const label = `${asText(name)}: ${count(calls)} calls, half within ${micros(half)}, 99 % within ${micros(most)}`;
  const items = buckets.map(({ bound, number }) => ({ label: `up to ${micros(bound)}: ${count(number)}`, value: number }));
  return h("figure", null,
    h("figcaption", null, h("b", { class: "mono" }, asText(name)), h("span", { class: "soft" }, `${count(calls)} calls`)),
    columns(items, { label }), h("p", { class: "soft" }, `half ≤ ${micros(half)} · 99 % ≤ ${micros(most)}`));
}

const callsOf = ([, reply]) => Number(objectOf(reply).calls);

export async function show(place) {
  const table = new DataTable({ caption: "Events", columns: EVENTS, keyOf: (row) => row.name, empty: "Nothing took longer than latency-monitor-threshold." });
  const charts = h("div", { class: "charts" });
  const threshold = h("p", { class: "summary" });
  const error = errorLine();
  let shown = CHARTS;
  const all = button("", () => {
    shown = Infinity;
    again();
  }, { hidden: true });
  const refresh = async () => {
    const [config, histograms] = await run([["CONFIG", "GET", "latency-monitor-threshold"], ["LATENCY", "HISTOGRAM"]]);
    const limit = isError(config) ? undefined : objectOf(config)["latency-monitor-threshold"];
    setText(threshold, limit === undefined ? "" : Number(limit) ? `Events of ${ms(limit)} and more are noted` : "Events are not noted: latency-monitor-threshold is 0");
    table.update(await events());
    if (isError(histograms)) throw new Error(histograms.error);
    const sorted = pairsOf(histograms).sort((one, other) => callsOf(other) - callsOf(one));
    charts.replaceChildren(...sorted.slice(0, shown).map(histogram));
    all.hidden = sorted.length <= shown;
    setText(all, `Show all ${count(sorted.length)} commands`);
  };
  const again = () => refresh().then(() => error.say(null), (failure) => error.say(failure.message));
  place.root.append(head(place, { title: "Latency" }), threshold, error, table.node, section("How long commands take", charts, h("p", { class: "bar" }, all)));
  place.refresh = again;
  await again();
}
