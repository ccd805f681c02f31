// The console page: the token, the session that is chosen, and what its buttons do.

import { call, setToken } from "./connect.js";
import { busy, id, make } from "./dom.js";
import { edit } from "./editor.js";
import * as errors from "./errors.js";
import { Files } from "./files.js";
import { base64, duration, plain, word } from "./format.js";
import { Sessions } from "./sessions.js";
import * as view from "./view.js";
import { Workspace } from "./workspace.js";

const kept = "sandbar-token"; // in the tab's storage, when the user asks for it
const form = /^[A-Za-z0-9._~+/-]{1,512}=*$/; // of a token: RFC 6750, b64token

const works = new Map(); // by session id
let current = null; // the workspace that is shown

const files = new Files();
const sessions = new Sessions({ chosen, listed, refused });

async function begin() {
  const token = sessionStorage.getItem(kept) ?? "";
  id("token-keep").checked = token !== "";
  setToken(token);
  await connect();
}

// connect lists the sessions, and learns what there is to choose from.
async function connect() {
  if (!await sessions.refresh()) return false;
  try {
    const health = await call("Health", {});
    const backends = health.backends ?? [];
    id("server").textContent = `sandbox-server ${plain(health.version)}${health.draining ? ", about to end" : ""}`;
    id("backend").replaceChildren(make("option", { value: "", textContent: `default${health.defaultBackend ? ` (${plain(health.defaultBackend)})` : ""}` }),
      ...backends.map((b) => make("option", { value: b, textContent: plain(b) })));
  } catch (err) {
    errors.show(err, "Ask the server what it is");
  }
  return true;
}

function refused(err) {
  sessions.stop();
  id("server").textContent = "not signed in";
  askToken(true);
  errors.show(err, "Sign in");
}

function askToken(open) {
  id("token-form").hidden = !open;
  id("show-token").setAttribute("aria-expanded", String(open));
  if (open) id("token").focus();
}

function useToken(token, keep) {
  setToken(token);
  if (token && keep) sessionStorage.setItem(kept, token);
  else sessionStorage.removeItem(kept);
}

id("show-token").onclick = () => askToken(id("token-form").hidden);
id("token-form").onsubmit = async (event) => {
  event.preventDefault();
  const token = id("token").value.trim();
  if (!form.test(token)) {
    errors.show(new errors.InputError("tokens have letters, digits and - . _ ~ + / alone"), "Sign in");
    return;
  }
  useToken(token, id("token-keep").checked);
  errors.clear();
  if (!await connect()) return;
  id("token").value = "";
  askToken(false);
};
id("token-forget").onclick = async () => {
  useToken("", false);
  id("token").value = "";
  id("token-keep").checked = false;
  for (const work of works.values()) work.leave();
  leaveSession();
  errors.clear();
  await connect();
};

// chosen shows a session.
async function chosen(sessionId, session) {
  let work = works.get(sessionId);
  if (!work) {
    work = new Workspace(sessionId, () => { if (current === work) view.show(work); });
    works.set(sessionId, work);
  }
  current = work;
  id("no-session").hidden = true;
  id("work").hidden = false;
  id("files").tBodies[0].replaceChildren();
  id("about").textContent = "";
  view.show(work);
  try {
    session ??= (await call("GetSession", { sessionId })).session;
    if (current !== work) return;
    id("about").textContent = about(session);
    await Promise.all([work.refresh(), files.show(sessionId)]);
  } catch (err) {
    if (current !== work) return;
    errors.show(err, "Show the session");
    if (errors.isGone(err)) leaveSession();
  }
}

function leaveSession() {
  if (current) works.delete(current.sessionId);
  current = null;
  sessions.selected = "";
  view.hide();
  id("work").hidden = true;
  id("no-session").hidden = false;
}

// listed forgets the sessions that are no longer there.
function listed(here) {
  for (const [sessionId, work] of works) {
    if (here.has(sessionId) || work === current && work.run) continue;
    if (work === current) leaveSession();
    else works.delete(sessionId);
  }
}

// about is what a session has, in one line.
function about(session) {
  const { info = {} } = session;
  const tiers = (info.tiers ?? []).map((t) => word(t.tier, "TIER_")).join(" and ");
  const parts = [`Session ${session.sessionId}`, `network ${word(info.network, "NETWORK_MODE_") || "blocked"}`];
  if (tiers) parts.push(tiers);
  return [...parts, ...(info.warnings ?? []).map(plain)].join(" · ");
}

async function run() {
  const work = current;
  if (!work || work.run) return;
  errors.clear();
  const script = id("script").value;
  const first = script.split("\n").find((line) => line.trim() && !line.startsWith("#!"))?.trim().slice(0, 80) ?? "";
  await work.start(request(script), first);
  await filesAfter(work);
}

// filesAfter lists the files again, since the script may have written some. A run that could not be followed tells nothing.
async function filesAfter(work) {
  if (current === work && work.result?.result) await files.refresh();
}

function request(script) {
  const python = id("language").value === "python";
  const detach = id("detach").checked;
  const message = {
    type: python ? "SCRIPT_TYPE_PYTHON" : "SCRIPT_TYPE_SHELL", script, detach,
    streamOutput: !detach, // a script that is ahead of the page waits, as with a terminal
  };
  if (python && id("interpreter").value === "live") message.interpreter = "INTERPRETER_SESSION";
  if (id("timeout").value) message.timeout = duration(id("timeout").value);
  if (id("stdin").value) message.stdin = base64(new TextEncoder().encode(id("stdin").value));
  return message;
}

// press makes a button do something that may fail.
function press(name, doing, act) {
  id(name).onclick = () => busy(id(name), async () => {
    try {
      await act();
    } catch (err) {
      errors.show(err, doing);
    }
  });
}

edit(id("script"), run);
id("run").onclick = run;
press("interrupt", "Interrupt the run", () => current.interrupt());
press("stop", "Stop the run", () => current.stop());
press("leave", "Leave the run", async () => current.leave());
press("clear", "Clear the output", async () => current.output.clear());
press("refresh-runs", "List the runs", () => current.refresh());
id("show").onchange = () => { id("outputs").className = id("show").value; };
id("language").onchange = () => { id("interpreter").disabled = id("language").value !== "python"; };
begin();
