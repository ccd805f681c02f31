package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// killBatch bounds the descriptors that Kill has open at one time.
const killBatch = 64

// Kill sends SIGKILL to every process of the group, the init of the cell too. With cgroup.kill (version 2, Linux 5.14)
// it is one write that no fork escapes, and Kill does not wait until they have ended. Without it Kill stops forks by
// pids.max, kills what it finds until nothing is left, up to 2 seconds, and restores the limit. It needs pidfd_open
// (Linux 5.3) there, so that it never hits a process that got a number anew. A group that is removed has nothing to
// kill. Close waits for the end.
func (g *Group) Kill() error {
	if g.removed.Load() { // a later group can have the name
		return nil
	}
	if g.version == 2 {
		// A removed group has no such file either, and then the loops below find nothing.
		err := write(filepath.Join(g.trees[0].dir, "cgroup.kill"), "1")
		if !gone(err) {
			return killError(err)
		}
	}
	limit := "max"
	if g.limits.Processes > 0 {
		limit = strconv.Itoa(g.limits.Processes)
	}
	// Processes are in all trees, or only in the first ones when Add has failed half way.
	var errs []error
	for _, t := range g.trees {
		if !t.has(controllerPids) {
			continue
		}
		path := filepath.Join(t.dir, versions[g.version].processes)
		if err := write(path, "0"); err == nil {
			defer write(path, limit) //nolint:errcheck // the group may be gone by then
		} else if !gone(err) {
			errs = append(errs, err)
		}
	}
	for _, t := range g.trees {
		errs = append(errs, killAll(t.dir))
	}
	return killError(errors.Join(errs...))
}

func killError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cgroup: kill: %w", err)
}

// killAll kills what is in one group until nothing is left.
func killAll(dir string) error {
	wait := newBackoff()
	for {
		pids, err := processes(dir)
		if err != nil || len(pids) == 0 {
			return err
		}
		var errs []error
		for batch := range slices.Chunk(pids, killBatch) {
			errs = append(errs, killThese(dir, batch))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if !wait.wait() {
			return fmt.Errorf("%s: processes %v did not end in %v", dir, pids, closeTime)
		}
	}
}

// killThese kills processes that were in a group a moment ago. A number can have gone to another process meanwhile, so
// first it takes hold of each by a pidfd and then looks again which ones are in the group.
func killThese(dir string, pids []int) error {
	fds := make(map[int]int, len(pids))
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	for _, pid := range pids {
		if pid == os.Getpid() { // a thread of ours is in it, in Start
			continue
		}
		if pid == 0 {
			return fmt.Errorf("%s: a process of another pid namespace is in it", dir)
		}
		fd, err := unix.PidfdOpen(pid, 0) // sets O_CLOEXEC by itself
		switch {
		case err == nil:
			fds[pid] = fd
		case !gone(err):
			return fmt.Errorf("pidfd_open %d: %w", pid, err)
		}
	}
	still, err := processes(dir)
	if err != nil {
		return err
	}
	for _, pid := range still {
		fd, ok := fds[pid]
		if !ok {
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !gone(err) {
			return fmt.Errorf("pidfd_send_signal %d: %w", pid, err)
		}
	}
	return nil
}
