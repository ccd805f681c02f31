// What went wrong, in words: what it is, what to do, and what the server said.

import { CallError } from "./connect.js";
import { id, make, button } from "./dom.js";
import { plain } from "./format.js";

// By kind of the contract, the most telling one first.
const kinds = {
  UNAUTHENTICATED: ["The server wants a token that it knows.", "Paste one above."],
  LIMIT: ["There is as much as there may be.", "Close sessions or wait for runs to end, then try again."],
  DENIED: ["The server's policy does not allow this.", "Ask for less, or ask whoever runs the server."],
  NO_SESSION: ["It is not there any more, or it is somebody else's.", "Sessions end when they are not used. Open a new one."],
  CLOSED: ["The session was closed.", "Open a new one."],
  DRAINING: ["The server is about to end.", "It takes nothing new. Try again when it has been started again."],
  NEEDS_NATIVE: ["The script needs the native tier.", "Open a session whose Python tier is auto or native."],
  NOT_ENFORCEABLE: ["The server's host cannot hold a limit.", "Open a session without it."],
  NOT_AVAILABLE: ["The tier or backend of the session cannot do this on the server's host.", "Choose another one in the options of a new session."],
  LOST: ["The run's end is not known.", "The script may have done its work, or a part of it. Look before you run it again."],
  TOO_LARGE: ["It is larger than allowed.", ""],
  NO_SPACE: ["The disk limit of the session is reached.", "Remove files, or open a session with more."],
  NOT_EXIST: ["There is no such file.", "Refresh the list."],
  IS_DIRECTORY: ["It is a directory.", ""],
  NOT_DIRECTORY: ["It is not a directory.", ""],
  NOT_REGULAR: ["It is not a regular file.", ""],
  ESCAPES: ["The path leads out of the work directory.", ""],
  BUSY: ["It is busy.", "Wait until what is under way has ended."],
  INVALID: ["The server cannot use this as given.", "Correct it and try again."],
  NOT_STARTED: ["The script was not started.", "It did nothing, and can be run again."],
};

const codes = {
  unauthenticated: kinds.UNAUTHENTICATED,
  permission_denied: ["The server refuses this page.", "Open it by a name of the server itself."],
  unavailable: ["The connection to the server is lost.", "Look whether it runs. A detached run goes on, and can be attached again."],
  unimplemented: ["The server does not know this call.", "Load the page again: the server may have changed."],
  resource_exhausted: kinds.LIMIT,
  deadline_exceeded: ["It took too long.", "Try again."],
  internal: ["The server has a fault.", "Its log says more."],
};

// An InputError is of what the page does not send to the server.
export class InputError extends Error {}

// inWords gives what an error is, what to do, and the server's words.
export function inWords(err) {
  if (err instanceof InputError) return { what: "This cannot be used as given.", todo: "", said: plain(err.message) };
  if (!(err instanceof CallError)) return { what: "The page has a fault.", todo: "Load it again.", said: plain(err?.message ?? err) };
  const kind = Object.keys(kinds).find((k) => err.kinds.includes(k));
  const [what, todo] = kinds[kind] ?? codes[err.code] ?? ["The server could not do this.", "Try again."];
  return { what, todo, said: plain(err.message) };
}

// show shows an error at the head of the page, until another one or until it is put away. doing says what failed.
export function show(err, doing) {
  if (err?.name === "AbortError") return;
  const { what, todo, said } = inWords(err);
  const box = id("error");
  box.replaceChildren(
    make("p", {}, make("strong", { textContent: `${doing}: ${what}` }), ` ${todo}`),
    make("p", { className: "said", textContent: said }),
    button("Dismiss", clear),
  );
  box.hidden = false;
}

export function clear() {
  id("error").hidden = true;
  id("error").replaceChildren();
}

// isUnauthenticated tells that a token is missing or wrong.
export function isUnauthenticated(err) {
  return err instanceof CallError && (err.code === "unauthenticated" || err.kinds.includes("UNAUTHENTICATED"));
}

// isGone tells that a session or run is not there.
export function isGone(err) {
  return err instanceof CallError && (err.kinds.includes("NO_SESSION") || err.kinds.includes("CLOSED"));
}
