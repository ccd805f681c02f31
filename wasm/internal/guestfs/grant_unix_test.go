//go:build unix

package guestfs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestGrant_ReadWriteDirectory(t *testing.T) {
	dir := grantable(t)
	f := newFixture(t, withGrants(Grant{Path: dir, Writable: true}))
	g := f.in(dir)
	expect(t, g, "put f x", "mkdir d", "put d/g y", "rename d/g g", "symlink "+dir+"/f l", "cat l = x", "symlink /tmp t", "put t/in-tmp z", "cat /tmp/in-tmp = z", "rename t/in-tmp f2 = EXDEV", "unlink l", "ls . = d f g t", "chmod . 777 = EPERM")
	if b, err := os.ReadFile(dir + "/f"); string(b) != "x" || err != nil {
		t.Errorf("on the host: %q, %v", b, err)
	}
	// A link in a read-only mount that leads to a writable one is the writable one.
	ro := grantable(t)
	must(t, os.Symlink(dir, ro+"/to"))
	both := newFixture(t, withGrants(Grant{Path: dir, Writable: true}, Grant{Path: ro}))
	expect(t, both.in(ro),
		"put to/n x", "mkdir to/m", "rmdir to/m", "rename to/n to/o", "link to/o to/p", "chmod to/p 600", "utimens to/p 1 1", "unlink to/p", "symlink a to/q", "readlink to/q = a", "unlink to/q", "lutimens to/o 1 2", "unlink to/o", "unlink to = EROFS", "rename to x = EROFS",
		"lutimens to 1 2 = EROFS", "rename "+dir+"/f to/f", "rename to/f f = EXDEV", "symlink "+ro+" "+dir+"/back", "unlink to/back/to = EROFS", "put to/back/x x = EROFS", "mkdir to/back/x = EROFS", "rename to/f to/back/x = EXDEV",
	)
}

func TestGrant_SingleFile(t *testing.T) {
	dir := grantable(t)
	must(t, os.WriteFile(dir+"/f", []byte("granted"), 0o644))
	must(t, os.WriteFile(dir+"/secret-name", []byte(secret), 0o644))
	for _, writable := range []bool{false, true} {
		f := newFixture(t, withGrants(Grant{Path: dir + "/f", Writable: writable}))
		g := f.in(dir)
		want := "EROFS"
		if writable {
			want = "ok"
		}
		expect(t, g,
			"cat f = granted", "ls . = f", "cat secret-name = ENOENT", "stat secret-name = ENOENT", "cat f/../secret-name = ENOTDIR", "cat f/ = ENOTDIR", "stat f/x = ENOTDIR", "put f/x x = ENOTDIR", "mkdir f/x = ENOTDIR", "unlink f/x = "+map[bool]string{true: "ENOTDIR", false: "ENOTDIR"}[writable],
			"unlink f = EBUSY", "rename f g = EBUSY", "rename f f = EBUSY", "rename /tmp/x f = EBUSY", "rmdir f = EBUSY", "link f g = EXDEV", "link f /tmp/g = EXDEV", "mkdir f = EEXIST", "symlink x f = EEXIST", "open h f r,dir = ENOTDIR", "open h f w,creat,excl = EEXIST", "readlink f = EINVAL",
			"put g x = EROFS", "open h f w = "+want, "utimens f 1000000000 1000000000 = "+want, "open h f r,nofollow", "read h 3 = gra", "write h x = EBADF", "stat f = file 644 size=7 nlink=1",
		)
		if got := g.do("chmod f 777"); got == "ok" {
			t.Error("chmod of the granted file = ok")
		}
	}
}

// What takes the file's place must be a file: a link would lead to its neighbours.
func TestGrant_SingleFileSwapped(t *testing.T) {
	dir := grantable(t)
	file := dir + "/f"
	must(t, os.WriteFile(file, []byte("granted"), 0o644))
	must(t, os.WriteFile(dir+"/secret", []byte(secret), 0o644))
	f := newFixture(t, withGrants(Grant{Path: file, Writable: true}))
	g := f.in(dir)
	for name, plant := range map[string]func() error{
		"relative link": func() error { return os.Symlink("secret", file) },
		"absolute link": func() error { return os.Symlink(dir+"/secret", file) },
		"directory":     func() error { return os.Mkdir(file, 0o755) },
		"fifo":          func() error { return syscall.Mkfifo(file, 0o644) },
	} {
		must(t, os.Remove(file))
		must(t, plant())
		for _, step := range []string{"cat f", "stat f", "lstat f", "put f x", "open h f r,nofollow", "utimens f 1 1", "ls f", "readlink f", "chmod f 600"} {
			if got := g.do(step); got != "EACCES" && got != "EPERM" && got != "ENOTDIR" {
				t.Errorf("%s in its place: %s = %q", name, step, got)
			}
		}
	}
	must(t, os.Remove(file))
	expect(t, g, "cat f = ENOENT", "put f x = ENOENT")
	must(t, os.WriteFile(file, []byte("new"), 0o644)) // as an editor does it
	expect(t, g, "cat f = new")
	must(t, os.Symlink("secret", dir+"/evil"))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				swap(dir, "f", "evil")
			}
		}
	}()
	for range 3000 {
		for _, step := range []string{"cat f", "open h f rw", "read h 99", "write h x", "ftruncate h 0", "put f new"} {
			if got := g.do(step); strings.Contains(got, secret) {
				t.Errorf("%s = %q", step, got)
			}
		}
	}
	close(stop)
	<-done
	if b, err := os.ReadFile(dir + "/secret"); string(b) != secret || err != nil {
		t.Errorf("the neighbour holds %q, %v", b, err)
	}
}

// A grant may be named through a link; the guest sees it where it was named.
func TestGrant_ThroughALink(t *testing.T) {
	dir := grantable(t)
	must(t, os.MkdirAll(dir+"/real/d", 0o755))
	must(t, os.WriteFile(dir+"/real/d/f", []byte("x"), 0o644))
	must(t, os.Symlink("real", dir+"/link"))
	f := newFixture(t, withGrants(Grant{Path: dir + "/link/d"}))
	expect(t, f.in(dir), "cat link/d/f = x", "ls . = link", "stat real = ENOENT", "lstat link = dir 555 nlink=3")
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o644))
	if s, err := NewSession(SessionConfig{Grants: []Grant{{Path: fifo}}}); err == nil {
		_ = s.Close()
		t.Error("a FIFO was granted")
	}
}

// Close gives back what the run left open; nothing stays for the process.
func TestFS_CloseLeavesNoDescriptor(t *testing.T) {
	f := newFixture(t, withQuota(&tally{maxBytes: 1 << 20, maxFiles: 100}))
	before := descriptors(t)
	for range 20 {
		run := f.session.NewFS(RunConfig{TmpBytes: 1 << 20, TmpFiles: 100})
		g := &guest{t: t, fs: run, base: WorkPath, files: map[string]sys.File{}}
		expect(t, g, "put f x", "symlink f l", "mkdir d", "symlink l d/up")
		for i, step := range []string{"f rw", "f w,append", "l r", "d r,dir", ". r,dir", "new rw,creat", "/tmp/t rw,creat", "/tmp r,dir", "/dev/null r", "/usr/lib/python3.13/os.py r", "/ r,dir"} {
			expect(t, g, "open h"+string(rune('a'+i))+" "+step)
		}
		for _, step := range []string{"cat nope", "open x f r,dir", "open x d rw", "open x f rw,creat,excl", "cat d/nope/x", "cat d/up", "ls d", "unlink new", "rename f g", "rename g f", "rmdir f", "unlink d", "lutimens l 1 1", "chmod f 600", "mkdir f", "link f f"} {
			g.do(step)
		}
		if n := f.session.HostFiles(); n != 6 {
			t.Errorf("HostFiles() = %d with six files open", n)
		}
		run.Close()
		if n := f.session.HostFiles(); n != 0 {
			t.Errorf("HostFiles() = %d after Close", n)
		}
		if _, errno := g.files["ha"].Read(make([]byte, 1)); errno != sys.EBADF {
			t.Errorf("Read after Close = %v", errno)
		}
		if errno := g.files["ha"].Close(); errno != 0 {
			t.Errorf("second Close = %v", errno)
		}
		expect(t, f.guest, "rmdir d = ENOTEMPTY", "unlink d/up", "rmdir d", "unlink l", "unlink f")
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors are open, there were %d", after, before)
	}
}

// descriptors counts those of the process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	must(t, err)
	return len(entries)
}

// A file that was open for writing is closed only when no fork is under way, whose child would have a copy of the
// descriptor and make the file "busy" for whoever executes it next.
func TestHost_CloseWaitsForForks(t *testing.T) {
	f := newFixture(t)
	expect(t, f.guest, "open w tool w,creat 755", "open r tool r")
	syscall.ForkLock.Lock()
	expect(t, f.guest, "close r")
	closed := make(chan struct{})
	go func() {
		_ = f.files["w"].Close()
		close(closed)
	}()
	select {
	case <-closed:
		t.Error("Close did not wait for the fork")
	case <-time.After(50 * time.Millisecond):
	}
	syscall.ForkLock.Unlock()
	<-closed
}
