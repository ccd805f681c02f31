package guestfs

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The permission bits of the work directory hold, also for a program that is root.
func TestRights(t *testing.T) {
	f := newFixture(t)
	for _, dir := range []string{"closed", "unlisted", "shut"} {
		must(t, os.Mkdir(filepath.Join(f.work, dir), 0o755))
		must(t, os.WriteFile(filepath.Join(f.work, dir, "f"), []byte("inside"), 0o644))
	}
	for name, mode := range map[string]os.FileMode{"none": 0, "read": 0o400, "write": 0o200, "closed": 0o555, "unlisted": 0o311, "shut": 0} {
		file := filepath.Join(f.work, name)
		if name == "none" || name == "read" || name == "write" {
			must(t, os.WriteFile(file, []byte("x"), 0o644))
		}
		must(t, os.Chmod(file, mode))
		t.Cleanup(func() { _ = os.Chmod(file, 0o700) })
	}
	expect(
		t, f,
		"cat none = EACCES", "put none x = EACCES", "cat read = x", "put read x = EACCES", "cat write = EACCES", "put write yy",
		"cat closed/f = inside", "put closed/f changed", "put closed/new x = EACCES", "mkdir closed/d = EACCES", "symlink x closed/l = EACCES", "link read closed/h = EACCES",
		"unlink closed/f = EACCES", "rename closed/f out = EACCES", "rename read closed/in = EACCES", "ls closed = f",
		"ls unlisted = EACCES", "cat unlisted/f = EACCES", // natively f can be read: os.Root reads what it goes through
		"cat shut/f = EACCES", "stat shut/f = EACCES", "ls shut = EACCES", "put shut/new x = EACCES", "readlink shut/f = EACCES", "utimens shut/f 1 1 = EACCES", "chmod shut/f 600 = EACCES",
		"chmod closed 755", "put closed/new x", "utimens read 1000000000 omit", "rmdir shut = ENOTEMPTY",
		"put fresh x", "mkdir made", "rename fresh made/fresh", "unlink made/fresh", "rmdir made",
	)
}

// A granted file that is not the script's to read stays so.
func TestRights_Granted(t *testing.T) {
	secret := filepath.Join(grantable(t), "secret")
	must(t, os.WriteFile(secret, []byte("x"), 0))
	f := newFixture(t, withGrants(Grant{Path: secret, Writable: true}))
	expect(t, f.in("/"), "cat "+secret[1:]+" = EACCES", "put "+secret[1:]+" y = EACCES")
	must(t, os.Chmod(secret, 0o600))
	expect(t, f.in("/"), "cat "+secret[1:]+" = x")
}

// After a call, and beside one, this process has all the rights that it had.
func TestRights_OnlyDuringACall(t *testing.T) {
	f := newFixture(t)
	if !privileged() {
		t.Skip("there are no rights to lay down")
	}
	before := effective(t)
	must(t, os.WriteFile(filepath.Join(f.work, "none"), []byte("x"), 0))
	stop := make(chan struct{})
	var beside sync.WaitGroup
	for range 4 {
		beside.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := effective(t); got != before {
					t.Errorf("a goroutine beside the calls has the capabilities %#x, not %#x", got, before)
				}
				if _, err := os.ReadFile(filepath.Join(f.work, "none")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2000 {
		expect(t, f, "cat none = EACCES", "chmod none 0 = EACCES", "mkdir d", "rmdir d")
	}
	close(stop)
	beside.Wait()
	if got := effective(t); got != before {
		t.Errorf("afterwards the capabilities are %#x, not %#x", got, before)
	}
}

// effective gives the effective capabilities of the goroutine's thread.
func effective(t *testing.T) uint64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Error(err)
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective)
}
