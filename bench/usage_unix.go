//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is what this process and its children that have ended have used: getrusage(2).
func processorTime() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return -1
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}
