// The frame around the views: the rail, the header's switches, the banner when the server is gone.

import { currentDatabase } from "./api.js";
import { byId, h, setAttribute, setClass, setText } from "./dom.js";
import { showHelp } from "./help.js";
import { VIEWS, startKeyboard } from "./keyboard.js";
import { live, onState, pause, retry } from "./live.js";
import { link, parse } from "./router.js";
import { nextTheme, startTheme } from "./theme.js";

const DATABASES = 16; // offered; a link may name another
const BELONGS = { stream: "streams", group: "streams", entry: "streams", key: "keys" };
const STATES = { connecting: "connecting", on: "live", gone: "offline", ended: "logged out" };

let acts = {};
let stateHeard = () => {};

function buildRail() {
  const items = VIEWS.map(([name, title, letter]) =>
    h("li", null, h("a", { "data-view": name, href: link(name), "aria-keyshortcuts": `g ${letter}` },
      h("span", null, title), h("kbd", { "aria-hidden": "true" }, `g ${letter}`))));
  byId("rail").append(h("ul", null, items));
}

/** Say in the rail where we are; its links keep the database. */
function mark(name) {
  const at = BELONGS[name] ?? name;
  for (const each of document.querySelectorAll("#rail a")) {
    setAttribute(each, "aria-current", each.dataset.view === at ? "page" : null);
    setAttribute(each, "href", link(each.dataset.view));
  }
  const database = byId("database");
  if (![...database.options].some((option) => Number(option.value) === currentDatabase())) {
    database.append(h("option", null, String(currentDatabase())));
  }
  database.value = String(currentDatabase());
}

function buildDatabases() {
  const select = byId("database");
  for (let number = 0; number < DATABASES; number += 1) select.append(h("option", null, String(number)));
  select.addEventListener("change", () => {
    const here = parse(location.hash)?.name ?? "streams";
    const to = link(BELONGS[here] ?? here).replace(/\?.*$/, "");
    location.hash = select.value === "0" ? to : `${to}?db=${select.value}`;
  });
}

function connection(state) {
  const word = state.paused && state.state === "on" ? "paused" : STATES[state.state];
  setText(byId("pulse"), word);
  setClass(byId("pulse"), `pulse ${word.replace(" ", "-")}`);
  setAttribute(byId("pulse"), "title", null);
  const gone = state.state === "gone";
  byId("banner").hidden = !gone;
  setText(byId("banner-text"), gone ? "The server does not answer. It is asked again." : "");
  countDown(state);
  setText(byId("pause"), state.paused ? "Go on" : "Pause");
  setAttribute(byId("pause"), "aria-pressed", String(Boolean(state.paused)));
}

let counting = 0;

/** Seconds until the next attempt; not for screen readers, which have been told once. */
function countDown(state) {
  clearInterval(counting);
  const show = () => {
    const seconds = Math.max(0, Math.ceil((state.nextAttempt - Date.now()) / 1000));
    setText(byId("banner-wait"), state.state === "gone" ? `Next in ${seconds} s.` : "");
  };
  show();
  if (state.state === "gone") counting = setInterval(show, 1000);
}

function session({ user, server }) {
  const parts = [server.name, server.role, server.version && `Penstock ${server.version}`];
  setText(byId("where"), parts.filter(Boolean).join(" · "));
  byId("logout").hidden = false;
  setAttribute(byId("logout"), "title", `You are ${user}`);
}

export function startFrame() {
  startTheme();
  buildRail();
  buildDatabases();
  const togglePause = () => pause(!live.paused);
  byId("pause").addEventListener("click", togglePause);
  byId("help").addEventListener("click", showHelp);
  byId("logout").addEventListener("click", () => acts.logOut());
  byId("banner-retry").addEventListener("click", retry);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  startKeyboard({ pause: togglePause, help: showHelp, theme: nextTheme, up: () => acts.up() });
  onState((state) => {
    connection(state);
    stateHeard(state.state);
  });
  return {
    mark,
    session,
    connection,
    on: (given) => { acts = given; },
    onState: (hear) => { stateHeard = hear; },
  };
}
