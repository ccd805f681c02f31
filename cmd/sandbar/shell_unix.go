//go:build unix

package main

import (
	"os"
	"syscall"
)

// shellSignals are those that `sandbar shell` acts on: the terminal has another size, or somebody ends us.
// Ctrl-C is none: it goes to the shell as a key.
var shellSignals = []os.Signal{syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP}

func isResize(sig os.Signal) bool { return sig == syscall.SIGWINCH }
