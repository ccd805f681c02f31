package guestfs

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

// A step is one call in words, such as "rename a d/b" or "open h file rw,creat". "@" in it stands for the directory
// that the steps run in, so that absolute paths and link targets can be written. do gives the outcome in words:
// "ok", the name of an errno, or what was read.
type target interface {
	do(step string) string
}

var errnoNames = map[sys.Errno]string{
	0: "ok", sys.EACCES: "EACCES", sys.EAGAIN: "EAGAIN", sys.EBADF: "EBADF", sys.EEXIST: "EEXIST", sys.EINVAL: "EINVAL",
	sys.EIO: "EIO", sys.EISDIR: "EISDIR", sys.ELOOP: "ELOOP", sys.ENAMETOOLONG: "ENAMETOOLONG", sys.ENOENT: "ENOENT",
	sys.ENOSYS: "ENOSYS", sys.ENOTDIR: "ENOTDIR", sys.ENOTEMPTY: "ENOTEMPTY", sys.EPERM: "EPERM", sys.EROFS: "EROFS",
	errno.EBUSY: "EBUSY", errno.EFBIG: "EFBIG", errno.ENOSPC: "ENOSPC", errno.EXDEV: "EXDEV", errno.ENXIO: "ENXIO",
	errno.EMLINK: "EMLINK",
}

func name(e sys.Errno) string {
	if s, ok := errnoNames[e]; ok {
		return s
	}
	return fmt.Sprintf("errno %d", e)
}

var flagNames = map[string]sys.Oflag{
	"r": sys.O_RDONLY, "w": sys.O_WRONLY, "rw": sys.O_RDWR, "append": sys.O_APPEND, "creat": sys.O_CREAT,
	"dir": sys.O_DIRECTORY, "excl": sys.O_EXCL, "nofollow": sys.O_NOFOLLOW, "trunc": sys.O_TRUNC,
}

// describe puts a status in words; readlink gives the target in words, which is as long as the link says.
func describe(st wsys.Stat_t, base string, readlink func() string) string {
	kind := "file"
	switch {
	case st.Mode&fs.ModeSymlink != 0:
		target := readlink()
		if strings.Contains(target, "@") {
			st.Size -= int64(len(base) - 1)
		}
		return fmt.Sprintf("link size=%d nlink=%d", st.Size, st.Nlink)
	case st.Mode.IsDir():
		return fmt.Sprintf("dir %03o nlink=%d", st.Mode.Perm(), st.Nlink)
	case !st.Mode.IsRegular():
		kind = "other"
	}
	return fmt.Sprintf("%s %03o size=%d nlink=%d", kind, st.Mode.Perm(), st.Size, st.Nlink)
}

// guest runs steps in a directory of an FS.
type guest struct {
	t     testing.TB
	fs    *FS
	base  string
	files map[string]sys.File
}

func (g *guest) path(p string) string {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "@") {
		return strings.ReplaceAll(p, "@", g.base)
	}
	return g.base + "/" + p
}

func oct(s string) fs.FileMode {
	v, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		panic(err)
	}
	return fs.FileMode(v)
}

func num(s string) int64 {
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func (g *guest) do(step string) string {
	a := strings.Fields(step)
	switch op := a[0]; op {
	case "mkdir":
		perm := "755"
		if len(a) > 2 {
			perm = a[2]
		}
		return name(g.fs.Mkdir(g.path(a[1]), oct(perm)))
	case "rmdir":
		return name(g.fs.Rmdir(g.path(a[1])))
	case "unlink":
		return name(g.fs.Unlink(g.path(a[1])))
	case "symlink":
		return name(g.fs.Symlink(strings.ReplaceAll(a[1], "@", g.base), g.path(a[2])))
	case "link":
		return name(g.fs.Link(g.path(a[1]), g.path(a[2])))
	case "rename":
		return name(g.fs.Rename(g.path(a[1]), g.path(a[2])))
	case "chmod":
		return name(g.fs.Chmod(g.path(a[1]), oct(a[2])))
	case "utimens", "lutimens":
		set := g.fs.Utimens
		if op == "lutimens" {
			set = g.fs.Lutimens
		}
		return name(set(g.path(a[1]), omit(a[2]), omit(a[3])))
	case "times", "ltimes":
		st, e := g.fs.stat(g.path(a[1]), op == "times")
		if e != 0 {
			return name(e)
		}
		return fmt.Sprint(st.Atim, " ", st.Mtim)
	case "stat", "lstat":
		st, e := g.fs.stat(g.path(a[1]), op == "stat")
		if e != 0 {
			return name(e)
		}
		return describe(st, g.base, func() string { return g.do("readlink " + a[1]) })
	case "readlink":
		s, e := g.fs.Readlink(g.path(a[1]))
		if e != 0 {
			return name(e)
		}
		return strings.ReplaceAll(s, g.base, "@")
	case "put", "cat", "ls":
		return g.short(op, a)
	}
	return g.handle(a)
}

func omit(s string) int64 {
	if s == "omit" {
		return sys.UTIME_OMIT
	}
	return num(s)
}

func (g *guest) short(op string, a []string) string {
	flags := map[string]sys.Oflag{"put": sys.O_WRONLY | sys.O_CREAT | sys.O_TRUNC, "ls": sys.O_DIRECTORY}
	f, e := g.fs.OpenFile(g.path(a[1]), flags[op], 0o644)
	if e != 0 {
		return name(e)
	}
	defer func() { _ = f.Close() }()
	switch op {
	case "put":
		_, e := f.Write([]byte(a[2]))
		return name(e)
	case "cat":
		return readAll(f)
	}
	var names []string
	for {
		entries, e := f.Readdir(2)
		if e != 0 {
			return name(e)
		}
		if len(entries) == 0 {
			break
		}
		for _, d := range entries {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func readAll(f sys.File) string {
	var all []byte
	buf := make([]byte, 7)
	for {
		n, e := f.Read(buf)
		if e != 0 {
			return name(e)
		}
		if n == 0 {
			return compact(all)
		}
		all = append(all, buf[:n]...)
	}
}

// compact shows runs of zeros by their length.
func compact(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := 0
		for n < len(b) && b[n] == 0 {
			n++
		}
		if n > 0 {
			fmt.Fprintf(&s, "<%d>", n)
			b = b[n:]
			continue
		}
		s.WriteByte(b[0])
		b = b[1:]
	}
	return s.String()
}

// handle runs a step on an open file, which the step "open NAME path flags [perm]" makes.
func (g *guest) handle(a []string) string {
	if a[0] == "open" {
		var flag sys.Oflag
		for f := range strings.SplitSeq(a[3], ",") {
			flag |= flagNames[f]
		}
		perm := fs.FileMode(0o644)
		if len(a) > 4 {
			perm = oct(a[4])
		}
		f, e := g.fs.OpenFile(g.path(a[2]), flag, perm)
		if e != 0 {
			return name(e)
		}
		if old := g.files[a[1]]; old != nil {
			_ = old.Close()
		}
		g.files[a[1]] = f
		return "ok"
	}
	f := g.files[a[1]]
	if f == nil {
		return "EBADF"
	}
	switch a[0] {
	case "close":
		delete(g.files, a[1])
		return name(f.Close())
	case "read":
		buf := make([]byte, num(a[2]))
		n, e := f.Read(buf)
		if e != 0 {
			return name(e)
		}
		return compact(buf[:n])
	case "pread":
		buf := make([]byte, num(a[2]))
		n, e := f.Pread(buf, num(a[3]))
		if e != 0 {
			return name(e)
		}
		return compact(buf[:n])
	case "write":
		n, e := f.Write([]byte(a[2]))
		if e != 0 {
			return name(e)
		}
		return strconv.Itoa(n)
	case "pwrite":
		n, e := f.Pwrite([]byte(a[2]), num(a[3]))
		if e != 0 {
			return name(e)
		}
		return strconv.Itoa(n)
	case "seek":
		whence := map[string]int{"set": io.SeekStart, "cur": io.SeekCurrent, "end": io.SeekEnd}[a[3]]
		n, e := f.Seek(num(a[2]), whence)
		if e != 0 {
			return name(e)
		}
		return strconv.FormatInt(n, 10)
	case "ftruncate":
		return name(f.Truncate(num(a[2])))
	case "fstat":
		st, e := f.Stat()
		if e != 0 {
			return name(e)
		}
		return describe(st, "", nil)
	case "setappend":
		return name(f.SetAppend(a[2] == "on"))
	case "futimens":
		return name(f.Utimens(omit(a[2]), omit(a[3])))
	}
	panic("unknown step " + strings.Join(a, " "))
}
