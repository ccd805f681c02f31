//go:build unix

package server

import "io/fs"

// othersWrite reports whether group or others can write what has this mode.
func othersWrite(m fs.FileMode) bool { return m.Perm()&0o022 != 0 }

// othersRead reports whether others can read what has this mode. The group may: that is how a service gets its secrets.
func othersRead(m fs.FileMode) bool { return m.Perm()&0o004 != 0 }
