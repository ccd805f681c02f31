//go:build !linux

package engine

import (
	"io/fs"
	"os"
)

// There is no overlayfs but Linux's.

func isWhiteout(fs.FileInfo) bool     { return false }
func isOpaque(*os.Root) (bool, error) { return false, nil }
func isOurs(fs.FileInfo) bool         { return false }
func deviceOf(fs.FileInfo) uint64     { return 0 }
