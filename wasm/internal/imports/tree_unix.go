//go:build unix

package imports

import "syscall"

// calmFlags are for opening what may not be the file that it was a moment ago: a FIFO does not block the opener, and a
// terminal does not become ours.
const calmFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
