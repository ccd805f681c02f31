package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// An upload is a file that is being put: it grows under a temporary name beside its place, and takes the
// place by rename(2) when it is complete.
type upload struct {
	quota *quota
	dir   *os.Root
	temp  string
	mode  fs.FileMode
	info  fs.FileInfo // of the temporary file, when it is there
	size  int64
	// credit is the size of the file that is replaced: that much is not charged while both exist, so that
	// a file can be replaced when the disk limit is reached.
	credit  int64
	entries int64 // that the upload adds to the directory: one, or none when it replaces
	// bytes and files are what the limit has been charged with.
	bytes, files int64
}

// replace makes the content of src the file name in dir. After an error nothing has changed.
func (w *workspace) replace(ctx context.Context, dir *os.Root, name string, src source, mode fs.FileMode) (err error) {
	u := &upload{quota: w.quota, dir: dir, temp: ".sandbar-" + newID(), mode: mode}
	defer w.history.hide(u.temp)()
	defer func() {
		if err != nil {
			u.undo()
		}
	}()
	if err := u.look(name); err != nil {
		return err
	}
	for last := false; !last; {
		var data []byte
		if data, last, err = src.next(ctx); err != nil {
			return err
		}
		if err := u.write(data, last); err != nil {
			return err
		}
	}
	return u.commit(name)
}

// look finds out what the upload replaces, as things are now.
func (u *upload) look(name string) error {
	u.credit, u.entries = 0, 1
	old, err := u.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	bytes, files := weight(old)
	u.credit, u.entries = bytes, 1-files
	return nil
}

// charge brings what was charged to bytes, and to the directory entries that the upload adds.
func (u *upload) charge(bytes int64) error {
	if err := u.quota.spend(bytes-u.bytes, u.entries-u.files); err != nil {
		return err
	}
	u.bytes, u.files = bytes, u.entries
	return nil
}

// commit puts the file in its place. What was there may have been changed or removed meanwhile.
func (u *upload) commit(name string) error {
	defer u.quota.change()()
	if err := u.look(name); err != nil {
		return err
	}
	if err := u.charge(u.size - u.credit); err != nil {
		return err
	}
	err := u.dir.Rename(u.temp, name)
	if errors.Is(err, fs.ErrExist) {
		return ErrIsDirectory // made meanwhile
	}
	return err
}

// write appends data. The descriptor is open only here, and no fork can happen meanwhile: a child that
// another goroutine starts would hold the file open for writing until its exec, and who executes the file
// then gets "text file busy" (go.dev/issue/22315). Each piece has its own open, so that forks wait for no
// more than one piece, and never for a reader.
func (u *upload) write(data []byte, last bool) error {
	u.size += int64(len(data))
	if err := u.charge(max(0, u.size-u.credit)); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := u.open()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && last {
		err = f.Chmod(u.mode)
	}
	return errors.Join(err, f.Close())
}

// open makes the temporary file, or opens it again. A script sees the name and can put something else in
// its place.
func (u *upload) open() (*os.File, error) {
	flags := os.O_WRONLY | os.O_APPEND | calmFlags
	if u.info == nil {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := u.dir.OpenFile(u.temp, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && u.info != nil && !os.SameFile(info, u.info) {
		err = fmt.Errorf("%w: the file was replaced while it was written", ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	u.info = info
	return f, nil
}

// undo takes everything back.
func (u *upload) undo() {
	if u.info != nil {
		_ = u.dir.Remove(u.temp)
	}
	u.quota.takeBack(u.bytes, u.files)
}
