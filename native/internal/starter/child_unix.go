//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package starter

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// init takes over a process that is to become a script. It never falls through: a process with this argument
// and without a parent that speaks to it ends here.
func init() {
	if len(os.Args) < 2 || os.Args[1] != Arg {
		return
	}
	runtime.LockOSThread() // the signal mask is a thread's
	step, err := become()
	answer, _ := json.Marshal(failure(step, err))
	_, _ = unix.Write(fdStatus, answer)
	os.Exit(1)
}

// become turns this process into the script. It returns only when it cannot.
func become() (step string, err error) {
	in := os.NewFile(fdRequest, "request")
	if in == nil {
		os.Exit(1)
	}
	payload, err := io.ReadAll(in)
	in.Close()
	if err != nil {
		return "read the request", err
	}
	var r request
	if err := json.Unmarshal(payload, &r); err != nil || len(r.Argv) == 0 {
		os.Exit(1) // not our parent, or it has ended
	}
	if err := closeOnExec(); err != nil {
		return "mark descriptors", err
	}
	// What the embedding program ignores or was started with as ignored would stay ignored in the script. A
	// handler does not stay: execve(2).
	signal.Notify(make(chan os.Signal, 1))
	if err := unblockSignals(); err != nil {
		return "unblock signals", err
	}
	unix.Umask(0o022) // as in a cell
	for _, l := range r.Limits {
		if err := l.apply(); err != nil {
			return fmt.Sprintf("setrlimit %d to %d", l.Resource, l.Value), err
		}
	}
	path := string(r.Path)
	argv, env := toStrings(r.Argv), toStrings(r.Env)
	if _, err := unix.Write(fdStatus, ready(spent())); err != nil {
		return "answer", err
	}
	return "execute " + path, syscall.Exec(path, argv, env)
}

// spent is the processor time that this process has used: getrusage(2).
func spent() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// closeOnExec leaves the script with descriptors 0, 1 and 2. Go opens all others to be closed, but the
// embedding program may have inherited some itself.
func closeOnExec() error {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range names {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
