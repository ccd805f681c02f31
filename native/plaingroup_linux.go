package native

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sessionMembers lists the processes of a session without its leader and without zombies.
func sessionMembers(leader int) ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var members []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == leader {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid == leader && alive(pid) {
			members = append(members, pid)
		}
	}
	return members, nil
}

// alive reports whether a process runs: a zombie does not, and stays as long as its parent likes. The state is
// the field after the name in parentheses: proc_pid_stat(5).
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(stat, ')')
	return i >= 0 && len(stat) > i+2 && stat[i+2] != 'Z' && stat[i+2] != 'X'
}

// waitEnded waits until a child has ended and leaves it to be reaped: waitid(2).
func waitEnded(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
