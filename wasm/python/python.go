// Package python holds the CPython interpreter for WebAssembly and its standard library, built by the
// recipe in build/ from Debian's source packages. It is data and how to open it: it imports nothing of
// Sandbar.
package python

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed" // the artefact
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:embed python.wasm.zst
var interpreter []byte

//go:embed stdlib.zip
var stdlib []byte

//go:embed manifest.json
var manifest []byte

// Version is the version of CPython.
const Version = "3.13.5"

// The folders of the archive that Library opens, and where a script finds them.
const (
	LibraryFolder   = "python"
	LibraryPath     = "/usr/lib/python3.13"
	ZoneinfoFolder  = "zoneinfo"
	ZoneinfoPath    = "/usr/share/zoneinfo"
	maxInterpreter  = 64 << 20
	interpreterName = "python.wasm"
)

// Manifest says what the artefact is made of.
type Manifest struct {
	Python    string              `json:"python"`
	Artefacts map[string]Artefact `json:"artefacts"`
	Sources   map[string]Source   `json:"sources"`
	Files     map[string]string   `json:"files"`
	Bundled   map[string]string   `json:"bundled"`
}

// Artefact is one file that the recipe makes.
type Artefact struct {
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// Source is one package that the recipe uses.
type Source struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
	Licence string `json:"licence"`
}

// ReadManifest returns the manifest of what is embedded here.
func ReadManifest() (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(manifest, m); err != nil {
		return nil, fmt.Errorf("python manifest: %w", err)
	}
	return m, nil
}

// ID identifies the artefact: the hash of the manifest, which has the hash of every file.
var ID = sync.OnceValue(func() string {
	h := sha256.Sum256(manifest)
	return hex.EncodeToString(h[:])
})

// Interpreter returns the WebAssembly module. Each call unpacks it anew, in some 15 ms.
func Interpreter() ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxInterpreter))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", interpreterName, err)
	}
	defer d.Close()
	module, err := d.DecodeAll(interpreter, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", interpreterName, err)
	}
	return module, nil
}

// Library opens the archive of the standard library and the time zones. Its entries are unpacked as
// they are read.
func Library() (*zip.Reader, error) {
	r, err := zip.NewReader(bytes.NewReader(stdlib), int64(len(stdlib)))
	if err != nil {
		return nil, fmt.Errorf("open standard library: %w", err)
	}
	return r, nil
}
