package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSession_Exec(t *testing.T) {
	s, _ := open(t, nil)
	out := exec(t, s, "hello", nil)
	if string(out.Stdout) != "hello\n" || len(out.Stderr) != 0 {
		t.Errorf("output %q, %q", out.Stdout, out.Stderr)
	}
	r := out.Result
	if r.ExitCode != 0 || r.Reason != ReasonExited || r.Tier != TierWasm || r.StdoutBytes != 6 || r.Truncated {
		t.Errorf("result %+v", r)
	}
	if r.Route != "python runs in the wasm tier" {
		t.Errorf("route %q", r.Route)
	}
}

func TestSession_RunCode(t *testing.T) {
	s, _ := open(t, nil)
	out, err := s.RunCode(t.Context(), "hello", nil)
	if string(out) != "hello\n" || err != nil {
		t.Errorf("RunCode = %q, %v", out, err)
	}
	_, err = s.RunCode(t.Context(), "fail", nil)
	var exit *ExitError
	if !errors.As(err, &exit) || !errors.Is(err, ErrExit) {
		t.Fatalf("RunCode = %v, want an ExitError", err)
	}
	if string(exit.Stdout) != "partial" || exit.Result.ExitCode != 3 {
		t.Errorf("ExitError %+v", exit)
	}
	if want := "script ended with exit code 3 (exited): ValueError: x"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestExitError_LastLineIsSafeToPrint(t *testing.T) {
	for _, tt := range []struct{ stderr, want string }{
		{"", ""},
		{"\n\n", ""},
		{"a\nb\n\n", "b"},
		{"x\x1b[31mred\x07", "x\uFFFD[31mred\uFFFD"},
		{"bad \xff", "bad \uFFFD"},
		{strings.Repeat("z", 500), strings.Repeat("z", maxLastLine)},
	} {
		if got := lastLine([]byte(tt.stderr)); got != tt.want {
			t.Errorf("lastLine(%q) = %q, want %q", tt.stderr, got, tt.want)
		}
	}
}

func TestSession_Endings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		opts   RunOptions
		limits Limits
		end    func(*Process)
		reason Reason
		code   int
	}{
		{name: "timeout, answered", script: "sleep", opts: RunOptions{Timeout: time.Second}, reason: ReasonTimeout, code: 124},
		{name: "timeout, by force", script: "stubborn", opts: RunOptions{Timeout: time.Second}, reason: ReasonTimeout, code: 124},
		{name: "killed, answered", script: "sleep", end: (*Process).Kill, reason: ReasonCancelled, code: 137},
		{name: "killed, by force", script: "stubborn", end: (*Process).Kill, reason: ReasonCancelled, code: 137},
		{name: "the first reason counts", script: "stubborn", end: func(p *Process) { p.Kill(); p.stop(ReasonTimeout) }, reason: ReasonCancelled, code: 137},
		{name: "output", script: "flood", limits: Limits{Output: 1 << 20}, reason: ReasonOutput, code: 137},
		{name: "memory", script: "memory", reason: ReasonMemory, code: 137},
		{name: "the session's timeout", script: "sleep", reason: ReasonTimeout, code: 124},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := open(t, &Options{Limits: tt.limits})
				p := start(t, s, tt.script, &tt.opts)
				if tt.end != nil {
					tt.end(p)
				}
				r, err := p.Wait(context.Background())
				if err != nil || r.Reason != tt.reason || r.ExitCode != tt.code {
					t.Errorf("Wait = %s, code %d, %v; want %s, code %d", r.Reason, r.ExitCode, err, tt.reason, tt.code)
				}
				_ = s.Close()
			})
		})
	}
}

func TestSession_GraceOfTheTier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := open(t, nil)
		begin := time.Now()
		r := exec(t, s, "stubborn", &RunOptions{Timeout: 3 * time.Second}).Result
		if took := time.Since(begin); took != 3*time.Second+graceWasm || r.Reason != ReasonTimeout {
			t.Errorf("ended after %v (%s)", took, r.Reason)
		}
		if !slices.Equal(d.stops, []time.Duration{graceWasm}) {
			t.Errorf("stops %v", d.stops)
		}
		_ = s.Close()
	})
}

func TestSession_NoTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{NoTimeout, NoTimeout - 1, 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := open(t, &Options{Timeout: time.Second})
			p := start(t, s, "sleep", &RunOptions{Timeout: timeout})
			time.Sleep(24 * time.Hour)
			select {
			case <-p.Done():
				t.Errorf("timeout %v: ended", timeout)
			default:
			}
			_ = s.Close()
		})
	}
}

func TestSession_LimitsOutputExactly(t *testing.T) {
	d := script(func(g *guest) Exit {
		for range 10 {
			_, _ = g.Stdout.Write([]byte("0123456"))
			_, _ = g.Stderr.Write([]byte("abc"))
		}
		<-g.stop
		return Exit{Code: 1}
	})
	s := openWith(t, d, &Options{Limits: Limits{Output: 25}})
	out := exec(t, s, "x", nil)
	if got := len(out.Stdout) + len(out.Stderr); got != 25 {
		t.Errorf("%d bytes of output, want 25", got)
	}
	r := out.Result
	if r.Reason != ReasonOutput || !r.Truncated || r.StdoutBytes != 70 || r.StderrBytes != 30 {
		t.Errorf("result %+v", r)
	}
	// A script that writes just the limit has not passed it.
	d.scripts["just"] = func(g *guest) Exit { _, _ = g.Stdout.Write(make([]byte, 25)); return Exit{} }
	if r := exec(t, s, "just", nil).Result; r.Reason != ReasonExited || r.Truncated {
		t.Errorf("25 of 25 bytes: %+v", r)
	}
}

func TestSession_MaxOutput(t *testing.T) {
	s := openWith(t, script(func(g *guest) Exit {
		_, _ = g.Stdout.Write(bytes.Repeat([]byte("o"), 100))
		_, _ = g.Stderr.Write(bytes.Repeat([]byte("e"), 10))
		return Exit{}
	}), &Options{MaxOutput: 50})
	for _, tt := range []struct {
		max       int64
		out, err  int
		truncated bool
	}{
		{0, 50, 10, true},
		{5, 5, 5, true},
		{100, 100, 10, false},
		{-1, 100, 10, false},
	} {
		out := exec(t, s, "x", &RunOptions{MaxOutput: tt.max})
		if len(out.Stdout) != tt.out || len(out.Stderr) != tt.err || out.Result.Truncated != tt.truncated || out.Result.StdoutBytes != 100 {
			t.Errorf("MaxOutput %d: %d and %d bytes, %+v", tt.max, len(out.Stdout), len(out.Stderr), out.Result)
		}
	}
}

func TestProcess_ReadingOneStreamOnlyDoesNotHang(t *testing.T) { // cases C008
	for _, which := range []string{"stdout", "stderr", "stdout lines", "wait", "both, one after the other"} {
		t.Run(which, func(t *testing.T) {
			s := openWith(t, script(func(g *guest) Exit {
				for range 40 {
					_, _ = g.Stderr.Write(make([]byte, 300_000))
					_, _ = g.Stdout.Write(bytes.Repeat([]byte("o\n"), 150_000))
				}
				return Exit{}
			}), nil)
			p := start(t, s, "x", nil)
			const size = 40 * 300_000
			switch which {
			case "stdout":
				if n, _ := io.Copy(io.Discard, p.Stdout()); n != size {
					t.Errorf("%d bytes, want %d", n, size)
				}
			case "stderr":
				if n, _ := io.Copy(io.Discard, p.Stderr()); n != size {
					t.Errorf("%d bytes, want %d", n, size)
				}
			case "stdout lines":
				n := 0
				for range p.StdoutLines() {
					n++
				}
				if n != size/2 {
					t.Errorf("%d lines, want %d", n, size/2)
				}
			case "both, one after the other":
				_, _ = io.Copy(io.Discard, p.Stdout())
				if n, _ := io.Copy(io.Discard, p.Stderr()); n != DefaultMaxOutput {
					t.Errorf("%d bytes of the second stream, want what is kept", n)
				}
			}
			r, err := p.Wait(t.Context())
			if err != nil || r.Reason != ReasonExited || r.StdoutBytes != size || r.StderrBytes != size {
				t.Errorf("Wait = %+v, %v", r, err)
			}
		})
	}
}

func TestProcess_BreakOutOfLinesThenWait(t *testing.T) {
	s := openWith(t, script(func(g *guest) Exit {
		for i := range 200_000 {
			fmt.Fprintf(g.Stdout, "line %d\n", i)
		}
		return Exit{}
	}), nil)
	p := start(t, s, "x", nil)
	for line := range p.StdoutLines() {
		if line == "line 2" {
			break
		}
	}
	for line := range p.StdoutLines() { // goes on where the last loop ended
		if line != "line 3" {
			t.Errorf("then %q", line)
		}
		break
	}
	out, err := p.Communicate(t.Context(), nil)
	if err != nil || out.Result.Reason != ReasonExited || !bytes.HasPrefix(out.Stdout, []byte("line 4\n")) || !bytes.HasSuffix(out.Stdout, []byte("line 199999\n")) {
		t.Errorf("Communicate after a break: %v, %+v", err, out)
	}
}

func TestProcess_LateReaderLosesNothing(t *testing.T) {
	s, _ := open(t, nil)
	p := start(t, s, "hello", nil)
	<-p.Done()
	if got, err := io.ReadAll(p.Stdout()); string(got) != "hello\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestProcess_WaitFirstThenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openWith(t, script(func(g *guest) Exit {
			time.Sleep(time.Second)
			for range 30 {
				_, _ = g.Stdout.Write(make([]byte, 1<<20))
			}
			return Exit{}
		}), nil)
		p := start(t, s, "x", nil)
		go func() { _, _ = p.Wait(context.Background()) }()
		synctest.Wait()
		if n, err := io.Copy(io.Discard, p.Stdout()); n != 30<<20 || err != nil {
			t.Errorf("streamed %d bytes, %v", n, err)
		}
		_ = s.Close()
	})
}

func TestProcess_StdoutClosedEarly(t *testing.T) {
	s, _ := open(t, nil)
	p := start(t, s, "flood", nil)
	out := p.Stdout()
	_, _ = io.ReadFull(out, make([]byte, 1000))
	out.Close()
	time.Sleep(time.Millisecond)
	p.Kill()
	if r, err := p.Wait(t.Context()); err != nil || r.Reason != ReasonCancelled {
		t.Errorf("Wait = %+v, %v", r, err)
	}
}

func TestProcess_StopLetsAWaitingWriterGoOn(t *testing.T) {
	for name, claim := range map[string]func(*Process){
		"streamed and not read": func(p *Process) { p.Stdout() },
		"not claimed":           func(*Process) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := open(t, nil)
				p := start(t, s, "flood", &RunOptions{Timeout: time.Second})
				claim(p)
				<-p.Done()
				if got, err := io.ReadAll(p.Stdout()); len(got) == 0 || err != nil {
					t.Errorf("%d bytes are left to read, %v", len(got), err)
				}
				_ = s.Close()
			})
		})
	}
}

func TestProcess_Communicate(t *testing.T) {
	s, _ := open(t, nil)
	p := start(t, s, "cat", &RunOptions{StdinPipe: true})
	_, _ = io.WriteString(p.Stdin(), "first ")
	input := bytes.Repeat([]byte("x"), 3<<20) // more than the pipe holds
	out, err := p.Communicate(t.Context(), input)
	if err != nil || len(out.Stdout) != 6+len(input) {
		t.Fatalf("Communicate: %v, %d bytes", err, len(out.Stdout))
	}
	out, err = p.Communicate(t.Context(), nil)
	if err != nil || len(out.Stdout) != 0 || out.Result.ExitCode != 0 {
		t.Errorf("the second Communicate: %v, %+v", err, out)
	}
	if _, err := p.Stdin().Write([]byte("late")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write after the end: %v", err)
	}

	p = start(t, s, "cat", &RunOptions{StdinPipe: true})
	text, err := p.CommunicateText(t.Context(), "bad \xff.")
	if err != nil || text.Stdout != "bad \uFFFD." {
		t.Errorf("CommunicateText = %+v, %v", text, err)
	}

	p = start(t, s, "cat", nil)
	_, err = p.Communicate(t.Context(), []byte("x"))
	wantField(t, "Communicate without a pipe", err, "input")
	if _, err := p.Stdin().Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Stdin without a pipe: %v", err)
	}
}

func TestProcess_WaitWithItsOwnContext(t *testing.T) {
	s, _ := open(t, nil)
	p := start(t, s, "sleep", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Wait(ctx)
	wantErr(t, "Wait", err, context.Canceled)
	_, err = p.Communicate(ctx, nil)
	wantErr(t, "Communicate", err, context.Canceled)
	p.Kill()
	<-p.Done()
	if r, err := p.Wait(ctx); err != nil || r.Reason != ReasonCancelled { // the end is known: it counts
		t.Errorf("Wait after the end = %+v, %v", r, err)
	}
	out, err := p.Communicate(ctx, nil)
	if err != nil || string(out.Stdout) != "before\nafter\n" {
		t.Errorf("output %+v, %v", out, err)
	}
}

func TestSession_ContextEndsTheRun(t *testing.T) {
	s, _ := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := s.Run(ctx, "sleep", nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	out, err := p.Communicate(context.Background(), nil)
	if err != nil || out.Result.Reason != ReasonCancelled || string(out.Stdout) != "before\nafter\n" {
		t.Errorf("Communicate = %+v, %v", out, err)
	}
	_, err = s.Run(ctx, "hello", nil)
	wantErr(t, "Run with an ended context", err, ErrNotStarted)
	wantErr(t, "Run with an ended context", err, context.Canceled)
}

func TestSession_Lost(t *testing.T) {
	s, _ := open(t, nil)
	out, err := s.Exec(t.Context(), "lost", nil)
	wantErr(t, "Exec", err, ErrLost)
	if out == nil || out.Result.Reason != ReasonLost || out.Result.ExitCode != Unknown {
		t.Errorf("output %+v", out)
	}
	_, err = s.RunCode(t.Context(), "lost", nil)
	wantErr(t, "RunCode", err, ErrLost)
}

func TestSession_StartFails(t *testing.T) {
	s, d := open(t, nil)
	_, err := s.Run(t.Context(), "no such script", nil)
	wantErr(t, "Run", err, ErrNotStarted)
	d.starts = func(context.Context) error { return ErrNotAvailable }
	_, err = s.Run(t.Context(), "hello", nil)
	wantErr(t, "Run", err, ErrNotAvailable)
	wantErr(t, "Run", err, ErrNotStarted)
}

func TestSession_RunIsCheckedBeforeItStarts(t *testing.T) {
	s, d := open(t, nil)
	d.starts = func(context.Context) error { t.Error("started"); return nil }
	dir := s.Info().HostDir
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Symlink("/etc", filepath.Join(dir, "link-to-etc")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	long := strings.Repeat("x", maxString)
	for _, tt := range []struct {
		name   string
		script string
		opts   RunOptions
		field  string
	}{
		{"NUL in the script", "a\x00b", RunOptions{}, "script"},
		{"a large script", strings.Repeat("#", MaxScript+1), RunOptions{}, "script"},
		{"unknown type", "hello", RunOptions{Type: "perl"}, "Type"},
		{"name with a slash", "hello", RunOptions{Name: "a/b"}, "Name"},
		{"name ..", "hello", RunOptions{Name: ".."}, "Name"},
		{"name with NUL", "hello", RunOptions{Name: "a\x00"}, "Name"},
		{"long name", "hello", RunOptions{Name: strings.Repeat("n", 256)}, "Name"},
		{"NUL in an argument", "hello", RunOptions{Args: []string{"ok", "\x00"}}, "Args[1]"},
		{"long argument", "hello", RunOptions{Args: []string{long}}, "Args[0]"},
		{"too many arguments", "hello", RunOptions{Args: slices.Repeat([]string{long[:100_000]}, 11)}, "Args"},
		{"empty variable name", "hello", RunOptions{Env: map[string]string{"": "x"}}, `Env[""]`},
		{"= in a variable name", "hello", RunOptions{Env: map[string]string{"A=B": "x"}}, `Env["A=B"]`},
		{"NUL in a variable name", "hello", RunOptions{Env: map[string]string{"A\x00": "x"}}, `Env["A\x00"]`},
		{"NUL in a value", "hello", RunOptions{Env: map[string]string{"A": "\x00"}}, `Env["A"]`},
		{"large value", "hello", RunOptions{Env: map[string]string{"BIG": long}}, `Env["BIG"]`},
		{"negative timeout", "hello", RunOptions{Timeout: -1}, "Timeout"},
		{"two kinds of stdin", "hello", RunOptions{Stdin: strings.NewReader(""), StdinPipe: true}, "StdinPipe"},
		{"missing cwd", "hello", RunOptions{Cwd: "missing"}, "Cwd"},
		{"cwd is a file", "hello", RunOptions{Cwd: "file"}, "Cwd"},
		{"cwd is a link out", "hello", RunOptions{Cwd: "link-to-etc"}, "Cwd"},
		{"cwd above", "hello", RunOptions{Cwd: "a/../../.."}, "Cwd"},
		{"cwd /", "hello", RunOptions{Cwd: "/"}, "Cwd"},
		{"cwd of a sibling", "hello", RunOptions{Cwd: WorkDir + "-evil"}, "Cwd"},
		{"long cwd", "hello", RunOptions{Cwd: strings.Repeat("x", 5000)}, "Cwd"},
		{"NUL in cwd", "hello", RunOptions{Cwd: "a\x00"}, "Cwd"},
		{"cwd is a loop of links", "hello", RunOptions{Cwd: "loop"}, "Cwd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Run(t.Context(), tt.script, &tt.opts)
			wantField(t, "Run", err, tt.field)
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestSession_LargeScript(t *testing.T) {
	big := "hello" + strings.Repeat(" ", 5<<20)
	s := openWith(t, newFake(map[string]func(*guest) Exit{big: basics["hello"]}), nil)
	exec(t, s, big, nil)
}

func TestSession_Environment(t *testing.T) {
	t.Setenv("SBX_CANARY", "canary-7f3a")
	s, _ := open(t, &Options{Env: map[string]string{"A": "session", "B": "session", "LANG": "fr"}})
	must(t, os.Mkdir(filepath.Join(s.Info().HostDir, "sub"), 0o700))
	must(t, os.Symlink(WorkDir+"/sub", filepath.Join(s.Info().HostDir, "link")))
	for _, cwd := range []string{"sub", WorkDir + "/sub", "sub/", "link", "./sub/../sub", "../sandbox-work/sub", "sub/."} {
		out := exec(t, s, "env", &RunOptions{Cwd: cwd, Args: []string{"1", "2"}, Env: map[string]string{"B": "run", "C": "ü=1"}})
		want := "A=session\nB=run\nC=ü=1\nHOME=/tmp/sandbox-work\nLANG=fr\nLOGNAME=sandbox\n" +
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=/tmp/sandbox-work/sub\nTMPDIR=/tmp\nUSER=sandbox\n" +
			"/tmp/sandbox-work/sub main.py [1 2]\n"
		if string(out.Stdout) != want {
			t.Errorf("cwd %q: got\n%swant\n%s", cwd, out.Stdout, want)
		}
	}
	if out := exec(t, s, "env", &RunOptions{Cwd: "."}); !strings.Contains(string(out.Stdout), "\n/tmp/sandbox-work main.py []\n") {
		t.Errorf("cwd .: %s", out.Stdout)
	}
}

func TestSession_OptionsAreCopied(t *testing.T) {
	env := map[string]string{"A": "1"}
	s, _ := open(t, &Options{Env: env})
	env["A"] = "2"
	if out := exec(t, s, "env", nil); !strings.HasPrefix(string(out.Stdout), "A=1\n") {
		t.Errorf("env changed after Open: %s", out.Stdout)
	}
}

func TestSession_MissingTier(t *testing.T) {
	s, _ := open(t, nil)
	_, err := s.Run(t.Context(), "hello", &RunOptions{Type: Shell})
	wantErr(t, "Run", err, ErrNotAvailable)
	if want := "a shell script needs the native tier, and this session was opened without it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q in it", err, want)
	}
}

func TestSession_TwoTiers(t *testing.T) {
	wasm, native := newFake(basics), newFake(basics)
	native.tier = TierNative
	s, err := Open(t.Context(), []Driver{native, wasm}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for typ, tier := range map[ScriptType]Tier{Shell: TierNative, Python: TierWasm} {
		if r := exec(t, s, "hello", &RunOptions{Type: typ}).Result; r.Tier != tier {
			t.Errorf("%s ran in %s", typ, r.Tier)
		}
	}
}

func TestSession_TierNotAvailableFailsItsRunsOnly(t *testing.T) {
	wasm, native := newFake(basics), newFake(basics)
	native.tier, native.openErr = TierNative, fmt.Errorf("%w: bwrap is not installed", ErrNotAvailable)
	s, err := Open(t.Context(), []Driver{native, wasm}, nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, s, "hello", nil)
	_, err = s.Run(t.Context(), "hello", &RunOptions{Type: Shell})
	wantErr(t, "Run", err, ErrNotAvailable)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// hostDir makes a directory that can be granted: not below /tmp.
func hostDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "engine-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestOpen_Refuses(t *testing.T) {
	tmp := hostDir(t)
	file := filepath.Join(tmp, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Symlink("/proc/self", filepath.Join(tmp, "proc")))
	must(t, os.Symlink(tmp, filepath.Join(tmp, "self")))
	dir := filepath.Join(tmp, "dir")
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	inTmp, err := os.MkdirTemp("/tmp", "engine-test-")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = os.Remove(inTmp) }()
	for _, tt := range []struct {
		name  string
		opts  Options
		field string
	}{
		{"relative work directory", Options{WorkDir: "x"}, "WorkDir"},
		{"missing work directory", Options{WorkDir: tmp + "/missing"}, "WorkDir"},
		{"work directory is a file", Options{WorkDir: file}, "WorkDir"},
		{"work directory /", Options{WorkDir: "/"}, "WorkDir"},
		{"work directory in /proc", Options{WorkDir: "/proc/self"}, "WorkDir"},
		{"work directory with NUL", Options{WorkDir: "/\x00"}, "WorkDir"},
		{"negative timeout", Options{Timeout: -time.Second}, "Timeout"},
		{"empty variable name", Options{Env: map[string]string{"": ""}}, `Env[""]`},
		{"too large an environment", Options{Env: manyVars()}, "Env"},
		{"negative memory", Options{Limits: Limits{Memory: -1}}, "Limits.Memory"},
		{"negative cpu", Options{Limits: Limits{CPU: -1}}, "Limits.CPU"},
		{"negative output", Options{Limits: Limits{Output: -1}}, "Limits.Output"},
		{"negative open files", Options{Limits: Limits{OpenFiles: -1}}, "Limits.OpenFiles"},
		{"negative tmp", Options{Limits: Limits{Tmp: -1}}, "Limits.Tmp"},
		{"negative tmp files", Options{Limits: Limits{TmpFiles: -1}}, "Limits.TmpFiles"},
		{"negative disk", Options{Limits: Limits{Disk: -1}}, "Limits.Disk"},
		{"negative disk files", Options{Limits: Limits{DiskFiles: -1}}, "Limits.DiskFiles"},
		{"negative processes", Options{Limits: Limits{Processes: -1}}, "Limits.Processes"},
		{"grant /", Options{ReadOnly: []string{"/"}}, "ReadOnly[0]"},
		{"empty grant", Options{ReadOnly: []string{file, ""}}, "ReadOnly[1]"},
		{"relative grant", Options{ReadWrite: []string{"x"}}, "ReadWrite[0]"},
		{"missing grant", Options{ReadOnly: []string{tmp + "/missing"}}, "ReadOnly[0]"},
		{"grant with NUL", Options{ReadOnly: []string{"/\x00"}}, "ReadOnly[0]"},
		{"grant with ..", Options{ReadOnly: []string{dir + "/../dir"}}, "ReadOnly[0]"},
		{"grant with a slash at the end", Options{ReadOnly: []string{dir + "/"}}, "ReadOnly[0]"},
		{"grant of /proc", Options{ReadOnly: []string{"/proc"}}, "ReadOnly[0]"},
		{"grant in /proc", Options{ReadOnly: []string{"/proc/self"}}, "ReadOnly[0]"},
		{"grant of a link to /proc", Options{ReadOnly: []string{tmp + "/proc"}}, "ReadOnly[0]"},
		{"grant of a device", Options{ReadOnly: []string{"/dev/null"}}, "ReadOnly[0]"},
		{"grant of /tmp", Options{ReadWrite: []string{"/tmp"}}, "ReadWrite[0]"},
		{"grant in /tmp", Options{ReadWrite: []string{inTmp}}, "ReadWrite[0]"},
		{"grant twice", Options{ReadWrite: []string{dir, dir}}, "ReadWrite[1]"},
		{"grant read-only in read-write", Options{ReadOnly: []string{dir + "/sub"}, ReadWrite: []string{dir}}, "ReadOnly[0]"},
		{"grant read-write in read-only", Options{ReadOnly: []string{dir}, ReadWrite: []string{dir + "/sub"}}, "ReadWrite[0]"},
		{"grant inside another by a link", Options{ReadOnly: []string{dir, tmp + "/self"}}, "ReadOnly[0]"},
		{"grant covers the work directory", Options{ReadOnly: []string{tmp}, WorkDir: dir}, "ReadOnly[0]"},
		{"grant in the work directory", Options{ReadOnly: []string{dir}, WorkDir: tmp}, "ReadOnly[0]"},
		{"grant of the work directory by a link", Options{ReadOnly: []string{tmp + "/self"}, WorkDir: dir}, "ReadOnly[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			d := newFake(basics)
			_, err := Open(t.Context(), []Driver{d}, &tt.opts)
			wantField(t, "Open", err, tt.field)
			if left, _ := os.ReadDir(temp); len(left) > 0 || d.sessions != 0 {
				t.Errorf("left behind: %v, %d sessions", left, d.sessions)
			}
		})
	}
}

func manyVars() map[string]string {
	vars := map[string]string{}
	for i := range 20 {
		vars[fmt.Sprint("V", i)] = strings.Repeat("v", 100_000)
	}
	return vars
}

func TestOpen_GrantsReachTheDriver(t *testing.T) {
	tmp := hostDir(t)
	must(t, os.Symlink(t.TempDir(), filepath.Join(tmp, "link"))) // to a directory in /tmp: that is its path here
	for _, name := range []string{"a", "ab", "b"} {
		must(t, os.Mkdir(filepath.Join(tmp, name), 0o700))
	}
	_, d := open(t, &Options{ReadOnly: []string{tmp + "/b", tmp + "/ab", tmp + "/link"}, ReadWrite: []string{tmp + "/a"}})
	want := []Grant{{tmp + "/a", true}, {tmp + "/ab", false}, {tmp + "/b", false}, {tmp + "/link", false}}
	if !slices.Equal(d.spec.Grants, want) {
		t.Errorf("grants %v, want %v", d.spec.Grants, want)
	}
}

func TestOpen_ManyGrants(t *testing.T) { // cases C144
	tmp := hostDir(t)
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = filepath.Join(tmp, fmt.Sprintf("p%d", i))
		must(t, os.Mkdir(paths[i], 0o700))
	}
	if _, d := open(t, &Options{ReadOnly: paths}); len(d.spec.Grants) != len(paths) {
		t.Errorf("%d grants", len(d.spec.Grants))
	}
}

func TestOpen_Drivers(t *testing.T) {
	odd := newFake(nil)
	odd.tier = "odd"
	for name, drivers := range map[string][]Driver{
		"nil":     {nil},
		"unknown": {odd},
	} {
		_, err := Open(t.Context(), drivers, nil)
		wantField(t, name, err, "drivers[0]")
	}
	_, err := Open(t.Context(), []Driver{newFake(nil), newFake(nil)}, nil)
	wantField(t, "two of a tier", err, "drivers[1]")
}

func TestOpen_Enforceable(t *testing.T) {
	d := newFake(basics)
	d.info.Unenforced = []string{"CPU", "Processes"}
	d.info.Warnings = []string{"no walls"}
	openWith(t, d, nil) // a default was not asked for
	_, err := Open(t.Context(), []Driver{d}, &Options{Limits: Limits{CPU: time.Second}})
	wantErr(t, "Open", err, ErrNotEnforceable)
	if err == nil || !strings.Contains(err.Error(), "Limits.CPU in the wasm tier") {
		t.Errorf("error %v", err)
	}
	s := openWith(t, d, &Options{Limits: Limits{CPU: time.Second, Memory: 1 << 30}, BestEffort: true})
	info := s.Info()
	if got := info.Unenforced[TierWasm]; !slices.Equal(got, []string{"CPU"}) {
		t.Errorf("Unenforced %v", got)
	}
	if info.Limits.Memory != 1<<30 || info.Limits.OpenFiles != 256 || info.Limits.TmpFiles != 4096 || info.ID != s.ID() || len(info.Tiers) != 1 {
		t.Errorf("Info %+v", info)
	}
	if !slices.Equal(s.Warnings(), []string{"no walls"}) {
		t.Errorf("Warnings %v", s.Warnings())
	}
}

func TestOpen_DriverRefuses(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	d := newFake(nil)
	d.openErr = &InvalidError{"Limits.Memory", "is less than the interpreter needs"}
	_, err := Open(t.Context(), []Driver{d}, nil)
	wantField(t, "Open", err, "Limits.Memory")
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSession_Close(t *testing.T) {
	s, d := open(t, nil)
	dir := s.Info().HostDir
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("work directory: %v, %v", info, err)
	}
	p := start(t, s, "stubborn", nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			select {
			case <-p.Done():
			default:
				t.Error("Close returned before the run had ended")
			}
		})
	}
	wg.Wait()
	if r, err := p.Wait(t.Context()); r.Reason != ReasonCancelled || err != nil {
		t.Errorf("the run: %+v, %v", r, err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("work directory: %v", err)
	}
	if d.sessions != 0 {
		t.Errorf("%d driver sessions", d.sessions)
	}
	_, err := s.Run(t.Context(), "hello", nil)
	wantErr(t, "Run", err, ErrClosed)
	wantErr(t, "PutBytes", s.PutBytes(t.Context(), "f", nil, nil), ErrClosed)
	_, err = s.GetBytes(t.Context(), "f", 1)
	wantErr(t, "GetBytes", err, ErrClosed)
	_, err = s.List(t.Context(), ".")
	wantErr(t, "List", err, ErrClosed)
}

func TestSession_CloseKeepsAGivenWorkDir(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	s, _ := open(t, &Options{WorkDir: link})
	if err := s.PutBytes(t.Context(), "f", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	exec(t, s, "hello", nil)
	_ = s.Close()
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "x" || err != nil {
		t.Errorf("after Close: %q, %v", got, err)
	}
}

func TestSession_CloseWhileARunIsBeingStarted(t *testing.T) {
	s, d := open(t, nil)
	starting := make(chan struct{})
	d.starts = func(ctx context.Context) error {
		close(starting)
		<-ctx.Done()
		return ctx.Err()
	}
	errs := make(chan error)
	go func() {
		_, err := s.Run(context.Background(), "hello", nil)
		errs <- err
	}()
	<-starting
	_ = s.Close()
	err := <-errs
	wantErr(t, "Run", err, ErrClosed)
	wantErr(t, "Run", err, ErrNotStarted)
}

func TestSession_KillBeforeTheDriverHasStarted(t *testing.T) {
	s, d := open(t, nil)
	d.starts = func(ctx context.Context) error { // a driver that does not look at ctx
		go func() { _ = s.Close() }()
		<-ctx.Done()
		return nil
	}
	p, err := s.Run(context.Background(), "sleep", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Wait(t.Context()); err != nil || r.Reason != ReasonCancelled {
		t.Errorf("Wait = %+v, %v", r, err)
	}
}

func TestSession_OutputLimitBeforeTheDriverHasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := open(t, &Options{Limits: Limits{Output: 1}})
		d.scripts = map[string]func(*guest) Exit{"x": func(g *guest) Exit { <-g.stop; return Exit{Code: 1} }}
		d.begins = func(ctx context.Context, spec *RunSpec) {
			_, _ = spec.Stdout.Write([]byte("xx"))
			synctest.Wait()
			if ctx.Err() != nil {
				t.Error("a run that has begun is aborted as if it had not")
			}
		}
		if r := exec(t, s, "x", nil).Result; r.Reason != ReasonOutput {
			t.Errorf("ended with %+v", r)
		}
		_ = s.Close()
	})
}

func TestSession_WorkDirIsGone(t *testing.T) { // cases C102
	for name, f := range map[string]func(dir string) error{
		"deleted": os.Remove,
		"moved":   func(dir string) error { return os.Rename(dir, dir+"2") },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Mkdir(dir, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "work")
			must(t, os.Mkdir(dir, 0o700))
			s, _ := open(t, &Options{WorkDir: dir})
			if err := f(dir); err != nil {
				t.Skip(err) // a directory that is in use cannot be moved everywhere
			}
			_, err := s.Run(t.Context(), "hello", nil)
			wantErr(t, "Run", err, ErrNotExist)
			if err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v does not name %s", err, dir)
			}
		})
	}
}

func TestSession_LogsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	s, _ := open(t, &Options{
		Env:    map[string]string{"TOKEN": "secret-1"},
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	exec(t, s, "cat", &RunOptions{Args: []string{"secret-2"}, Stdin: strings.NewReader("secret-3")})
	_, _ = s.Run(t.Context(), "secret-4", &RunOptions{Env: map[string]string{"A": "secret-5\x00"}})
	_ = s.Close()
	for _, want := range []string{"session opened", "run started", "run ended", "session closed", "session=" + s.ID()} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in the log", want)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("log:\n%s", &log)
	}
}

func TestSession_DescriptorsAndGoroutines(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	before := descriptors(t)
	for i := range 200 {
		s, _ := open(t, nil)
		p := start(t, s, []string{"hello", "sleep", "cat", "flood"}[i%4], &RunOptions{StdinPipe: i%2 == 0})
		if i%3 == 0 {
			p.Kill()
		}
		_ = s.PutBytes(t.Context(), "a/b/c", []byte("x"), nil)
		_, _ = s.GetBytes(t.Context(), "a/b/c", 10)
		_, _ = s.List(t.Context(), "a/../a")
		_, _ = s.GetBytes(t.Context(), "a/b/c/d", 10)
		_ = s.Close()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Runs, file calls, kills and Close at once.
func TestSession_Hammer(t *testing.T) {
	for range 20 {
		s, _ := open(t, &Options{Limits: Limits{Disk: 1 << 20, DiskFiles: 20}})
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				name := fmt.Sprintf("d%d/f", i%3)
				for range 10 {
					p, err := s.Run(t.Context(), []string{"hello", "sleep", "flood"}[i%3], &RunOptions{Timeout: time.Duration(i) * time.Millisecond})
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Errorf("Run: %v", err)
						}
						return
					}
					_ = s.PutBytes(t.Context(), name, make([]byte, 1000*i), nil)
					_, _ = s.GetBytes(t.Context(), name, math.MaxInt64)
					_ = s.RemoveAll(t.Context(), "d1")
					if i%2 == 0 {
						p.Kill()
					}
					_, _ = p.Wait(t.Context())
				}
			})
		}
		time.Sleep(time.Duration(20) * time.Millisecond)
		_ = s.Close()
		wg.Wait()
	}
}
