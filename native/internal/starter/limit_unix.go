//go:build darwin || linux || netbsd || openbsd

package starter

import "golang.org/x/sys/unix"

// apply sets the limit. It is never raised.
func (l Limit) apply() error {
	var now unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	value := min(l.Value, now.Max)
	return unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: value, Max: value})
}
