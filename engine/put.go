package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// PutOptions are for PutBytes and PutReader. Nil means the defaults.
type PutOptions struct {
	// Mode has the permission bits of the file, whatever the umask is. Zero: 0644.
	Mode fs.FileMode
}

// The modes of what is put: the script, and who runs it, can read it all.
const (
	fileMode = 0o644
	dirMode  = 0o755
)

// PutBytes makes data the content of a file. It makes missing parent directories. The file appears at once
// and complete, in the place of an old one: a script that has the old one open still has the old content.
// A link at the path stays and its target is replaced, if that is inside the work directory.
//
// One case is not like that: in a work directory in memory (Limits.Disk) the old and the new content take room
// both until the new one is complete. Where there is no room for both, and the new one fits in the place of the
// old one, the file is written over: a script that reads it meanwhile sees some of each.
//
// Errors are ErrInvalid, ErrEscapes, ErrIsDirectory, ErrNotDirectory, ErrNotRegular, ErrNoSpace. After any
// error the work directory is as it was.
func (s *Session) PutBytes(ctx context.Context, path string, data []byte, opts *PutOptions) error {
	if s.peer != nil {
		return s.putPeer(ctx, path, bytes.NewReader(data), opts)
	}
	return s.put(ctx, path, &memorySource{data}, opts)
}

// PutReader is like PutBytes for what r gives up to io.EOF. When ctx ends it returns at once; a Read that
// blocks is then left until it returns.
func (s *Session) PutReader(ctx context.Context, path string, r io.Reader, opts *PutOptions) error {
	if r == nil {
		return &InvalidError{"r", "is nil"}
	}
	if s.peer != nil {
		return s.putPeer(ctx, path, r, opts)
	}
	return s.put(ctx, path, &readerSource{in: newReaderContent(r)}, opts)
}

func (s *Session) put(ctx context.Context, path string, src source, opts *PutOptions) error {
	mode, err := opts.mode()
	if err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := s.untilClosing(ctx)
	defer cancel()
	p, err := s.files.locate(ctx, path, true)
	if err != nil {
		return fileError("put", path, err)
	}
	defer p.close()
	return fileError("put", path, s.putAt(ctx, p, src, mode))
}

// mode is the mode of the file.
func (o *PutOptions) mode() (fs.FileMode, error) {
	mode := fs.FileMode(fileMode)
	if o != nil && o.Mode != 0 {
		mode = o.Mode
	}
	if mode&^fs.ModePerm != 0 {
		return 0, &InvalidError{"Mode", fmt.Sprintf("%v has more than permission bits", mode)}
	}
	return mode, nil
}

// putPeer is put for the peer.
func (s *Session) putPeer(ctx context.Context, path string, r io.Reader, opts *PutOptions) error {
	mode, err := opts.mode()
	if err != nil {
		return err
	}
	return peerDo(ctx, s, func(ctx context.Context, p Peer) error {
		return p.Put(ctx, path, &patientReader{newReaderContent(r), ctx.Done()}, PutOptions{Mode: mode})
	})
}

func (s *Session) putAt(ctx context.Context, p *place, src source, mode fs.FileMode) error {
	if err := p.takesFile(); err != nil {
		return err
	}
	made, err := s.files.makeParents(p)
	if err == nil {
		dir, name := made.last(p)
		err = s.files.store(ctx, dir, name, src, mode)
	}
	made.close(err != nil)
	return s.files.limitError(err)
}

// takesFile tells why there cannot be a regular file at the place.
func (p *place) takesFile() error {
	switch {
	case p.info != nil && p.slash && !p.info.IsDir():
		return ErrNotDirectory
	case p.info != nil:
		return regular(p.info)
	case p.slash:
		return ErrIsDirectory
	}
	if slices.Contains(p.below, "..") { // of something that does not exist
		return ErrNotExist
	}
	return nil
}

// parents are directories that a put has made, from the outermost on.
type parents struct {
	quota *quota
	made  []parent
	name  string // of the file
}

type parent struct {
	in   *os.Root // where it is
	name string
	dir  *os.Root
}

// makeParents makes the directories between an existing one and the file.
func (w *workspace) makeParents(p *place) (*parents, error) {
	ps := &parents{quota: w.quota, name: p.name}
	in := p.dir
	for _, next := range p.below {
		dir, err := ps.add(in, ps.name)
		if err != nil {
			return ps, err
		}
		in, ps.name = dir, next
	}
	return ps, nil
}

// add makes a directory. If one is there by now, it is as good.
func (ps *parents) add(in *os.Root, name string) (*os.Root, error) {
	if err := ps.quota.spend(0, 1); err != nil {
		return nil, err
	}
	err := in.Mkdir(name, dirMode)
	fresh := err == nil
	if !fresh {
		ps.quota.takeBack(0, 1)
	}
	if fresh {
		err = in.Chmod(name, dirMode) // the umask may have taken bits
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	dir, err := openDir(in, name)
	if err != nil {
		return nil, err
	}
	ps.made = append(ps.made, parent{in: in, name: name, dir: dir})
	if !fresh {
		ps.made[len(ps.made)-1].name = "" // not ours to take back
	}
	return dir, nil
}

// last returns the directory of the file, and its name.
func (ps *parents) last(p *place) (*os.Root, string) {
	if n := len(ps.made); n > 0 {
		return ps.made[n-1].dir, ps.name
	}
	return p.dir, ps.name
}

// close gives the descriptors back, and with undo removes the directories, unless someone has put
// something into them.
func (ps *parents) close(undo bool) {
	for _, m := range slices.Backward(ps.made) {
		m.dir.Close()
		if undo && m.name != "" && m.in.Remove(m.name) == nil {
			ps.quota.takeBack(0, 1)
		}
	}
}
