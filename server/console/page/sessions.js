// The list of sessions. It is asked for every few seconds while the page is seen; to list them does not count as use of
// them.

import { call } from "./connect.js";
import { busy, id, make, twice } from "./dom.js";
import * as errors from "./errors.js";
import { duration, long, plain, seconds, short, time } from "./format.js";

const every = 3000; // ms

export class Sessions {
  #items = new Map(); // by session id
  #timer = 0;
  #skew = 0; // ms by which this machine's clock is ahead of the server's
  #asking = 0; // of the newest question: an older one's answer does not count any more
  #on = false;
  #lost = false; // the last answer was an error, which is shown

  // chosen is told which session was chosen, listed the ids that are there, refused that a token is missing or wrong.
  constructor({ chosen, listed, refused }) {
    this.chosen = chosen;
    this.listed = listed;
    this.refused = refused;
    this.selected = "";
    id("all").onchange = () => this.refresh();
    id("open-form").onsubmit = (event) => {
      event.preventDefault();
      busy(id("open"), () => this.#open());
    };
    document.addEventListener("visibilitychange", () => this.#schedule(0));
  }

  // refresh asks for the list now, and then every few seconds.
  async refresh() {
    clearTimeout(this.#timer);
    this.#on = true;
    const asking = ++this.#asking;
    try {
      const answer = await call("ListSessions", { all: id("all").checked }, { clock: (date) => this.#setClock(date) });
      if (asking !== this.#asking) return true;
      this.#show(answer.sessions ?? []);
      this.#schedule(every);
      if (this.#lost) errors.clear();
      this.#lost = false;
      return true;
    } catch (err) {
      if (asking !== this.#asking) return false;
      this.#failed(err);
      return false;
    }
  }

  stop() {
    this.#asking++;
    this.#on = false;
    clearTimeout(this.#timer);
    this.#show([]);
  }

  #failed(err) {
    if (errors.isUnauthenticated(err)) {
      this.refused(err);
      return;
    }
    errors.show(err, "List the sessions");
    const denied = id("all").checked && err.kinds?.includes("DENIED");
    if (denied) id("all").checked = false;
    this.#lost = !denied;
    this.#schedule(denied ? 0 : every * 3);
  }

  #schedule(wait) {
    clearTimeout(this.#timer);
    if (document.hidden || !this.#on) return;
    this.#timer = setTimeout(() => this.refresh(), wait);
  }

  #setClock(date) {
    const at = Date.parse(date ?? "");
    if (at) this.#skew = Date.now() - at;
  }

  async #open() {
    try {
      const { session } = await call("OpenSession", request());
      id("label").value = "";
      errors.clear();
      this.select(session.sessionId, session);
      await this.refresh();
    } catch (err) {
      errors.show(err, "Open a session");
    }
  }

  select(sessionId, session) {
    this.selected = sessionId;
    for (const [key, item] of this.#items) item.mark(key === sessionId);
    this.chosen(sessionId, session);
  }

  #show(sessions) {
    const now = Date.now() - this.#skew;
    const here = new Set(sessions.map((s) => s.sessionId));
    for (const [key, item] of this.#items) {
      if (here.has(key)) continue;
      item.element.remove();
      this.#items.delete(key);
    }
    for (const s of sessions) {
      let item = this.#items.get(s.sessionId);
      if (!item) {
        item = new Item(s.sessionId, () => this.select(s.sessionId), () => this.#close(s.sessionId));
        this.#items.set(s.sessionId, item);
        id("sessions").append(item.element);
      }
      item.update(s, now, id("all").checked);
      item.mark(s.sessionId === this.selected);
    }
    id("no-sessions").hidden = sessions.length > 0;
    this.listed(here);
  }

  async #close(sessionId) {
    try {
      await call("CloseSession", { sessionId });
    } catch (err) {
      if (!errors.isGone(err)) errors.show(err, "Close the session");
    }
    await this.refresh();
  }
}

// An Item is a session in the list.
class Item {
  constructor(sessionId, select, close) {
    this.name = make("strong");
    this.lines = make("span", { className: "facts" });
    this.choose = make("button", { type: "button", className: "session", title: sessionId, onclick: select }, this.name, this.lines);
    this.close = twice("Close", close);
    this.element = make("li", {}, this.choose, this.close);
  }

  mark(selected) {
    if (selected) this.choose.setAttribute("aria-current", "true");
    else this.choose.removeAttribute("aria-current");
  }

  update(s, now, all) {
    const usage = s.usage ?? {};
    const idle = seconds(s.idleTimeout) - (Date.parse(s.idleAt) - now) / 1000;
    const running = Number(usage.running ?? 0);
    const runs = Number(usage.runs ?? 0);
    const facts = [
      short(s.sessionId), plain(s.backend), `age ${long((now - Date.parse(s.createdAt)) / 1000)}`,
      running > 0 ? `${running} running` : `idle ${long(idle)}`,
      `${runs} ${runs === 1 ? "run" : "runs"}`, `CPU ${time(seconds(usage.cpuTime ?? "0s"))}`,
    ];
    if (all) facts.push(`of ${plain(s.principal)}`);
    setText(this.name, plain(s.label) || short(s.sessionId));
    setText(this.lines, facts.map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · "));
    this.close.of(`session ${this.name.textContent}`);
    this.element.classList.toggle("running", running > 0);
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// request is what the form asks for.
function request() {
  const mib = (name) => (id(name).value ? { [{ memory: "memoryBytes", disk: "diskBytes" }[name]]: String(Math.round(Number(id(name).value) * 1048576)) } : {});
  const limits = { ...mib("memory"), ...mib("disk") };
  if (id("cpu").value) limits.cpu = duration(id("cpu").value);
  const options = { limits };
  if (id("backend").value) options.backend = id("backend").value;
  if (id("network").value) options.network = id("network").value;
  if (id("tier").value) options.pythonTier = id("tier").value;
  const message = { options, label: id("label").value };
  if (id("idle").value) message.idleTimeout = duration(Number(id("idle").value) * 60);
  return message;
}
