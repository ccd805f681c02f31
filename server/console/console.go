// Package console is the page of the server: sessions, runs and files in a browser, over the same calls that every other client
// uses. It is plain files, which browsers run as they are here.
//
// What scripts write, what files are called and what the server says is hostile: the page shows it as text, and its policy
// forbids the browser to take any of it for markup or code.
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed page
var page embed.FS

// policy is the Content-Security-Policy. Scripts and styles are files of ours and nothing else, calls go to the server that
// sent the page, no page frames it, and strings cannot become markup (Trusted Types).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are those of the page's files. The host's own table of types is not asked: with nosniff, a wrong one there
// would be a page that does not start.
var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// A file is one of the page, with its name below the page's address.
type file struct {
	content    []byte
	kind, etag string
}

// Handler serves the page to GET and HEAD at the path that it is mounted on, which ends in a slash and was stripped: see
// http.StripPrefix. Nothing of it is secret, so it needs no credentials; the calls that it makes do. It may be used by
// several goroutines at once.
func Handler() http.Handler {
	files := readFiles(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the console is read with GET", http.StatusMethodNotAllowed)
			return
		}
		name := r.URL.Path
		if name == "" {
			name = "index.html"
		}
		f, ok := files[name]
		if !ok {
			http.Error(w, "the console has no such file", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Etag", f.etag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.content))
	})
}

// protect sets the headers of every answer, errors too. A browser asks each time whether a file has changed: a new server
// and an old script would not fit together.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

// readFiles reads the page once. What is embedded can be read: an error would be one of the build.
func readFiles(from fs.FS) map[string]file {
	files := map[string]file{}
	names, _ := fs.Glob(from, "page/*")
	for _, name := range names {
		content, err := fs.ReadFile(from, name)
		kind := types[path.Ext(name)]
		if err != nil || kind == "" {
			continue
		}
		sum := sha256.Sum256(content)
		files[path.Base(name)] = file{content, kind, `"` + hex.EncodeToString(sum[:16]) + `"`}
	}
	return files
}
