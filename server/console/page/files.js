// The files of a session. Names are bytes: those that are not UTF-8 are shown as well as can be, and sent as they are.

import { call, stream, upload } from "./connect.js";
import { button, id, make, twice } from "./dom.js";
import * as errors from "./errors.js";
import { base64, bytes, plain, size } from "./format.js";

const page = 500; // entries of one answer
const piece = 512 << 10; // bytes of one message
const maxUpload = 256 << 20; // it is made whole before it is sent: browsers send no streams over HTTP/1.1
const maxDownload = 1024 << 20; // it is held by the browser until it is saved

const slash = 47;

export class Files {
  #path = []; // of the directory that is shown: names as bytes
  #asking = 0;

  constructor() {
    id("refresh-files").onclick = () => this.refresh();
    id("upload").onchange = () => this.#upload([...id("upload").files]);
  }

  // show shows the work directory of a session.
  show(sessionId) {
    this.sessionId = sessionId;
    this.#path = [];
    return this.refresh();
  }

  async refresh() {
    await this.#list(undefined);
  }

  async #list(pageToken) {
    const asking = ++this.#asking;
    const { sessionId } = this;
    try {
      const answer = await call("ListFiles", { sessionId, ...pathOf(this.#path), pageSize: page, pageToken });
      if (asking !== this.#asking) return;
      this.#folder();
      const rows = (answer.files ?? []).map((f) => this.#row(f));
      const body = id("files").tBodies[0];
      if (!pageToken) body.replaceChildren();
      body.append(...rows);
      id("files").hidden = body.rows.length === 0;
      id("files-note").replaceChildren(body.rows.length === 0 ? "No files." : "");
      if (answer.nextPageToken) id("files-note").replaceChildren(button("More", () => this.#list(answer.nextPageToken)));
    } catch (err) {
      if (asking !== this.#asking) return;
      if (this.#path.length > 0 && err.kinds?.includes("NOT_EXIST")) {
        this.#path = [];
        await this.refresh();
        return;
      }
      errors.show(err, "List the files");
    }
  }

  #folder() {
    const parts = [button("work", () => this.#go(0), "Work directory")];
    this.#path.forEach((name, i) => parts.push(" / ", button(readable(name), () => this.#go(i + 1))));
    id("folder").replaceChildren(...(this.#path.length ? parts : []));
  }

  #go(depth) {
    this.#path.length = depth;
    return this.refresh();
  }

  #row(f) {
    const name = f.nameRaw ? bytes(f.nameRaw) : new TextEncoder().encode(f.name);
    const text = readable(name);
    const isDirectory = f.type === "FILE_TYPE_DIRECTORY";
    const isRegular = f.type === "FILE_TYPE_REGULAR";
    const at = [...this.#path, name];
    const kind = isRegular ? "" : ` (${f.type.replace("FILE_TYPE_", "").toLowerCase()})`;
    const first = isDirectory ? button(`${text}/`, () => { this.#path = at; return this.refresh(); }) : make("span", { textContent: text + kind });
    const remove = twice("Remove", () => this.#remove(at, isDirectory), text);
    const acts = isRegular ? [button("Download", () => this.#download(at), `Download ${text}`), remove] : [remove];
    const changed = new Date(f.modifiedAt);
    return make("tr", {},
      make("td", { className: "mono" }, first),
      make("td", { textContent: isRegular ? size(f.sizeBytes ?? 0) : "" }),
      make("td", { textContent: Number.isNaN(changed.getTime()) ? "" : changed.toLocaleString() }),
      make("td", { className: "actions" }, ...acts));
  }

  async #remove(path, recursive) {
    try {
      await call("RemoveFile", { sessionId: this.sessionId, ...pathOf(path), recursive });
    } catch (err) {
      errors.show(err, "Remove the file");
    }
    await this.refresh();
  }

  async #download(path) {
    const { sessionId } = this;
    const name = readable(path.at(-1));
    try {
      const parts = [];
      let done = 0;
      for await (const m of stream("GetFile", [{ sessionId, ...pathOf(path), maxBytes: String(maxDownload) }])) {
        const data = bytes(m.data);
        parts.push(data);
        done += data.length;
        id("files-note").textContent = `${name}: ${size(done)}`;
      }
      save(new Blob(parts, { type: "application/octet-stream" }), name);
    } catch (err) {
      errors.show(err, `Download ${name}`);
    }
  }

  async #upload(list) {
    const { sessionId } = this;
    for (const file of list) {
      try {
        if (file.size > maxUpload) throw new errors.InputError(`this page sends files of ${size(maxUpload)} at most`);
        id("files-note").textContent = `Uploading ${plain(file.name)}, ${size(file.size)}`;
        const name = new TextEncoder().encode(file.name);
        await upload("PutFile", [{ header: { sessionId, ...pathOf([...this.#path, name]) } }, ...await pieces(file)]);
      } catch (err) {
        errors.show(err, `Upload ${plain(file.name)}`);
      }
    }
    id("upload").value = "";
    await this.refresh();
  }
}

async function pieces(file) {
  const data = new Uint8Array(await file.arrayBuffer());
  const out = [];
  for (let at = 0; at < data.length; at += piece) out.push({ data: base64(data.subarray(at, at + piece)) });
  return out;
}

// save has the browser save a file. It never shows it.
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function readable(name) { return plain(new TextDecoder().decode(name)); }

// pathOf gives the field of a message for a path: text where it is, bytes otherwise.
function pathOf(names) {
  const raw = Uint8Array.from(names.flatMap((name, i) => (i ? [slash, ...name] : [...name])));
  try {
    return { path: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw) };
  } catch {
    return { pathRaw: base64(raw) };
  }
}
