//go:build unix

package wasm

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ours reports an error for what another user owns or can write to.
func ours(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: owner unknown", path)
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: owned by user %d, not by user %d", path, st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others can write to it (mode %v)", path, info.Mode().Perm())
	}
	return nil
}

func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
