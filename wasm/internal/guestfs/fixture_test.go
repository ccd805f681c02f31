package guestfs

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// fixture is a session with a work directory and one run.
type fixture struct {
	*guest
	session *Session
	work    string // the work directory on the host
}

func stdlib(t testing.TB) *Tree {
	t.Helper()
	entry := func(name, content string) TreeEntry {
		return TreeEntry{Name: name, Size: int64(len(content)), ModTime: time.Unix(1700000000, 0), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(content)), nil
		}}
	}
	tree, err := NewTree([]TreeEntry{
		entry("os.py", "import sys\n"), entry("json/__init__.py", "loads = 1\n"), entry("json/decoder.py", "d"),
		entry("a/b/c.py", "deep"), entry("empty.py", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

type option func(*SessionConfig, *RunConfig)

func withGrants(g ...Grant) option { return func(c *SessionConfig, _ *RunConfig) { c.Grants = g } }
func withQuota(q Quota) option     { return func(c *SessionConfig, _ *RunConfig) { c.WorkQuota = q } }

func withTmp(bytes, files int64) option {
	return func(_ *SessionConfig, r *RunConfig) { r.TmpBytes, r.TmpFiles = bytes, files }
}

// newFixture makes a session that closes with the test, which then must have left no descriptor open.
func newFixture(t testing.TB, options ...option) *fixture {
	t.Helper()
	work := t.TempDir()
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	c := SessionConfig{Work: root, Trees: []TreeMount{{Path: "/usr/lib/python3.13", Tree: stdlib(t)}}}
	r := RunConfig{ScriptName: "main.py", Script: []byte("print(1)\n"), TmpBytes: 1 << 20, TmpFiles: 1000}
	for _, o := range options {
		o(&c, &r)
	}
	s, err := NewSession(c)
	if err != nil {
		t.Fatal(err)
	}
	f := s.NewFS(r)
	t.Cleanup(func() {
		f.Close()
		if n := s.HostFiles(); n != 0 {
			t.Errorf("%d host descriptors left open after Close", n)
		}
		_ = s.Close()
		root.Close()
	})
	return &fixture{session: s, work: work, guest: &guest{t: t, fs: f, base: WorkPath, files: map[string]sys.File{}}}
}

// withRootsRights lets the work directory be used with the rights of this process, if that is root.
func (f *fixture) withRootsRights() {
	n, _ := f.session.table.locate(WorkPath[1:])
	if p, ok := n.fixed.(*plainMount); ok {
		n.fixed = p.b
	}
}

// in is the fixture with another base directory.
func (f *fixture) in(base string) *guest {
	return &guest{t: f.t, fs: f.fs, base: base, files: map[string]sys.File{}}
}

// expect runs rows of "step = outcome" and, without "=", of steps that must be ok.
func expect(t *testing.T, to target, rows ...string) {
	t.Helper()
	for _, row := range rows {
		step, want, given := strings.Cut(row, " = ")
		if !given {
			want = "ok"
		}
		if want == `""` {
			want = ""
		}
		if got := to.do(step); got != want {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
