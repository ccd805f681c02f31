package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// store makes the content of src the file name in dir. After an error nothing has changed.
func (w *workspace) store(ctx context.Context, dir *os.Root, name string, src source, mode fs.FileMode) error {
	if w.made == nil {
		return w.replace(ctx, dir, name, src, mode)
	}
	old, err := dir.Lstat(name)
	if err != nil || !overwritable(old) { // the usual case: there is none
		return w.replace(ctx, dir, name, src, mode)
	}
	kept := &keptSource{source: src}
	defer kept.close()
	if err = w.replace(ctx, dir, name, kept, mode); !full(err) {
		return err
	}
	if restErr := kept.rest(ctx, w.maxBytes); restErr != nil {
		return restErr
	}
	o := &overwriting{dir: dir, name: name, old: old}
	return o.run(ctx, kept.content(), kept.size, mode)
}

// overwritable reports whether to write over the file frees what it takes. One with more names stays under the
// others, and one with holes takes less than its size.
func overwritable(info fs.FileInfo) bool {
	n, _ := links(info)
	return info.Mode().IsRegular() && n == 1 && !sparse(info)
}

// A keptSource keeps what it gives, so that it can be had once more.
type keptSource struct {
	source
	memory *memorySource // the content, when it is in memory anyway
	file   *os.File      // else: it has no name
	err    error         // it could not be kept
	size   int64
	last   bool
}

// next implements source.
func (k *keptSource) next(ctx context.Context) ([]byte, bool, error) {
	if m, ok := k.source.(*memorySource); ok && k.memory == nil {
		k.memory = &memorySource{m.data}
	}
	data, last, err := k.source.next(ctx)
	k.size += int64(len(data))
	k.last = last
	if k.memory == nil && k.err == nil {
		k.err = k.keep(data)
	}
	return data, last, err
}

func (k *keptSource) keep(data []byte) (err error) {
	if k.file == nil {
		if k.file, err = nameless(); err != nil {
			return err
		}
	}
	_, err = k.file.Write(data)
	return err
}

// nameless makes a file in the host's temporary directory that goes when it is closed.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "sandbar-put-") // 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// rest takes what is still to come. What cannot fit, whatever else there is, is not waited for.
func (k *keptSource) rest(ctx context.Context, maxBytes int64) error {
	for !k.last {
		if maxBytes > 0 && k.size > maxBytes {
			return ErrNoSpace
		}
		if _, _, err := k.next(ctx); err != nil {
			return err
		}
	}
	if k.err != nil {
		return fmt.Errorf("%w: and what is put cannot be kept elsewhere: %w", ErrNoSpace, k.err)
	}
	return nil
}

// content gives it from the beginning.
func (k *keptSource) content() io.ReaderAt {
	if k.memory != nil {
		return k.memory
	}
	return k.file
}

// ReadAt implements io.ReaderAt for what is still to be given.
func (s *memorySource) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(p, s.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (k *keptSource) close() {
	if k.file != nil {
		k.file.Close()
	}
}

// An overwriting writes over a file, where it is.
type overwriting struct {
	dir  *os.Root
	name string
	old  fs.FileInfo
	// aside is the old content, in a file without a name.
	aside *os.File
}

// run makes the first size bytes of content the file's. After an error nothing has changed: the room is had
// before anything is written, and to put the old content back takes no more of it.
func (o *overwriting) run(ctx context.Context, content io.ReaderAt, size int64, mode fs.FileMode) (err error) {
	if o.aside, err = nameless(); err != nil {
		return fmt.Errorf("%w: and the old content cannot be kept elsewhere: %w", ErrNoSpace, err)
	}
	defer o.aside.Close()
	if perm := o.old.Mode().Perm(); perm&0o600 != 0o600 {
		if err := o.dir.Chmod(o.name, perm|0o600); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = o.dir.Chmod(o.name, perm)
			}
		}()
	}
	if err := o.copyOut(ctx); err != nil {
		return err
	}
	if err := o.with(func(f *os.File) error { return reserve(f, max(size, o.old.Size())) }); err != nil {
		return err
	}
	err = o.copyIn(ctx, content, size)
	if err == nil {
		err = o.end(size, mode)
	}
	if err != nil {
		return errors.Join(err, o.restore())
	}
	return nil
}

// with calls f with the file, as long as it is the same one. As in upload.write, nothing is forked meanwhile.
func (o *overwriting) with(f func(*os.File) error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := o.dir.OpenFile(o.name, os.O_RDWR|calmFlags, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, o.old) {
		err = fmt.Errorf("%w: the file was replaced while it was written over", ErrNotRegular)
	}
	if err == nil {
		err = f(file)
	}
	return errors.Join(err, file.Close())
}

// copyOut saves the old content.
func (o *overwriting) copyOut(ctx context.Context) error {
	buf := make([]byte, piece)
	for at := int64(0); at < o.old.Size(); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(piece, o.old.Size()-at)]
		if err := o.with(func(f *os.File) error { return readFull(f, part, at) }); err != nil {
			return err
		}
		if _, err := o.aside.WriteAt(part, at); err != nil {
			return fmt.Errorf("%w: and the old content cannot be kept elsewhere: %w", ErrNoSpace, err)
		}
		at += int64(len(part))
	}
	return nil
}

// copyIn writes the first size bytes of content.
func (o *overwriting) copyIn(ctx context.Context, content io.ReaderAt, size int64) error {
	buf := make([]byte, min(piece, size))
	for at := int64(0); at < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(piece, size-at)]
		if err := readFull(content, part, at); err != nil {
			return err
		}
		err := o.with(func(f *os.File) error {
			_, err := f.WriteAt(part, at)
			return err
		})
		if err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}

// readFull fills p.
func readFull(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// end cuts off what the old content had more.
func (o *overwriting) end(size int64, mode fs.FileMode) error {
	return o.with(func(f *os.File) error {
		if err := f.Truncate(size); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
}

// restore puts the old content back, whether the caller still waits or not.
func (o *overwriting) restore() error {
	err := o.copyIn(context.Background(), o.aside, o.old.Size())
	return errors.Join(err, o.end(o.old.Size(), o.old.Mode()))
}
