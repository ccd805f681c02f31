package native

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

func findBwrap(path string) (string, error) {
	paths := bwrapPaths
	if path != "" {
		paths = []string{path}
	}
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", &StartError{
		Backend: Bubblewrap, Step: "find bwrap", Err: fmt.Errorf("%w: no program %v", errNoBwrap, paths),
		Remedy: "install it (Debian, Ubuntu: apt install bubblewrap), or choose the backend userns",
	}
}

// staging is where bwrap mounts the work directory. The init moves it to where it belongs, once there is an
// empty /tmp.
const staging = "/run/sandbar-work"

// bubblewrap makes the command that has bwrap make the namespaces and execute our init as their PID 1.
func (b *blueprint) bubblewrap(path string, theirs *os.File) (*exec.Cmd, error) {
	path, err := findBwrap(path)
	if err != nil {
		return nil, err
	}
	w := &bwrapArgs{files: b.files(theirs)}
	w.add("--unshare-user", "--uid", strconv.Itoa(spec.UID), "--gid", strconv.Itoa(spec.GID))
	w.add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--as-pid-1")
	if b.alone {
		w.add("--unshare-net")
	}
	w.add("--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_SETPCAP")
	w.plan(b)
	if w.n > maxBwrapArgs {
		w.close()
		return nil, &engine.InvalidError{Field: "ReadOnly", Problem: fmt.Sprintf(
			"with ReadWrite it has more paths than bubblewrap takes: %d arguments of at most %d; the backend userns has no such bound", w.n, maxBwrapArgs)}
	}
	cmd := &exec.Cmd{
		Path:        path,
		Env:         []string{}, // it would be readable inside, as /proc/1/environ
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if b.identity.owner != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(b.identity.uid), Gid: uint32(b.identity.gid)}
	}
	args, err := w.file()
	if err != nil {
		w.close()
		return nil, err
	}
	cmd.ExtraFiles = append(w.files, args)
	fd := strconv.Itoa(firstExtra + len(w.files))
	cmd.Args = []string{"bwrap", "--args", fd, "--", selfPath, spec.Arg}
	b.mounts = append(slices.Clone(b.mounts), w.made...)
	return cmd, nil
}

// maxBwrapArgs is how many arguments bwrap takes, also by descriptor: MAX_ARGS in bubblewrap.c, less those of its command line.
const maxBwrapArgs = 9000 - 8

// firstExtra is the descriptor of the first of exec.Cmd's ExtraFiles.
const firstExtra = 3

// bwrapArgs collects bwrap's arguments. They travel by descriptor: a command line has an end, and others can
// read it.
type bwrapArgs struct {
	buf   bytes.Buffer
	n     int
	files []*os.File // become descriptors from firstExtra on
	made  []*os.File // by us: to be closed
	err   error
}

func (w *bwrapArgs) add(args ...string) {
	w.n += len(args)
	for _, a := range args {
		w.buf.WriteString(a)
		w.buf.WriteByte(0)
	}
}

// plan says in bwrap's words what it can make, and leaves the rest to the init.
func (w *bwrapArgs) plan(b *blueprint) {
	var left []spec.Op
	for _, op := range b.plan.Base {
		if op.Kind == spec.OpBind && op.FD > 0 {
			left = append(left, op)
			continue
		}
		w.op(op)
	}
	final := slices.Clone(b.plan.Final)
	for i, op := range final {
		if op.Kind == spec.OpBind && op.FD == 0 {
			w.add("--dir", staging, "--bind", op.Source, staging)
			final[i].Source = staging
		}
	}
	b.setup.Final = append(left, final...)
}

func (w *bwrapArgs) op(op spec.Op) {
	mode := fmt.Sprintf("%04o", op.Mode)
	switch op.Kind {
	case spec.OpDir:
		w.add("--perms", mode, "--dir", op.Target)
	case spec.OpSymlink:
		w.add("--symlink", op.Source, op.Target)
	case spec.OpFile:
		w.add("--perms", mode, "--file", strconv.Itoa(w.data(op.Data)), op.Target)
	case spec.OpProc:
		w.add("--proc", op.Target)
	case spec.OpBind:
		flag := "--bind"
		switch {
		case op.Device:
			flag = "--dev-bind"
		case op.ReadOnly:
			flag = "--ro-bind"
		}
		w.add(flag, op.Source, op.Target)
	default:
		w.err = errors.Join(w.err, fmt.Errorf("%w: bwrap cannot do %s", spec.ErrProtocol, op.Kind))
	}
}

// data gives bwrap the content of a file as a descriptor.
func (w *bwrapArgs) data(content string) int {
	f, err := memfile("data", []byte(content))
	if err != nil {
		w.err = errors.Join(w.err, err)
		return 0
	}
	w.made = append(w.made, f)
	w.files = append(w.files, f)
	return firstExtra + len(w.files) - 1
}

// file gives the arguments as a file.
func (w *bwrapArgs) file() (*os.File, error) {
	if w.err != nil {
		return nil, w.err
	}
	f, err := memfile("arguments", w.buf.Bytes())
	if err == nil {
		w.made = append(w.made, f)
	}
	return f, err
}

func (w *bwrapArgs) close() { closeFiles(w.made) }

// memfile makes a file in memory, at its beginning: memfd_create(2).
func memfile(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
