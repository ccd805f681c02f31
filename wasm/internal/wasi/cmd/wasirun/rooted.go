package main

import (
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// openDir gives a guestfs whose work directory is dir.
func openDir(dir string) (work *rooted, closeAll func(), err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	session, err := guestfs.NewSession(guestfs.SessionConfig{Work: root})
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	run := session.NewFS(guestfs.RunConfig{})
	return &rooted{run}, func() {
		run.Close()
		_ = session.Close()
		root.Close()
	}, nil
}

// rooted shows the work directory as "/", which conformance suites want to write in. A link with an
// absolute target, and "..", still lead into the whole.
type rooted struct{ fs *guestfs.FS }

func in(path string) string { return guestfs.WorkPath + "/" + path }

func (r *rooted) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	return r.fs.OpenFile(in(path), flag, perm)
}
func (r *rooted) Lstat(path string) (wasys.Stat_t, sys.Errno)   { return r.fs.Lstat(in(path)) }
func (r *rooted) Stat(path string) (wasys.Stat_t, sys.Errno)    { return r.fs.Stat(in(path)) }
func (r *rooted) Mkdir(path string, perm fs.FileMode) sys.Errno { return r.fs.Mkdir(in(path), perm) }

func (r *rooted) Chmod(path string, perm fs.FileMode) sys.Errno { return r.fs.Chmod(in(path), perm) }

func (r *rooted) Rename(from, to string) sys.Errno { return r.fs.Rename(in(from), in(to)) }
func (r *rooted) Rmdir(path string) sys.Errno      { return r.fs.Rmdir(in(path)) }
func (r *rooted) Unlink(path string) sys.Errno     { return r.fs.Unlink(in(path)) }
func (r *rooted) Link(from, to string) sys.Errno   { return r.fs.Link(in(from), in(to)) }

func (r *rooted) Symlink(target, path string) sys.Errno    { return r.fs.Symlink(target, in(path)) }
func (r *rooted) Readlink(path string) (string, sys.Errno) { return r.fs.Readlink(in(path)) }
func (r *rooted) Utimens(path string, atim, mtim int64) sys.Errno {
	return r.fs.Utimens(in(path), atim, mtim)
}

func (r *rooted) Lutimens(path string, atim, mtim int64) sys.Errno {
	return r.fs.Lutimens(in(path), atim, mtim)
}
