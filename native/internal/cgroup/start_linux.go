package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Places are the directories in which p makes groups, and what their names begin with.
func (p *Parent) Places() (dirs []string, prefix string) {
	for _, t := range p.trees {
		dirs = append(dirs, t.dir)
	}
	return dirs, p.owner.String()
}

// Start starts cmd as a process of the group, in it from its first instruction. It is what Add does, without the
// wait for an RCU grace period: version 2 forks into the group (clone3 with CLONE_INTO_CGROUP); with version 1 a
// thread of this process enters the group for the moment of the fork, which costs no more than a few writes,
// and which only the groups of threads of version 1 allow. Memory is charged to processes, not to threads: what
// this process allocates meanwhile is not the group's.
func (g *Group) Start(cmd *exec.Cmd) error {
	if g.removed.Load() {
		return fmt.Errorf("cgroup: start: %w", os.ErrClosed)
	}
	if g.version == 2 {
		return g.startInto(cmd)
	}
	done := make(chan error, 1)
	go func() { done <- g.startInside(cmd) }()
	return <-done
}

func (g *Group) startInto(cmd *exec.Cmd) error {
	dir, err := g.Open()
	if err != nil {
		return err
	}
	defer dir.Close()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return cmd.Start()
}

// startInside is for a goroutine of its own. If its thread cannot leave the group, the thread ends with it.
//
// It never enters with the first thread of the process: the kernel takes that one for the owner of the memory, so all
// of this process would be charged to the group, and killed when the group has too much.
func (g *Group) startInside(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		done := make(chan error, 1)
		go func() { done <- g.startInside(cmd) }() // while we hold the first thread, that is another one
		err := <-done
		runtime.UnlockOSThread()
		return err
	}
	var entered []tree
	err := func() error {
		for _, t := range g.trees {
			if err := enter(t.dir); err != nil {
				return err
			}
			entered = append(entered, t)
		}
		return cmd.Start()
	}()
	left := true
	for _, t := range entered {
		if leaveErr := enter(filepath.Dir(t.dir)); leaveErr != nil {
			left = false
			err = errors.Join(err, leaveErr)
		}
	}
	if left {
		runtime.UnlockOSThread()
	}
	if err != nil && cmd.Process != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("cgroup: start: %w", err)
	}
	return nil
}

// enter moves this thread into a group of version 1: to write 0 means whoever writes, and needs no lock on the
// threads of other processes.
func enter(dir string) error { return write(filepath.Join(dir, "tasks"), "0") }
