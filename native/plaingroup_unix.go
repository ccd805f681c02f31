//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A session of processes is found by the number of its leader. The functions here need that leader to exist, if
// only as a zombie: then the number is nobody else's.
//
// A process that calls setsid(2) is in another session and is not found.

// signalSession sends a signal to the group of the leader, and to the other groups of its session: those of a
// shell with job control. Processes that are started meanwhile may be missed.
func signalSession(leader int, sig syscall.Signal) {
	_ = unix.Kill(-leader, sig)
	members, err := sessionMembers(leader)
	if err != nil {
		return
	}
	for _, pid := range members {
		if group, err := unix.Getpgid(pid); err == nil && group != leader {
			signalMember(pid, leader, sig)
		}
	}
}

// signalMember sends a signal to a process, if it still is of that session.
func signalMember(pid, leader int, sig syscall.Signal) {
	p, err := os.FindProcess(pid) // on Linux it is held by a pidfd from here on
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if sid, err := unix.Getsid(pid); err == nil && sid == leader {
		_ = p.Signal(sig)
	}
}

// killPatience is how long processes may take to die. One that sits in the kernel can take its time.
const killPatience = 2 * time.Second

// killSession kills all processes of the session but the leader, which has ended, and waits until they are gone.
func killSession(leader int) error {
	deadline := time.Now().Add(killPatience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_ = unix.Kill(-leader, unix.SIGKILL)
		members, err := sessionMembers(leader)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list the processes of a run: %w", err)
		}
		if len(members) == 0 {
			return nil
		}
		for _, pid := range members {
			signalMember(pid, leader, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v of a run do not end", members)
		}
		time.Sleep(pause)
	}
}

// alonePause is how often a run in the background is looked at.
const alonePause = 50 * time.Millisecond

// waitAlone waits until the leader, which has ended, is the last of its session.
func waitAlone(leader int) {
	for {
		members, err := sessionMembers(leader)
		if err != nil || len(members) == 0 {
			return
		}
		time.Sleep(alonePause)
	}
}
