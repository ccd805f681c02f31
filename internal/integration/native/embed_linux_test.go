package nativetests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// C161: a run does not depend on the thread that started it. Threads end while fifty runs last.
func TestC161_ThreadsEnd(t *testing.T) {
	sessions, visitors := 50, 200
	if testing.Short() {
		sessions, visitors = 16, 60
	}
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		var mu sync.Mutex
		var runs []*engine.Process
		var starting sync.WaitGroup
		for range sessions {
			s := open(t, d, nil)
			starting.Go(func() {
				runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
				p, err := s.Run(context.Background(), "sleep 4; echo ok", shell(nil))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				runs = append(runs, p)
			})
		}
		starting.Wait()
		for range visitors {
			var wg sync.WaitGroup
			wg.Go(func() { runtime.LockOSThread() })
			wg.Wait()
		}
		for _, p := range runs {
			out, err := p.Communicate(context.Background(), nil)
			if err != nil || string(out.Stdout) != "ok\n" {
				t.Errorf("%+v, %v", out, err)
			}
		}
	})
}

// C165: a file that was just put can be executed, while cells are made and other files are put.
func TestC165_TextFileBusy(t *testing.T) {
	sessions, times := 20, 10
	if testing.Short() {
		sessions, times = 6, 8
	}
	each(t, func(t *testing.T, d *native.Driver) {
		var wg sync.WaitGroup
		for i := range sessions {
			opts := &engine.Options{}
			if i%4 == 0 {
				opts.Limits.Disk = 8 << 20
			}
			s := open(t, d, opts)
			for j := range 3 { // in each session, so that cells are made meanwhile
				wg.Go(func() {
					for range times / 2 {
						name := fmt.Sprintf("tool%d.sh", j)
						err := s.PutBytes(t.Context(), name, []byte("#!/bin/sh\necho ok\n"), &engine.PutOptions{Mode: 0o755})
						if err != nil {
							t.Error(err)
							return
						}
						out, err := s.Exec(t.Context(), "./"+name, shell(nil))
						if err != nil || string(out.Stdout) != "ok\n" {
							t.Errorf("%+v, %v", out, err)
						}
					}
				})
			}
		}
		wg.Wait()
	})
}

// C166: each run has the same few descriptors, whatever goes on beside it, and no pipe of one is held open by another.
func TestC166_Descriptors(t *testing.T) {
	runs := 100
	if testing.Short() {
		runs = 30
	}
	each(t, func(t *testing.T, d *native.Driver) {
		ctx, cancel := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		busy := open(t, d, nil)
		for i := range 4 {
			beside.Go(func() { // streams into and out of files
				for ctx.Err() == nil {
					name := fmt.Sprint("f", i)
					_ = busy.PutReader(ctx, name, io.LimitReader(zeros{}, 1<<20), nil)
					_ = busy.GetWriter(ctx, name, io.Discard, 1<<20)
				}
			})
			beside.Go(func() { // runs with input, of the other kind, which overlap and so make cells
				for ctx.Err() == nil {
					_, _ = busy.Exec(ctx, "import sys; sys.stdin.read()", python(&engine.RunOptions{Stdin: strings.NewReader("x")}))
				}
			})
		}
		s := open(t, d, nil)
		var wg sync.WaitGroup
		for worker := range 10 {
			wg.Go(func() {
				for i := range runs / 10 {
					own := s
					if worker%2 == 0 && i%3 == 0 {
						var err error
						if own, err = d.Open(ctx, nil); err != nil {
							t.Error(err)
							return
						}
					}
					const script = `ls -l /proc/self/fd | tail -n +2 | sed -E 's/.* ([0-9]+) -> /\1 /; s/pipe:.*/pipe/; s,/proc/.*,proc,'; python3 -c 'import os; print(sorted(map(int, os.listdir("/proc/self/fd")))[:-1])'`
					out, err := own.Exec(ctx, script, shell(nil))
					if want := "0 /dev/null\n1 pipe\n2 pipe\n3 proc\n[0, 1, 2]\n"; err != nil || string(out.Stdout) != want {
						t.Errorf("%+v, %v", out, err)
					}
					if own != s {
						if err := own.Close(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		cancel()
		beside.Wait()
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// user is a program that some user of the host runs. It says what each backend, its arguments from the second on,
// does for it. The first argument says what to do before.
func user(args []string) int {
	if args[0] == "delete" {
		path, err := os.Executable()
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return failed(err)
		}
	}
	for _, name := range args[1:] {
		err := tryAsUser(native.Backend(name))
		switch {
		case errors.Is(err, engine.ErrNotAvailable):
			fmt.Fprintf(os.Stdout, "%s refused %q\n", name, err)
		case err != nil:
			return failed(fmt.Errorf("%s: %w", name, err))
		}
	}
	return 0
}

func tryAsUser(b native.Backend) error {
	d, err := native.New(&native.Options{Backend: b})
	if err != nil {
		return err
	}
	defer d.Close()
	s, err := d.Open(context.Background(), nil)
	if err != nil {
		return err
	}
	host := s.Info().HostDir
	out, err := s.Exec(context.Background(), `id -u; id -g; touch w && stat -c '%u:%g' w; head -n 1 /etc/shadow 2>/dev/null | grep -c :; cat "$1" 2>/dev/null; grep -E '^Cap(Eff|Bnd)' /proc/self/status | tr -d '\t\n'`,
		shell(&engine.RunOptions{Args: []string{canaryOf()}}))
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(host, "w"))
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	err = s.Close()
	if _, statErr := os.Lstat(host); statErr == nil {
		err = errors.Join(err, fmt.Errorf("%s is left", host))
	}
	memory := "holds"
	limited, openErr := d.Open(context.Background(), &engine.Options{Limits: engine.Limits{Memory: 64 << 20}})
	switch {
	case errors.Is(openErr, engine.ErrNotEnforceable):
		memory = "refused"
	case openErr != nil:
		err = errors.Join(err, openErr)
	default:
		out, execErr := limited.Exec(context.Background(), "bytearray(1 << 28)", python(nil))
		if execErr != nil || out.Result.Reason != engine.ReasonMemory {
			memory = fmt.Sprintf("does not hold: %+v, %v", out, execErr)
		}
		err = errors.Join(err, limited.Close())
	}
	fmt.Fprintf(os.Stdout, "%s %q %q ours %v, memory %s with cgroups %v\n", b, out.Stdout, out.Stderr, owner == uint32(os.Geteuid()), memory, hasCgroup(d))
	return err
}

// canaryOf is the path of the canary, which a child gets by its environment.
func canaryOf() string { return os.Getenv("SBX_CANARY_FILE") }

// asUser runs user, and checks that every backend does the same for it, or refuses where that may be.
func asUser(t *testing.T, cmd *osexec.Cmd, mayRefuse bool) {
	t.Helper()
	cmd.Env = append(os.Environ(), "TMPDIR="+wideTemp(t), "HOME=/", "SBX_CANARY_FILE="+canaryFile)
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	for i, line := range childOutput(t, cmd) {
		t.Log(line)
		prefix := fmt.Sprintf("%s %q %q ours true, memory ", backends[i], lines("1000", "1000", "1000:1000", "0")+"CapEff:0000000000000000CapBnd:0000000000000000", "")
		rest, ok := strings.CutPrefix(line, prefix)
		if mayRefuse && strings.HasPrefix(line, string(backends[i])+" refused") {
			continue
		}
		if !ok || rest != "holds with cgroups true" && rest != "refused with cgroups false" {
			t.Errorf("%s", line)
		}
	}
}

func backendNames(tb testing.TB) []string {
	tb.Helper()
	var names []string
	for _, b := range backends {
		driver(tb, b)
		names = append(names, string(b))
	}
	return names
}

// C168: the same for every user: also one that has no entry in passwd, one whose group is root's, and a root that
// has lost capabilities.
func TestC168_Users(t *testing.T) {
	names := backendNames(t)
	t.Run("ours", func(t *testing.T) { asUser(t, child(t, "user", append([]string{""}, names...)...), false) })
	for name, id := range map[string]*syscall.Credential{
		"1234":      {Uid: 1234, Gid: 1234},
		"nobody":    {Uid: 65534, Gid: 65534},
		"OpenShift": {Uid: 1_000_660_000, Gid: 0, Groups: []uint32{1_000_660_000}},
		"groups":    {Uid: 1234, Gid: 1234, Groups: []uint32{0, 4, 27}},
	} {
		t.Run(name, func(t *testing.T) {
			needRoot(t)
			cmd := child(t, "user", append([]string{""}, names...)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: id}
			asUser(t, cmd, false)
		})
	}
	for name, caps := range map[string]string{
		"root without capabilities":   "-all",
		"root of a container runtime": "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap",
	} {
		t.Run(name, func(t *testing.T) {
			needRoot(t)
			need(t, "setpriv")
			inner := child(t, "user", append([]string{""}, names...)...)
			cmd := osexec.Command("setpriv", append([]string{"--bounding-set=" + caps, "--inh-caps=" + caps, inner.Path}, inner.Args[1:]...)...)
			cmd.ExtraFiles, cmd.Stderr = inner.ExtraFiles, os.Stderr
			// Who is root without CAP_SETFCAP cannot map its own id: user_namespaces(7), since Linux 5.12.
			asUser(t, cmd, caps == "-all")
		})
	}
}

// C167: the program that is started again is this one, however it was started: with its file deleted, by a path
// with blanks, in a directory that a script's user cannot enter or that scripts do not have.
func TestC167_SelfExecution(t *testing.T) {
	names := backendNames(t)
	base := wideTemp(t)
	for _, tt := range []struct {
		dir  string
		mode os.FileMode
	}{{"with blanks and \"quotes\"", 0o755}, {"closed", 0o700}, {"deleted", 0o755}} {
		t.Run(tt.dir, func(t *testing.T) {
			dir := filepath.Join(base, tt.dir)
			if err := os.Mkdir(dir, tt.mode); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "a b.test")
			copySelf(t, path)
			before := ""
			if tt.dir == "deleted" {
				before = "delete"
			}
			cmd := osexec.Command(path, append([]string{"user", before}, names...)...)
			cmd.Stderr = os.Stderr
			cmd.Dir = dir
			asUser(t, cmd, false)
		})
	}
	t.Run("not readable for others", func(t *testing.T) {
		path := filepath.Join(base, "private.test")
		copySelf(t, path)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := osexec.Command(path, append([]string{"user", ""}, names...)...)
		cmd.Stderr = os.Stderr
		asUser(t, cmd, false)
	})
}

func copySelf(t *testing.T, path string) {
	t.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// C167: a process that has the marker and no host ends at once, and starts nothing: no test, and no other process.
func TestC167_MarkerAlone(t *testing.T) {
	for _, args := range [][]string{{}, {"serve"}, {"hold"}, {"keep"}, {"no such stage"}, {"serve", "serve"}, {"-test.run=."}} {
		cmd := child(t, "sandbar-cell-init", args...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(bound, func() {
			t.Errorf("%q does not end", args)
			_ = cmd.Process.Kill()
		})
		_ = cmd.Wait()
		timer.Stop()
		if said.Len() > 0 {
			t.Errorf("%q says %.200q", args, said.String())
		}
	}
	each(t, func(t *testing.T, d *native.Driver) { // as arguments and variables of a script it means nothing
		s := open(t, d, nil)
		printed(t, s, `echo "$1" "$sandbar_cell_init"`, shell(&engine.RunOptions{Args: []string{"sandbar-cell-init", "serve"}, Env: map[string]string{"sandbar_cell_init": "serve"}}), "sandbar-cell-init serve\n")
	})
}

// C173: busy scripts do not keep the program from answering, with as few threads as there can be.
func TestC173_Busy(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, procs := range []int{1, 2} {
			func() {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				var busy []*engine.Process
				for range procs + 1 {
					busy = append(busy, start(t, s, "while True: pass", python(nil)))
				}
				began := time.Now()
				runtime.GC()
				stillWorks(t, s)
				if took := time.Since(began); took > bound {
					t.Errorf("an answer took %v", took)
				}
				for _, p := range busy {
					p.Kill()
					ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
				}
			}()
		}
	})
}
