package guestfs

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// asScript makes of a host mount one whose calls have no more rights than a script of the native tier has: when this
// program is root, the kernel would let the guest pass by every permission bit. An owner's bits count then for what
// belongs to root, those of others for what belongs to others.
func asScript(m backend) backend {
	if privileged() {
		return &plainMount{m}
	}
	return m
}

// plainMount makes each call of a host mount without capabilities (capabilities(7)). Only a call that looks a name up
// is asked for permission: what is done with an open file is not.
type plainMount struct{ b backend }

// eRights: the capabilities could not be laid down, although they could when the session was made.
const eRights = sys.EACCES

// errnoOf makes a call that gives nothing but an error.
func errnoOf(call func() sys.Errno) sys.Errno {
	var r rights
	if !r.drop() {
		return eRights
	}
	defer r.restore()
	return call()
}

func (p *plainMount) readOnly() bool { return p.b.readOnly() }

func (p *plainMount) stat(rel string, follow bool) (wsys.Stat_t, sys.Errno) {
	var r rights
	if !r.drop() {
		return wsys.Stat_t{}, eRights
	}
	defer r.restore()
	return p.b.stat(rel, follow)
}

func (p *plainMount) readlink(rel string) (string, sys.Errno) {
	var r rights
	if !r.drop() {
		return "", eRights
	}
	defer r.restore()
	return p.b.readlink(rel)
}

func (p *plainMount) open(f *FS, rel string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	var r rights
	if !r.drop() {
		return nil, eRights
	}
	defer r.restore()
	return p.b.open(f, rel, flag, perm)
}

func (p *plainMount) mkdir(rel string, perm fs.FileMode) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.mkdir(rel, perm) })
}

func (p *plainMount) rmdir(rel string) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.rmdir(rel) })
}

func (p *plainMount) unlink(rel string) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.unlink(rel) })
}

func (p *plainMount) symlink(target, rel string) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.symlink(target, rel) })
}

func (p *plainMount) link(from, to string) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.link(from, to) })
}

func (p *plainMount) rename(from, to string, dirOnly bool) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.rename(from, to, dirOnly) })
}

func (p *plainMount) chmod(rel string, perm fs.FileMode) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.chmod(rel, perm) })
}

func (p *plainMount) utimens(rel string, atim, mtim int64, follow bool) sys.Errno {
	return errnoOf(func() sys.Errno { return p.b.utimens(rel, atim, mtim, follow) })
}
