package wasm

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU is the processor time that the calling thread has used, clock_gettime(2)
// CLOCK_THREAD_CPUTIME_ID, or a negative value.
func threadCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return -1
	}
	return time.Duration(t.Nano())
}
