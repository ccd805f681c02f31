package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// maker is a fake tier that makes work directories: plain ones, in the test's.
type maker struct {
	*fakeDriver
	err    error // instead of one
	dir    string
	asked  []Limits
	opened int
}

type madeDir struct {
	m   *maker
	dir *os.File
}

func newMaker(t *testing.T, d *fakeDriver) *maker {
	d.info.Unenforced = []string{"Disk", "DiskFiles"}
	return &maker{fakeDriver: d, dir: t.TempDir()}
}

func (m *maker) MakeWorkspace(_ context.Context, limits Limits) (Workspace, error) {
	m.asked = append(m.asked, limits)
	if m.err != nil {
		return nil, m.err
	}
	f, err := os.Open(m.dir)
	if err != nil {
		return nil, err
	}
	m.opened++
	return &madeDir{m, f}, nil
}

func (d *madeDir) Dir() *os.File { return d.dir }
func (d *madeDir) Close() error {
	d.m.opened--
	if d.m.sessions != 0 {
		return errors.New("closed before the sessions")
	}
	return d.dir.Close()
}

func TestWorkspace_MadeByATier(t *testing.T) {
	wasm, native := newFake(basics), newMaker(t, newNative())
	limits := Limits{Disk: 1000, DiskFiles: 7}
	s, err := Open(t.Context(), []Driver{wasm, native}, &Options{Limits: limits})
	must(t, err)
	if len(native.asked) != 1 || native.asked[0] != limits {
		t.Errorf("asked for %+v", native.asked)
	}
	for _, spec := range []*SessionSpec{wasm.spec, native.spec} {
		if spec.Quota != nil || spec.Workspace == nil || spec.HostDir != "" || spec.Root == nil {
			t.Errorf("a driver gets %+v", spec)
		}
	}
	if info := s.Info(); info.HostDir != "" || len(info.Unenforced) != 0 {
		t.Errorf("%q, %v", info.HostDir, info.Unenforced)
	}
	put(t, s, "d/f", strings.Repeat("x", 2000)) // the file system would count
	if data, err := os.ReadFile(filepath.Join(native.dir, "d", "f")); len(data) != 2000 {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
	if out := exec(t, s, "hello", &RunOptions{Type: Shell}); string(out.Stdout) != "hello\n" {
		t.Errorf("a run gives %+v", out)
	}
	must(t, os.Rename(native.dir, native.dir+"-moved")) // there is no path that counts
	exec(t, s, "hello", nil)
	must(t, os.Rename(native.dir+"-moved", native.dir))
	must(t, s.Close())
	if _, err := os.Stat(filepath.Join(native.dir, "d", "f")); err != nil || native.opened != 0 {
		t.Errorf("after Close: %v, %d open", err, native.opened)
	}
}

func TestWorkspace_NotMadeByATier(t *testing.T) {
	dir := t.TempDir()
	other := errors.New("other")
	disk := Limits{Disk: 1000}
	for _, tt := range []struct {
		name  string
		opts  Options
		err   error // of the tier
		want  error // of Open
		asked int
		run   error // of a run in the tier
	}{
		{name: "no limit", opts: Options{Limits: Limits{Memory: 1 << 30}}},
		{name: "given", opts: Options{WorkDir: dir, Limits: disk}, want: ErrNotEnforceable},
		{name: "given, best effort", opts: Options{WorkDir: dir, Limits: disk, BestEffort: true}},
		{name: "not available", opts: Options{Limits: disk}, err: ErrNotAvailable, asked: 1, run: ErrNotAvailable},
		{name: "not available, best effort", opts: Options{Limits: disk, BestEffort: true}, err: ErrNotAvailable, asked: 1},
		{name: "not enforceable", opts: Options{Limits: disk}, err: ErrNotEnforceable, want: ErrNotEnforceable, asked: 1},
		{name: "not enforceable, best effort", opts: Options{Limits: disk, BestEffort: true}, err: ErrNotEnforceable, asked: 1},
		{name: "other", opts: Options{Limits: disk, BestEffort: true}, err: other, want: other, asked: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			native := newMaker(t, newNative())
			native.err = tt.err
			s, err := Open(t.Context(), []Driver{newFake(basics), native}, &tt.opts)
			if !errors.Is(err, tt.want) || len(native.asked) != tt.asked {
				t.Errorf("Open = %v, want %v; asked %d times", err, tt.want, len(native.asked))
			}
			if err != nil {
				return
			}
			defer func() { must(t, s.Close()) }()
			if _, err := s.Exec(t.Context(), "hello", &RunOptions{Type: Shell}); !errors.Is(err, tt.run) {
				t.Errorf("Exec = %v, want %v", err, tt.run)
			}
			exec(t, s, "hello", nil) // the other tier
			info := s.Info()
			if (len(info.Unenforced) != 0) != tt.opts.BestEffort {
				t.Errorf("not enforced: %v", info.Unenforced)
			}
			if info.HostDir == "" {
				t.Error("no directory on the host")
			}
			if tt.opts.Limits.Disk > 0 {
				wantErr(t, "PutBytes", s.PutBytes(t.Context(), "f", make([]byte, 1001), nil), ErrNoSpace)
			}
		})
	}
}

func TestWorkspace_MadeThenOpenFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := newMaker(t, newNative())
	late.err = ErrNotAvailable // for lack of time
	for _, bestEffort := range []bool{false, true} {
		_, err := Open(ctx, []Driver{late}, &Options{Limits: Limits{Disk: 1000}, BestEffort: bestEffort})
		wantErr(t, "Open without time", err, context.Canceled)
	}
	native := newMaker(t, newNative())
	native.openErr = errors.New("other")
	_, err := Open(t.Context(), []Driver{native}, &Options{Limits: Limits{Disk: 1000}})
	wantErr(t, "Open", err, native.openErr)
	if len(native.asked) != 1 || native.opened != 0 {
		t.Errorf("%d made, %d open", len(native.asked), native.opened)
	}
	native = newMaker(t, newNative())
	native.dir = filepath.Join(native.dir, "file")
	must(t, os.WriteFile(native.dir, nil, 0o600))
	_, err = Open(t.Context(), []Driver{native}, &Options{Limits: Limits{Disk: 1000}})
	if err == nil || native.opened != 0 {
		t.Errorf("Open of a file: %v, %d open", err, native.opened)
	}
}

// failing fails once n bytes of the content have been read.
type failing struct {
	io.ReaderAt
	n      int64
	before func()
	err    error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.n {
		if f.before != nil {
			f.before()
		}
		if f.err != nil {
			return 0, f.err
		}
	}
	return f.ReaderAt.ReadAt(p, off)
}

// Whatever goes wrong while a file is written over, it is as before.
func TestOverwriting_Restores(t *testing.T) {
	broken := errors.New("broken")
	const size = 3*piece + 5
	for name, oldSize := range map[string]int{"larger": 2*piece + 1, "same": size, "smaller": 5 * piece, "empty": 0} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, nil)
			old := bytes.Repeat([]byte("o"), oldSize)
			must(t, s.PutBytes(t.Context(), "f", old, &PutOptions{Mode: 0o640}))
			info, err := s.files.root.Lstat("f")
			must(t, err)
			probe := &overwriting{dir: s.files.root, name: "f", old: info}
			if err := probe.with(func(f *os.File) error { return reserve(f, 1) }); errors.Is(err, syscall.ENOTSUP) {
				t.Skip("the file system of the temporary directory cannot reserve room")
			}
			content := bytes.NewReader(bytes.Repeat([]byte("n"), size))
			run := func(ctx context.Context, content io.ReaderAt) error {
				o := &overwriting{dir: s.files.root, name: "f", old: info}
				return o.run(ctx, content, size, 0o755)
			}
			unchanged := func(what string) {
				t.Helper()
				got, err := s.GetBytes(t.Context(), "f", 1<<30)
				now, statErr := s.files.root.Lstat("f")
				if err != nil || statErr != nil || !bytes.Equal(got, old) || now.Mode() != info.Mode() {
					t.Errorf("%s: %d bytes (%.5q), %v, %v", what, len(got), got, now, err)
				}
				if a, b := blocks(now), blocks(info); a > b {
					t.Errorf("%s: it has %d blocks, %d before", what, a, b)
				}
			}
			for _, n := range []int64{0, piece, 3 * piece} {
				wantErr(t, "error", run(t.Context(), &failing{ReaderAt: content, n: n, err: broken}), broken)
				unchanged("error")
				if n < 3*piece { // after the last piece nobody looks at it
					ctx, cancel := context.WithCancelCause(t.Context())
					wantErr(t, "cancel", run(ctx, &failing{ReaderAt: content, n: n, before: func() { cancel(broken) }}), broken)
					cancel(nil)
					unchanged("cancel")
				}
			}
			wantErr(t, "too little", run(t.Context(), bytes.NewReader(make([]byte, size-1))), io.ErrUnexpectedEOF)
			unchanged("too little")

			must(t, run(t.Context(), content))
			got, err := s.GetBytes(t.Context(), "f", 1<<30)
			if err != nil || !bytes.Equal(got, bytes.Repeat([]byte("n"), size)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if now, _ := s.files.root.Lstat("f"); now.Mode() != 0o755 || !os.SameFile(now, info) {
				t.Errorf("%v", now.Mode())
			}
		})
	}
}

func blocks(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return st.Blocks
}

// What a script puts in the place of the file is not written to.
func TestOverwriting_OnlyThatFile(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	put(t, s, "f", "old")
	info, err := s.files.root.Lstat("f")
	must(t, err)
	put(t, s, "victim", "victim")
	for what, swap := range map[string]func() error{
		"another": func() error { return os.WriteFile(filepath.Join(dir, "f"), []byte("new"), 0o600) },
		"a link":  func() error { return os.Symlink("victim", filepath.Join(dir, "f")) },
		"a FIFO":  func() error { return syscall.Mkfifo(filepath.Join(dir, "f"), 0o600) },
	} {
		must(t, os.Rename(filepath.Join(dir, "f"), filepath.Join(dir, "moved")), swap())
		o := &overwriting{dir: s.files.root, name: "f", old: info}
		wantErr(t, what, o.run(t.Context(), strings.NewReader("fresh"), 5, 0o644), ErrNotRegular)
		must(t, os.Remove(filepath.Join(dir, "f")), os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "f")))
	}
	for path, want := range map[string]string{"f": "old", "victim": "victim"} {
		if got, err := s.GetBytes(t.Context(), path, 10); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
}
