// Terminal output as pieces of text with a style. It is hostile: sequences that move, hide or rename things are left out, what
// would be unseen is made seen, and backgrounds are not drawn, since text on its own colour would be unseen too.

const ESC = "\x1b";
const maxString = 4096; // characters of a title or the like that are skipped; then it is text again
const maxParameters = 64; // characters of a sequence's parameters that are kept

// Control characters but tab and newline, and those that turn the direction of text or have no width.
const special = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// A Terminal reads one stream. A sequence may be split anywhere between two texts.
export class Terminal {
  #state = "text";
  #parameters = "";
  #skipped = 0;
  #return = false; // a carriage return came, and it is not known what follows
  #style = {};
  #class = "";
  #out = [];

  // feed gives the pieces of the next text: [text, classes].
  feed(text) {
    this.#out = [];
    for (let at = 0; at < text.length;) {
      at = this.#state === "text" ? this.#text(text, at) : this.#sequence(text, at);
    }
    return this.#out;
  }

  #push(text) {
    const last = this.#out.at(-1);
    if (last?.[1] === this.#class) last[0] += text;
    else this.#out.push([text, this.#class]);
  }

  #text(text, at) {
    if (this.#return) {
      this.#return = false;
      if (text[at] !== "\n") this.#push("\n"); // a line that is written over stays, and the next one is below
    }
    special.lastIndex = at;
    const found = special.exec(text);
    const end = found ? found.index : text.length;
    if (end > at) this.#push(text.slice(at, end));
    if (!found) return end;
    if (found[0] === ESC) this.#state = "escape";
    else if (found[0] === "\r") this.#return = true;
    else if (found[0] !== "\x07") this.#push(seen(found[0]));
    return end + 1;
  }

  #sequence(text, at) {
    const c = text[at];
    switch (this.#state) {
      case "escape":
        this.#parameters = "";
        this.#skipped = 0;
        this.#state = c === "[" ? "csi" : "]PX^_".includes(c) ? "string" : c >= " " && c <= "/" ? "one" : "text";
        return at + (c === "\n" || c === ESC ? 0 : 1);
      case "csi":
        return this.#csi(c, at);
      case "string":
        if (c === "\n" || c === ESC || ++this.#skipped > maxString) this.#state = c === ESC ? "one" : "text";
        else if (c === "\x07" || c === "\x9c") this.#state = "text";
        return at + (c === "\n" ? 0 : 1);
      default: // one more character of a sequence of two
        this.#state = "text";
        return at + (c === "\n" ? 0 : 1);
    }
  }

  #csi(c, at) {
    if (c >= " " && c <= "?") {
      if (this.#parameters.length < maxParameters) this.#parameters += c;
      return at + 1;
    }
    this.#state = "text";
    if (c < "@" || c > "~") return at; // no such sequence: what follows is text
    if (c === "m" && /^[\d;:]*$/.test(this.#parameters)) this.#render(this.#parameters.split(/[;:]/).map(Number));
    return at + 1;
  }

  // render does a "select graphic rendition" (ECMA-48, 8.3.117).
  #render(codes) {
    const s = this.#style;
    for (let i = 0; i < codes.length; i++) {
      const n = codes[i];
      if (n === 0) for (const key of Object.keys(s)) delete s[key];
      else if (n === 38 || n === 48) {
        if (n === 38 && codes[i + 1] === 5 && codes[i + 2] < 16) s.colour = codes[i + 2];
        i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0;
      } else if (n >= 30 && n <= 37) s.colour = n - 30;
      else if (n >= 90 && n <= 97) s.colour = n - 82;
      else if (n === 39) delete s.colour;
      else if (n === 22) delete s.bold, delete s.dim;
      else if (on[n]) s[on[n]] = true;
      else if (off[n]) delete s[off[n]];
    }
    const classes = Object.keys(s).filter((key) => key !== "colour").sort();
    if (s.colour !== undefined) classes.push(`c${s.colour}`);
    this.#class = classes.join(" ");
  }
}

const on = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse" };
const off = { 23: "italic", 24: "underline", 27: "inverse" };

function seen(c) {
  const code = c.charCodeAt(0);
  if (code < 32) return String.fromCharCode(0x2400 + code);
  if (code === 127) return "\u2421";
  return `\\u{${code.toString(16)}}`;
}
