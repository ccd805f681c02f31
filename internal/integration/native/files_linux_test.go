package nativetests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// workDirs are the kinds of work directories: one that Open makes on the host, one in memory, one that is given.
func workDirs(t *testing.T) map[string]*engine.Options {
	return map[string]*engine.Options{"made": nil, "in memory": {Limits: engine.Limits{Disk: 64 << 20}}, "given": {WorkDir: wideTemp(t)}}
}

// eachDir runs a test on each backend with each kind of work directory.
func eachDir(t *testing.T, test func(t *testing.T, s *engine.Session)) {
	each(t, func(t *testing.T, d *native.Driver) {
		for name, opts := range workDirs(t) {
			t.Run(name, func(t *testing.T) { test(t, open(t, d, opts)) })
		}
	})
}

// C032: file calls follow no link that leads out, and read nothing of this process by /proc, for the kind of script
// that plants the link and for links on the way as well as at the end.
func TestC032_LinksOut(t *testing.T) {
	eachDir(t, func(t *testing.T, s *engine.Session) {
		output(t, s, `ln -s "$1" leak; ln -s /etc dir; ln -s /proc/self/environ env; ln -s /proc/self/root root; ln -s /proc/1/cwd cwd; ln -s "$(dirname "$1")" up
ln -s leak chain; ln -s ../../../../../../../../../../.."$1" dots; mkdir sub; ln -s ../up/host-canary.txt sub/over; ln -s /dev/stdin in; ln -s /dev/fd fds; ln -s /proc/self/cwd here`,
			shell(&engine.RunOptions{Args: []string{canaryFile}}))
		for _, path := range []string{
			"leak", "dir/hostname", "env", "dir/../leak", "root" + canaryFile, "cwd/leak", "up/host-canary.txt", "chain", "dots", "sub/over", "in", "fds/0", "here/leak",
			"root/etc/hostname", "./leak", "sub/../leak", engine.WorkDir + "/leak", "up/../" + filepath.Base(filepath.Dir(canaryFile)) + "/host-canary.txt",
		} {
			data, err := s.GetBytes(t.Context(), path, 1<<20)
			if !errors.Is(err, engine.ErrEscapes) || len(data) > 0 {
				t.Errorf("GetBytes(%q) = %q, %v", path, data, err)
			}
			noCanary(t, data)
			if _, err := s.Stat(t.Context(), path); !errors.Is(err, engine.ErrEscapes) {
				t.Errorf("Stat(%q) = %v", path, err)
			}
		}
		for _, path := range []string{"dir", "root", "cwd", "up", "fds", "here"} {
			if list, err := s.List(t.Context(), path); !errors.Is(err, engine.ErrEscapes) {
				t.Errorf("List(%q) = %v, %v", path, list, err)
			}
		}
	})
}

// C033: nor do they write through one, whether its target exists or not.
func TestC033_PutThroughLinks(t *testing.T) {
	eachDir(t, func(t *testing.T, s *engine.Session) {
		outside := wideTemp(t)
		output(t, s, `ln -s "$1/created" w; mkdir real; ln -s "$1" real/up; ln -s w chain; ln -s ../../../../../../../../../../.."$1"/created dots; ln -s /proc/self/root"$1" magic; ln -s "$1/made/deep" d`,
			shell(&engine.RunOptions{Args: []string{outside}}))
		for _, path := range []string{"w", "real/up/new.txt", "chain", "dots", "magic/new", "d/f", "d", "real/up/made/f", "real/up"} {
			if err := s.PutBytes(t.Context(), path, []byte("x"), nil); !errors.Is(err, engine.ErrEscapes) {
				t.Errorf("PutBytes(%q) = %v", path, err)
			}
		}
		if n := entries(outside); n != 0 {
			t.Errorf("%d files were made outside", n)
		}
		// A link that is swapped all the time leads out at no time.
		p := start(t, s, `mkdir in; i=0; while [ $i -lt 100000 ]; do ln -sfn "$1" flip; ln -sfn in flip; i=$((i+1)); done`, shell(&engine.RunOptions{Args: []string{outside}, Timeout: 2 * time.Second}))
		for i := range 300 {
			err := s.PutBytes(t.Context(), fmt.Sprintf("flip/f%d", i%10), []byte("x"), nil)
			if err != nil && !errors.Is(err, engine.ErrEscapes) && !errors.Is(err, engine.ErrNotExist) && !errors.Is(err, engine.ErrNotDirectory) {
				t.Errorf("PutBytes: %v", err)
			}
		}
		p.Kill()
		result(t, p, bound)
		if n := entries(outside); n != 0 {
			t.Errorf("%d files were made outside", n)
		}
	})
}

// C035: spellings of paths that lead out, or that are none, are refused; odd names are ordinary ones.
func TestC035_Spellings(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, path := range []string{
			"../x", "/etc/hostname", "/tmp/sandbox-work/../etc/hostname", "/tmp/sandbox-work-evil/x", "//etc/hostname", "a/../../x", "./././../x",
			"a\x00b", "", ".", "/", "/tmp", "/tmp/x", strings.Repeat("a", 300), strings.Repeat("d/", 2100) + "f", "/proc/self/environ", "../../" + canaryFile, "..", "a/../..",
			"../sandbox-work/../x", "/../tmp/../etc/passwd", "\x00", "/tmp/sandbox-work/\x00",
		} {
			if data, err := s.GetBytes(t.Context(), path, 1<<20); err == nil || len(data) > 0 {
				t.Errorf("GetBytes(%.40q) = %q, %v", path, data, err)
			}
			if err := s.PutBytes(t.Context(), path, []byte("x"), nil); !typedError(err) {
				t.Errorf("PutBytes(%.40q) = %v", path, err)
			}
		}
		for _, path := range []string{"%2e%2e/x", `C:\x`, "~/x", "...", "-rf", "a b\n", "\xff\xfe", "$(id)", "*", "é", "e\u0301"} {
			if err := s.PutBytes(t.Context(), path, []byte(path), nil); err != nil {
				t.Errorf("PutBytes(%q) = %v", path, err)
			}
			got := output(t, s, `cat -- "$1"`, shell(&engine.RunOptions{Args: []string{"./" + path}}))
			if got != path {
				t.Errorf("%q holds %q", path, got)
			}
		}
	})
}

// typedError reports whether an error is one that callers can tell.
func typedError(err error) bool {
	for _, e := range []error{engine.ErrInvalid, engine.ErrEscapes, engine.ErrNotExist, engine.ErrIsDirectory, engine.ErrNotDirectory, engine.ErrNotRegular} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// C036: file calls refuse FIFOs, sockets and devices at once and leave no goroutine, thread or descriptor behind.
func TestC036_Fifo(t *testing.T) {
	eachDir(t, func(t *testing.T, s *engine.Session) {
		output(t, s, `mkfifo p; mkdir d; mkfifo d/p; ln -s p l; python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("s")'`, shell(nil))
		before := measure()
		times := 200
		if testing.Short() {
			times = 30
		}
		for range times {
			for _, path := range []string{"p", "s", "d/p", "l"} {
				if _, err := s.GetBytes(t.Context(), path, 10); !errors.Is(err, engine.ErrNotRegular) {
					t.Fatalf("GetBytes(%q) = %v", path, err)
				}
				if err := s.PutBytes(t.Context(), path, []byte("x"), nil); !errors.Is(err, engine.ErrNotRegular) {
					t.Fatalf("PutBytes(%q) = %v", path, err)
				}
			}
		}
		after := settled(before)
		if more := after.moreThan(before); len(more) > 0 || after.threads > before.threads+2 {
			t.Errorf("%v, threads %d, were %d", more, after.threads, before.threads)
		}
		// A reader of the FIFO within the run is not disturbed, and it can be removed.
		printed(t, s, "(echo hi > p) & cat p", shell(nil), "hi\n")
		for _, path := range []string{"p", "s", "d", "l"} {
			if err := s.RemoveAll(t.Context(), path); err != nil {
				t.Error(err)
			}
		}
	})
}

// C038: /proc/self is the script's own, and file calls never open the host's.
func TestC038_ProcSelf(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, `cat /proc/self/comm; tr '\0' '\n' </proc/self/environ | grep -c canary; readlink /proc/self/exe /proc/self/cwd`,
			shell(nil), lines("cat", "0", "/usr/bin/readlink", engine.WorkDir))
		for _, path := range []string{"/proc/self/environ", "/proc/1/environ", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/fd/0", "../../proc/self/environ"} {
			if data, err := s.GetBytes(t.Context(), path, 1<<20); !errors.Is(err, engine.ErrEscapes) || len(data) > 0 {
				t.Errorf("GetBytes(%q) = %q, %v", path, data, err)
			}
		}
		for _, path := range []string{"/proc", "/proc/self", "/sys", "/dev"} {
			if _, err := d.Open(t.Context(), &engine.Options{ReadOnly: []string{path}}); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("to grant %s is %v", path, err)
			}
		}
	})
}

// C039: a sparse file of any size is too large at once, and takes no memory.
func TestC039_Sparse(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		output(t, s, "truncate -s 1T big || truncate -s 100G big; head -c 6000000 /dev/zero > med", shell(nil))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, path := range []string{"big", "med"} {
			var tooLarge *engine.TooLargeError
			data, err := s.GetBytes(t.Context(), path, 1<<20)
			if !errors.As(err, &tooLarge) || tooLarge.Max != 1<<20 || tooLarge.Size < 6_000_000 || len(data) > 0 {
				t.Errorf("%s: %d bytes, %v", path, len(data), err)
			}
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%d bytes were allocated", grown)
		}
		if data, err := s.GetBytes(t.Context(), "med", 6_000_000); err != nil || len(data) != 6_000_000 {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		// One that grows all the time ends as well.
		p := start(t, s, "yes > grows", shell(&engine.RunOptions{Timeout: 2 * time.Second}))
		time.Sleep(50 * time.Millisecond)
		if _, err := s.GetBytes(t.Context(), "grows", 1<<10); !errors.Is(err, engine.ErrTooLarge) {
			t.Errorf("a file that grows: %v", err)
		}
		p.Kill()
		result(t, p, bound)
	})
}

// C041: directories as targets, and files as directories, are typed errors; parents are made.
func TestC041_Directories(t *testing.T) {
	eachDir(t, func(t *testing.T, s *engine.Session) {
		output(t, s, "mkdir -p sub/deep; : > file; ln -s sub ls", shell(nil))
		get := func(path string) error { _, err := s.GetBytes(t.Context(), path, 10); return err }
		put := func(path string) error { return s.PutBytes(t.Context(), path, []byte("x"), nil) }
		for _, tt := range []struct {
			what string
			err  error
			want error
		}{
			{"get sub", get("sub"), engine.ErrIsDirectory},
			{"get ls", get("ls"), engine.ErrIsDirectory},
			{"put sub", put("sub"), engine.ErrIsDirectory},
			{"put sub/", put("sub/"), engine.ErrIsDirectory},
			{"put file/child", put("file/child"), engine.ErrNotDirectory},
			{"get file/", get("file/"), engine.ErrNotDirectory},
			{"get file/child", get("file/child"), engine.ErrNotDirectory},
			{"get none", get("none"), engine.ErrNotExist},
			{"remove sub", s.Remove(t.Context(), "sub"), nil},
			{"put new/dir/f", put("new/dir/f"), nil},
		} {
			if tt.what == "remove sub" { // it is not empty
				if tt.err == nil {
					t.Error("Remove removes a directory that is not empty")
				}
				continue
			}
			if !errors.Is(tt.err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.what, tt.err, tt.want)
			}
		}
		printed(t, s, "cat new/dir/f; echo y >> new/dir/f; : > new/dir/g && rm -r new && echo removed", shell(nil), "xremoved\n")
	})
}

// C042: no hard link to a file outside can be made in the work directory; inside they work. A granted file is no exception.
func TestC042_HardLinks(t *testing.T) {
	granted := wideTemp(t)
	if err := os.WriteFile(filepath.Join(granted, "f"), []byte("granted"), 0o666); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, &engine.Options{ReadOnly: []string{granted}})
		out := exec(t, s, `ln "$1" h; ln /etc/hostname h2; ln /usr/bin/env h3; ln "$2/f" h4; ln /proc/self/exe h5; ln /run/sandbar/main.sh h6; ln -L /proc/self/fd/0 h7; ls
echo x > a; ln a b && cat b; ln a sub/c 2>/dev/null; mkdir sub; ln a sub/c && echo y >> sub/c && cat a; stat -c %h a`, shell(&engine.RunOptions{Args: []string{canaryFile, granted}}))
		if want := lines("x", "x", "y", "3"); out.Stdout != want {
			t.Errorf("stdout %q, want %q; stderr %q", out.Stdout, want, out.Stderr)
		}
	})
}

// C044: what was put belongs to the script, and Close removes what a script made unreadable.
func TestC044_Ownership(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		for name, opts := range workDirs(t) {
			t.Run(name, func(t *testing.T) {
				s, err := d.Open(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{"put", "dir/put"} {
					if err := s.PutBytes(t.Context(), path, []byte("x"), nil); err != nil {
						t.Fatal(err)
					}
				}
				printed(t, s, "stat -c '%u:%g %a' put dir/put dir; echo more >> put; chmod 600 put; mv put moved; rm dir/put; : > dir/other; echo ok", shell(nil),
					lines("1000:1000 644", "1000:1000 644", "1000:1000 755", "ok"))
				if data, err := s.GetBytes(t.Context(), "moved", 100); err != nil || string(data) != "xmore\n" {
					t.Errorf("%q, %v", data, err)
				}
				output(t, s, `mkdir -p d/e g/h; : > d/e/f; : > g/h/i; chmod 000 d/e/f moved; chmod 000 d/e d g/h; chmod 555 g; python3 -c 'import os
for i in range(300): os.mkdir("n"); os.chdir("n")'; chmod 000 .`, shell(nil))
				if _, err := s.GetBytes(t.Context(), "moved", 100); err != nil && os.Geteuid() == 0 {
					t.Errorf("GetBytes of a file in an unreadable directory: %v", err)
				}
				host := s.Info().HostDir
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if _, err := os.Lstat(host); opts == nil && err == nil {
					t.Errorf("%s is still there", host)
				}
			})
		}
	})
}

// C045: a disk limit holds for the shell, for Python and for file calls together; a full directory is an error and
// not the end; what is removed can be written again, and what is replaced is not counted twice.
func TestC045_DiskFull(t *testing.T) {
	const limit = 16 << 20
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, &engine.Options{Limits: engine.Limits{Disk: limit, DiskFiles: 200}})
		for range 2 {
			printed(t, s, `i=0; while head -c 3000000 /dev/zero > f$i; do i=$((i+1)); [ $i -ge 40 ] && break; done 2>/dev/null; echo "stopped at $i"
du -sb . | awk '{ print ($1 <= 16777216 + 4096) }'; rm -f f*; head -c 1000000 /dev/zero > again && rm again && echo back`, shell(nil), lines("stopped at 5", "1", "back"))
		}
		printed(t, s, "import errno\ntry:\n  with open('f', 'wb') as f:\n    for _ in range(40): f.write(bytes(1 << 20))\nexcept OSError as e: print(errno.errorcode[e.errno])", python(nil), "ENOSPC\n")
		if err := s.PutBytes(t.Context(), "g", make([]byte, 1<<20), nil); !errors.Is(err, engine.ErrNoSpace) {
			t.Errorf("PutBytes into a full directory: %v", err)
		}
		if err := s.Remove(t.Context(), "f"); err != nil {
			t.Error(err)
		}
		n := 0
		for ; n < 40; n++ {
			if err := s.PutBytes(t.Context(), fmt.Sprint("p", n), make([]byte, 3_000_000), nil); err != nil {
				if !errors.Is(err, engine.ErrNoSpace) {
					t.Error(err)
				}
				break
			}
		}
		if n != 5 {
			t.Errorf("%d files were put", n)
		}
		output(t, s, "rm -f p*", shell(nil))
		for range 100 {
			if err := s.PutBytes(t.Context(), "same", make([]byte, 3_000_000), nil); err != nil {
				t.Fatalf("to replace a file: %v", err)
			}
		}
		got := output(t, s, "i=0; while (: > n$i) 2>/dev/null && [ $i -lt 400 ]; do i=$((i+1)); done; echo $((i > 190 && i <= 200)); rm -f n*; : > n && echo back", shell(nil))
		if got != "1\nback\n" {
			t.Errorf("stdout %q", got)
		}
	})
}

// C049: renames and hard links across directories work inside the work directory, in /tmp and in a granted directory.
func TestC049_Rename(t *testing.T) {
	granted := wideTemp(t)
	each(t, func(t *testing.T, d *native.Driver) {
		for name, opts := range map[string]*engine.Options{"made": {}, "in memory": {Limits: engine.Limits{Disk: 8 << 20}}, "given": {WorkDir: wideTemp(t)}} {
			t.Run(name, func(t *testing.T) {
				opts.ReadWrite = []string{granted}
				s := open(t, d, opts)
				for _, dir := range []string{engine.WorkDir, "/tmp", "/dev/shm", granted} {
					printed(t, s, `set -e; cd "$1"; mkdir t t/a t/b; cd t; echo 1 > a/f; mv a/f b/f; ln b/f a/g; mv -T a c; mkdir e; mv c e/c; cat e/c/g; mkdir -p r; mv --exchange e r 2>/dev/null || :
python3 -c 'import os; os.makedirs("x/y"); open("x/t", "w").close(); os.rename("x/t", "x/y/t"); os.replace("x/y", "y"); os.link("y/t", "x/u"); print("renamed")'; cd ..; rm -r t`,
						shell(&engine.RunOptions{Args: []string{dir}}), lines("1", "renamed"))
				}
				// From one to another it is EXDEV, as between any two file systems; mv(1) copies.
				printed(t, s, `echo 1 > f; mv f /tmp/f; mv /tmp/f "$1/f"; mv "$1/f" g; cat g; rm g; python3 -c 'import os
open("f", "w").close()
try: os.rename("f", "/tmp/f")
except OSError as e: print(e.errno)'`, shell(&engine.RunOptions{Args: []string{granted}}), lines("1", "18"))
			})
		}
	})
}

// C101: the sandbox leaves nothing in a work directory that is somebody's own, also when everything is killed.
func TestC101_NoTraces(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		dir := wideTemp(t)
		if err := os.WriteFile(filepath.Join(dir, "own"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := open(t, d, &engine.Options{WorkDir: dir, ReadOnly: []string{"/usr/share", filepath.Dir(canaryFile)}})
		for _, kill := range []bool{false, true} {
			mark := marker()
			p := start(t, s, "sleep "+mark, shell(nil))
			init := initOf(t, awaitText(t, "sleep "+mark, 1)[0])
			if kill {
				if proc, err := os.FindProcess(init); err == nil {
					_ = proc.Kill()
				}
			} else {
				p.Kill()
			}
			<-p.Done()
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("killed %v: %v, %v", kill, list, err)
			}
		}
		for _, dir := range []string{"/usr/share/none", filepath.Join(dir, "none")} {
			if _, err := d.Open(t.Context(), &engine.Options{ReadOnly: []string{dir}}); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("to grant %s is %v", dir, err)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Errorf("%s was made", dir)
			}
		}
	})
}

// C102: a working directory that is gone, moved or none is an error that names it, and never another directory.
func TestC102_BadWorkDir(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		output(t, s, ": > file.txt; mkdir closed gone; ln -s /etc out; ln -s closed in; chmod 000 closed", shell(nil))
		for _, cwd := range []string{"/nonexistent", "file.txt", "gone/..//none", "out", "/etc", "..", "a/../../..", "/", strings.Repeat("x", 5000), "gone\x00"} {
			var invalid *engine.InvalidError
			if _, err := s.Run(t.Context(), "pwd", shell(&engine.RunOptions{Cwd: cwd})); !errors.As(err, &invalid) || invalid.Field != "Cwd" {
				t.Errorf("Cwd %.40q: %v", cwd, err)
			}
		}
		for _, cwd := range []string{"closed", "in"} { // the script's user cannot enter it
			out, err := s.Exec(t.Context(), "pwd", shell(&engine.RunOptions{Cwd: cwd}))
			if err == nil || !errors.Is(err, engine.ErrNotStarted) && !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("Cwd %q, mode 000: %+v, %v", cwd, out, err)
			}
			stillWorks(t, s)
		}

		base := wideTemp(t)
		dir, link := filepath.Join(base, "real"), filepath.Join(base, "link")
		if err := errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777), os.Symlink(dir, link)); err != nil {
			t.Fatal(err)
		}
		s = open(t, d, &engine.Options{WorkDir: link})
		printed(t, s, "pwd; pwd -P; touch here && echo writable", shell(nil), lines(engine.WorkDir, engine.WorkDir, "writable"))
		if _, err := os.Stat(filepath.Join(dir, "here")); err != nil {
			t.Error(err)
		}
		for _, vanish := range []func() error{
			func() error { return os.Rename(dir, dir+"-moved") },
			func() error {
				return errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "other"), nil, 0o644))
			},
		} {
			if err := vanish(); err != nil {
				t.Fatal(err)
			}
			out, err := s.Exec(t.Context(), "pwd; ls; touch here2", shell(nil))
			if err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("a run after the work directory went: %+v, %v", out, err)
			}
		}
		if n := entries(dir); n != 1 {
			t.Errorf("%d files in the directory that took its place", n)
		}
	})
}

// Two sessions do not meet in what is theirs, also in what all runs have at the same path.
func TestC106_C120_SessionsApart(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		a, b := open(t, d, nil), open(t, d, nil)
		mark := marker()
		p := start(t, a, "echo secret > f; echo secret > /tmp/f; echo secret > /dev/shm/f; mkfifo /tmp/p; echo ready; exec sleep "+mark, shell(nil))
		firstLine(p)
		hostPID := awaitText(t, "sleep "+mark, 1)[0].pid
		out := exec(t, b, `grep -E 'TracerPid|NoNewPrivs|Seccomp:' /proc/self/status | tr '\t\n' '  '; cat /proc/$1/maps /proc/$1/environ 2>&1 | grep -v 'No such file'
ls -A . /tmp /dev/shm; all=(/proc/[0-9]*); echo ${#all[@]}; kill -0 $1 2>/dev/null && echo "signal reached"; kill -9 -1; echo killed`, shell(&engine.RunOptions{Args: []string{fmt.Sprint(hostPID)}}))
		want := "TracerPid: 0 NoNewPrivs: 1 Seccomp: 2 .:\n\n/dev/shm:\n\n/tmp:\nsandbox-work\n2\nkilled\n"
		if out.Stdout != want {
			t.Errorf("stdout %q, want %q, stderr %q", out.Stdout, want, out.Stderr)
		}
		select {
		case <-p.Done():
			t.Error("the run of the other session has ended")
		default:
		}
		// What System V and POSIX objects a run leaves, no other run finds, of this session or another.
		printed(t, a, "import os\nos.path.exists('/tmp/left-by-previous') and print('there')\nopen('/tmp/left-by-previous', 'w').close(); open('/dev/shm/left', 'w').close()", python(nil), "")
		printed(t, a, "ls -A /tmp /dev/shm; ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; ipcmk -S 1 >/dev/null; ipcs | grep -c 0x", shell(nil), lines("/dev/shm:", "", "/tmp:", "sandbox-work", "3"))
		printed(t, a, "ipcs | grep -c 0x; ls -A /dev/shm", shell(nil), "0\n")
		p.Kill()
		result(t, p, bound)
	})
}

// What a script leaves in /tmp is gone however it is nested and whatever rights it has.
func TestC120_TmpIsEmptied(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, leave := range []string{
			"mkdir -p /tmp/a/b/c; : > /tmp/a/b/c/f; chmod 000 /tmp/a/b/c /tmp/a/b /tmp/a",
			"python3 -c 'import os; os.chdir(\"/tmp\")\nfor i in range(200): os.mkdir(\"d\"); os.chdir(\"d\")'",
			"mkfifo /tmp/p; ln -s /etc /tmp/l; ln -s /tmp/sandbox-work /tmp/w; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"/tmp/s\")'",
			"chmod 000 /tmp; chmod 000 /dev/shm",
			"for i in $(seq 1000); do : > /tmp/f$i; done",
			": > \"/dev/shm/$(printf 'a\\nb\\377')\"; : > '/tmp/ '; : > /tmp/-rf",
			"mv /tmp/sandbox-work /tmp/moved; ln -s /etc /tmp/sandbox-work; rm -rf /tmp/sandbox-work/x",
			"exec 5> /tmp/held; sleep 100 & rm /tmp/held; cp /bin/sleep /tmp/busy; /tmp/busy 100 &",
		} {
			output(t, s, "echo keep > keep\n"+leave+"\n:", shell(nil))
			printed(t, s, "ls -A /tmp /dev/shm; stat -c %a /tmp /dev/shm; cat keep", shell(nil), lines("/dev/shm:", "", "/tmp:", "sandbox-work", "1777", "1777", "keep"))
		}
	})
}

// A file call and a run see the same file, while both go on.
func TestC044_PutWhileRunning(t *testing.T) {
	eachDir(t, func(t *testing.T, s *engine.Session) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		p := start(t, s, "while [ ! -e go ]; do sleep 0.01; done; cat go > back", shell(nil))
		data := bytes.Repeat([]byte("0123456789"), 100_000)
		if err := s.PutReader(ctx, "go", bytes.NewReader(data), nil); err != nil {
			t.Fatal(err)
		}
		ended(t, result(t, p, patience), engine.ReasonExited, 0)
		if got, err := s.GetBytes(ctx, "back", 1<<20); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}
