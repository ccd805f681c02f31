//go:build !linux

package guestfs

// rights are nothing elsewhere: the calls of a program that is root have root's rights.
type rights struct{}

func (*rights) drop() bool { return true }
func (*rights) restore()   {}

func privileged() bool { return false }
