// The protocol: Connect with JSON over fetch. Bytes are base64, 64-bit numbers are strings and durations are like "1.5s".

const service = new URL("../sandbox.v2.SandboxService/", document.baseURI);
const endOfStream = 2; // the flag of the envelope that ends a response
const maxEnvelope = 96 << 20; // more is not the server's
const heartbeat = 5; // s: the longest time without a message in a stream of a run
const silence = 4 * heartbeat * 1000; // ms after which a stream is taken for dead

let token = "";

// setToken sets what is sent with each call. Empty: nothing.
export function setToken(value) { token = value; }

// A CallError is what a call failed with: Connect's code, the kinds of the contract, and the server's own words.
export class CallError extends Error {
  constructor(code, message, detail = {}) {
    super(message);
    this.code = code;
    this.kinds = (Array.isArray(detail.kinds) ? detail.kinds : []).map((k) => String(k).replace("ERROR_KIND_", ""));
    this.detail = detail;
  }
}

// call makes a call without streams, and gives what was answered. Skew is told the server's clock.
export async function call(method, message, { signal, clock } = {}) {
  const response = await post(method, "application/json", JSON.stringify(message), signal);
  clock?.(response.headers.get("Date"));
  return response.json();
}

// stream makes a call and gives the messages of its response, one by one: nothing is read while the caller is busy, so that
// the server waits. parts are the messages of the request.
export async function* stream(method, parts, { signal, beats = false } = {}) {
  const watch = new Watch(signal, beats ? silence : 0);
  try {
    const response = await post(method, "application/connect+json", new Blob(parts.map(envelope)), watch.signal);
    yield* envelopes(response.body.getReader(), watch);
  } catch (err) {
    throw watch.expired ? new CallError("unavailable", "nothing came from the server any more") : err;
  } finally {
    watch.end();
  }
}

// upload makes a call with a stream of messages in the request alone. Blobs may be among the parts.
export async function upload(method, parts) {
  for await (const answer of stream(method, parts)) return answer;
  throw new CallError("unknown", "the server answered nothing");
}

export const beat = `${heartbeat}s`;

// A Watch ends a request that its caller ends, or in which nothing came for too long while somebody was reading.
class Watch {
  #timer = 0;
  #stop = new AbortController();
  expired = false;

  constructor(outer, limit) {
    this.limit = limit;
    if (outer?.aborted) this.#stop.abort();
    outer?.addEventListener("abort", () => this.#stop.abort(), { signal: this.#stop.signal });
  }

  get signal() { return this.#stop.signal; }

  async read(reader) {
    if (this.limit) this.#timer = setTimeout(() => { this.expired = true; this.#stop.abort(); }, this.limit);
    try {
      return await reader.read();
    } finally {
      clearTimeout(this.#timer);
    }
  }

  end() { this.#stop.abort(); } // a caller that reads no further ends the call
}

async function post(method, type, body, signal) {
  const headers = { "Content-Type": type, "Connect-Protocol-Version": "1" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(new URL(method, service), { method: "POST", headers, body, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
  } catch (err) {
    if (signal?.aborted) throw err;
    throw new CallError("unavailable", "the server does not answer");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response) {
  const text = (await response.text()).slice(0, 65536);
  try {
    return problem(JSON.parse(text));
  } catch {
    const code = { 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented" }[response.status] ?? "unknown";
    return new CallError(code, text.trim() || `HTTP ${response.status}`);
  }
}

function problem(error) {
  const details = Array.isArray(error.details) ? error.details : [];
  const detail = details.find((d) => d?.type === "sandbox.v2.ErrorDetail");
  return new CallError(String(error.code ?? "unknown"), String(error.message ?? ""), detail?.debug ?? {});
}

function envelope(message) {
  const text = new TextEncoder().encode(JSON.stringify(message));
  const out = new Uint8Array(5 + text.length);
  new DataView(out.buffer).setUint32(1, text.length);
  out.set(text, 5);
  return out;
}

async function* envelopes(reader, watch) {
  const input = new Input(reader, watch);
  const text = new TextDecoder();
  for (;;) {
    const head = await input.take(5);
    if (!head) throw new CallError("unavailable", "the stream was cut off");
    const size = new DataView(head.buffer, head.byteOffset).getUint32(1);
    const body = size <= maxEnvelope && await input.take(size);
    if (!body) throw new CallError("unavailable", "the stream was cut off in a message");
    const message = JSON.parse(text.decode(body));
    if (head[0] & endOfStream) {
      if (message.error) throw problem(message.error);
      return;
    }
    yield message;
  }
}

// An Input gives the bytes of a response in the pieces that are asked for.
class Input {
  #chunks = [];
  #size = 0;

  constructor(reader, watch) {
    this.reader = reader;
    this.watch = watch;
  }

  // take gives n bytes, or null when the response ends before.
  async take(n) {
    while (this.#size < n) {
      let next;
      try {
        next = await this.watch.read(this.reader);
      } catch (err) {
        if (this.watch.signal.aborted) throw err;
        return null; // the connection broke
      }
      if (next.done) return null;
      this.#chunks.push(next.value);
      this.#size += next.value.length;
    }
    return this.#cut(n);
  }

  #cut(n) {
    const out = new Uint8Array(n);
    this.#size -= n;
    for (let at = 0; at < n;) {
      const first = this.#chunks[0];
      const part = first.subarray(0, n - at);
      out.set(part, at);
      at += part.length;
      if (part.length === first.length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(part.length);
    }
    return out;
  }
}
