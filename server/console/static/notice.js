// What an action has done, said once: on the screen for a while, and to screen readers.

import { byId, setText } from "./dom.js";

const SHOWN_MS = 6000;
let timer = 0;

export function tell(text) {
  const place = byId("notice");
  setText(place, text);
  clearTimeout(timer);
  timer = setTimeout(() => setText(place, ""), SHOWN_MS);
}
