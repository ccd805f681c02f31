package native

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
)

// diagnose names the setting of this host that stands in the way of a step, and what to do about it; output is
// what the launcher wrote. Both are empty when nothing is known.
func diagnose(b Backend, step string, err error, output string) (cause, remedy string) {
	if errors.Is(err, context.Canceled) {
		return "", ""
	}
	s := hostSettings()
	y := classify(b, step, err, output)
	if s.seccomp == unix.SECCOMP_MODE_FILTER {
		s.refusedCalls = tryCalls(context.Background())
	}
	return explain(s, y, err)
}

// explain is diagnosis for an error that may know its remedy itself.
func explain(s *settings, y symptom, err error) (cause, remedy string) {
	cause, remedy = diagnosis(s, y)
	if u, ok := errors.AsType[*cgroup.Unavailable](err); ok && u.Remedy != "" {
		remedy = u.Remedy
	}
	return cause, remedy
}

// hostSettings reads the settings of this host.
func hostSettings() *settings {
	s := readSettings(os.DirFS("/"))
	s.program, _ = os.Executable()
	return s
}
