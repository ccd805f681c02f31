// Figures as text, and the forms that values have in JSON.

// base64 and bytes translate the bytes of messages.
export function base64(data) {
  if (data.toBase64) return data.toBase64();
  let text = "";
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return btoa(text);
}

export function bytes(text) {
  if (!text) return new Uint8Array(0);
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

// seconds is a duration of a message as a number, and NaN where there is none.
export function seconds(duration) {
  return duration === undefined ? NaN : parseFloat(duration);
}

// size is a number of bytes for people.
export function size(n) {
  n = Number(n ?? NaN);
  if (!(n >= 0)) return "–";
  if (n < 1024) return `${n} B`;
  for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
    n /= 1024;
    if (n < 1000 || unit === "TiB") return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${unit}`;
  }
}

// time is a duration in seconds for people.
export function time(s) {
  if (!(s >= 0)) return "–";
  if (s < 0.001) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${s < 0.01 ? (s * 1000).toFixed(1) : Math.round(s * 1000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(2) : s.toFixed(1)} s`;
  return long(s);
}

// long is a duration of which fractions of a second do not matter.
export function long(s) {
  if (!Number.isFinite(s)) return "–";
  s = Math.max(0, Math.round(s));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return s % 60 && minutes < 10 ? `${minutes} min ${s % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// word is the name of a value of an enum as people write it: REASON_EXITED is exited.
export function word(value, prefix) {
  return String(value ?? "").replace(prefix, "").toLowerCase().replaceAll("_", " ");
}

// short is the beginning of an id.
export function short(id) { return String(id ?? "").slice(0, 8); }

// plain is text of others on one line, in which nothing is unseen: no control characters, and none that turn the direction
// of what follows.
export function plain(text) {
  return String(text ?? "").replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// duration is a number of seconds in the form of messages.
export function duration(s) { return `${Number(s).toFixed(9)}s`; }
