package nativetests

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// holdings are what this process has of the host.
type holdings struct {
	goroutines, descriptors, threads, temporary int
	rss                                         int // MiB
	mounts                                      []string
	groups                                      []string // cgroup directories of this process
	processes                                   []string // that come from this one
}

func measure() holdings {
	runtime.GC()
	debug.FreeOSMemory()
	return holdings{
		goroutines:  runtime.NumGoroutine(),
		descriptors: entries("/proc/self/fd"),
		threads:     entries("/proc/self/task"),
		temporary:   entries(os.TempDir()),
		rss:         residentMiB(),
		mounts:      mountLines(),
		groups:      groupsOf(os.Getpid()),
		processes:   descendants(os.Getpid()),
	}
}

// moreThan says of what there is more than before. Threads and memory are not counted: the runtime keeps both. Nor
// are files in the temporary directory, which others use as well.
func (h holdings) moreThan(before holdings) []string {
	var more []string
	add := func(what string, now, then any, is bool) {
		if is {
			more = append(more, fmt.Sprintf("%s: %v, were %v", what, now, then))
		}
	}
	add("goroutines", h.goroutines, before.goroutines, h.goroutines > before.goroutines)
	add("descriptors", h.descriptors, before.descriptors, h.descriptors > before.descriptors)
	add("mounts", minus(h.mounts, before.mounts), "not there", len(minus(h.mounts, before.mounts)) > 0)
	add("cgroups", minus(h.groups, before.groups), "not there", len(minus(h.groups, before.groups)) > 0)
	add("processes", minus(h.processes, before.processes), "not there", len(minus(h.processes, before.processes)) > 0)
	return more
}

func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// settled measures until there is no more than before, for a while.
func settled(before holdings) holdings {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if now := measure(); len(now.moreThan(before)) == 0 || time.Now().After(deadline) {
			return now
		}
	}
}

// nothingMore fails a test that leaves something. It is called first.
func nothingMore(t *testing.T) {
	t.Helper()
	before := measure()
	t.Cleanup(func() {
		if more := settled(before).moreThan(before); len(more) > 0 {
			t.Errorf("left behind: %s", strings.Join(more, "; "))
		}
	})
}

func entries(dir string) int {
	found, err := os.ReadDir(dir)
	if err != nil {
		return -1
	}
	return len(found)
}

// residentMiB is the resident memory of this process (proc(5), statm).
func residentMiB() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		return -1
	}
	return pages * os.Getpagesize() >> 20
}

// mountLines are the mounts of this process without what others on the host change all the time.
func mountLines() []string {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// groupsOf are the cgroup directories whose name says that they belong to a process, in all hierarchies, at the
// places where its own group is.
func groupsOf(pid int) []string {
	var all []string
	for _, dir := range ownGroups() {
		found, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("sandbar-%d-*", pid)))
		if err == nil {
			all = append(all, found...)
		}
	}
	slices.Sort(all)
	return all
}

// ownGroups are the directories of this process's groups: cgroups(7), /proc/pid/cgroup.
func ownGroups() []string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		for _, mount := range []string{controllers, strings.TrimPrefix(controllers, "name="), "unified", ""} {
			dir := filepath.Join("/sys/fs/cgroup", mount, path)
			if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil {
				dirs = append(dirs, dir)
				break
			}
		}
	}
	return dirs
}

// A process is one line of the census.
type process struct {
	pid, parent int
	state       byte
	command     string // the command line, words parted by blanks
}

// processes are all that this process can see.
func processes() []process {
	found, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, e := range found {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := processOf(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// processOf reads proc_pid_stat(5); the name, in brackets, can hold anything.
func processOf(pid int) (process, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return process{}, errors.New("no state")
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return process{}, err
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return process{}, err
	}
	command := strings.TrimSpace(strings.ReplaceAll(string(cmdline), "\x00", " "))
	return process{pid: pid, parent: parent, state: fields[0][0], command: command}, nil
}

func (p process) String() string { return fmt.Sprintf("%d %c %s", p.pid, p.state, p.command) }

// descendants are the processes that come from one, as text that does not change while a process lives.
func descendants(pid int) []string {
	var texts []string
	for _, p := range family(pid) {
		texts = append(texts, fmt.Sprintf("%d %s", p.pid, p.command))
	}
	return texts
}

// family are the processes that come from one.
func family(pid int) []process {
	all := processes()
	known := map[int]bool{pid: true}
	var found []process
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if known[p.parent] && !known[p.pid] {
				known[p.pid], grown = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// withText are the processes on the host whose command line holds a text, this process aside.
func withText(text string) []process {
	return slices.DeleteFunc(processes(), func(p process) bool {
		return p.pid == os.Getpid() || !strings.Contains(p.command, text)
	})
}

// noneLeft checks that no process with a text in its command line is left, within the bound.
func noneLeft(tb testing.TB, text string) {
	tb.Helper()
	var left []process
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = withText(text); len(left) == 0 {
			return
		}
	}
	tb.Errorf("these are left: %v", left)
}

// awaitText waits until n processes have a text in their command line.
func awaitText(tb testing.TB, text string, n int) []process {
	tb.Helper()
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found := withText(text); len(found) >= n {
			return found
		}
	}
	tb.Fatalf("there are not %d processes with %q: %v", n, text, withText(text))
	return nil
}

// marks numbers the markers of this process.
var marks int

// marker gives a duration for sleep(1) that no other process on the host has: it tells whose a process is.
func marker() string {
	marks++
	return fmt.Sprintf("9%d.%06d", 100+marks, os.Getpid())
}
