package wasi

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"
)

// countingFS counts the files that are open.
type countingFS struct {
	sys.FS
	open int
}

func (f *countingFS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	file, err := f.FS.OpenFile(path, flag, perm)
	if err != 0 {
		return nil, err
	}
	f.open++
	return &countedFile{File: file, fs: f}, 0
}

type countedFile struct {
	sys.File
	fs *countingFS
}

func (f *countedFile) Close() sys.Errno {
	f.fs.open--
	return f.File.Close()
}

// recordingFS notes the paths that it is asked for, and has nothing.
type recordingFS struct {
	sys.UnimplementedFS
	paths []string
}

func (f *recordingFS) Lstat(path string) (wasys.Stat_t, sys.Errno) {
	f.paths = append(f.paths, path)
	return wasys.Stat_t{}, sys.ENOENT
}

// oneFileFS opens file whatever it is asked for.
type oneFileFS struct {
	sys.UnimplementedFS
	file sys.File
}

func (f *oneFileFS) OpenFile(string, sys.Oflag, fs.FileMode) (sys.File, sys.Errno) { return f.file, 0 }

// regular is a file without content that records how it is used.
type regular struct {
	sys.UnimplementedFile
	mode     fs.FileMode
	read     func([]byte) (int, sys.Errno)
	write    func([]byte) (int, sys.Errno)
	truncate []int64
	seeks    []int64
}

// seekOffset keeps vet's stdmethods from taking sys.File's Seek for a wrong io.Seeker.
type seekOffset = int64

func (f *regular) Seek(offset seekOffset, _ int) (int64, sys.Errno) {
	f.seeks = append(f.seeks, offset)
	return offset, 0
}

func (f *regular) Stat() (wasys.Stat_t, sys.Errno)          { return wasys.Stat_t{Mode: f.mode}, 0 }
func (f *regular) Read(p []byte) (int, sys.Errno)           { return f.read(p) }
func (f *regular) Write(p []byte) (int, sys.Errno)          { return f.write(p) }
func (f *regular) Pread(p []byte, _ int64) (int, sys.Errno) { return f.read(p) }

func (f *regular) Truncate(n int64) sys.Errno {
	f.truncate = append(f.truncate, n)
	return 0
}

// endlessFS opens directories that have more and more entries.
type endlessFS struct{ sys.FS }

func (f *endlessFS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	file, err := f.FS.OpenFile(path, flag, perm)
	return &endlessDir{file}, err
}

type endlessDir struct{ sys.File }

func (endlessDir) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	return make([]sys.Dirent, n), 0
}

// lutimesFS has Lutimens.
type lutimesFS struct {
	sys.FS
	path string
}

func (f *lutimesFS) Lutimens(path string, _, _ int64) sys.Errno {
	f.path = path
	return 0
}

type symlinkFS struct {
	sys.UnimplementedFS
	target, link string
}

func (f *symlinkFS) Symlink(target, link string) sys.Errno {
	f.target, f.link = target, link
	return 0
}
