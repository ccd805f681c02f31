package stage1

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// posture is what processes of the same user may change about this one, and what its children inherit.
type posture struct {
	threads []threadPosture // the first one is that of the thread that forks
	limits  [rlimitCount]unix.Rlimit
}

// threadPosture is what of it each thread has of its own.
type threadPosture struct {
	thread   int
	nice     int
	io       int
	policy   unix.SchedAttr
	affinity unix.CPUSet
}

// rlimitCount is RLIM_NLIMITS.
const rlimitCount = 16

// threads lists this process's threads. Its own main thread, number 1 in the namespace, comes first.
func threads() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var all []int
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// readPosture reads it for the threads that are given. Any thread may ask about any.
func readPosture(threads []int) (posture, error) {
	var p posture
	for _, n := range threads {
		t, err := readThread(n)
		if err != nil {
			return p, err
		}
		p.threads = append(p.threads, t)
	}
	for i := range p.limits {
		if err := unix.Getrlimit(i, &p.limits[i]); err != nil {
			return p, os.NewSyscallError("getrlimit", err)
		}
	}
	return p, nil
}

func readThread(n int) (t threadPosture, err error) {
	t.thread = n
	if t.nice, err = unix.Getpriority(unix.PRIO_PROCESS, n); err != nil {
		return t, os.NewSyscallError("getpriority", err)
	}
	if t.io, err = ioPriority(n); err != nil {
		return t, os.NewSyscallError("ioprio_get", err)
	}
	attr, err := unix.SchedGetAttr(n, 0)
	if err != nil {
		return t, os.NewSyscallError("sched_getattr", err)
	}
	t.policy = *attr
	return t, os.NewSyscallError("sched_getaffinity", unix.SchedGetaffinity(n, &t.affinity))
}

// errChanged: a run has changed the init, and would so have an effect on the next one.
var errChanged = errors.New("the init's priority, processors or limits have been changed")

// unchanged compares.
func (p *posture) unchanged(threads []int) error {
	now, err := readPosture(threads)
	if err != nil {
		return err
	}
	if now.limits != p.limits || !slices.Equal(now.threads, p.threads) {
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
