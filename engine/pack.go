package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A packed directory is a row of entries, in the order of a walk: each has a kind, and those with a name the name,
// permission bits and time. A directory is followed by what is in it, and by packUp. So no entry has a path: what is
// read can only be made in the directory where the reader stands. Numbers are little-endian.
const (
	packEnd  = 'e' // of everything
	packUp   = 'u' // of a directory
	packDir  = 'd' // mode, time, name
	packFile = 'f' // mode, time, name, size, content
	packLink = 'l' // mode, time, name, target
)

// maxTarget is the longest target of a link: PATH_MAX.
const maxTarget = 4096

// A packer writes a directory.
type packer struct {
	at descent
	to *bufio.Writer
	n  int
}

// pack writes what is in dir, special files aside.
func pack(ctx context.Context, dir *os.Root, to io.Writer) error {
	p := &packer{at: descent{root: dir}, to: bufio.NewWriterSize(to, 64<<10)}
	defer p.at.close()
	if err := p.dir(ctx); err != nil {
		return err
	}
	_ = p.to.WriteByte(packEnd)
	return p.to.Flush()
}

func (p *packer) head(kind byte, info fs.FileInfo) {
	b := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(info.Mode().Perm()))
	b = binary.LittleEndian.AppendUint64(b, uint64(info.ModTime().UnixNano()))
	_, _ = p.to.Write(b) // a bufio.Writer keeps its error for Flush
	p.text(info.Name())
}

func (p *packer) text(s string) {
	_, _ = p.to.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	_, _ = p.to.WriteString(s)
}

// dir writes what is in the directory where the packer stands.
func (p *packer) dir(ctx context.Context) error {
	here, err := p.at.here()
	if err != nil {
		return err
	}
	var subs []fs.FileInfo
	err = eachEntry(ctx, here, func(info fs.FileInfo) error {
		if p.n++; p.n > maxList {
			return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
		}
		if info.IsDir() {
			subs = append(subs, info)
			return nil
		}
		return p.entry(here, info)
	})
	for _, sub := range subs {
		if err != nil {
			break
		}
		err = p.sub(ctx, sub)
	}
	return err
}

func (p *packer) sub(ctx context.Context, info fs.FileInfo) error {
	if err := p.at.push(info); err != nil {
		return err
	}
	defer p.at.pop()
	p.head(packDir, info)
	if err := p.dir(ctx); err != nil {
		return err
	}
	return p.to.WriteByte(packUp)
}

func (p *packer) entry(dir *os.Root, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return p.file(dir, info)
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := dir.Readlink(info.Name())
		if err != nil {
			return err
		}
		p.head(packLink, info)
		p.text(target)
	}
	return nil
}

func (p *packer) file(dir *os.Root, info fs.FileInfo) error {
	f, err := dir.OpenFile(info.Name(), os.O_RDONLY|calmFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	p.head(packFile, info)
	_, _ = p.to.Write(binary.LittleEndian.AppendUint64(nil, uint64(info.Size())))
	if _, err := io.CopyN(p.to, f, info.Size()); err != nil {
		return err
	}
	return nil
}

// An unpacker makes what a packer has written. It trusts nothing of it.
type unpacker struct {
	at   descent
	from *bufio.Reader
	room int64 // bytes that may still be made
	n    int
	// made are the directories from the root to where the unpacker stands: their bits and times come last.
	made []packHead
}

type packHead struct {
	mode fs.FileMode
	time time.Time
	name string
}

var errPacked = errors.New("files: not in the form that this version writes")

// unpack makes what is packed in dir, which is empty and nobody else's, from at most room bytes of content. It reads
// to the end of from.
func unpack(ctx context.Context, dir *os.Root, from io.Reader, room int64) error {
	u := &unpacker{at: descent{root: dir}, from: bufio.NewReaderSize(from, 64<<10), room: room}
	defer u.at.close()
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		kind, err := u.from.ReadByte()
		if err != nil {
			return unexpected(err)
		}
		if kind == packEnd {
			if _, err := u.from.ReadByte(); len(u.made) > 0 || !errors.Is(err, io.EOF) {
				return errPacked
			}
			return nil
		}
		if err := u.entry(kind); err != nil {
			return err
		}
	}
}

// unexpected makes of an end that comes too early an error that is no end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", errPacked, io.ErrUnexpectedEOF)
	}
	return err
}

func (u *unpacker) entry(kind byte) error {
	if kind == packUp {
		return u.up()
	}
	h, err := u.head()
	if err != nil {
		return err
	}
	if u.n++; u.n > maxList {
		return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
	}
	here, err := u.at.here()
	if err != nil {
		return err
	}
	switch kind {
	case packDir:
		return u.dir(here, h)
	case packFile:
		return u.file(here, h)
	case packLink:
		target, err := u.text(maxTarget)
		if err != nil {
			return err
		}
		return here.Symlink(target, h.name)
	}
	return errPacked
}

func (u *unpacker) bytes(b []byte) error {
	_, err := io.ReadFull(u.from, b)
	if err != nil {
		return unexpected(err)
	}
	return nil
}

func (u *unpacker) head() (h packHead, err error) {
	var b [12]byte
	if err := u.bytes(b[:]); err != nil {
		return h, err
	}
	h.mode = fs.FileMode(binary.LittleEndian.Uint32(b[:])) & fs.ModePerm
	h.time = time.Unix(0, int64(binary.LittleEndian.Uint64(b[4:])))
	h.name, err = u.text(maxName)
	if err == nil && nameProblem(h.name) != "" {
		err = errPacked
	}
	return h, err
}

func (u *unpacker) text(most uint32) (string, error) {
	var b [4]byte
	if err := u.bytes(b[:]); err != nil {
		return "", err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n > most {
		return "", errPacked
	}
	text := make([]byte, n)
	return string(text), errors.Join(u.bytes(text))
}

func (u *unpacker) dir(here *os.Root, h packHead) error {
	if err := here.Mkdir(h.name, 0o700); err != nil {
		return err
	}
	info, err := here.Lstat(h.name)
	if err == nil {
		err = u.at.push(info)
	}
	if err != nil {
		return err
	}
	u.made = append(u.made, h)
	return nil
}

// up ends a directory: only now can it become one that is not writable.
func (u *unpacker) up() error {
	n := len(u.made) - 1
	if n < 0 {
		return errPacked
	}
	h := u.made[n]
	u.made = u.made[:n]
	u.at.pop()
	here, err := u.at.here()
	if err != nil {
		return err
	}
	return finishEntry(here, h)
}

func finishEntry(dir *os.Root, h packHead) error {
	if err := dir.Chtimes(h.name, time.Time{}, h.time); err != nil {
		return err
	}
	return dir.Chmod(h.name, h.mode)
}

func (u *unpacker) file(dir *os.Root, h packHead) error {
	var b [8]byte
	if err := u.bytes(b[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(b[:])
	if size > uint64(u.room) {
		return fmt.Errorf("files: %w", &TooLargeError{Path: h.name, Size: int64(min(size, 1<<62)), Max: u.room})
	}
	u.room -= int64(size)
	f, err := dir.OpenFile(h.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|calmFlags, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, u.from, int64(size))
	if err = errors.Join(err, f.Close()); err != nil {
		return unexpected(err)
	}
	return finishEntry(dir, h)
}
