//go:build dragonfly || freebsd

package starter

import (
	"math"

	"golang.org/x/sys/unix"
)

// apply sets the limit. It is never raised.
func (l Limit) apply() error {
	var now unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	value := min(int64(min(l.Value, math.MaxInt64)), now.Max)
	return unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: value, Max: value})
}
