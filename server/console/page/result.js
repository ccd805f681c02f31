// The figures of a run.

import { make } from "./dom.js";
import { plain, seconds, size, time, word } from "./format.js";

// ending is how a run ended, in a word or two.
export function ending(result) {
  if (!result) return "running";
  const reason = word(result.reason, "REASON_") || "unknown";
  if (reason === "exited") return `exit ${result.exitCode ?? "?"}`;
  return reason;
}

// good tells that a run ended as scripts should.
export function good(result) {
  return result?.reason === "REASON_EXITED" && result.exitCode === 0;
}

// tierOf is the tier of a run, and its backend.
export function tierOf(run) {
  const tier = word(run.tier, "TIER_") || "–";
  return run.backend ? `${tier} (${plain(run.backend)})` : tier;
}

// figures are those of a result as elements.
export function figures(result) {
  const list = make("dl", { className: "figures" });
  const add = (name, value, className) => {
    if (value) list.append(make("div", { className }, make("dt", { textContent: name }), make("dd", { textContent: value })));
  };
  const signal = result.signal ? `, signal ${result.signal}` : "";
  add("Exit code", String(result.exitCode ?? "–"), good(result) ? "good" : "bad");
  add("Reason", word(result.reason, "REASON_") + signal);
  add("Tier", tierOf(result));
  add("Wall time", time(seconds(result.wallTime)));
  add("CPU time", time(seconds(result.cpuTime)));
  add("Peak memory", size(result.peakMemoryBytes));
  add("stdout", size(result.stdoutBytes ?? 0));
  add("stderr", size(result.stderrBytes ?? 0));
  add("Route", plain(result.route), "wide");
  add("Value", plain(result.value), "wide value");
  add("Advice", plain(result.advice), "wide");
  if (result.truncated) add("Truncated", "Output past the limit was dropped.", "wide");
  if (result.interpreterLost) add("Interpreter", "The run has ended the live interpreter: its variables are gone.", "wide");
  return list;
}
