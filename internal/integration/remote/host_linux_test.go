package remote

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testneed"
)

// mark is a number of seconds that no other program of this host sleeps.
func mark() int { return 2_000_000 + os.Getpid()%100_000*100 + int(marks.Add(1)) }

var marks atomic.Int64

// asleep counts the processes that sleep for so many seconds, in all namespaces of this host.
func asleep(tb testing.TB, seconds int) int {
	tb.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for _, name := range names {
		args, err := os.ReadFile(name)
		if err == nil && string(args) == "sleep\x00"+strconv.Itoa(seconds)+"\x00" {
			n++
		}
	}
	return n
}

// memory is what the kernel says of a process's memory, in bytes: "VmRSS" now, "VmHWM" the most since the last forget.
func memory(tb testing.TB, pid int, what string) int64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, what+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return kib << 10
		}
	}
	tb.Fatalf("process %d has no %s", pid, what)
	return 0
}

// forget has VmHWM begin anew: proc_pid_clear_refs(5).
func forget(tb testing.TB, pid int) {
	tb.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		tb.Fatal(err)
	}
}

// descriptors counts those of a process.
func descriptors(tb testing.TB, pid int) int {
	tb.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		tb.Fatal(err)
	}
	return len(list)
}

// descendants counts the processes that a process has started, and those of them.
func descendants(tb testing.TB, pid int) int {
	tb.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		tb.Fatal(err)
	}
	parents := map[int]int{}
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may have anything in it: proc_pid_stat(5).
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && len(fields) > 1 {
			parents[child], _ = strconv.Atoi(fields[1])
		}
	}
	n := 0
	for child := range parents {
		for p := parents[child]; p > 1; p = parents[p] {
			if p == pid {
				n++
				break
			}
		}
	}
	return n
}

// groups counts the cgroups that a process has made.
func groups(pid int) int {
	n := 0
	prefix := fmt.Sprintf("sandbar-%d-", pid)
	_ = filepath.WalkDir("/sys/fs/cgroup", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			n++
		}
		return nil // groups come and go
	})
	return n
}

// entries are the names in a directory.
func entries(tb testing.TB, dir string) []string {
	tb.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A cable joins two network namespaces of the test's own: one of a server, one of a client.
type cable struct{ server, client *process }

const serverAddress, clientAddress = "10.213.7.1", "10.213.7.2"

// newCable needs root.
func newCable(t *testing.T) *cable {
	t.Helper()
	for _, program := range []string{"ip", "nsenter"} {
		_, err := exec.LookPath(program)
		testneed.Feature(t, program, err)
	}
	c := &cable{}
	for _, end := range []**process{&c.server, &c.client} {
		hold := exec.Command("sleep", "infinity")
		hold.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		out, err := hold.StdoutPipe()
		if err == nil {
			err = hold.Start()
		}
		testneed.Feature(t, "netns", err)
		p := &process{cmd: hold, done: make(chan struct{})}
		t.Cleanup(func() { out.Close(); p.kill() })
		*end = p
	}
	run(t, "ip", "link", "add", "s", "netns", strconv.Itoa(c.server.pid()), "type", "veth", "peer", "name", "c", "netns", strconv.Itoa(c.client.pid()))
	for _, words := range [][]string{
		append(inside(c.server), "ip", "addr", "add", serverAddress+"/24", "dev", "s"),
		append(inside(c.client), "ip", "addr", "add", clientAddress+"/24", "dev", "c"),
		append(inside(c.server), "ip", "link", "set", "s", "up"),
		append(inside(c.client), "ip", "link", "set", "c", "up"),
		append(inside(c.server), "ip", "link", "set", "lo", "up"),
	} {
		run(t, words...)
	}
	return c
}

// inside begins a command that runs in the network namespace of a process.
func inside(p *process) []string { return []string{"nsenter", "-t", strconv.Itoa(p.pid()), "-n", "--"} }

// pull takes the cable out: packets go nowhere, and nobody is told.
func (c *cable) pull(t *testing.T) {
	t.Helper()
	run(t, append(inside(c.client), "ip", "link", "set", "c", "down")...)
}

func run(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
	}
}
