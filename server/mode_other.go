//go:build !unix

package server

import "io/fs"

// othersWrite is not known here: the bits of a mode are made up of the read-only attribute.
func othersWrite(fs.FileMode) bool { return false }

func othersRead(fs.FileMode) bool { return false }
