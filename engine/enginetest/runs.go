package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

var closeTests = []test{
	{"ends runs and removes the work directory", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		var runs []*engine.Process
		for _, script := range []string{s.scripts.busy, s.scripts.sleep, s.scripts.flood, s.scripts.stubborn} {
			runs = append(runs, s.start(t, session, script, nil))
		}
		if err := session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		for i, p := range runs {
			select {
			case <-p.Done():
				wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
			default:
				t.Errorf("run %d goes on after Close", i)
			}
		}
		if _, err := os.Lstat(session.Info().HostDir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("work directory: %v", err)
		}
	}},
	{"is for once", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.output(t, session, s.scripts.hello, nil)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := session.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
		wg.Wait()
		_, err := session.Run(within(t), s.scripts.hello, s.options(nil))
		wantErr(t, "Run", err, engine.ErrClosed)
		_, err = session.GetBytes(within(t), "f", 1)
		wantErr(t, "GetBytes", err, engine.ErrClosed)
	}},
	{"leaves a given work directory", func(t *testing.T, s *suite) {
		dir := t.TempDir()
		session := s.open(t, &engine.Options{WorkDir: dir})
		s.output(t, session, fmt.Sprintf(s.scripts.writef, "f", "data"), nil)
		_ = session.Close()
		if got, err := os.ReadFile(dir + "/f"); string(got) != "data" || err != nil {
			t.Errorf("the file is %q, %v", got, err)
		}
	}},
}

var runTests = []test{
	{"result", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		out := s.exec(t, session, s.scripts.hello, nil)
		r := out.Result
		if string(out.Stdout) != "hello\n" || len(out.Stderr) != 0 {
			t.Errorf("output %q, %q", out.Stdout, out.Stderr)
		}
		wantEnd(t, r, engine.ReasonExited, 0)
		if r.Tier == "" || r.Route == "" || r.StdoutBytes != 6 || r.StderrBytes != 0 || r.Truncated || r.Signal != 0 {
			t.Errorf("result %+v", r)
		}
		if r.WallTime <= 0 || r.CPUTime == 0 || r.PeakMemory == 0 {
			t.Errorf("figures that are neither measured nor Unknown: %+v", r)
		}
	}},
	{"exit codes", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, code := range []int{0, 1, 3, 44, 124, 255} {
			wantEnd(t, s.exec(t, session, fmt.Sprintf(s.scripts.exitf, code), nil).Result, engine.ReasonExited, code)
		}
		for script, code := range s.scripts.codes { // cases C024
			r := s.exec(t, session, script, nil).Result
			if r.Reason != engine.ReasonExited || r.ExitCode != code {
				t.Errorf("%q ended with %s, code %d; want code %d", script, r.Reason, r.ExitCode, code)
			}
		}
	}},
	{"failure of the script is no error", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		out := s.exec(t, session, s.scripts.fail, nil)
		if out.Result.ExitCode == 0 || out.Result.Reason != engine.ReasonExited || !strings.Contains(string(out.Stderr), "deliberate") {
			t.Errorf("ended with %+v, stderr %q", out.Result, out.Stderr)
		}
		_, err := session.RunCode(within(t), s.scripts.fail, s.options(nil))
		wantErr(t, "RunCode", err, engine.ErrExit)
		if err == nil || !strings.Contains(err.Error(), "deliberate") {
			t.Errorf("RunCode: %v", err)
		}
		stdout, err := session.RunCode(within(t), s.scripts.hello, s.options(nil))
		if string(stdout) != "hello\n" || err != nil {
			t.Errorf("RunCode = %q, %v", stdout, err)
		}
	}},
	{"large script", func(t *testing.T, s *suite) { // cases C144
		session := s.open(t, nil)
		for _, size := range []int{200_000, 5_000_000} {
			script := "#" + strings.Repeat("x", size) + "\n" + s.scripts.hello
			if got := s.output(t, session, script, nil); got != "hello\n" {
				t.Errorf("%d bytes: %q", size, got)
			}
		}
	}},
	{"the largest script", func(t *testing.T, s *suite) {
		if testing.Short() {
			t.Skip("it is large")
		}
		session := s.open(t, nil)
		// It exits early: what is after that is read by one interpreter and not by the other.
		script := s.scripts.hello + "\n" + fmt.Sprintf(s.scripts.exitf, 0) + "\n#"
		script += strings.Repeat("x", engine.MaxScript-len(script))
		if got := s.output(t, session, script, nil); got != "hello\n" {
			t.Errorf("%q", got)
		}
		_, err := session.Run(within(t), script+"x", s.options(nil))
		wantField(t, err, "script")
	}},
	{"a terminal where there is none", func(t *testing.T, s *suite) {
		if s.caps.Native || s.caps.Terminal {
			t.Skip("there are terminals")
		}
		session := s.open(t, nil)
		_, err := session.Run(within(t), s.scripts.hello, s.options(&engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 24, Cols: 80}}))
		wantErr(t, "Run", err, engine.ErrNotAvailable)
	}},
	{"arguments", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		args := []string{"", "a b", "-c", "--", "ü☃", "$HOME", "'\"", strings.Repeat("l", 128<<10-1)} // MAX_ARG_STRLEN, execve(2)
		if got, want := s.output(t, session, s.scripts.args, &engine.RunOptions{Args: args}), strings.Join(args, "\n")+"\n"; got != want {
			t.Errorf("arguments arrive as %.200q", got)
		}
	}},
	{"refused before they start", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, tt := range []struct {
			field  string
			script string
			opts   engine.RunOptions
		}{
			{"script", s.scripts.hello + "\x00", engine.RunOptions{}},
			{"Args[0]", s.scripts.hello, engine.RunOptions{Args: []string{"\x00"}}},
			{`Env["A=B"]`, s.scripts.hello, engine.RunOptions{Env: map[string]string{"A=B": ""}}},
			{"Cwd", s.scripts.hello, engine.RunOptions{Cwd: "missing"}},
			{"Cwd", s.scripts.hello, engine.RunOptions{Cwd: "/etc"}},
			{"Timeout", s.scripts.hello, engine.RunOptions{Timeout: -1}},
			{"Name", s.scripts.hello, engine.RunOptions{Name: "../x"}},
		} {
			_, err := session.Run(within(t), tt.script, s.options(&tt.opts))
			wantField(t, err, tt.field)
		}
	}},
	{"overlap without disturbing each other", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		long := s.start(t, session, s.scripts.sleep, nil)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 4 {
					if (i+j)%3 == 0 {
						p := s.start(t, session, s.scripts.busy, nil)
						p.Kill()
						wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
						continue
					}
					name := fmt.Sprintf("f-%d-%d", i, j)
					s.output(t, session, fmt.Sprintf(s.scripts.writef, name, name), nil)
					if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, name), nil); got != name {
						t.Errorf("%s holds %q", name, got)
					}
				}
			})
		}
		wg.Wait()
		select {
		case <-long.Done():
			t.Errorf("another run ended: %+v", wait(t, long))
		default:
		}
		long.Kill()
		wantEnd(t, wait(t, long), engine.ReasonCancelled, 137)
	}},
	{"a new process each", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		a, b := s.output(t, session, s.scripts.random, nil), s.output(t, session, s.scripts.random, nil)
		for i, field := range strings.Fields(a) {
			if other := strings.Fields(b); i >= len(other) || other[i] == field {
				t.Errorf("two runs have the same random values: %q, %q", a, b)
				break
			}
		}
		s.output(t, session, fmt.Sprintf(s.scripts.writef, "/tmp/left", "x"), nil)
		if got := s.output(t, session, fmt.Sprintf(s.scripts.existsf, "/tmp/left"), nil); got != "no\n" {
			t.Errorf("a file in /tmp is there in the next run: %q", got)
		}
	}},
	{"with a context that has ended", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := session.Run(ctx, s.scripts.hello, s.options(nil))
		wantErr(t, "Run", err, engine.ErrNotStarted)
	}},
}

var environmentTests = []test{
	{"base", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Env: map[string]string{"A": "session", "B": "session"}})
		got := s.output(t, session, s.scripts.env, &engine.RunOptions{Env: map[string]string{"B": "run", "C": "ü=☃", "EMPTY": ""}})
		for _, want := range []string{
			"A=session", "B=run", "C=ü=☃", "EMPTY=", "HOME=" + engine.WorkDir, "LANG=C.UTF-8", "PWD=" + engine.WorkDir, "TMPDIR=/tmp", "USER=sandbox", "PATH=/usr/local/sbin:",
		} {
			if !strings.Contains("\n"+got, "\n"+want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
		if strings.Contains(got, canaryName) || strings.Contains(got, canary) {
			t.Errorf("the host's environment is there:\n%s", got)
		}
	}},
	{"half a MiB", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		env, want := map[string]string{}, 0
		for i := range 8 {
			env[fmt.Sprint("BIG", i)] = strings.Repeat(string(rune('a'+i)), 64<<10)
		}
		env["LONGEST"] = strings.Repeat("l", 128<<10-1-len("LONGEST=")) // MAX_ARG_STRLEN, execve(2)
		got := "\n" + s.output(t, session, s.scripts.env, &engine.RunOptions{Env: env})
		for name, value := range env {
			if strings.Contains(got, "\n"+name+"="+value+"\n") {
				want++
			}
		}
		if want != len(env) {
			t.Errorf("%d of %d variables arrive, in %d bytes", want, len(env), len(got))
		}
	}},
	{"the caller's variables reach the script alone", func(t *testing.T, s *suite) { // cases C098
		session := s.open(t, nil)
		env := map[string]string{"PYTHONSTARTUP": "/x.py", "PYTHONPATH": "/x", "PATH": "/nowhere:/usr/bin:/bin", "LD_AUDIT": "/x.so", "GODEBUG": "x"}
		if got := s.output(t, session, s.scripts.hello, &engine.RunOptions{Env: env}); got != "hello\n" {
			t.Errorf("output %q", got)
		}
	}},
	{"working directory", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		put(t, session, "sub/deep/f", "data")
		for cwd, want := range map[string]string{
			"": "", ".": "", "sub": "/sub", "sub/deep/": "/sub/deep", engine.WorkDir + "/sub": "/sub", "sub/../sub": "/sub",
		} {
			if got := s.output(t, session, s.scripts.cwd, &engine.RunOptions{Cwd: cwd}); got != engine.WorkDir+want+"\n" {
				t.Errorf("cwd %q is %q for the script", cwd, got)
			}
		}
		if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, "f"), &engine.RunOptions{Cwd: "sub/deep"}); got != "data" {
			t.Errorf("a relative path leads to %q", got)
		}
	}},
}
