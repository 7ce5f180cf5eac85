// Dark, light, or as the system has it.

import { byId, setText } from "./dom.js";
import { recall, remember } from "./store.js";

const THEMES = ["system", "light", "dark"];
const LABELS = { system: "Auto", light: "Light", dark: "Dark" };
let theme = "system";

function apply() {
  if (theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
  setText(byId("theme"), LABELS[theme]);
  byId("theme").setAttribute("aria-label", `Theme: ${LABELS[theme]}. Change it`);
}

export function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  remember("theme", theme);
  apply();
}

export function startTheme() {
  theme = recall("theme", "system");
  if (!THEMES.includes(theme)) theme = "system";
  byId("theme").addEventListener("click", nextTheme);
  apply();
}
