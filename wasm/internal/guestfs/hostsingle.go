package guestfs

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// singleFile is one granted file. m's root is the directory that it lies in; only name is ever asked for there, and
// never through a link: with one in its place, the file's neighbours would come within reach.
type singleFile struct {
	m    *hostMount
	name string
}

func (s *singleFile) readOnly() bool { return s.m.ro }

// regular gives the file's status if it still is a file.
func (s *singleFile) regular(rel string) (fs.FileInfo, sys.Errno) {
	if rel != "" {
		return nil, sys.ENOTDIR
	}
	fi, errno := s.m.info(s.name, false)
	switch {
	case errno != 0:
		return nil, errno
	case !fi.Mode().IsRegular():
		return nil, sys.EACCES
	}
	return fi, 0
}

func (s *singleFile) stat(rel string, _ bool) (wsys.Stat_t, sys.Errno) {
	fi, errno := s.regular(rel)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	return s.m.guestStat(fi, s.name), 0
}

func (s *singleFile) readlink(rel string) (string, sys.Errno) {
	_, errno := s.regular(rel)
	return "", orEinval(errno)
}

func (s *singleFile) open(f *FS, rel string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	fi, errno := s.regular(rel)
	if errno == 0 {
		errno = checkOpen(fi.Mode(), flag, s.m.ro)
	}
	if errno != 0 {
		return nil, errno
	}
	return s.m.openExisting(f, s.name, flag, fi)
}

func (s *singleFile) utimens(rel string, atim, mtim int64, _ bool) sys.Errno {
	if _, errno := s.regular(rel); errno != 0 {
		return errno
	}
	return s.m.utimensAt(s.name, atim, mtim)
}

// chmod is refused as for the root of any host mount.
func (s *singleFile) chmod(string, fs.FileMode) sys.Errno { return sys.EPERM }

// A path that has this mount but is not its root goes on behind a file.

func (s *singleFile) mkdir(string, fs.FileMode) sys.Errno   { return sys.ENOTDIR }
func (s *singleFile) rmdir(string) sys.Errno                { return sys.ENOTDIR }
func (s *singleFile) unlink(string) sys.Errno               { return sys.ENOTDIR }
func (s *singleFile) symlink(string, string) sys.Errno      { return sys.ENOTDIR }
func (s *singleFile) link(string, string) sys.Errno         { return sys.ENOTDIR }
func (s *singleFile) rename(string, string, bool) sys.Errno { return sys.ENOTDIR }
