//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package starter

// unblockSignals does nothing: there is no portable way to the mask but through C. A script has the mask that
// the embedding program was started with, which is empty unless somebody took care to set it.
func unblockSignals() error { return nil }
