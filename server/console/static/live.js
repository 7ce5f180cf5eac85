// What the server tells by itself: one stream of events, what it watches, and how it comes back.

import { ServerGone, SessionEnded, askSession, currentDatabase, watch } from "./api.js";
import { recall } from "./store.js";

const EVERY_MS = recall("every-ms", 1000); // in which the server looks at what has changed
const PAUSES_MS = [1000, 2000, 4000, 8000, 15000]; // between attempts, while the server is gone
const NOTHING = { watches: {}, streams: null, onWatch: null, onStreams: null };

export const live = {
  state: "connecting", // connecting, on, gone, ended
  paused: false,
  pausedAt: 0,
  nextAttempt: 0,
};

let source = null;
let identity = null;
let view = NOTHING;
let generation = 0; // of the view: what was asked for an older one is not shown
let attempts = 0;
let timer = 0;
const hearers = [];
const backAgain = [];

/** Have *hear* called when the connection's state, or the pause, changes. */
export const onState = (hear) => hearers.push(hear);

/** Have *hear* called when the server is there again after it was gone. */
export const onReturn = (hear) => backAgain.push(hear);

function enter(state) {
  live.state = state;
  for (const hear of hearers) hear(live);
}

/** The present, or the moment at which the pause began. */
export const now = () => (live.paused ? live.pausedAt : Date.now());

/** Have the server watch this, and nothing else: {watches: {name: commands}, streams, onWatch, onStreams}. */
export function observe(wanted) {
  view = { ...NOTHING, ...wanted };
  generation += 1;
  tell();
}

export function pause(paused) {
  live.paused = paused;
  live.pausedAt = paused ? Date.now() : 0;
  tell();
  enter(live.state);
}

async function tell() {
  if (identity === null) return;
  const watches = Object.entries(view.watches).map(([name, commands]) => ({
    name: `${generation} ${name}`,
    commands,
  }));
  const paused = live.paused || document.hidden;
  const body = { live: identity, every_ms: EVERY_MS, paused, db: currentDatabase(), watches };
  try {
    const streams = view.streams && { ...view.streams, name: String(generation) };
    await watch({ ...body, streams });
  } catch (error) {
    if (error instanceof ServerGone || error instanceof SessionEnded) return;
    if (error.status === 404) lost();
    else console.warn(`The server does not watch: ${error.message}`);
  }
}

document.addEventListener("visibilitychange", tell);

/** Open the stream of events. */
export function connect() {
  disconnect();
  enter("connecting");
  source = new EventSource("api/live");
  source.addEventListener("hello", (event) => hello(JSON.parse(event.data)));
  source.addEventListener("watch", (event) => watched(JSON.parse(event.data)));
  source.addEventListener("streams", (event) => streams(JSON.parse(event.data)));
  for (const name of ["gone", "end"]) source.addEventListener(name, lost);
  source.addEventListener("error", lost);
}

export function disconnect() {
  clearTimeout(timer);
  source?.close();
  source = null;
  identity = null;
}

function hello(data) {
  const wasGone = attempts > 0;
  attempts = 0;
  identity = data.live;
  enter("on");
  tell();
  if (wasGone) for (const hear of backAgain) hear();
}

function watched(data) {
  const space = data.name.indexOf(" ");
  if (Number(data.name.slice(0, space)) !== generation) return;
  view.onWatch?.(data.name.slice(space + 1), data.replies);
}

function streams(data) {
  if (Number(data.name) === generation) view.onStreams?.(data);
}

/** The stream has ended, or a request found nobody. */
export function lost() {
  if (live.state === "ended" || timer) return;
  disconnect();
  const pauseMs = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  live.nextAttempt = Date.now() + pauseMs;
  enter("gone");
  timer = setTimeout(retry, pauseMs);
}

/** Try now, whatever the pause is. */
export async function retry() {
  clearTimeout(timer);
  timer = 0;
  try {
    const session = await askSession();
    if (session.csrf !== undefined) connect();
    else end();
  } catch {
    lost();
  }
}

/** There is no session: nothing is watched until connect(). */
export function end() {
  disconnect();
  timer = 0;
  attempts = 0;
  enter("ended");
}
