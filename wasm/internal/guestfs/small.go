package guestfs

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// tableMount is a directory of the mount table itself: "/" and the parents of mounts.
type tableMount struct {
	frozen
	n    *node
	born int64
}

func (m *tableMount) stat(rel string, _ bool) (wsys.Stat_t, sys.Errno) {
	if rel != "" {
		return wsys.Stat_t{}, sys.ENOENT
	}
	st := fixedStat(m.n.dev, m.n.ino, fs.ModeDir|0o555, 0, m.born)
	for _, k := range m.n.kids {
		if !k.single {
			st.Nlink++
		}
	}
	return st, 0
}

func (m *tableMount) readlink(rel string) (string, sys.Errno) {
	_, errno := m.stat(rel, false)
	return "", orEinval(errno)
}

func (m *tableMount) open(_ *FS, rel string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	st, errno := m.stat(rel, false)
	if errno != 0 {
		return nil, checkCreate(m, rel, flag)
	}
	if errno := checkOpen(st.Mode, flag, true); errno != 0 {
		return nil, errno
	}
	kids := m.n.kids
	return &listing{st: st, count: len(kids), entry: func(i int) sys.Dirent {
		d := sys.Dirent{Ino: kids[i].ino, Name: kids[i].name, Type: fs.ModeDir}
		if kids[i].single {
			d.Type = 0
		}
		return d
	}}, 0
}

// scriptMount is the directory with the run's script.
type scriptMount struct {
	frozen
	run  *RunConfig
	born int64
}

func (m *scriptMount) present() bool {
	name := m.run.ScriptName
	return name != "" && name != "." && name != ".." && len(name) <= nameMax && !strings.ContainsAny(name, "/\x00")
}

func (m *scriptMount) stat(rel string, _ bool) (wsys.Stat_t, sys.Errno) {
	if rel == "" {
		return fixedStat(devScript, 1, fs.ModeDir|0o555, 0, m.born), 0
	}
	c, tail, _ := strings.Cut(rel, "/")
	switch {
	case !m.present() || c != m.run.ScriptName:
		return wsys.Stat_t{}, sys.ENOENT
	case tail != "":
		return wsys.Stat_t{}, sys.ENOTDIR
	}
	return fixedStat(devScript, 2, 0o444, int64(len(m.run.Script)), m.born), 0
}

func (m *scriptMount) readlink(rel string) (string, sys.Errno) {
	_, errno := m.stat(rel, false)
	return "", orEinval(errno)
}

func (m *scriptMount) open(_ *FS, rel string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	st, errno := m.stat(rel, false)
	if errno == sys.ENOENT {
		errno = checkCreate(m, rel, flag)
	}
	if errno == 0 {
		errno = checkOpen(st.Mode, flag, true)
	}
	if errno != 0 {
		return nil, errno
	}
	if rel != "" {
		script := m.run.Script
		return &bytesFile{st: st, load: func() ([]byte, sys.Errno) { return script, 0 }}, 0
	}
	d := &listing{st: st, entry: func(int) sys.Dirent { return sys.Dirent{Ino: 2, Name: m.run.ScriptName} }}
	if m.present() {
		d.count = 1
	}
	return d, 0
}

// fixedStat is the status of something that never changes.
func fixedStat(dev uint64, ino wsys.Inode, mode fs.FileMode, size, born int64) wsys.Stat_t {
	st := wsys.Stat_t{Dev: dev, Ino: ino, Mode: mode, Nlink: 1, Size: size, Atim: born, Mtim: born, Ctim: born}
	if mode.IsDir() {
		st.Nlink = 2
	}
	return st
}

// orEinval is readlink's answer on a mount without links.
func orEinval(errno sys.Errno) sys.Errno {
	if errno == 0 {
		return sys.EINVAL
	}
	return errno
}
