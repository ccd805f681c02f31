package starter

import "golang.org/x/sys/unix"

// unblockSignals empties the signal mask, which the script would inherit: sigprocmask(2).
func unblockSignals() error {
	var none unix.Sigset_t
	return unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil)
}
