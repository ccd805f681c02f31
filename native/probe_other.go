//go:build !linux

package native

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sandbar-dev/sandbar/engine"
)

// hostSettings are unknown where there are no cells.
func hostSettings() *settings { return &settings{} }

// probedFeatures are none of this system's: the report names the Linux ones that backends are made of.
func probedFeatures(*prober) []feature {
	var list []feature
	for _, name := range []string{
		"user-namespace", "mount-namespace", "pid-namespace", "ipc-namespace", "uts-namespace", "cgroup-namespace", "network-namespace", "proc",
		"mount-api", "pivot-root", "terminal", "landlock", "seccomp", "pidfd", "cgroup", "bwrap",
	} {
		list = append(list, feature{name, func(context.Context) (string, error) {
			err := fmt.Errorf("%w: %s", engine.ErrNotAvailable, runtime.GOOS)
			return "", &found{err, "this is a feature of Linux", ""}
		}})
	}
	return list
}
