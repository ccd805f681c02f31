package stage1

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// posture is what processes of the same user may change about this one, and what its children inherit.
type posture struct {
	nice     int
	io       int
	policy   unix.SchedAttr
	affinity unix.CPUSet
	limits   [rlimitCount]unix.Rlimit
}

// rlimitCount is RLIM_NLIMITS.
const rlimitCount = 16

// mainThread is the thread that forks: the first one of process 1. Any thread may ask about it.
const mainThread = 1

// readPosture reads it for the main thread.
func readPosture() (posture, error) {
	var p posture
	var err error
	if p.nice, err = unix.Getpriority(unix.PRIO_PROCESS, mainThread); err != nil {
		return p, os.NewSyscallError("getpriority", err)
	}
	if p.io, err = ioPriority(); err != nil {
		return p, os.NewSyscallError("ioprio_get", err)
	}
	attr, err := unix.SchedGetAttr(mainThread, 0)
	if err != nil {
		return p, os.NewSyscallError("sched_getattr", err)
	}
	p.policy = *attr
	if err := unix.SchedGetaffinity(mainThread, &p.affinity); err != nil {
		return p, os.NewSyscallError("sched_getaffinity", err)
	}
	for i := range p.limits {
		if err := unix.Getrlimit(i, &p.limits[i]); err != nil {
			return p, os.NewSyscallError("getrlimit", err)
		}
	}
	return p, nil
}

// errChanged: a run has changed the init, and would so have an effect on the next one.
var errChanged = errors.New("the init's priority, processors or limits have been changed")

// unchanged compares.
func (p *posture) unchanged() error {
	now, err := readPosture()
	if err != nil {
		return err
	}
	if now != *p {
		return errChanged
	}
	return nil
}

// spareThreads is how many threads are made ahead. When a script has taken all processes that there may be, the
// runtime could make none, and would end this process.
const spareThreads = 6

// makeThreads has the runtime make threads, which it keeps.
func makeThreads() {
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	ready.Add(spareThreads)
	for range spareThreads {
		done.Go(func() {
			runtime.LockOSThread() // each waits on a thread of its own
			defer runtime.UnlockOSThread()
			ready.Done()
			<-release
		})
	}
	ready.Wait()
	close(release)
	done.Wait()
}

// sameFile checks that what is mounted is what the host meant: its path could have come to lead elsewhere.
func sameFile(fd int, dev, ino uint64) error {
	if ino == 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	if st.Dev != dev || st.Ino != ino {
		return fmt.Errorf("it is another one than when the session was opened: %w", unix.ESTALE)
	}
	return nil
}
