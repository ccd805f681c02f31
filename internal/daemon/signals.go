package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// catch has the signals that a server knows come by a channel, until forget is called.
func catch() (signals <-chan os.Signal, forget func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

func isReload(sig os.Signal) bool { return sig == syscall.SIGHUP }

// exitCode is that of a process that the signal has ended, as a shell gives it.
func exitCode(sig os.Signal) int {
	if n, ok := sig.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitFailed
}
