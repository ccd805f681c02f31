"""Writes manifest.json: what the artefact is made of. manifest.py SOURCES.LOCK WORK OUT"""

import hashlib
import json
import pathlib
import sys

LICENCES = {
    "python3.13": "PSF-2.0", "xz-utils": "0BSD", "zlib": "Zlib", "bzip2": "bzip2-1.0.6", "sqlite3": "blessing",
    "tzdata": "public domain", "tzdata-legacy": "public domain",
    "wasi-libc": "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT; musl parts MIT",
}
# Libraries that come within Python's own source.
BUNDLED = {"expat": "MIT", "libmpdec": "BSD-2-Clause", "HACL*": "Apache-2.0 OR MIT", "BLAKE2": "CC0-1.0"}


def main(lock, work, out):
    sources, files = {}, {}
    for line in pathlib.Path(lock).read_text().splitlines():
        kind, *rest = line.split()
        if kind in ("source", "binary"):
            sources[rest[0]] = {"kind": kind, "version": rest[1], "licence": LICENCES[rest[0]]}
        elif kind == "file":
            files[rest[1]] = rest[0]
    artefacts = {}
    for name in ("python.wasm.zst", "stdlib.zip"):
        content = (pathlib.Path(out) / name).read_bytes()
        artefacts[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    module = (pathlib.Path(work) / "python.wasm").read_bytes()
    artefacts["python.wasm"] = {"sha256": hashlib.sha256(module).hexdigest(), "bytes": len(module)}
    manifest = {
        "python": "3.13.5", "artefacts": artefacts, "sources": sources, "files": files, "bundled": BUNDLED,
    }
    (pathlib.Path(out) / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main(*sys.argv[1:])
