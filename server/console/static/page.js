// The head of a view: where it is, its name, and what can be done there.

import { h } from "./dom.js";

/** trail: [[text, link]], from the top down. Returns the head; its h1 gets the focus of new views. */
export function head(place, { trail = [], title, mono = false, actions = [] }) {
  place.title(title);
  if (trail.length) place.up = trail.at(-1)[1];
  const path = trail.length
    ? h("nav", { class: "trail", "aria-label": "Where this is" },
      h("ol", null, trail.map(([text, to]) => h("li", null, h("a", { href: to }, text)))))
    : null;
  const name = h("h1", { tabindex: "-1", class: mono ? "mono" : null }, title);
  return h("header", { class: "head" }, path, h("div", { class: "title" }, name, h("div", { class: "actions" }, actions)));
}

/** A part of a view with a heading of its own. */
export function section(title, ...content) {
  const heading = h("h2", null, title);
  const node = h("section", { class: "part" }, heading, content);
  node.heading = heading;
  return node;
}

/** Shows the error of an act in place; null takes it away. */
export function errorLine() {
  const node = h("p", { class: "error", role: "alert", hidden: true });
  node.say = (text) => {
    node.hidden = !text;
    node.textContent = text ?? "";
  };
  return node;
}
