//go:build !unix

package engine

import (
	"io/fs"
	"os"
	"syscall"
)

// calmFlags has nothing to add where opening a file cannot block.
const calmFlags = 0

type inode struct{}

// links takes each name for a file of its own, so that hard links count as often as they have names.
func links(fs.FileInfo) (uint64, inode) { return 1, inode{} }

func inodeOf(fs.FileInfo) inode { return inode{} }

// keepOwner leaves owners as they are.
func keepOwner(*os.Root, string, fs.FileInfo) error { return nil }

// errQuota is what the host's file system says when a user's quota is spent.
const errQuota = syscall.ENOSPC
