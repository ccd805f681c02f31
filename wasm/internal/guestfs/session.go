package guestfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	wsys "github.com/tetratelabs/wazero/sys"
)

// Quota counts what exists in the work directory. Bytes are the sizes of all but directories, as lstat(2) gives
// them; files are names: files, links and directories. It is safe for concurrent use.
type Quota interface {
	// Charge adds, or gives back when negative. It reports false and changes nothing when the limit would be
	// passed. Giving back always succeeds.
	Charge(bytes, files int64) bool
}

// Grant is a host path, of a file or directory, that the guest sees at the same path.
type Grant struct {
	// Path is absolute and clean. It may lead through links; it is resolved when the session is made.
	Path     string
	Writable bool
}

// TreeMount puts a static tree at an absolute guest path.
type TreeMount struct {
	Path string
	Tree *Tree
}

// SessionConfig is for NewSession.
type SessionConfig struct {
	Trees []TreeMount
	// Work is the work directory, seen at WorkPath. The caller closes it, after the session. Nil: there is none.
	Work *os.Root
	// WorkQuota bounds Work. Nil: no limit.
	WorkQuota Quota
	Grants    []Grant
}

// Session is what the runs of one session share: the mount table and the open roots. It is safe for concurrent
// use by many FS.
type Session struct {
	table     *table
	grants    []*os.Root
	born      int64
	lastDev   uint64
	hostFiles atomic.Int64
}

// NewSession opens the grants and builds the mount table. It refuses a mount that lies inside another.
func NewSession(c SessionConfig) (_ *Session, err error) {
	s := &Session{table: newTable(), born: time.Now().UnixNano(), lastDev: devFirst}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, own := range []struct {
		path string
		node node
	}{
		{TmpPath, node{kind: kindTmp, dev: devTmp}},
		{DevPath, node{kind: kindDev, dev: devDev}},
		{ScriptDir, node{kind: kindScript, dev: devScript}},
	} {
		if err := s.table.add(own.path, own.node); err != nil {
			return nil, err
		}
	}
	if c.Work != nil {
		if err := s.addRoot(WorkPath, c.Work, true, c.WorkQuota); err != nil {
			return nil, err
		}
	}
	for _, t := range c.Trees {
		s.lastDev++
		m := &treeMount{tree: t.Tree, dev: s.lastDev}
		if err := s.table.add(t.Path, node{kind: kindFixed, fixed: m, dev: m.dev}); err != nil {
			return nil, err
		}
	}
	for _, g := range c.Grants {
		if err := s.addGrant(g); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close closes the roots of the grants. Every FS of the session must be closed before.
func (s *Session) Close() error {
	var errs []error
	for _, r := range s.grants {
		errs = append(errs, r.Close())
	}
	s.grants = nil
	return errors.Join(errs...)
}

// HostFiles is the number of host descriptors that runs of the session hold at the moment.
func (s *Session) HostFiles() int64 { return s.hostFiles.Load() }

func (s *Session) addRoot(path string, root *os.Root, write bool, q Quota) error {
	fi, err := root.Lstat(".")
	if err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	m := newHostMount(root, !write, s.nextDevs(), wsys.NewStat_t(fi).Dev, q)
	return s.table.add(path, node{kind: kindFixed, fixed: asScript(m), dev: m.dev})
}

// nextDevs reserves device numbers: one host mount can span several host file systems.
func (s *Session) nextDevs() uint64 {
	s.lastDev++
	return s.lastDev << devShift
}

// addGrant mounts a host path. For a single file the root is the directory that the file lies in, of which
// singleFile lets nothing else be reached.
func (s *Session) addGrant(g Grant) error {
	target, err := filepath.EvalSymlinks(g.Path)
	if err != nil {
		return fmt.Errorf("grant %s: %w", g.Path, err)
	}
	fi, err := os.Lstat(target)
	if err != nil {
		return fmt.Errorf("grant %s: %w", g.Path, err)
	}
	dir := target
	switch {
	case fi.IsDir():
	case fi.Mode().IsRegular():
		dir = filepath.Dir(target)
	default:
		return fmt.Errorf("grant %s: %w", g.Path, &fs.PathError{Op: "open", Path: target, Err: errNotRegular})
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("grant %s: %w", g.Path, err)
	}
	s.grants = append(s.grants, root)
	guestPath := filepath.ToSlash(g.Path)
	if fi.IsDir() {
		return s.addRoot(guestPath, root, g.Writable, nil)
	}
	m := newHostMount(root, !g.Writable, s.nextDevs(), wsys.NewStat_t(fi).Dev, nil)
	single := &singleFile{m: m, name: filepath.Base(target)}
	return s.table.add(guestPath, node{kind: kindFixed, fixed: asScript(single), single: true, dev: m.dev})
}

var errNotRegular = errors.New("neither a file nor a directory")
