// The main part of the page: what it shows of the session that is chosen.

import { id, make, button } from "./dom.js";
import * as errors from "./errors.js";
import { long, plain, seconds, short, size, time, word } from "./format.js";
import { ending, figures, good, tierOf } from "./result.js";

let clock = 0;

// show shows a workspace. Call it again when anything in it has changed.
export function show(work) {
  if (id("outputs").firstChild !== work.output.element) id("outputs").replaceChildren(work.output.element);
  buttons(work);
  progress(work);
  result(work);
  runs(work);
}

// hide stops what show began.
export function hide() { clearInterval(clock); }

function buttons({ run }) {
  id("run").disabled = run !== null;
  id("interrupt").disabled = !run || run.waiting;
  id("stop").disabled = !run;
  id("stop").textContent = run?.stopped ? "Kill" : "Stop";
  id("leave").hidden = !run?.detached;
}

// progress counts the seconds of a run. Without one it does nothing.
function progress({ run }) {
  clearInterval(clock);
  const tick = () => {
    const text = run ? `${run.waiting ? "waiting for its turn" : "running"}, ${long((performance.now() - run.began) / 1000)}` : "";
    if (id("progress").textContent !== text) id("progress").textContent = text;
  };
  tick();
  if (run) clock = setInterval(tick, 500);
}

let shown; // what the result is of: it is announced once

function result({ result }) {
  if (shown === result) return;
  shown = result;
  const box = id("result");
  if (!result) box.replaceChildren();
  else if (result.error) {
    const { what, todo, said } = errors.inWords(result.error);
    box.replaceChildren(make("p", { className: "bad" }, make("strong", { textContent: `${result.doing}: ${what}` }), ` ${todo}`), make("p", { className: "said", textContent: said }));
  } else if (result.note) box.replaceChildren(make("p", { textContent: result.note }));
  else box.replaceChildren(figures(result.result));
}

function runs(work) {
  const list = [...work.runs.values()].sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
  const focused = document.activeElement?.dataset?.key;
  id("runs").tBodies[0].replaceChildren(...list.map((run) => row(work, run)));
  if (focused) id("runs").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  id("no-runs").hidden = list.length > 0;
  id("runs").hidden = list.length === 0;
}

function row(work, run) {
  const r = run.result;
  const cells = [
    make("td", { textContent: short(run.runId), title: run.runId, className: "mono" }),
    make("td", {}, scriptOf(run)),
    make("td", { textContent: tierOf(run), title: plain(run.route) }),
    make("td", { textContent: ending(r), className: !r ? "live" : good(r) ? "good" : "bad" }),
    make("td", { textContent: r ? time(seconds(r.wallTime)) : "" }),
    make("td", { textContent: r ? time(seconds(r.cpuTime)) : "" }),
    make("td", { textContent: r ? size(r.peakMemoryBytes) : "" }),
    make("td", { textContent: r ? size(Number(r.stdoutBytes ?? 0) + Number(r.stderrBytes ?? 0)) : "" }),
  ];
  return make("tr", {}, ...cells, make("td", { className: "actions" }, ...actions(work, run)));
}

function scriptOf(run) {
  const kind = make("span", { textContent: word(run.type, "SCRIPT_TYPE_") || "python" });
  const about = make("span", { className: "mono about", textContent: plain(run.about ?? run.name) });
  return make("span", { title: plain(run.route) }, kind, run.detached ? " (detached) " : " ", about);
}

function actions(work, run) {
  const out = [];
  const add = (text, act, doing) => {
    const b = button(text, async () => {
      try {
        await act();
      } catch (err) {
        errors.show(err, doing);
      }
    }, `${text} run ${short(run.runId)}`);
    b.dataset.key = `${text} ${run.runId}`;
    out.push(b);
  };
  const here = work.run?.id === run.runId;
  if (run.detached && !here) add("Attach", async () => work.attach(run.runId), "Attach to the run");
  if (!run.result && !here) add("Stop", async () => { await work.signal(run.runId, "SIGNAL_TERMINATE"); await work.refresh(); }, "Stop the run");
  return out;
}
