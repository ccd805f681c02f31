package guestfs

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// rights are the capabilities of a thread, which are its own (capabilities(7), "Per-thread"). The zero value is for one
// drop and restore.
type rights struct {
	header unix.CapUserHeader
	data   [2]unix.CapUserData
}

// drop takes the effective capabilities from this thread and keeps the goroutine on it until restore. The permitted
// ones stay, and with them the way back. False: nothing has changed.
func (r *rights) drop() bool {
	runtime.LockOSThread()
	r.header.Version = unix.LINUX_CAPABILITY_VERSION_3
	if unix.Capget(&r.header, &r.data[0]) == nil {
		none := r.data
		none[0].Effective, none[1].Effective = 0, 0
		if unix.Capset(&r.header, &none[0]) == nil {
			return true
		}
	}
	runtime.UnlockOSThread()
	return false
}

// restore undoes drop. A thread that cannot get its capabilities back stays with this goroutine, and ends with it: no
// other goroutine meets it.
func (r *rights) restore() {
	if unix.Capset(&r.header, &r.data[0]) == nil {
		runtime.UnlockOSThread()
	}
}

// privileged reports whether this program is root, and root's rights can be laid down. A program that has
// capabilities without being root was given them for a purpose.
func privileged() bool {
	if os.Geteuid() != 0 {
		return false
	}
	var r rights
	if !r.drop() {
		return false
	}
	r.restore()
	return r.data[0].Effective|r.data[1].Effective != 0
}
