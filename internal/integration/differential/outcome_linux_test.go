package differential

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// A script is one of the corpus or of this package.
type script struct {
	name string
	// from holds NAME.py and what belongs to it: see README.md.
	from fs.FS
	settings
}

// settings are how a script is run.
type settings struct {
	opts engine.Options
	// runs is how often it runs in its session. Zero: once.
	runs int
}

// An outcome is what is compared of a script, as one text: stdout, a line with the exit code and the exception, and
// the files that it leaves.
type outcome struct {
	text string
	// stderr is for people.
	stderr string
}

// runIn runs the script in a session of its own, with one tier.
func (c *script) runIn(t *testing.T, p *place) outcome {
	t.Helper()
	opts := c.opts
	opts.MaxOutput, opts.Timeout, opts.PythonTier = 64<<20, patience, p.tier()
	session, err := engine.Open(t.Context(), []engine.Driver{p.open(t)}, &opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	c.putFiles(t.Context(), t, session)
	var text, stderr strings.Builder
	for range max(c.runs, 1) {
		out := c.once(t, session)
		fmt.Fprintf(&text, "%s\n== exit %d%s\n", out.Stdout, out.Result.ExitCode, exceptionOf(out.Stderr))
		stderr.Write(out.Stderr)
	}
	text.WriteString(c.listing(t, session))
	return outcome{text.String(), stderr.String()}
}

// once runs the script.
func (c *script) once(t *testing.T, session *engine.Session) *engine.Output {
	t.Helper()
	opts := &engine.RunOptions{Type: engine.Python}
	if args := c.file(t, ".args"); args != nil {
		opts.Args = strings.Split(strings.TrimSuffix(string(args), "\n"), "\n")
	}
	if stdin := c.file(t, ".stdin"); stdin != nil {
		opts.Stdin = bytes.NewReader(stdin)
	}
	out := execute(t, session, string(c.file(t, ".py")), opts)
	if out.Result.Truncated {
		t.Error("output was cut")
	}
	return out
}

// file reads what belongs to the script; nil when it is not there.
func (c *script) file(t *testing.T, ext string) []byte {
	t.Helper()
	data, err := fs.ReadFile(c.from, c.name+ext)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// putFiles copies what the script finds into the work directory.
func (c *script) putFiles(ctx context.Context, t *testing.T, s *engine.Session) {
	t.Helper()
	dir := c.name + ".files"
	err := fs.WalkDir(c.from, dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(c.from, path)
		if err != nil {
			return err
		}
		return s.PutBytes(ctx, strings.TrimPrefix(path, dir+"/"), data, nil)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// exceptionLine is the last line of a traceback: the class, and what it says.
var exceptionLine = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::|$)`)

// exceptionOf gives the class in the last line of stderr, after a space. The line that the wasm tier adds about itself
// does not count; a message of several lines hides the class, in each tier.
func exceptionOf(stderr []byte) string {
	lines := strings.Split(strings.TrimRight(string(stderr), "\n"), "\n")
	for len(lines) > 1 && strings.HasPrefix(lines[len(lines)-1], "sandbar: ") {
		lines = lines[:len(lines)-1]
	}
	if m := exceptionLine.FindStringSubmatch(lines[len(lines)-1]); m != nil {
		return " " + m[1]
	}
	return ""
}

// listing describes all that lies in the work directory, in the order of the names: path, mode, and the size and the
// digest of a file, or the target of a link. What CPython keeps of modules that it compiled is left out: its name has
// the interpreter's version, and the wasm tier keeps none.
func (c *script) listing(t *testing.T, s *engine.Session) string {
	t.Helper()
	var b strings.Builder
	list(t, s, ".", func(name string, info engine.FileInfo) bool {
		if info.Name == "__pycache__" {
			return false
		}
		fmt.Fprintf(&b, "%s %s", strconv.QuoteToASCII(name), info.Mode)
		switch {
		case volatile[c.name][name] != "":
			fmt.Fprintf(&b, " %d", info.Size)
		case info.Mode.IsRegular():
			fmt.Fprintf(&b, " %d %x", info.Size, digest(t, s, name))
		case info.Mode&fs.ModeSymlink != 0:
			fmt.Fprintf(&b, " -> %q", linkTarget(t, s, name))
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}

// list calls f for all that lies below dir; f says whether what lies in a directory counts.
func list(t *testing.T, s *engine.Session, dir string, f func(name string, info engine.FileInfo) bool) {
	t.Helper()
	entries, err := s.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range entries {
		name := path.Join(dir, info.Name)
		if f(name, info) && info.Mode.IsDir() {
			list(t, s, name, f)
		}
	}
}

// digest is a part of the content's SHA-256.
func digest(t *testing.T, s *engine.Session, name string) []byte {
	t.Helper()
	data, err := s.GetBytes(t.Context(), name, 64<<20)
	if err != nil {
		t.Error(err)
	}
	sum := sha256.Sum256(data)
	return sum[:6]
}

// linkTarget reads a link where the work directory has a path on the host: file calls have no way to.
func linkTarget(t *testing.T, s *engine.Session, name string) string {
	t.Helper()
	dir := s.Info().HostDir
	if dir == "" {
		return "in memory"
	}
	target, err := os.Readlink(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return target
}
