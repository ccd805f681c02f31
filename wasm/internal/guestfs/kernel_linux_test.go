package guestfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"
)

// kernel runs steps with plain system calls in a directory of the host: what the others must do alike.
type kernel struct {
	t    testing.TB
	base string
	fds  map[string]int
}

func TestMain(m *testing.M) {
	syscall.Umask(0) // so that the kernel, too, gives new files the mode that a step asks for
	os.Exit(m.Run())
}

func newKernel(t testing.TB) *kernel {
	k := &kernel{t: t, base: t.TempDir(), fds: map[string]int{}}
	t.Cleanup(func() {
		for _, fd := range k.fds {
			_ = unix.Close(fd)
		}
	})
	return k
}

func (k *kernel) path(p string) string {
	if strings.HasPrefix(p, "@") {
		return strings.ReplaceAll(p, "@", k.base)
	}
	return k.base + "/" + p
}

var kernelFlags = map[string]int{
	"r": unix.O_RDONLY, "w": unix.O_WRONLY, "rw": unix.O_RDWR, "append": unix.O_APPEND, "creat": unix.O_CREAT,
	"dir": unix.O_DIRECTORY, "excl": unix.O_EXCL, "nofollow": unix.O_NOFOLLOW, "trunc": unix.O_TRUNC,
}

func (k *kernel) do(step string) string {
	a := strings.Fields(step)
	no := func(err error) string { return name(hostErrno(err)) }
	switch op := a[0]; op {
	case "mkdir":
		perm := "755"
		if len(a) > 2 {
			perm = a[2]
		}
		return no(unix.Mkdir(k.path(a[1]), uint32(oct(perm))))
	case "rmdir":
		return no(unix.Rmdir(k.path(a[1])))
	case "unlink":
		return no(unix.Unlink(k.path(a[1])))
	case "symlink":
		return no(unix.Symlink(strings.ReplaceAll(a[1], "@", k.base), k.path(a[2])))
	case "link":
		return no(unix.Link(k.path(a[1]), k.path(a[2])))
	case "rename":
		return no(unix.Rename(k.path(a[1]), k.path(a[2])))
	case "chmod":
		return no(unix.Chmod(k.path(a[1]), uint32(oct(a[2]))))
	case "utimens", "lutimens":
		flags := 0
		if op == "lutimens" {
			flags = unix.AT_SYMLINK_NOFOLLOW
		}
		ts := []unix.Timespec{timespec(omit(a[2])), timespec(omit(a[3]))}
		return no(unix.UtimesNanoAt(unix.AT_FDCWD, k.path(a[1]), ts, flags))
	case "stat", "lstat", "times", "ltimes":
		return k.stat(op, a[1])
	case "readlink":
		buf := make([]byte, 4096)
		n, err := unix.Readlink(k.path(a[1]), buf)
		if err != nil {
			return no(err)
		}
		return strings.ReplaceAll(string(buf[:n]), k.base, "@")
	case "put", "cat", "ls":
		return k.short(op, a)
	}
	return k.handle(a)
}

func (k *kernel) stat(op, p string) string {
	get := os.Stat
	if op[0] == 'l' {
		get = os.Lstat
	}
	fi, err := get(k.path(p))
	if err != nil {
		return name(hostErrno(err))
	}
	st := wsys.NewStat_t(fi)
	if strings.HasSuffix(op, "times") {
		return fmt.Sprint(st.Atim, " ", st.Mtim)
	}
	st.Mode &= fs.ModeType | permMask
	return describe(st, k.base, func() string { return k.do("readlink " + p) })
}

func (k *kernel) short(op string, a []string) string {
	flags := map[string]int{"put": unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC, "ls": unix.O_DIRECTORY}
	fd, err := unix.Open(k.path(a[1]), flags[op]|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return name(hostErrno(err))
	}
	f := os.NewFile(uintptr(fd), "f")
	defer f.Close()
	switch op {
	case "put":
		_, err := unix.Write(fd, []byte(a[2]))
		return name(hostErrno(err))
	case "cat":
		b, err := io.ReadAll(f)
		if err != nil {
			return name(hostErrno(err))
		}
		return compact(b)
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return name(hostErrno(err))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (k *kernel) handle(a []string) string {
	no := func(err error) string { return name(hostErrno(err)) }
	if a[0] == "open" {
		flag := unix.O_CLOEXEC
		for f := range strings.SplitSeq(a[3], ",") {
			flag |= kernelFlags[f]
		}
		perm := fs.FileMode(0o644)
		if len(a) > 4 {
			perm = oct(a[4])
		}
		fd, err := unix.Open(k.path(a[2]), flag, uint32(perm))
		if err != nil {
			return no(err)
		}
		if old, ok := k.fds[a[1]]; ok {
			_ = unix.Close(old)
		}
		k.fds[a[1]] = fd
		return "ok"
	}
	fd, ok := k.fds[a[1]]
	if !ok {
		return "EBADF"
	}
	amount := func(n int, err error) string {
		if err != nil {
			return no(err)
		}
		return strconv.Itoa(n)
	}
	content := func(buf []byte, n int, err error) string {
		if err != nil {
			return no(err)
		}
		return compact(buf[:n])
	}
	switch a[0] {
	case "close":
		delete(k.fds, a[1])
		return no(unix.Close(fd))
	case "read":
		buf := make([]byte, num(a[2]))
		n, err := unix.Read(fd, buf)
		return content(buf, n, err)
	case "pread":
		buf := make([]byte, num(a[2]))
		n, err := unix.Pread(fd, buf, num(a[3]))
		return content(buf, n, err)
	case "write":
		return amount(unix.Write(fd, []byte(a[2])))
	case "pwrite":
		return amount(unix.Pwrite(fd, []byte(a[2]), num(a[3])))
	case "seek":
		whence := map[string]int{"set": io.SeekStart, "cur": io.SeekCurrent, "end": io.SeekEnd}[a[3]]
		n, err := unix.Seek(fd, num(a[2]), whence)
		return amount(int(n), err)
	case "ftruncate":
		return no(unix.Ftruncate(fd, num(a[2])))
	case "fstat":
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return no(err)
		}
		f := os.NewFile(uintptr(dup), "f")
		defer f.Close()
		fi, err := f.Stat()
		if err != nil {
			return no(err)
		}
		st := wsys.NewStat_t(fi)
		st.Mode &= fs.ModeType | permMask
		return describe(st, "", nil)
	case "setappend":
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return no(err)
		}
		flags &^= unix.O_APPEND
		if a[2] == "on" {
			flags |= unix.O_APPEND
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
		return no(err)
	case "futimens":
		ts := []unix.Timespec{timespec(omit(a[2])), timespec(omit(a[3]))}
		return no(unix.UtimesNanoAt(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), ts, 0))
	}
	panic("unknown step " + strings.Join(a, " "))
}

func addKernel(t *testing.T, all map[string]target) { all["kernel"] = newKernel(t) }

// onDir reports that a step would seek in, write to or truncate an open directory.
func (k *kernel) onDir(step string) bool {
	a := strings.Fields(step)
	fd, ok := k.fds[a[1]]
	if !ok || !slices.Contains([]string{"seek", "write", "pwrite", "ftruncate", "setappend"}, a[0]) {
		return false
	}
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}
