// The console's requests: session, log-in, commands; and what goes wrong with them.

export class SessionEnded extends Error {}
export class ServerGone extends Error {}
/** What the server refused: its error reply, or its HTTP answer. */
export class Refused extends Error {}

const session = { csrf: "", user: "", server: {} };
let database = 0;
const listeners = { ended: [], gone: [] };

export const currentSession = () => session;
export const currentDatabase = () => database;
export const useDatabase = (number) => {
  database = number;
};

/** Have *hear* called when the session has "ended", or the server is "gone". */
export const when = (what, hear) => listeners[what].push(hear);

function raise(what, error) {
  for (const hear of listeners[what]) hear();
  throw error;
}

async function send(path, options = {}) {
  const headers = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (options.method === "POST" && session.csrf) headers["X-CSRF-Token"] = session.csrf;
  try {
    return await fetch(`api/${path}`, {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      cache: "no-store",
      credentials: "same-origin",
      signal: options.signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return raise("gone", new ServerGone("The server does not answer."));
  }
}

async function bodyOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

async function checked(response) {
  if (response.ok) return response.status === 204 ? {} : bodyOf(response);
  if (response.status === 401) return raise("ended", new SessionEnded("The session has ended."));
  const body = await bodyOf(response);
  throw Object.assign(new Refused(body.error ?? `HTTP ${response.status}`), { status: response.status });
}

function keep(body) {
  Object.assign(session, { csrf: body.csrf, user: body.user, server: body.server ?? {} });
  return session;
}

/** The session, or {login: whether a password is needed} if there is none. */
export async function askSession() {
  const response = await send("session");
  const body = await bodyOf(response);
  if (response.ok) return keep(body);
  if (response.status === 401) return { login: body.login !== false };
  throw new ServerGone(body.error ?? `HTTP ${response.status}`);
}

/** Log in. Returns null, or why not. */
export async function logIn(username, password) {
  const response = await send("login", { method: "POST", body: { username, password } });
  const body = await bodyOf(response);
  if (response.ok) {
    keep(body);
    return null;
  }
  if (response.status === 429) {
    const seconds = Math.ceil((body.retry_after_ms ?? 1000) / 1000);
    return `Too many attempts. Try again in ${seconds} s.`;
  }
  if (response.status === 401) return body.error ?? "This user and password do not go together.";
  return body.error ?? `The server refuses: HTTP ${response.status}.`;
}

export async function logOut() {
  await checked(await send("logout", { method: "POST", body: {} }));
  session.csrf = "";
}

const posted = async (path, body, signal) => checked(await send(path, { method: "POST", body, signal }));

/** The replies to these commands, errors among them. */
export async function run(commands, { transaction = false, signal } = {}) {
  const body = { db: database, commands: asCommands(commands), transaction };
  return (await posted("commands", body, signal)).replies;
}

const asWord = (word) => (typeof word === "object" ? word : String(word));
const asCommands = (commands) => commands.map((words) => words.map(asWord));

/** The reply to one command. Raises Refused if it is an error. */
export async function ask(...words) {
  return valueOf((await run([words]))[0]);
}

/** The replies to these commands. Raises Refused if one of them is an error. */
export async function askAll(commands, options) {
  return (await run(commands, options)).map(valueOf);
}

export const isError = (reply) => typeof reply === "object" && reply !== null && "error" in reply;

/** The reply itself. Raises Refused if it is an error. */
export function valueOf(reply) {
  if (isError(reply)) throw new Refused(reply.error);
  return reply;
}

export function watch(body) {
  const watches = body.watches.map((each) => ({ ...each, commands: asCommands(each.commands) }));
  return posted("watch", { ...body, db: database, watches });
}

/** The pairs of a map, also of one that came as a flat list. */
export function pairsOf(reply) {
  if (reply === null || reply === undefined || isError(reply)) return [];
  if (!Array.isArray(reply)) return reply.map ?? [];
  const pairs = [];
  for (let place = 0; place + 1 < reply.length; place += 2) pairs.push([reply[place], reply[place + 1]]);
  return pairs;
}

/** A map whose names are ours, as an object. */
export const objectOf = (reply) => Object.fromEntries(pairsOf(reply));
