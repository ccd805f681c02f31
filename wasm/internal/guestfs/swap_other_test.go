//go:build unix && !linux

package guestfs

import "os"

// swap exchanges two names in three steps.
func swap(dir, a, b string) {
	_ = os.Rename(dir+"/"+a, dir+"/swap")
	_ = os.Rename(dir+"/"+b, dir+"/"+a)
	_ = os.Rename(dir+"/swap", dir+"/"+b)
}
