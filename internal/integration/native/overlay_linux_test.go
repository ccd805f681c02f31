package nativetests

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/internal/testuser"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

func TestOverlay_Unprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	testuser.Again(t, "^TestOverlay_(Native|BothTiers|Hostile|Mapped|Layers|Forged|HostChanges|HostSockets|Copied|Alike|Full)$")
}

// eachOverlay runs a test in a session over a directory of its own, on disk and in memory.
func eachOverlay(t *testing.T, drivers []engine.Driver, d *native.Driver, test func(t *testing.T, s *engine.Session, host string)) {
	for name, limits := range map[string]engine.Limits{"on disk": {}, "in memory": {Disk: 64 << 20, DiskFiles: 1000}} {
		t.Run(name, func(t *testing.T) {
			host := filepath.Join(wideTemp(t), "host")
			for name, data := range map[string]string{"f": "one\n", "d/x": "two\n", "d/e/y": "three\n", "gone": "four\n"} {
				path := filepath.Join(host, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), 0o640)); err != nil {
					t.Fatal(err)
				}
			}
			before := measure()
			s, err := engine.Open(t.Context(), append([]engine.Driver{d}, drivers...), &engine.Options{Overlay: host, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			wantKind(t, s, limits.Disk > 0)
			test(t, s, host)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if more := settled(before).moreThan(before); len(more) > 0 {
				t.Errorf("after Close there is more: %s", strings.Join(more, "; "))
			}
		})
	}
}

// wantKind checks how a session lies over its directory: in memory, and without root's rights, by an overlayfs.
func wantKind(t *testing.T, s *engine.Session, memory bool) {
	t.Helper()
	want := engine.OverlayCopy
	if memory && os.Geteuid() != 0 {
		want = engine.OverlayFS
	}
	got := s.Info().OverlayKind
	if got == want {
		return
	}
	_ = s.Close()
	if want == engine.OverlayFS {
		testneed.Feature(t, "overlayfs", errors.New("the directory was copied"))
	}
	t.Fatalf("the overlay is %s, want %s", got, want)
}

func changed(list []engine.Change) []string {
	var all []string
	for _, c := range list {
		all = append(all, string(c.Kind)+" "+c.Path)
	}
	return all
}

func wantDiff(t *testing.T, s *engine.Session, want ...string) {
	t.Helper()
	list, err := s.Diff(t.Context())
	if got := changed(list); err != nil || !slices.Equal(got, want) {
		t.Errorf("Diff = %q, %v; want %q", got, err, want)
	}
}

// tree describes what is in a directory of the host.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data := ""
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data = string(content)
		} else if info.Mode()&os.ModeSymlink != 0 {
			data, _ = os.Readlink(path)
		}
		st, _ := info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%s %v %d %q\n", path[len(dir):], info.Mode(), st.Uid, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What a shell script changes and what is committed, and that the host has nothing of it before.
func TestOverlay_Native(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			before := tree(t, host)
			out := output(t, s, `cat f d/x d/e/y; stat -c '%u %g %a' f; echo more >> f; rm gone; mv d/e moved; mkdir n; echo new > n/x; ln -s ../f n/l; chmod 600 d/x; mkfifo p; touch d/x`, shell(nil))
			if want := "one\ntwo\nthree\n1000 1000 640\n"; out != want {
				t.Errorf("the script sees %q, want %q", out, want)
			}
			if after := tree(t, host); after != before {
				t.Errorf("the host has\n%s, and had\n%s", after, before)
			}
			want := []string{"changed d/x", "changed f", "added moved", "added moved/y", "added n", "added n/l", "added n/x"}
			wantDiff(t, s, "removed d/e", "removed d/e/y", "changed d/x", "changed f", "removed gone", "added moved", "added moved/y", "added n", "added n/l", "added n/x", "added p")
			list, err := s.Commit(t.Context())
			want = append([]string{"removed d/e", "removed d/e/y"}, want[:2]...)
			want = append(want, "removed gone", "added moved", "added moved/y", "added n", "added n/l", "added n/x")
			if got := changed(list); err != nil || !slices.Equal(got, want) {
				t.Errorf("Commit = %q, %v", got, err)
			}
			uid := os.Getuid()
			for _, line := range []string{
				fmt.Sprintf("/f -rw-r----- %d \"one\\nmore\\n\"\n", uid), fmt.Sprintf("/d/x -rw------- %d \"two\\n\"\n", uid),
				fmt.Sprintf("/moved/y -rw-r----- %d \"three\\n\"\n", uid), fmt.Sprintf("/n/l Lrwxrwxrwx %d \"../f\"\n", uid),
			} {
				if got := tree(t, host); !strings.Contains(got, line) || strings.Contains(got, "gone") || strings.Contains(got, "/p ") {
					t.Errorf("no %q in\n%s", line, got)
				}
			}
			wantDiff(t, s, "added p")
			output(t, s, "echo again > n/x", shell(nil))
			if _, err := s.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(host, "f"), []byte("host\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			output(t, s, "echo again > f; echo x > other", shell(nil))
			if list, err := s.Commit(t.Context()); !errors.Is(err, engine.ErrConflict) || len(list) > 0 || strings.Contains(tree(t, host), "other") {
				t.Errorf("Commit = %v, %v", list, err)
			}
			noCanary(t, []byte(tree(t, host)))
		})
	})
}

// Both tiers work in one directory.
func TestOverlay_BothTiers(t *testing.T) {
	w := wasm.New(&wasm.Options{Idle: -1})
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, []engine.Driver{w}, d, func(t *testing.T, s *engine.Session, host string) {
			rename := "os.rename"
			if s.Info().OverlayKind == engine.OverlayFS { // EXDEV for a directory of the host
				rename = "shutil.move"
			}
			printed(t, s, `import os, shutil
print(open("f").read(), sorted(os.listdir(".")))
open("d/python", "w").write("by python")
os.remove("gone")
`+rename+`("d/e", "moved")`, python(nil), "one\n ['d', 'f', 'gone']\n")
			printed(t, s, "cat d/python; echo; ls; echo >> f", shell(nil), "by python\nd\nf\nmoved\n")
			wantDiff(t, s, "removed d/e", "removed d/e/y", "added d/python", "changed f", "removed gone", "added moved", "added moved/y")
			if _, err := s.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantDiff(t, s)
			if data, err := os.ReadFile(filepath.Join(host, "d/python")); string(data) != "by python" || err != nil {
				t.Errorf("%q, %v", data, err)
			}
		})
	})
}

// A script that does its worst while Diff looks, and before Commit.
func TestOverlay_Hostile(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			p := start(t, s, `i=0
while :; do i=$((i+1))
  rm -rf d; ln -s / d; rm d; mkdir -p d/e; echo $i > d/e/y; mv d dd; ln -s /etc d; rm d; mkfifo d; rm d; mv dd d
  echo $i > f; chmod 0 f d; chmod 700 d
done`, shell(&engine.RunOptions{Timeout: time.Minute}))
			for range 50 {
				list, err := s.Diff(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range list {
					if strings.Contains(c.Path, "hostname") || strings.Contains(c.Path, "passwd") {
						t.Fatalf("Diff is outside: %+v", c)
					}
				}
			}
			if _, err := s.Commit(t.Context()); !errors.Is(err, engine.ErrBusy) {
				t.Errorf("Commit = %v", err)
			}
			p.Kill()
			result(t, p, patience)
			output(t, s, `chmod -R u+rwx . 2>/dev/null; rm -rf ..?* * 2>/dev/null; ln -s / d; ln -s ../../../../../../etc up; mkdir m; chmod 0 m; echo x > f; chmod 0 f
printf x > "$(printf 'a\nb')"; mkfifo fifo; exit 0`, shell(nil))
			commit := func() (list []engine.Change, err error) {
				for range 1000 { // a run is taken off a moment after its end
					if list, err = s.Commit(t.Context()); !errors.Is(err, engine.ErrBusy) {
						break
					}
					time.Sleep(time.Millisecond)
				}
				return list, err
			}
			if _, err := commit(); err != nil {
				t.Fatal(err)
			}
			if target, err := os.Readlink(filepath.Join(host, "d")); target != "/" || err != nil {
				t.Errorf("the link leads to %q, %v", target, err)
			}
			for _, name := range []string{"f", "m"} {
				if info, err := os.Lstat(filepath.Join(host, name)); err != nil || info.Mode().Perm() != 0 {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			}
			// What is a link on the host is replaced, and never gone through.
			output(t, s, "rm d; mkdir d; echo x > d/canary-of-this-test", shell(nil))
			if _, err := commit(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat("/canary-of-this-test"); err == nil {
				t.Error("it was written to the root")
			}
			wantDiff(t, s, "added fifo")
			_ = os.Chmod(filepath.Join(host, "m"), 0o700)
		})
	})
}

// A write through a mapping of a file in memory shows in no time of the file.
func TestOverlay_Mapped(t *testing.T) {
	need(t, "python3")
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, _ string) {
			const script = `import mmap
f = open("f", "r+b")
m = mmap.mmap(f.fileno(), 0)
print(m[:3])
m[0:3] = b"ONE"`
			printed(t, s, script, python(nil), "b'one'\n")
			wantDiff(t, s, "changed f")
			if err := s.Mark(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantDiff(t, s)
			printed(t, s, strings.ReplaceAll(script, "ONE", "two"), python(nil), "b'ONE'\n")
			wantDiff(t, s, "changed f")
		})
	})
}

// What an overlayfs notes in its upper layer, and how Diff reads it.
func TestOverlay_Layers(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			before := tree(t, host)
			if err := s.Mark(t.Context()); err != nil {
				t.Error(err)
			}
			output(t, s, `touch f d/x`, shell(nil))
			wantDiff(t, s)
			output(t, s, `rm -r d; mkdir -p d/e`, shell(nil)) // hides the host's
			wantDiff(t, s, "removed d/e/y", "removed d/x")
			output(t, s, `echo again > d/x; chmod 0 d/e d`, shell(nil))
			wantDiff(t, s, "changed d", "changed d/e", "removed d/e/y", "changed d/x")
			output(t, s, `chmod 755 d d/e; rm -r d; mkdir d; echo two > d/x; mkdir d/e; echo three > d/e/y; chmod 640 d/x d/e/y; touch f; chmod 600 f; chmod 640 f`, shell(nil))
			wantDiff(t, s)
			output(t, s, `mv d/x d/z; mv d/z d/x; rm gone f; mkdir gone; echo > gone/f; ln -s gone f; mv d other; mkdir d; mv other/e d/e2`, shell(nil))
			want := []string{"removed d/e", "removed d/e/y", "added d/e2", "added d/e2/y", "removed d/x", "changed f", "changed gone", "added gone/f", "added other", "added other/x"}
			wantDiff(t, s, want...)
			if after := tree(t, host); after != before {
				t.Errorf("the host has\n%s, and had\n%s", after, before)
			}
			if list, err := s.Commit(t.Context()); err != nil || len(list) != len(want) {
				t.Errorf("Commit = %q, %v", changed(list), err)
			}
			wantDiff(t, s)
			// What was committed is below the session's now, and hidden by what it has.
			output(t, s, `test -L f && test -f gone/f && test ! -e d/x && rm -r gone other && test ! -e gone && mkdir other && echo new > d/x`, shell(nil))
			wantDiff(t, s, "added d/x", "removed gone", "removed gone/f", "removed other/x")
			if _, err := s.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			if names, err := filepath.Glob(filepath.Join(host, "*")); err != nil || len(names) != 3 {
				t.Errorf("the host has %q, %v", names, err)
			}
			output(t, s, `test ! -e gone`, shell(nil))
			if err := s.PutBytes(t.Context(), "f2", []byte("put"), nil); err != nil {
				t.Error(err)
			}
			if err := s.Mark(t.Context()); err != nil {
				t.Error(err)
			}
			wantDiff(t, s)
			output(t, s, `echo > d/e2/y`, shell(nil))
			wantDiff(t, s, "changed d/e2/y")
		})
	})
}

// A script that knows how an overlayfs notes what is removed, and where else to look.
func TestOverlay_Forged(t *testing.T) {
	need(t, "python3")
	const script = `import ctypes, os, stat
def attempt(f, *a):
    try: f(*a)
    except OSError: pass
outside = os.path.abspath("../../etc").encode()
for path in "d", "d/e", "f", "new":
    if path == "new": os.mkdir(path)
    for prefix in "user.overlay.", "trusted.overlay.", "user.overlay.overlay.":
        for name, value in ("opaque", b"y"), ("opaque", b"x"), ("redirect", outside), ("redirect", b"/"), ("metacopy", b""), ("origin", b"\x00" * 28), ("whiteout", b"y"), ("impure", b"y"):
            attempt(os.setxattr, path, prefix + name, value)
for name in "gone", "d/x", "made":
    attempt(os.unlink, "w")
    attempt(os.mknod, "w", stat.S_IFCHR | 0o600, os.makedev(0, 0))
    attempt(os.rename, "w", name)
open("w", "w").close()
ctypes.CDLL(None).renameat2(-100, b"w", -100, b"gone", 4) # RENAME_WHITEOUT
attempt(os.unlink, "w")
attempt(os.mknod, "d/wh", stat.S_IFCHR | 0o600, 0)
open("d/.wh.x", "w").close(); open(".wh..wh..opq", "w").close()
print(sorted(os.listdir(".")), sorted(os.listdir("d")), os.listdir("new"), open("d/x").read(), open("f").read())`
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			if s.Info().OverlayKind != engine.OverlayFS {
				return // in a copy a device 0:0 is like any other
			}
			const want = "['.wh..wh..opq', 'd', 'f', 'gone', 'new'] ['.wh.x', 'e', 'x'] [] two\n one\n\n"
			printed(t, s, script, python(nil), want)
			wantDiff(t, s, "added .wh..wh..opq", "added d/.wh.x", "added new")
			// Nor in another cell, and when the kernel has forgotten what it knew.
			printed(t, s, `import os; print(sorted(os.listdir("d")), os.listdir("d/e"), open("f").read())`, python(nil), "['.wh.x', 'e', 'x'] ['y'] one\n\n")
			if _, err := s.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(filepath.Join(host, "d/e/y")); err != nil {
				t.Error(err)
			}
		})
	})
}

// What somebody changes on the host meanwhile is no change of the session's, and a conflict when scripts have changed it too.
func TestOverlay_HostChanges(t *testing.T) {
	need(t, "python3")
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			write := func(name, data string) {
				if err := os.WriteFile(filepath.Join(host, name), []byte(data), 0o640); err != nil {
					t.Error(err)
				}
			}
			write("f", "the host's\n")
			write("d/new", "the host's\n")
			if err := os.Remove(filepath.Join(host, "gone")); err != nil {
				t.Error(err)
			}
			output(t, s, "ls -R >/dev/null; echo mine > mine", shell(nil))
			wantDiff(t, s, "added mine")
			if _, err := s.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			output(t, s, "echo mine > f; echo mine > d/e/y", shell(nil))
			var conflict *engine.ConflictError
			if _, err := s.Commit(t.Context()); !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{"f"}) {
				t.Errorf("Commit = %v", err)
			}
			if !strings.Contains(tree(t, host), `"three\n"`) {
				t.Error("it was committed")
			}
		})
	})
}

// Sockets and FIFOs that somebody makes on the host meanwhile lead nowhere.
func TestOverlay_HostSockets(t *testing.T) {
	need(t, "python3")
	each(t, func(t *testing.T, d *native.Driver) {
		eachOverlay(t, nil, d, func(t *testing.T, s *engine.Session, host string) {
			l, err := net.Listen("unix", filepath.Join(host, "sock"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			fifo := filepath.Join(host, "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			printed(t, s, `import os, socket
try:
    socket.socket(socket.AF_UNIX).connect("sock"); print("connected")
except OSError: print("refused")
try:
    os.open("fifo", os.O_WRONLY | os.O_NONBLOCK); print("somebody reads")
except OSError: print("nobody")`, python(nil), "refused\nnobody\n")
		})
	})
}

// What an overlayfs would not show as a copy does is copied.
func TestOverlay_Copied(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		for name, make := range map[string]func(dir string) error{
			"socket": func(dir string) error {
				l, err := net.Listen("unix", filepath.Join(dir, "s"))
				if err == nil {
					l.(*net.UnixListener).SetUnlinkOnClose(false)
					err = l.Close()
				}
				return err
			},
			"fifo":  func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "s"), 0o600) },
			"links": func(dir string) error { return os.Link(filepath.Join(dir, "d/f"), filepath.Join(dir, "s")) },
		} {
			t.Run(name, func(t *testing.T) {
				host := wideTemp(t)
				if err := errors.Join(os.Mkdir(filepath.Join(host, "d"), 0o755), os.WriteFile(filepath.Join(host, "d/f"), nil, 0o644), make(host)); err != nil {
					t.Fatal(err)
				}
				s, err := engine.Open(t.Context(), []engine.Driver{d}, &engine.Options{Overlay: host, Limits: engine.Limits{Disk: 1 << 20}})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if kind := s.Info().OverlayKind; kind != engine.OverlayCopy {
					t.Errorf("the overlay is %s", kind)
				}
				output(t, s, "echo x > d/f", shell(nil))
			})
		}
	})
}
