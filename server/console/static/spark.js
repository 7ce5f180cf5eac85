// Small charts, as SVG: the sparkline of a rate, columns, and points over time.

import { clear, setAttribute, svg } from "./dom.js";

const WIDTH = 64;
const HEIGHT = 16;
const STILL = `M0 ${HEIGHT - 1.5}H${WIDTH}`; // where nothing happens, nothing is drawn anew
const LEAST_COLUMNS = 14; // so that few of them are no wider than many

/** A sparkline, to be changed by draw(). */
export function sparkline() {
  const line = svg("path", { class: "line" });
  const area = svg("path", { class: "area" });
  const node = svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, area, line);
  node.parts = { line, area };
  return node;
}

/** Have a sparkline show these values; null is a gap at its beginning. */
export function draw(node, values) {
  const seen = values.filter((value) => value !== null);
  const most = Math.max(...seen, 0);
  const left = values.length - seen.length;
  const step = WIDTH / Math.max(1, values.length - 1);
  const at = (value) => (HEIGHT - 1.5 - (most ? (value / most) * (HEIGHT - 3) : 0)).toFixed(1);
  const points = seen.map((value, place) => `${((left + place) * step).toFixed(1)} ${at(value)}`);
  const line = most && points.length > 1 ? `M${points.join("L")}` : STILL;
  setAttribute(node.parts.line, "d", line);
  const start = (left * step).toFixed(1);
  setAttribute(node.parts.area, "d", line !== STILL ? `${line}L${WIDTH} ${HEIGHT}L${start} ${HEIGHT}Z` : "");
  setAttribute(node, "class", most ? "spark" : "spark still");
}

/** Columns: [{label, value}]. The text beside it says what it says. */
export function columns(items, { height = 64, label }) {
  const node = svg("svg", { class: "chart", viewBox: `0 0 ${Math.max(LEAST_COLUMNS, items.length) * 10} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  const most = Math.max(...items.map((item) => item.value), 1);
  clear(node);
  items.forEach((item, place) => {
    const tall = item.value ? Math.max(1, (item.value / most) * (height - 4)) : 0;
    const bar = svg("rect", { x: place * 10 + 1.5, y: (height - tall).toFixed(1), width: 7, height: tall.toFixed(1) });
    bar.append(svg("title", null, item.label));
    node.append(bar);
  });
  return node;
}

/** Points over time: [[unix seconds, value]]. */
export function timeline(points, { label, height = 64, width = 320, name }) {
  const times = points.map(([when]) => when);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(...points.map(([, value]) => value), 1);
  const x = (when) => (last > first ? 4 + ((when - first) / (last - first)) * (width - 8) : width / 2);
  const node = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [when, value] of points) {
    const y = height - 4 - (value / most) * (height - 10);
    node.append(svg("path", { class: "stem", d: `M${x(when).toFixed(1)} ${height - 2}V${y.toFixed(1)}` }));
    node.append(svg("circle", { cx: x(when).toFixed(1), cy: y.toFixed(1), r: 2.5 }, svg("title", null, name(when, value))));
  }
  return node;
}
