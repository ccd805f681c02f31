package daemon

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// stubborn is a script that does what it can to stay.
const stubborn = `trap '' TERM INT HUP
mkdir -p a/b && echo x >a/b/keep.txt && chmod 500 a/b && chmod 500 a
(setsid sleep %[1]d & setsid sh -c 'trap "" TERM; while :; do : >"$0.$$"; sleep 0.01; done' late &)
echo begun
sleep %[1]d`

// TestServe_Killed is a server that is killed under load: alone, and together with the process that tidies up after it.
func TestServe_Killed(t *testing.T) {
	for _, b := range []native.Backend{native.Userns, native.Bubblewrap} {
		finding := native.Probe(t.Context(), &native.ProbeOptions{Backends: []native.Backend{b}}).Backend(b)
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/all=%v", b, all), func(t *testing.T) {
				var err error
				if !finding.OK {
					err = fmt.Errorf("%s", finding.Detail)
				}
				feature := string(b)
				if b == native.Bubblewrap {
					feature = "bwrap" // as CI calls it
				}
				testneed.Feature(t, feature, err)
				testKilled(t, b, all)
			})
		}
	}
}

func testKilled(t *testing.T, b native.Backend, all bool) {
	flags := []string{"--backend=" + string(b), onSocket(t)}
	p := launch(t, flags...)
	c := client(t, p.line("listening on "))
	marker := 1_000_000 + p.Process.Pid // seconds, which no other program of this host sleeps
	var ids []string
	var streams []*stream
	var mu sync.Mutex
	var load sync.WaitGroup
	for i := range 6 {
		load.Go(func() {
			id, s := startStubborn(t, c, fmt.Sprintf(stubborn, marker), i == 0)
			mu.Lock()
			defer mu.Unlock()
			ids, streams = append(ids, id), append(streams, s)
		})
	}
	load.Wait()
	if t.Failed() {
		return
	}
	if n := len(sleepers(t, marker)); n < 6 {
		t.Fatalf("%d processes of the runs are there, want more", n)
	}
	if all {
		p.signal(syscall.SIGSTOP) // it cannot start another one
		for _, pid := range janitors(t, p.Process.Pid) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.signal(syscall.SIGKILL)
	p.code()
	for _, s := range streams {
		if _, r, err := result(s); r != nil || err == nil {
			t.Errorf("run of a killed server: %v, %v, want a lost stream", r, err)
		}
	}
	work := filepath.Join(p.state, "work")
	if all && len(namesIn(t, work)) == 0 {
		t.Errorf("nothing is left in %s, and so there is nothing to test", work)
	}

	again := launch(t, append(flags, "--state-dir="+p.state)...)
	c = client(t, again.line("listening on "))
	until(t, "no process of the runs is left", func() bool { return len(sleepers(t, marker)) == 0 })
	until(t, "no process of the server is left", func() bool { return len(orphans(t, again.Process.Pid)) == 0 })
	until(t, "no work directory is left", func() bool { return len(namesIn(t, work)) == 0 })
	until(t, "no group is left", func() bool { return len(groupsOf(t, p.Process.Pid)) == 0 })
	if text, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(text), p.state) {
		t.Errorf("mounts of the state directory are left: %v", err)
	}
	for _, id := range ids {
		_, err := c.GetSession(t.Context(), connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: id}))
		if connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("GetSession of a session of before = %v, want not found", err)
		}
	}
}

// startStubborn begins a run in a session of its own, with a disk limit or without.
func startStubborn(t *testing.T, c sandboxv2connect.SandboxServiceClient, script string, disk bool) (string, *stream) {
	opts := &sandboxv2.SessionOptions{BestEffort: true}
	if disk {
		opts.Limits = &sandboxv2.Limits{DiskBytes: 10 << 20}
	}
	r, err := c.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{Options: opts}))
	if err != nil {
		t.Error(err)
		return "", nil
	}
	id := r.Msg.Session.SessionId
	s, err := c.Run(t.Context(), connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Type: sandboxv2.ScriptType_SCRIPT_TYPE_SHELL, Script: script}))
	if err != nil {
		t.Error(err)
		return "", nil
	}
	for s.Receive() {
		if len(s.Msg().Event.Stdout) > 0 {
			return id, s
		}
	}
	t.Errorf("the run has written nothing: %v", s.Err())
	return "", nil
}

// A running is a process of this host.
type running struct {
	pid, parent int
	exe         string
	args        []string
}

func processes(t *testing.T) []running {
	t.Helper()
	var all []running
	for _, name := range namesIn(t, "/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		dir := filepath.Join("/proc", name)
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		r := running{pid: pid}
		// The name, in brackets, may have anything in it: proc_pid_stat(5).
		if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 1 && fields[0] != "Z" {
			r.parent, _ = strconv.Atoi(fields[1])
			r.exe, _ = os.Readlink(filepath.Join(dir, "exe"))
			args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			r.args = strings.Split(string(args), "\x00")
			all = append(all, r)
		}
	}
	return all
}

// sleepers are the processes that sleep for so many seconds.
func sleepers(t *testing.T, seconds int) []running {
	t.Helper()
	var all []running
	for _, r := range processes(t) {
		if len(r.args) > 1 && r.args[0] == "sleep" && r.args[1] == strconv.Itoa(seconds) {
			all = append(all, r)
		}
	}
	return all
}

// orphans are the processes of this program, and of bubblewrap, that belong neither to this one nor to the server with that pid.
func orphans(t *testing.T, server int) []running {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	all := processes(t)
	parents := map[int]int{}
	for _, r := range all {
		parents[r.pid] = r.parent
	}
	var left []running
	for _, r := range all {
		if r.exe != self && filepath.Base(r.exe) != "bwrap" {
			continue
		}
		pid := r.pid
		for pid > 1 && pid != os.Getpid() && pid != server {
			pid = parents[pid]
		}
		if pid <= 1 {
			left = append(left, r)
		}
	}
	return left
}

// janitors are the children of a server that tidy up after it.
func janitors(t *testing.T, server int) []int {
	t.Helper()
	var all []int
	for _, r := range processes(t) {
		if r.parent == server && strings.Contains(strings.Join(r.args, " "), " tidy") {
			all = append(all, r.pid)
		}
	}
	if len(all) == 0 {
		t.Fatal("the server has no process that tidies up")
	}
	return all
}

// groupsOf are the cgroups that a process has made.
func groupsOf(t *testing.T, pid int) []string {
	t.Helper()
	var all []string
	prefix := fmt.Sprintf("sandbar-%d-", pid)
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			all = append(all, path)
		}
		return nil // groups come and go
	})
	return all
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
