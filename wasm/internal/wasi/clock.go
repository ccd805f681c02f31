package wasi

import (
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// monotonicBase is what the monotonic clock shows at New. It is not 0, so that a program can go a
// little back from its first reading.
const monotonicBase = time.Second

// now reads a clock; ok is false for a clock that does not exist here.
func (e *Env) now(id uint32) (ns uint64, ok bool) {
	switch id {
	case clockRealtime:
		return uint64(time.Now().UnixNano()), true
	case clockMonotonic:
		return uint64(time.Since(e.start) + monotonicBase), true
	case clockProcessCPUTime, clockThreadCPUTime:
		// A guest has one thread.
		if e.cpuClock == nil {
			return 0, false
		}
		return uint64(max(e.cpuClock(), 0)), true
	default:
		return 0, false
	}
}

// clockTimeGet is clock_time_get(id, precision, *time). EINVAL for a clock that does not exist is the
// witx's choice, and lets Python go on to the next of its sources.
func clockTimeGet(c call, p []uint64) sys.Errno {
	ns, ok := c.env.now(uint32(p[0]))
	if !ok {
		return sys.EINVAL
	}
	if !c.mem.WriteUint64Le(uint32(p[2]), ns) {
		return sys.EFAULT
	}
	return 0
}

// clockResGet is clock_res_get(id, *resolution): 1 ns, the unit of the clocks under ours.
func clockResGet(c call, p []uint64) sys.Errno {
	if _, ok := c.env.now(uint32(p[0])); !ok {
		return sys.EINVAL
	}
	if !c.mem.WriteUint64Le(uint32(p[1]), 1) {
		return sys.EFAULT
	}
	return 0
}
