package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// FileInfo describes a file in the work directory.
type FileInfo struct {
	// Name is the last element of the path: bytes, any but "/" and NUL, and not always UTF-8.
	Name string
	// Size is in bytes.
	Size int64
	// Mode has the type and the permission bits.
	Mode    fs.FileMode
	ModTime time.Time
}

func newFileInfo(info fs.FileInfo) FileInfo {
	return FileInfo{Name: info.Name(), Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
}

// maxList is the most entries that List returns: a script can make more than fit into memory.
const maxList = 1 << 20

// List describes the entries of a directory, sorted by name. It does not follow links among them. More
// than 1,048,576 entries are ErrTooLarge, which then counts entries.
func (s *Session) List(ctx context.Context, path string) ([]FileInfo, error) {
	if s.peer != nil {
		return peerCall(ctx, s, func(ctx context.Context, p Peer) ([]FileInfo, error) { return p.List(ctx, path) })
	}
	var list []FileInfo
	err := s.fileCall(ctx, "list", path, true, func(p *place) error {
		if !p.info.IsDir() {
			return ErrNotDirectory
		}
		dir, err := openDir(p.dir, p.name)
		if err != nil {
			return err
		}
		defer dir.Close()
		return eachEntry(ctx, dir, func(info fs.FileInfo) error {
			if len(list) == maxList {
				return &TooLargeError{Path: path, Size: maxList + 1, Max: maxList}
			}
			list = append(list, newFileInfo(info))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b FileInfo) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// Stat describes a file, or what a link to it leads to.
func (s *Session) Stat(ctx context.Context, path string) (FileInfo, error) {
	if s.peer != nil {
		return peerCall(ctx, s, func(ctx context.Context, p Peer) (FileInfo, error) { return p.Stat(ctx, path) })
	}
	var out FileInfo
	err := s.fileCall(ctx, "stat", path, true, func(p *place) error {
		out = newFileInfo(p.info)
		return nil
	})
	return out, err
}

// Remove removes a file, an empty directory or a link, which is not followed.
func (s *Session) Remove(ctx context.Context, path string) error {
	if s.peer != nil {
		return peerDo(ctx, s, func(ctx context.Context, p Peer) error { return p.Remove(ctx, path, false) })
	}
	return s.fileCall(ctx, "remove", path, false, func(p *place) error {
		if p.isRoot() {
			return &InvalidError{"path", "is the work directory itself"}
		}
		return s.files.quota.remove(p.dir, p.name)
	})
}

// RemoveAll removes a file or a directory with all that is in it, also what has no permissions. Links are
// not followed. It returns no error if there is nothing of that name. While scripts go on making files in
// the directory, it goes on too, until ctx ends.
func (s *Session) RemoveAll(ctx context.Context, path string) error {
	if s.peer != nil {
		return peerDo(ctx, s, func(ctx context.Context, p Peer) error { return p.Remove(ctx, path, true) })
	}
	err := s.fileCall(ctx, "remove", path, false, func(p *place) error {
		if p.isRoot() {
			return &InvalidError{"path", "is the work directory itself"}
		}
		if p.info.IsDir() {
			if err := s.emptyDir(ctx, p); err != nil {
				return err
			}
		}
		return s.files.quota.remove(p.dir, p.name)
	})
	if errors.Is(err, ErrNotExist) {
		return nil
	}
	return err
}

func (s *Session) emptyDir(ctx context.Context, p *place) error {
	if err := p.dir.Chmod(p.name, 0o700); err != nil {
		return err
	}
	dir, err := openDir(p.dir, p.name)
	if err != nil {
		return err
	}
	defer dir.Close()
	ctx, cancel := s.untilClosing(ctx)
	defer cancel()
	return removeContents(ctx, dir, s.files.quota.gone)
}

// fileCall does what all file calls on something that exists have in common: op and path name the call in
// errors.
func (s *Session) fileCall(ctx context.Context, op, path string, follow bool, f func(*place) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	p, err := s.files.locate(ctx, path, follow)
	if err != nil {
		return fileError(op, path, err)
	}
	defer p.close()
	if err := p.exists(); err != nil {
		return fileError(op, path, err)
	}
	return fileError(op, path, f(p))
}

// fileError names the call and the path as the caller gave it.
func fileError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, shorten(path), coded(err)) // quoted: scripts choose names
}

// untilClosing returns a context that ends with ctx, and with ErrClosed as its cause when Close begins.
func (s *Session) untilClosing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.closing, func() { cancel(ErrClosed) })
	return ctx, func() {
		unhook()
		cancel(nil)
	}
}
