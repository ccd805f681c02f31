// What a run has written, as it comes. A reader that waits for ready between pieces holds up the server, and so the script,
// instead of the page.

import { Terminal } from "./ansi.js";
import { make } from "./dom.js";
import { size } from "./format.js";

// Weights are characters, with something on top for each element and line: colours that change with every letter and lines
// of one letter cost a browser more than their characters.
const elementWeight = 200;
const lineWeight = 8;
const keep = 4 << 20; // what stays in the page; the oldest goes
const perFrame = 128 << 10; // what gets in between two pictures
const waiting = 512 << 10; // more that is not in the page yet, and the reader waits
const fullBlock = 32 << 10; // a block is laid out as a whole, and only when it is seen
const fullLines = 500; // a block has no more lines than that and a piece has
const longest = 4 << 10; // characters of a piece

export class Output {
  #streams = newStreams();
  #pending = []; // {stream, text, classes, lines, weight}
  #pendingWeight = 0;
  #weight = 0;
  #dropped = 0;
  #blocks = []; // {element, weight, lines}
  #scheduled = false;
  #waiters = [];
  #following = true; // the end is in view, and stays there
  #top = 0; // where the box was scrolled to

  constructor() {
    this.dropNote = make("p", { className: "note", hidden: true });
    this.body = make("div", { className: "lines" });
    this.element = make("div", { className: "output", tabIndex: 0, role: "region", "aria-label": "What the run wrote" }, this.dropNote, this.body);
    this.element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  // add takes the next bytes of a stream, "out" or "err".
  add(stream, data) {
    const s = this.#streams[stream];
    for (let at = 0; at < data.length; at += 65536) {
      this.#take(stream, s.terminal.feed(s.decoder.decode(data.subarray(at, at + 65536), { stream: true })));
    }
  }

  // end says that nothing follows: what is left of a character that was cut off is shown.
  end() {
    for (const [name, s] of Object.entries(this.#streams)) this.#take(name, s.terminal.feed(s.decoder.decode()));
  }

  // note puts a line of the page's own among the output.
  note(text) {
    this.#take("note", [[text + "\n", ""]]);
  }

  // ready is fulfilled when there is room for more.
  ready() {
    if (this.#pendingWeight < waiting) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  clear() {
    this.#streams = newStreams();
    this.#pending = [];
    this.#blocks = [];
    this.#pendingWeight = this.#weight = this.#dropped = 0;
    this.body.replaceChildren();
    this.dropNote.hidden = true;
    this.#following = true;
    this.#wake();
  }

  #take(stream, pieces) {
    for (const [text, classes] of pieces) {
      for (let at = 0; at < text.length;) {
        const end = cutAt(text, at);
        const piece = newPiece(stream, text.slice(at, end), classes);
        this.#pending.push(piece);
        this.#pendingWeight += piece.weight + elementWeight;
        at = end;
      }
    }
    this.#schedule();
  }

  // schedule asks for the next picture. A page that is not seen has none, so that a clock does as well.
  #schedule() {
    if (this.#scheduled || this.#pending.length === 0) return;
    this.#scheduled = true;
    let done = false;
    const flush = () => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      this.#scheduled = false;
      this.#flush();
    };
    const timer = setTimeout(flush, 300);
    requestAnimationFrame(flush);
  }

  #flush() {
    let room = perFrame;
    let taken = 0;
    while (taken < this.#pending.length && room > 0) {
      const piece = this.#pending[taken++];
      const weight = piece.weight + elementWeight;
      room -= weight;
      this.#pendingWeight -= weight;
      this.#append(piece);
    }
    this.#pending.splice(0, taken);
    this.#trim();
    this.#follow();
    if (this.#pendingWeight < waiting) this.#wake();
    this.#schedule();
    // A block has its true height once it was in view: the end moves a little then.
    if (this.#pending.length === 0) requestAnimationFrame(() => requestAnimationFrame(() => this.#follow()));
  }

  #follow() {
    const box = this.element;
    if (this.#following) box.scrollTop = box.scrollHeight;
    this.#top = box.scrollTop;
  }

  // scrolled sees who scrolls up, and who comes back to the end. That the text grows is neither.
  #scrolled() {
    const box = this.element;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 30;
    if (atEnd) this.#following = true;
    else if (box.scrollTop < this.#top) this.#following = false;
    this.#top = box.scrollTop;
    box.style.overflowAnchor = this.#following ? "none" : "auto";
  }

  #wake() {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #append({ stream, text, classes, lines, weight }) {
    const block = this.#block();
    const name = classes ? `${stream} ${classes}` : stream;
    const last = block.element.lastChild;
    if (last?.className === name && last.firstChild.length < longest) {
      last.firstChild.appendData(text);
    } else {
      block.element.append(make("span", { className: name, textContent: text }));
      weight += elementWeight;
    }
    block.weight += weight;
    this.#weight += weight;
    block.lines += lines;
    block.closed = (block.weight > fullBlock || block.lines > fullLines) && (text.endsWith("\n") || block.weight > 2 * fullBlock);
    if (block.closed) block.element.style.containIntrinsicBlockSize = `auto ${block.lines * 1.4}em`;
  }

  // block is the one that the next piece gets into. One begins behind the end of a line, where it can.
  #block() {
    const last = this.#blocks.at(-1);
    if (last && !last.closed) return last;
    const block = { element: make("div", { className: "block" }), weight: 0, lines: 0, closed: false };
    this.#blocks.push(block);
    this.body.append(block.element);
    return block;
  }

  #trim() {
    while (this.#weight > keep && this.#blocks.length > 1) {
      const block = this.#blocks.shift();
      this.#weight -= block.weight;
      this.#dropped += block.element.textContent.length;
      block.element.remove();
    }
    if (this.#dropped === 0) return;
    this.dropNote.hidden = false;
    this.dropNote.textContent = `The first ${size(this.#dropped)} are no longer shown here.`;
  }
}

function newStreams() {
  const reader = () => ({ decoder: new TextDecoder(), terminal: new Terminal() });
  return { out: reader(), err: reader() };
}

function newPiece(stream, text, classes) {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return { stream, text, classes, lines, weight: text.length + lines * lineWeight };
}

// cutAt is where a piece of the text ends that begins at a place: at the end of a line if there is one, and never within
// a character.
function cutAt(text, at) {
  if (text.length - at <= longest) return text.length;
  const line = text.lastIndexOf("\n", at + longest - 1);
  if (line >= at) return line + 1;
  const code = text.charCodeAt(at + longest - 1);
  return at + longest - (code >= 0xd800 && code < 0xdc00 ? 1 : 0);
}
