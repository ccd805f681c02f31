//go:build unix

package guestfs

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
)

// FIFOs, sockets and devices are not opened, and not touched: a writer that waits at a FIFO goes on waiting.
func TestSpecial_NotOpened(t *testing.T) {
	f := newFixture(t)
	fifo := filepath.Join(f.work, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o644))
	must(t, os.Chdir(f.work)) // a socket's path is short
	l, err := net.Listen("unix", "sock")
	must(t, err)
	defer l.Close()
	specials := []string{"fifo", "sock"}
	if err := unix.Mknod(filepath.Join(f.work, "chr"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		specials = append(specials, "chr")
	}
	opened := make(chan struct{})
	go func() {
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for a reader
		if err == nil {
			w.Close()
		}
		close(opened)
	}()
	time.Sleep(50 * time.Millisecond)
	for _, p := range specials {
		f.do("symlink " + p + " to-" + p)
		f.do("symlink @/" + p + " absto-" + p)
		for _, path := range []string{p, "to-" + p, "absto-" + p} {
			for _, flags := range []string{"r", "w", "rw", "rw,creat", "w,trunc", "w,append", "rw,creat,trunc"} {
				expect(t, f.guest, "open h "+path+" "+flags+" = EACCES")
			}
			expect(t, f.guest, "open h "+path+" r,dir = ENOTDIR", "open h "+path+" w,creat,excl = EEXIST", "put "+path+"/x x = ENOTDIR")
		}
		if st, errno := f.fs.Lstat(WorkPath + "/" + p); errno != 0 || st.Mode.IsRegular() || st.Mode.IsDir() {
			t.Errorf("Lstat(%s) = %v, %v", p, st.Mode, errno)
		}
	}
	select {
	case <-opened:
		t.Error("opening the FIFO from the guest let the waiting writer go on")
	default:
	}
	r, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must(t, err)
	<-opened
	r.Close()
	expect(t, f.guest, "rename fifo fifo2", "unlink fifo2", "unlink sock")
}

// A FIFO takes the place of a file while it is opened: no call may wait for its other end.
func TestSpecial_RaceFIFOForFile(t *testing.T) {
	f := newFixture(t)
	must(t, os.WriteFile(filepath.Join(f.work, "f"), nil, 0o644))
	must(t, syscall.Mkfifo(filepath.Join(f.work, "fifo"), 0o644))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				swap(f.work, "f", "fifo")
			}
		}
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 3000 {
			for _, flag := range []sys.Oflag{sys.O_RDONLY, sys.O_WRONLY, sys.O_WRONLY | sys.O_CREAT | sys.O_TRUNC} {
				file, errno := f.fs.OpenFile(WorkPath+"/f", flag, 0o644)
				if errno != 0 {
					continue
				}
				if st, errno := file.Stat(); errno != 0 || !st.Mode.IsRegular() {
					t.Errorf("opened %v, %v", st.Mode, errno)
				}
				_ = file.Close()
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("an open waits at the FIFO")
		r, err := os.OpenFile(filepath.Join(f.work, "fifo"), os.O_RDWR, 0)
		if err == nil {
			defer r.Close()
		}
		<-ended
	}
	close(stop)
	<-done
}

// Modes are what the guest asks for under any umask, and never more than 0777.
func TestHost_Modes(t *testing.T) {
	f := newFixture(t)
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	expect(t, f.guest, "open h f w,creat 666", "mkdir d 777", "open h g w,creat,excl 7755", "mkdir e 7711", "put s x", "chmod s 6777")
	for name, want := range map[string]os.FileMode{"f": 0o666, "d": 0o777 | os.ModeDir, "g": 0o755, "e": 0o711 | os.ModeDir, "s": 0o777} {
		fi, err := os.Lstat(filepath.Join(f.work, name))
		if err != nil || fi.Mode() != want {
			t.Errorf("%s: mode %v, %v, want %v", name, fi.Mode(), err, want)
		}
	}
	before, err := os.Stat(f.work)
	must(t, err)
	expect(t, f.guest, "chmod . 777 = EPERM", "chmod @ 000 = EPERM", "chmod ../sandbox-work 777 = EPERM", "symlink . me", "chmod me 000 = EPERM", "symlink @ abs", "chmod abs 000 = EPERM", "chmod d/.. 000 = EPERM", "symlink .. d/up", "chmod d/up 000 = EPERM")
	if after, err := os.Stat(f.work); err != nil || after.Mode() != before.Mode() {
		t.Errorf("the work directory's mode is %v, it was %v", after.Mode(), before.Mode())
	}
	must(t, os.Chmod(filepath.Join(f.work, "f"), 0o4711|os.ModeSetuid))
	expect(t, f.guest, "stat f = file 711 size=0 nlink=1")
	if st, errno := f.fs.Stat(WorkPath + "/f"); st.Mode != 0o711 || errno != 0 {
		t.Errorf("the guest sees mode %v, %v of a set-user-ID file", st.Mode, errno)
	}
}
