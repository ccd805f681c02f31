package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// openFrom opens a session whose live interpreter starts from a state.
func openFrom(tb testing.TB, d *Driver, from engine.State, changes ...func(*engine.SessionSpec)) engine.LiveSession {
	tb.Helper()
	dir := tb.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	spec := &engine.SessionSpec{ID: "branch", Root: root, HostDir: dir, Limits: testLimits, From: from}
	for _, change := range changes {
		change(spec)
	}
	s, err := d.OpenSession(tb.Context(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		root.Close()
	})
	return s.(engine.LiveSession)
}

func snapshotState(tb testing.TB, s engine.DriverSession) engine.State {
	tb.Helper()
	state, err := s.(engine.LiveSession).Snapshot(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := state.Close(); err != nil {
			tb.Error(err)
		}
	})
	return state
}

// Branches start with all that the live interpreter had, and none sees what another one does.
func TestState_Branches(t *testing.T) {
	d := shared(t)
	s := openSession(t, d)
	cell(t, s, "import random, json; x = [1]; big = bytearray(b'ab' * (10 << 20)); random.seed(1)")
	state := snapshotState(t, s)
	if state.Size() < 60<<20 {
		t.Errorf("Size() = %d", state.Size())
	}
	var branches []engine.LiveSession
	numbers := map[string]bool{}
	for i := range 3 {
		b := openFrom(t, d, state)
		branches = append(branches, b)
		_, value := cell(t, b, fmt.Sprintf("x.append(%d); json.dumps(x), len(big), big[-2:]", 10+i))
		if want := fmt.Sprintf("('[1, %d]', %d, bytearray(b'ab'))", 10+i, 20<<20); value != want {
			t.Errorf("branch %d: %s, want %s", i, value, want)
		}
	}
	if _, value := cell(t, s, "random.random()"); !strings.HasPrefix(value, "0.1343") {
		t.Errorf("the snapshot has changed the seed of the first session: %s", value)
	}
	for _, b := range append(branches, s.(engine.LiveSession)) {
		_, value := cell(t, b, "import sqlite3, tempfile, uuid; len(x), random.random(), sqlite3.connect(':memory:').execute('select random()').fetchone(), next(tempfile._get_candidate_names()), str(uuid.uuid1())[19:]")
		_, number, _ := strings.Cut(value, ",")
		for part := range strings.SplitSeq(number, ",") {
			if part = strings.Trim(part, " ()"); part != "" && numbers[part] {
				t.Errorf("%s was drawn in two branches: %s", part, value)
			}
			numbers[part] = true
		}
	}
	// The first session goes on as if nothing had been: with the numbers of its seed.
	if _, value := cell(t, s, "x, random.seed(1), random.random()"); !strings.HasPrefix(value, "([1], None, 0.1343") {
		t.Errorf("the first session has %s", value)
	}
	// A branch is a session as any: its own copy can be copied.
	second := snapshotState(t, branches[1])
	if _, value := cell(t, openFrom(t, d, second), "x"); value != "[1, 11]" {
		t.Errorf("a branch of a branch has %s", value)
	}
	// One that has run nothing is what it came from.
	third := snapshotState(t, openFrom(t, d, state))
	if _, value := cell(t, openFrom(t, d, third), "x"); value != "[1]" {
		t.Errorf("a branch of a branch that has run nothing has %s", value)
	}
	// What a stop has ended starts again as the branch did.
	r := begin(t, branches[0], "print('go', flush=True)\nwhile True: pass", inLive)
	r.waitFor(t, "go")
	r.Stop(0)
	r.end(t)
	if _, value := cell(t, branches[0], "x"); value != "[1]" {
		t.Errorf("after a stop the branch has %s", value)
	}
}

func TestState_OutlivesItsSession(t *testing.T) {
	d := shared(t)
	var state engine.State
	t.Run("session", func(t *testing.T) {
		s := openSession(t, d)
		cell(t, s, "x = 5")
		var err error
		if state, err = s.(engine.LiveSession).Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	b := openFrom(t, d, state)
	if err := errors.Join(state.Close(), state.Close()); err != nil {
		t.Error(err)
	}
	if _, value := cell(t, b, "x"); value != "5" {
		t.Errorf("x is %s", value)
	}
}

func TestState_NoneAndBusy(t *testing.T) {
	s := openSession(t, shared(t))
	if state, err := s.(engine.LiveSession).Snapshot(t.Context()); state != nil || err != nil {
		t.Errorf("without a live interpreter: %v, %v", state, err)
	}
	cell(t, s, "f = open('x', 'w')")
	if _, err := s.(engine.LiveSession).Snapshot(t.Context()); !errors.Is(err, engine.ErrBusy) || !strings.Contains(err.Error(), "1 open file") {
		t.Errorf("with an open file: %v", err)
	}
	cell(t, s, "f.close()")
	snapshotState(t, s)
}

// encoded is a state as it is stored.
func encoded(tb testing.TB, state engine.State) []byte {
	tb.Helper()
	var b bytes.Buffer
	if n, err := state.WriteTo(&b); err != nil || n != int64(b.Len()) {
		tb.Fatalf("WriteTo = %d, %v; %d bytes", n, err, b.Len())
	}
	return b.Bytes()
}

func TestState_StoredAndRead(t *testing.T) {
	d := shared(t)
	s := openSession(t, d)
	cell(t, s, "x = list(range(1000))")
	b := encoded(t, snapshotState(t, s))
	read, err := d.ReadState(t.Context(), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, value := cell(t, openFrom(t, d, read), "sum(x)"); value != "499500" {
		t.Errorf("sum(x) is %s", value)
	}
	if !bytes.Equal(encoded(t, read), b) {
		t.Error("stored again it is something else")
	}
	for name, bad := range map[string][]byte{
		"nothing":             nil,
		"cut in the name":     b[:10],
		"name only":           b[:len(stateID())],
		"other interpreter":   append([]byte("x"), b[1:]...),
		"cut":                 b[:len(b)-1],
		"smaller than it was": append([]byte(stateID()), (&snapshot{size: 65536, stack: 16, pieces: snapshotOf(make([]byte, 65536), 0).pieces}).encode()...),
	} {
		if got, err := d.ReadState(t.Context(), bytes.NewReader(bad)); !errors.Is(err, engine.ErrSnapshot) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestState_NeedsMemory(t *testing.T) {
	d := shared(t)
	s := openSession(t, d)
	cell(t, s, "x = bytearray(80 << 20)")
	state := snapshotState(t, s)
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	limits := testLimits
	limits.Memory = 64 << 20
	if _, err := d.OpenSession(t.Context(), &engine.SessionSpec{Root: root, Limits: limits, From: state}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a session with less memory than the snapshot: %v", err)
	}
}

func TestSession_Warm(t *testing.T) {
	d := shared(t)
	ran := 0
	s := openFrom(t, d, nil, func(spec *engine.SessionSpec) {
		ran++
		spec.Warm = "import mylib, random\nmylib.data = list(range(1000))\nopen('ran.txt', 'a').write('x')\nrandom.seed(1)"
		if err := spec.Root.WriteFile("mylib.py", []byte("data = None\nn = 7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	drawn := map[string]bool{}
	for range 3 {
		got := mustPrint(t, s, "import sys; print('mylib' in sys.modules); import mylib, random; print(mylib.n, sum(mylib.data)); mylib.n = 8; print(random.random())")
		first, number, _ := strings.Cut(got, "499500\n")
		if first != "True\n7 " || drawn[number] {
			t.Errorf("printed %q", got)
		}
		drawn[number] = true
	}
	if got := mustPrint(t, s, "print(open('ran.txt').read(), '/tmp/sandbox-work' in __import__('sys').path)"); got != "x True\n" {
		t.Errorf("printed %q", got)
	}
	if _, value := cell(t, s, "import mylib; mylib.n"); value != "7" {
		t.Errorf("live: %s", value)
	}
}

func TestSession_WarmFails(t *testing.T) {
	s := openFrom(t, shared(t), nil, func(spec *engine.SessionSpec) { spec.Warm = "import no_such" })
	for range 2 {
		_, err := s.Start(t.Context(), &engine.RunSpec{Type: engine.Python, Script: []byte("1"), Name: "main.py", Cwd: engine.WorkDir, Limits: testLimits})
		if !errors.Is(err, engine.ErrNotStarted) || !strings.Contains(err.Error(), "No module named 'no_such'") {
			t.Errorf("%v", err)
		}
	}
}

// A state whose memory is not what an interpreter has is a guest that goes wrong: it ends, and harms nobody.
func TestState_HostileMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of crashes")
	}
	d := newDriver(t, nil)
	s := openSession(t, d)
	cell(t, s, "x = 1")
	good := encoded(t, snapshotState(t, s))
	random := rand.New(rand.NewPCG(1, 2))
	ends := map[engine.Reason]int{}
	for i := range 40 {
		bad := bytes.Clone(good)
		for range 1 << (i % 16) {
			// Not the header: that is read by code of ours, which the fuzz test tries.
			at := len(stateID()) + 4096 + random.IntN(len(bad)-len(stateID())-4096)
			bad[at] ^= byte(1 + random.IntN(255))
		}
		state, err := d.ReadState(t.Context(), bytes.NewReader(bad))
		if err != nil {
			continue
		}
		branch := openFrom(t, d, state)
		r := begin(t, branch, "import json; json.dumps([x, sorted({'a': 1})]); [i for i in range(1000)][-1]", inLive)
		timer := time.AfterFunc(2*time.Second, func() { r.Stop(0) })
		exit := r.end(t)
		timer.Stop()
		if exit.Err != nil {
			t.Errorf("code of the host went wrong: %v", exit.Err)
		}
		ends[exit.Reason]++
		_ = state.Close()
	}
	t.Logf("%v", ends)
	if _, value := cell(t, s, "x"); value != "1" {
		t.Errorf("the session beside them has %s", value)
	}
}
