//go:build !linux

package engine

import (
	"errors"
	"io/fs"
	"os"
)

// reserve is for file systems that hold a limit themselves: there are none here.
func reserve(*os.File, int64) error { return errors.ErrUnsupported }

func sparse(fs.FileInfo) bool { return true }
