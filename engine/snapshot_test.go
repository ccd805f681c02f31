package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// liveFake is a tier that keeps an interpreter whose memory is a text.
type liveFake struct {
	*fakeDriver
	memory string
	busy   bool
	states sync.WaitGroup
}

func newLiveFake(memory string) *liveFake {
	return &liveFake{fakeDriver: newFake(basics), memory: memory}
}

func (d *liveFake) OpenSession(ctx context.Context, spec *SessionSpec) (DriverSession, error) {
	s, err := d.fakeDriver.OpenSession(ctx, spec)
	if err != nil {
		return nil, err
	}
	memory := d.memory
	if spec.From != nil {
		memory = spec.From.(*fakeState).memory
	}
	return &liveFakeSession{DriverSession: s, d: d, memory: memory}, nil
}

func (d *liveFake) ReadState(_ context.Context, r io.Reader) (State, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	memory, ok := strings.CutPrefix(string(b), "memory:")
	if !ok {
		return nil, ErrSnapshot
	}
	d.states.Add(1)
	return &fakeState{memory: memory, d: d}, nil
}

type liveFakeSession struct {
	DriverSession
	d      *liveFake
	memory string
}

func (s *liveFakeSession) ResetInterpreter(context.Context) error {
	s.memory = ""
	return nil
}

func (s *liveFakeSession) Snapshot(ctx context.Context) (State, error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case s.d.busy:
		return nil, fmt.Errorf("%w: it has open files", ErrBusy)
	case s.memory == "":
		return nil, nil
	}
	s.d.states.Add(1)
	return &fakeState{memory: s.memory, d: s.d}, nil
}

type fakeState struct {
	memory string
	d      *liveFake
}

func (s *fakeState) Size() int64  { return int64(len(s.memory)) }
func (s *fakeState) Close() error { s.d.states.Done(); return nil }
func (s *fakeState) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "memory:"+s.memory)
	return int64(n), err
}

// memoryOf is what the interpreter of a session has.
func memoryOf(s *Session) string { return s.tiers[TierWasm].session.(*liveFakeSession).memory }

func takeSnapshot(t testing.TB, s *Session) *Snapshot {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	})
	return snap
}

// fillTree makes files of all kinds in a directory.
func fillTree(t testing.TB, dir string) {
	t.Helper()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755),
		os.WriteFile(filepath.Join(dir, "a/b/file"), []byte("content"), 0o600),
		os.WriteFile(filepath.Join(dir, "a/empty"), nil, 0o755),
		os.WriteFile(filepath.Join(dir, "not \xff utf8\nname"), bytes.Repeat([]byte("x"), 200_000), 0o644),
		os.Symlink("/etc/passwd", filepath.Join(dir, "a/link")),
		os.Symlink("b", filepath.Join(dir, "a/dirlink")),
		os.Chtimes(filepath.Join(dir, "a/b/file"), time.Time{}, time.Unix(1_000_000_000, 123_456_789)),
		os.Chmod(filepath.Join(dir, "a/b/c"), 0o555),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listTree describes what is in a directory.
func listTree(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %v", strings.TrimPrefix(path, dir), info.Mode())
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %v %.20q %d", info.ModTime().UnixNano(), b, len(b))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + target
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSnapshot_BranchesHaveAllOfIt(t *testing.T) {
	d := newLiveFake("x = 1")
	s := openTiers(t, nil, d)
	fillTree(t, s.Info().HostDir)
	want := listTree(t, s.Info().HostDir)
	snap := takeSnapshot(t, s)
	if snap.Memory() != 5 {
		t.Errorf("Memory() = %d", snap.Memory())
	}
	exec(t, s, "hello", nil)
	if err := s.PutBytes(t.Context(), "later", nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		branch := openTiers(t, &Options{From: snap}, d)
		if got := listTree(t, branch.Info().HostDir); !slices.Equal(got, want) {
			t.Errorf("the branch has\n%q, want\n%q", got, want)
		}
		if got := memoryOf(branch); got != "x = 1" {
			t.Errorf("its interpreter has %q", got)
		}
		if list, err := branch.Diff(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("Diff of a new branch = %v, %v", list, err)
		}
		if err := branch.PutBytes(t.Context(), "a/b/file", []byte("mine"), nil); err != nil {
			t.Fatal(err)
		}
		if list, err := branch.Diff(t.Context()); err != nil || len(list) != 1 || list[0].Path != "a/b/file" {
			t.Errorf("Diff = %v, %v", list, err)
		}
	}
}

func TestSnapshot_FileRoundTrip(t *testing.T) {
	for _, memory := range []string{"", strings.Repeat("0123456789", 300_000)} {
		d := newLiveFake(memory)
		s := openTiers(t, nil, d)
		fillTree(t, s.Info().HostDir)
		var file bytes.Buffer
		snap := takeSnapshot(t, s)
		if n, err := snap.WriteTo(&file); err != nil || n != int64(file.Len()) {
			t.Fatalf("WriteTo = %d, %v; %d bytes", n, err, file.Len())
		}
		read, err := ReadSnapshot(t.Context(), []Driver{d}, bytes.NewReader(file.Bytes()), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		branch := openTiers(t, &Options{From: read}, d)
		if err := read.Close(); err != nil {
			t.Error(err)
		}
		if got, want := listTree(t, branch.Info().HostDir), listTree(t, s.Info().HostDir); !slices.Equal(got, want) {
			t.Errorf("the branch has\n%q, want\n%q", got, want)
		}
		if memoryOf(branch) != memory {
			t.Errorf("its interpreter has %d bytes, want %d", len(memoryOf(branch)), len(memory))
		}
		_ = snap.Close()
		d.states.Wait() // all are closed
	}
}

func TestReadSnapshot_Refuses(t *testing.T) {
	d := newLiveFake("memory of it")
	s := openTiers(t, nil, d)
	fillTree(t, s.Info().HostDir)
	var file bytes.Buffer
	if _, err := takeSnapshot(t, s).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	before := tempEntries(t)
	refused := func(what string, b []byte, want error) {
		t.Helper()
		snap, err := ReadSnapshot(t.Context(), []Driver{d}, bytes.NewReader(b), 1<<20)
		if err == nil {
			_ = snap.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	refused("nothing", nil, ErrSnapshot)
	for n := 1; n < len(good); n += 1 + len(good)/200 {
		refused(fmt.Sprintf("cut to %d bytes", n), good[:n], ErrSnapshot)
	}
	for at := 0; at < len(good); at += 1 + len(good)/200 {
		b := bytes.Clone(good)
		b[at] ^= 0x10
		refused(fmt.Sprintf("flipped at %d", at), b, ErrSnapshot)
	}
	refused("longer", append(bytes.Clone(good), 0), ErrSnapshot)
	refused("another version", bytes.Replace(good, []byte("snapshot 1"), []byte("snapshot 2"), 1), ErrSnapshot)
	snap, err := ReadSnapshot(t.Context(), []Driver{d}, bytes.NewReader(good), 1000)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("with a max of 1000 bytes: %v, %v", snap, err)
	}
	if _, err := ReadSnapshot(t.Context(), []Driver{newNative()}, bytes.NewReader(good), 1<<20); !errors.Is(err, ErrNotAvailable) {
		t.Errorf("without the tier: %v", err)
	}
	if _, err := ReadSnapshot(t.Context(), []Driver{newFake(basics)}, bytes.NewReader(good), 1<<20); !errors.Is(err, ErrNotAvailable) {
		t.Errorf("with a tier that reads none: %v", err)
	}
	if after := tempEntries(t); !slices.Equal(before, after) {
		t.Errorf("left behind: %q, before %q", after, before)
	}
}

// tempEntries are this process's directories and files in the temporary directory.
func tempEntries(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOpen_From(t *testing.T) {
	d := newLiveFake("x")
	s := openTiers(t, nil, d)
	snap := takeSnapshot(t, s)
	for name, opts := range map[string]*Options{
		"with WorkDir":    {From: snap, WorkDir: t.TempDir()},
		"with Overlay":    {From: snap, Overlay: t.TempDir()},
		"with Warm":       {From: snap, Warm: "import x"},
		"with PythonTier": {From: snap, PythonTier: TierNative},
	} {
		_, err := Open(t.Context(), []Driver{d, newNative()}, opts)
		wantField(t, name, err, "From")
	}
	_, err := Open(t.Context(), []Driver{newNative()}, &Options{From: snap})
	wantField(t, "without the wasm tier", err, "From")
	_, err = Open(t.Context(), []Driver{d}, &Options{From: snap, Limits: Limits{DiskFiles: 1}})
	if err != nil {
		t.Errorf("an empty directory within the limit: %v", err)
	}
	if err := s.PutBytes(t.Context(), "a/b/c", []byte("12345"), nil); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), []Driver{d}, &Options{From: takeSnapshot(t, s), Limits: Limits{DiskFiles: 2}})
	wantErr(t, "more files than the limit", err, ErrNoSpace)
	// One whose tier is deferred has its interpreter all the same.
	branch := openTiers(t, &Options{From: snap}, Deferred(d))
	if memoryOf(branch) != "x" {
		t.Errorf("its interpreter has %q", memoryOf(branch))
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), []Driver{d}, &Options{From: snap})
	wantField(t, "closed", err, "From")
	_, err = snap.WriteTo(io.Discard)
	wantErr(t, "WriteTo of a closed one", err, ErrSnapshot)
}

func TestSession_SnapshotErrors(t *testing.T) {
	d := newLiveFake("x")
	s := openTiers(t, nil, d)
	d.busy = true
	before := tempEntries(t)
	_, err := s.Snapshot(t.Context())
	wantErr(t, "with open files", err, ErrBusy)
	d.busy = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Snapshot(ctx)
	wantErr(t, "with a context that has ended", err, context.Canceled)
	if after := tempEntries(t); !slices.Equal(before, after) {
		t.Errorf("left behind: %q, before %q", after, before)
	}
	if err := s.ResetInterpreter(t.Context()); err != nil || memoryOf(s) != "" {
		t.Errorf("ResetInterpreter = %v; %q", err, memoryOf(s))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Snapshot(t.Context())
	wantErr(t, "of a closed session", err, ErrClosed)
	wantErr(t, "ResetInterpreter of a closed session", s.ResetInterpreter(t.Context()), ErrClosed)

	s = openTiers(t, nil, newNative())
	wantErr(t, "ResetInterpreter without the tier", s.ResetInterpreter(t.Context()), ErrNotAvailable)
	if snap := takeSnapshot(t, s); snap.Memory() != 0 {
		t.Errorf("Memory() = %d without the tier", snap.Memory())
	}
}

// Snapshots are taken, branched and closed while runs write and sessions are closed.
func TestSnapshot_Hammer(t *testing.T) {
	d := newLiveFake("x")
	s := openTiers(t, nil, d)
	snap := takeSnapshot(t, s)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 10 {
				_ = s.PutBytes(t.Context(), fmt.Sprintf("d%d/f%d", i, k), []byte("x"), nil)
				own, err := s.Snapshot(t.Context())
				if err != nil {
					t.Errorf("Snapshot: %v", err)
					return
				}
				branch, err := Open(t.Context(), []Driver{d}, &Options{From: []*Snapshot{snap, own}[k%2]})
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				go func() { _ = own.Close() }()
				_, _ = own.WriteTo(io.Discard)
				if err := errors.Join(branch.Close(), own.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	d.states.Wait()
}

// Whatever is unpacked, it ends, stays in its directory and within its bound.
func FuzzUnpack(f *testing.F) {
	dir := f.TempDir()
	fillTree(f, dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	defer root.Close()
	var b bytes.Buffer
	if err := pack(f.Context(), root, &b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes()[:1000])
	f.Add([]byte("e"))
	f.Add([]byte("ue"))
	f.Add([]byte("d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00..ue"))
	f.Add([]byte("l\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00a\x02\x00\x00\x00..e"))
	f.Add([]byte("f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00a\xff\xff\xff\xff\xff\xff\xff\xffxe"))
	f.Fuzz(func(t *testing.T, b []byte) {
		top := t.TempDir()
		dir := filepath.Join(top, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		err = unpack(context.Background(), root, bytes.NewReader(b), 10_000)
		if entries, _ := os.ReadDir(top); len(entries) != 1 {
			t.Errorf("%d entries beside the directory", len(entries)-1)
		}
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := pack(context.Background(), root, &again); err != nil {
			t.Errorf("packed again: %v", err)
		}
	})
}

// A snapshot of a directory in which things come and go has what was there, and is no error.
func TestSnapshot_WhileFilesComeAndGo(t *testing.T) {
	s := openTiers(t, nil, newLiveFake("x"))
	dir := s.Info().HostDir
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			top := filepath.Join(dir, fmt.Sprint("d", i))
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.MkdirAll(filepath.Join(top, "a/b/c"), 0o755)
				_ = os.WriteFile(filepath.Join(top, "a/b/f"), []byte("x"), 0o644)
				_ = os.Symlink("f", filepath.Join(top, "a/b/l"))
				_ = os.RemoveAll(top)
			}
		})
	}
	for range 200 {
		snap, err := s.Snapshot(t.Context())
		if err == nil {
			err = snap.Close()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	writers.Wait()
}
