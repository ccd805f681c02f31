package corpus

import (
	"bytes"
	"strings"
	"testing"
)

// A difference is text that the wasm tier writes in the place of what native Python wrote.
type difference struct {
	native, wasm string
	// why says what makes it unavoidable.
	why string
}

// What errno is called is the same everywhere, but its numbers are WASI's own (preview 1, type errno): they
// are compiled into every object of the libc and of CPython. errno.ENOENT and the exceptions' classes are
// right, a number written into a script or shown in a message is not Linux's.
const wasiErrno = "WASI has its own errno numbers"

var (
	enoent    = difference{"[Errno 2]", "[Errno 44]", wasiErrno}
	ebadf     = difference{"[Errno 9]", "[Errno 8]", wasiErrno}
	eexist    = difference{"[Errno 17]", "[Errno 20]", wasiErrno}
	enotdir   = difference{"[Errno 20]", "[Errno 54]", wasiErrno}
	eisdir    = difference{"[Errno 21]", "[Errno 31]", wasiErrno}
	enotempty = difference{"[Errno 39]", "[Errno 55]", wasiErrno}
)

// differences are, by script, all that may differ. Every entry must apply: one that is no longer true
// fails its script.
var differences = map[string][]difference{
	"err_carets":      {enoent},
	"err_suggestions": {enoent},
	"pathlib_files":   {enoent, eexist, enotdir, eisdir, enotempty},
	"shutil_glob":     {enoent, eexist},
	"tempfile_os":     {enoent, ebadf, eexist, enotdir, eisdir},
	"err_stop_iteration": {
		enoent, eisdir,
		{"34, 'Numerical result out of range'", "68, 'Result not representable'", "ERANGE has musl's text, and WASI's number"},
	},
	"err_deep_nesting": {
		// The script makes an OSError from the number 13.
		{"PermissionError", "ConnectionAbortedError", wasiErrno},
	},
	"password_kdf": {
		{"UnsupportedDigestmodError\n", "ValueError\n", "the class is OpenSSL's, and derives from ValueError"},
	},
	"float_format": {
		{" 3.0000000000000004 1.4142135623730951", " 3.0 1.4142135623730951", "cbrt(27) is exact in musl, one unit off in glibc"},
	},
	"time_arithmetic": {
		{"|GMT|", "|UTC|", "the name of gmtime's zone is GMT in glibc, UTC in musl"},
	},
}

// applyDifferences puts the wasm tier's texts into what is expected, in one pass: what one entry writes
// another does not change.
func applyDifferences(t *testing.T, name string, want *outcome) {
	t.Helper()
	var pairs []string
	for _, d := range differences[name] {
		pairs = append(pairs, d.native, d.wasm)
		if !bytes.Contains(want.stdout, []byte(d.native)) && !bytes.Contains(want.stderr, []byte(d.native)) {
			t.Errorf("difference %q (%s) is not in the golden", d.native, d.why)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	want.stdout = []byte(replacer.Replace(string(want.stdout)))
	want.stderr = []byte(replacer.Replace(string(want.stderr)))
}
