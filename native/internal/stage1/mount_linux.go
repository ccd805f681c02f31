package stage1

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// mounter carries out a plan with the mount calls that work on descriptors (Linux 5.12): a source is taken
// before anything covers it, gets its flags before anybody can see it, and is then put in its place.
type mounter struct {
	root    int // descriptor of the root that is being built
	sources map[*spec.Op]int
	scripts int
}

// places are directories that a new root can be mounted on until it is the root. All systems have one.
var places = []string{"/tmp", "/run", "/mnt", "/usr"}

// mountAll makes the file system of the cell.
func mountAll(s *spec.Setup) error {
	m := &mounter{sources: map[*spec.Op]int{}}
	if s.BuildRoot {
		// Nothing that is mounted here may appear outside, and nothing from outside here.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return os.NewSyscallError("mount MS_PRIVATE", err)
		}
	}
	ops := s.Final
	if s.BuildRoot {
		ops = append(append([]spec.Op{}, s.Base...), s.Final...)
	}
	for i := range ops {
		if err := m.take(&ops[i], s.BuildRoot); err != nil {
			return err
		}
	}
	if err := m.openRoot(s.BuildRoot); err != nil {
		return err
	}
	for i := range ops {
		if err := m.do(&ops[i]); err != nil {
			return fmt.Errorf("%s %s: %w", ops[i].Kind, ops[i].Target, err)
		}
	}
	if s.BuildRoot {
		if err := pivot(m.root); err != nil {
			return err
		}
	}
	_ = unix.Close(m.root)
	return moveDescriptor(m.scripts, spec.FDScripts)
}

// take opens the source of a bind.
func (m *mounter) take(op *spec.Op, clone bool) error {
	if op.Kind != spec.OpBind {
		return nil
	}
	if op.FD > 0 {
		m.sources[op] = spec.FDMounts + op.FD - 1
		return nil
	}
	flags := uint(unix.OPEN_TREE_CLOEXEC)
	if clone {
		flags |= unix.OPEN_TREE_CLONE | unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, op.Source, flags)
	if err != nil {
		return &os.PathError{Op: "open_tree", Path: op.Source, Err: err}
	}
	m.sources[op] = fd
	return nil
}

// openRoot opens the root that is there, or makes an empty one.
func (m *mounter) openRoot(build bool) (err error) {
	if !build {
		m.root, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return os.NewSyscallError("open /", err)
	}
	fd, err := newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "mode", "0755", "size", "4m")
	if err != nil {
		return err
	}
	for _, place := range places {
		if err = unix.MoveMount(fd, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH); err == nil {
			m.root = fd
			return nil
		}
	}
	return os.NewSyscallError("move_mount of the root", err)
}

// newMount makes a detached mount of a file system of its own. The parameters are names and values by turns; one that has
// no value is a flag.
func newMount(fsType string, attrs int, params ...string) (int, error) {
	fsfd, err := unix.Fsopen(fsType, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("fsopen "+fsType, err)
	}
	defer unix.Close(fsfd)
	for i := 0; i < len(params); i += 2 {
		var err error
		if params[i+1] == "" {
			err = unix.FsconfigSetFlag(fsfd, params[i])
		} else {
			err = unix.FsconfigSetString(fsfd, params[i], params[i+1])
		}
		if err != nil {
			return -1, os.NewSyscallError("fsconfig "+fsType+" "+params[i]+"="+params[i+1], err)
		}
	}
	if err := unix.FsconfigCreate(fsfd); err != nil {
		return -1, os.NewSyscallError("fsconfig create "+fsType, err)
	}
	fd, err := unix.Fsmount(fsfd, unix.FSMOUNT_CLOEXEC, attrs)
	return fd, os.NewSyscallError("fsmount "+fsType, err)
}

// at opens a path below the new root, whose links lead nowhere else.
func (m *mounter) at(target string) (int, error) {
	rel := strings.TrimPrefix(target, "/")
	if rel == "" {
		rel = "."
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(m.root, rel, how)
	return fd, os.NewSyscallError("openat2", err)
}

// do carries out one step.
func (m *mounter) do(op *spec.Op) error {
	switch op.Kind {
	case spec.OpDir:
		return m.in(op, func(dir int, name string) error {
			if err := unix.Mkdirat(dir, name, op.Mode); err != nil && !errors.Is(err, unix.EEXIST) {
				return os.NewSyscallError("mkdir", err)
			}
			return nil
		})
	case spec.OpSymlink:
		return m.in(op, func(dir int, name string) error {
			return os.NewSyscallError("symlink", unix.Symlinkat(op.Source, dir, name))
		})
	case spec.OpFile:
		return m.in(op, func(dir int, name string) error { return writeFile(dir, name, op.Data, op.Mode) })
	case spec.OpBind:
		return m.bind(op)
	case spec.OpTmpfs:
		fd, err := newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsParams(op)...)
		return m.place(fd, err, op.Target)
	case spec.OpScripts:
		return m.scriptDir(op)
	case spec.OpProc:
		fd, err := newMount("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		return m.place(fd, err, op.Target)
	case spec.OpDevpts:
		fd, err := newDevpts()
		return m.place(fd, err, op.Target)
	case spec.OpMask:
		return m.mask(op.Target)
	case spec.OpFreeze:
		return m.freeze(op.Target)
	}
	return fmt.Errorf("%w: unknown step", spec.ErrProtocol)
}

// in calls f with the directory of the target and the target's name in it.
func (m *mounter) in(op *spec.Op, f func(dir int, name string) error) error {
	dir, err := m.at(path.Dir(op.Target))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return f(dir, path.Base(op.Target))
}

func writeFile(dir int, name, data string, mode uint32) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	_, err = f.WriteString(data)
	return err
}

func tmpfsParams(op *spec.Op) []string {
	params := []string{"mode", fmt.Sprintf("%04o", op.Mode), "size", strconv.FormatInt(op.Size, 10)}
	if op.Inodes > 0 {
		params = append(params, "nr_inodes", strconv.FormatInt(op.Inodes, 10))
	}
	return params
}

// place puts a detached mount on its target and closes it.
func (m *mounter) place(fd int, err error, target string) error {
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	at, err := m.at(target)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	err = unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	return os.NewSyscallError("move_mount", err)
}

func (m *mounter) bind(op *spec.Op) error {
	fd := m.sources[op]
	if err := sameFile(fd, op.Dev, op.Ino); err != nil {
		return err
	}
	attrs := uint64(unix.MOUNT_ATTR_NOSUID)
	if !op.Device {
		attrs |= unix.MOUNT_ATTR_NODEV
	}
	if op.ReadOnly {
		attrs |= unix.MOUNT_ATTR_RDONLY
	}
	return m.place(fd, setAttrs(fd, attrs, unix.AT_RECURSIVE), op.Target)
}

// setAttrs adds flags to a mount, with AT_RECURSIVE to all that are below it.
func setAttrs(fd int, attrs uint64, flags uint) error {
	err := unix.MountSetattr(fd, "", flags|unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attrs, Propagation: unix.MS_PRIVATE})
	return os.NewSyscallError("mount_setattr", err)
}

// scriptDir mounts a file system that is read-only in the cell, and keeps a mount of it that is nowhere in
// the tree and can be written to.
func (m *mounter) scriptDir(op *spec.Op) error {
	fd, err := newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, tmpfsParams(op)...)
	if err := m.place(fd, err, op.Target); err != nil {
		return err
	}
	at, err := m.at(op.Target)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if m.scripts, err = clone(at); err != nil {
		return err
	}
	return setAttrs(at, unix.MOUNT_ATTR_RDONLY, 0)
}

// clone makes a detached copy of a mount or of a part of one.
func clone(at int) (int, error) {
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	return fd, os.NewSyscallError("open_tree", err)
}

// mask covers a file with the null device, which cannot be opened there because the mount is nodev, and a
// directory with an empty one.
func (m *mounter) mask(target string) error {
	at, err := m.at(target)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	const attrs = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err := newMount("tmpfs", attrs, "mode", "0555", "size", "0", "nr_inodes", "2")
		return m.place(fd, err, target)
	}
	null, err := m.at("/dev/null")
	if err != nil {
		return err
	}
	defer unix.Close(null)
	fd, err := clone(null)
	if err == nil {
		err = setAttrs(fd, attrs, 0)
	}
	return m.place(fd, err, target)
}

// freeze makes a part of the tree read-only.
func (m *mounter) freeze(target string) error {
	at, err := m.at(target)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if target == "/" {
		return setAttrs(at, unix.MOUNT_ATTR_RDONLY, 0)
	}
	fd, err := clone(at)
	if err == nil {
		err = setAttrs(fd, unix.MOUNT_ATTR_RDONLY, unix.AT_RECURSIVE)
	}
	return m.place(fd, err, target)
}

// pivot makes the mount root the root and drops the old one: pivot_root(2), "pivot_root(".", ".")".
func pivot(root int) error {
	if err := unix.Fchdir(root); err != nil {
		return os.NewSyscallError("fchdir", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return os.NewSyscallError("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return os.NewSyscallError("umount of the host's root", err)
	}
	return os.NewSyscallError("chdir", unix.Chdir("/"))
}
