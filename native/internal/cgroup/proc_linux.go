package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// stat is what we need of /proc/<pid>/stat. See proc_pid_stat(5).
type stat struct {
	parent int
	start  uint64 // in clock ticks since boot
}

// parseStat reads /proc/<pid>/stat. The name of the program, the second field, may have spaces and brackets in it.
func parseStat(text []byte) (stat, bool) {
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return stat{}, false
	}
	fields := strings.Fields(string(text[i+1:])) // the first one is the third field: state
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	start, err2 := strconv.ParseUint(fields[19], 10, 64)
	return stat{parent: parent, start: start}, err1 == nil && err2 == nil
}

func readStat(pid int) (stat, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	s, ok := parseStat(text)
	if !ok {
		return stat{}, fmt.Errorf("read %s: not understood", path)
	}
	return s, nil
}

// self returns this process as an owner of groups.
var self = sync.OnceValues(func() (owner, error) {
	// A /proc of another pid namespace would tell about other processes.
	link, err := os.Readlink("/proc/self")
	if err != nil {
		return owner{}, err
	}
	o := owner{pid: os.Getpid()}
	if link != strconv.Itoa(o.pid) {
		return owner{}, fmt.Errorf("/proc is not of this pid namespace: /proc/self is %s, pid is %d", link, o.pid)
	}
	s, err := readStat(o.pid)
	if err != nil {
		return owner{}, err
	}
	o.start = s.start
	if o.pidns, err = namespace("pid"); err != nil {
		return owner{}, err
	}
	o.timens, err = namespace("time")
	if errors.Is(err, os.ErrNotExist) { // before Linux 5.6
		err = nil
	}
	return o, err
})

// namespace returns the inode number of a namespace of this process.
func namespace(kind string) (uint64, error) {
	var st unix.Stat_t
	path := "/proc/self/ns/" + kind
	if err := unix.Stat(path, &st); err != nil {
		return 0, pathError("stat", path, err)
	}
	return st.Ino, nil
}

// dead says that o surely runs no more. In doubt it says no: what a living process made must not be removed.
func (o owner) dead() bool {
	me, err := self()
	if err != nil || o.pidns != me.pidns || o.timens != me.timens {
		return false
	}
	// kill tells the truth even where /proc hides the processes of others (hidepid).
	if err := unix.Kill(o.pid, 0); errors.Is(err, unix.ESRCH) {
		return true
	}
	s, err := readStat(o.pid)
	return err == nil && s.start != o.start // another process got the number
}

// descendant says whether a process is this one or one that came from it, as far as its parents still live.
func descendant(pid int) bool {
	me := os.Getpid()
	for range 1000 { // against a loop from numbers that are reused while we look
		if pid == me {
			return true
		}
		if pid <= 0 {
			return false
		}
		s, err := readStat(pid)
		if err != nil {
			return false
		}
		pid = s.parent
	}
	return false
}

// untouchable says that a process must not be moved: it is this one, by its pid, by one of its threads, or by the
// number that means the writer, or it is process 1. The kernel moves the whole process when the number of a thread is
// written to cgroup.procs.
func untouchable(pid int) bool {
	if pid <= 1 || pid == os.Getpid() {
		return true
	}
	_, err := os.Lstat(fmt.Sprintf("/proc/self/task/%d", pid))
	return err == nil
}

// processes reads cgroup.procs of a group. A group that is gone has none.
func processes(dir string) ([]int, error) {
	path := filepath.Join(dir, "cgroup.procs")
	text, err := os.ReadFile(path)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pids, ok := parsePids(string(text))
	if !ok {
		return nil, fmt.Errorf("read %s: not understood: %.40q", path, text)
	}
	return pids, nil
}
