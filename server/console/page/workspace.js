// What the page knows of one session: its output, the run that is shown, and the runs it has seen.

import { beat, call, CallError, stream } from "./connect.js";
import { bytes, size } from "./format.js";
import { Output } from "./output.js";

// A browser has six connections to a server, and the calls need some of them.
const maxStreams = 4;
const maxSeen = 200; // runs that are remembered

let streams = 0;

export class Workspace {
  output = new Output();
  run = null; // the one that streams: {id, began, detached, waiting, stopped}
  result = null; // of the last one, or {error, doing}
  runs = new Map(); // by run id, as the server describes them, and with about: what the script begins with
  #stream = null;

  // changed is told when anything but the output has changed.
  constructor(sessionId, changed) {
    this.sessionId = sessionId;
    this.changed = changed;
  }

  // start runs a script and shows it until it has ended, or is left.
  start(message, about) {
    const detached = Boolean(message.detach);
    return this.#follow("Run", { ...message, sessionId: this.sessionId, heartbeat: beat }, { detached, about, type: message.type });
  }

  // attach shows a detached run.
  attach(runId) {
    return this.#follow("AttachRun", { sessionId: this.sessionId, runId, heartbeat: beat }, { detached: true, ...this.runs.get(runId) });
  }

  // leave shows the run no longer. A detached one goes on, any other one ends.
  leave() {
    if (this.run) this.run.left = true;
    this.#stream?.abort();
  }

  signal(runId, signal) {
    return call("SignalRun", { sessionId: this.sessionId, runId, signal });
  }

  // interrupt is what Ctrl+C would do.
  interrupt() { return this.signal(this.run.id, "SIGNAL_INTERRUPT"); }

  // stop ends the run: in order at first, and by force when it is asked for again. One that waits for its turn is given up.
  async stop() {
    if (this.run.waiting) {
      this.leave();
      return;
    }
    const signal = this.run.stopped ? "SIGNAL_KILL" : "SIGNAL_TERMINATE";
    this.run.stopped = true;
    this.changed();
    await this.signal(this.run.id, signal);
  }

  // refresh asks the server for its runs. Those that it no longer knows, and had not ended, are forgotten.
  async refresh() {
    const { runs = [] } = await call("ListRuns", { sessionId: this.sessionId });
    const here = new Set(runs.map((r) => r.runId));
    for (const [key, run] of this.runs) {
      if (!run.result && !here.has(key) && key !== this.run?.id) this.runs.delete(key);
    }
    for (const run of runs) this.#remember({ ...this.runs.get(run.runId), ...run });
    this.changed();
  }

  #remember(run) {
    this.runs.set(run.runId, run);
    for (const [key, old] of this.runs) {
      if (this.runs.size <= maxSeen) break;
      if (old.result) this.runs.delete(key);
    }
  }

  async #follow(method, message, about) {
    if (this.run) return;
    if (streams >= maxStreams) {
      this.#end({ doing: "Run", error: new CallError("resource_exhausted", `${maxStreams} runs stream to this page: that is as much as a browser can. Wait, or leave a detached one.`) });
      return;
    }
    streams++;
    this.#stream = new AbortController();
    this.run = { id: "", began: performance.now(), detached: about.detached, waiting: true, stopped: false };
    this.result = null;
    this.output.clear();
    this.changed();
    let end;
    try {
      end = { result: await this.#read(method, message, about) };
    } catch (error) {
      end = this.#failure(error);
    } finally {
      streams--;
      this.output.end();
    }
    this.#end(end);
  }

  async #read(method, message, about) {
    for await (const { event = {} } of stream(method, [message], { signal: this.#stream.signal, beats: true })) {
      if (event.started) this.#started(event.started, about);
      for (const [name, skipped] of [["out", event.stdoutSkipped], ["err", event.stderrSkipped]]) {
        if (Number(skipped ?? 0) > 0) this.output.note(`[${size(skipped)} of ${name === "out" ? "stdout" : "stderr"} before this are no longer there]`);
      }
      if (event.stdout) this.output.add("out", bytes(event.stdout));
      if (event.stderr) this.output.add("err", bytes(event.stderr));
      if (event.exited) {
        this.#remember({ ...this.runs.get(this.run.id), result: event.exited });
        return event.exited;
      }
      await this.output.ready();
    }
    throw new CallError("unavailable", "the stream ended before the run");
  }

  #started(started, about) {
    this.run.id = started.runId;
    this.run.waiting = false;
    this.#remember({ ...about, ...started, startedAt: started.at });
    this.changed();
  }

  #failure(error) {
    if (!this.run.left) return { doing: "Run", error };
    if (this.run.detached) return { note: "The run goes on. Attach to it again below." };
    return { note: "The run was given up." };
  }

  #end(end) {
    const { run } = this;
    this.run = null;
    this.#stream = null;
    this.result = end;
    const seen = run && this.runs.get(run.id);
    if (seen && !seen.result && !run.detached) this.runs.delete(run.id);
    this.changed();
  }
}
