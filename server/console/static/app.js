// The console: opens the view of the route, and holds the frame around it.

import * as api from "./api.js";
import { h } from "./dom.js";
import { startFrame } from "./frame.js";
import { viewKeys } from "./keyboard.js";
import { connect, end, live, lost, observe, onReturn } from "./live.js";
import { follow } from "./router.js";
import { showLogin } from "./views/login.js";

const VIEWS = {
  streams: () => import("./views/streams.js"),
  stream: () => import("./views/stream.js"),
  group: () => import("./views/group.js"),
  entry: () => import("./views/entry.js"),
  keys: () => import("./views/keys.js"),
  key: () => import("./views/key.js"),
  clients: () => import("./views/clients.js"),
  slowlog: () => import("./views/slowlog.js"),
  latency: () => import("./views/latency.js"),
  memory: () => import("./views/memory.js"),
  replicas: () => import("./views/replicas.js"),
  server: () => import("./views/server.js"),
  command: () => import("./views/command.js"),
};

const main = document.getElementById("main");
const frame = startFrame();
let place = null; // of the view that is shown
let loggedIn = false;
let arrive = null;

/** What a view is given: where it is, and how it says what it watches, hears and leaves behind. */
function placeFor(route) {
  const closers = [];
  const signal = new AbortController();
  return {
    root: main,
    ...route,
    signal: signal.signal,
    refresh: null, // set by a view that can ask again
    up: "#/streams",
    isCurrent: () => !signal.signal.aborted,
    watch: (wanted) => !signal.signal.aborted && observe(wanted),
    keys: (keys) => viewKeys(keys),
    onClose: (act) => closers.push(act),
    title: (text) => {
      document.title = `${text} · Penstock`;
    },
    close() {
      signal.abort();
      for (const act of closers) act();
    },
  };
}

function leave() {
  place?.close();
  place = null;
  viewKeys({});
  main.replaceChildren();
  main.className = "";
  main.scrollTop = 0;
}

function trouble(error) {
  if (error.name === "AbortError" || error instanceof api.SessionEnded) return;
  const text = error instanceof api.ServerGone ? `${error.message} It is asked again.` : error.message;
  main.replaceChildren(h("h1", null, "This cannot be shown"), h("p", { class: "error", role: "alert" }, text));
}

async function open(route) {
  if (!loggedIn) return;
  leave();
  observe({});
  if (!route) {
    main.replaceChildren(h("h1", null, "There is no such view"), h("a", { href: "#/streams" }, "To the streams"));
    return;
  }
  const mine = placeFor(route);
  place = mine;
  frame.mark(route.name);
  viewKeys({ r: () => mine.refresh?.() });
  try {
    const view = await VIEWS[route.name]();
    if (mine.isCurrent()) await view.show(mine);
  } catch (error) {
    if (mine.isCurrent()) trouble(error);
  }
}

function enter() {
  loggedIn = true;
  document.body.classList.remove("outside");
  frame.session(api.currentSession());
  connect();
  if (arrive) arrive();
  else arrive = follow(open);
}

function outside(why) {
  if (!loggedIn && document.body.classList.contains("outside")) return;
  loggedIn = false;
  document.body.classList.add("outside"); // first: the end of the stream leads here, too
  end();
  leave();
  for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
  showLogin(main, why, enter);
}

async function logOut() {
  await api.logOut().catch(() => {});
  outside("You are logged out.");
}

async function begin() {
  const session = await api.askSession();
  if (session.csrf !== undefined) enter();
  else if (session.login || (await api.logIn("default", "")) !== null) outside("");
  else enter();
}

async function start() {
  try {
    await begin();
  } catch {
    frame.connection({ state: "gone", nextAttempt: Date.now() + 2000 });
    setTimeout(start, 2000);
  }
}

api.when("ended", () => outside("The session has ended. Log in again, and you are back where you were."));
api.when("gone", () => loggedIn && lost());
frame.on({
  logOut,
  up: () => {
    if (place && location.hash !== place.up) location.hash = place.up;
  },
});
frame.onState((state) => state === "ended" && outside("The session has ended. Log in again, and you are back where you were."));
onReturn(() => {
  if (!place) return;
  if (place.refresh) place.refresh();
  else if (main.querySelector(":scope > .error")) arrive();
});
live.state = "connecting";
start();
