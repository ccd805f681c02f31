package differential

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// Links that a shell run plants lead nowhere on the host, for the wasm tier and for file calls.
func TestWorkspace_LinksOut(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		outside := givenDir(t)
		if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("host-secret"), 0o666); err != nil {
			t.Fatal(err)
		}
		w.shell(`ln -s /etc/passwd passwd; ln -s .. up; ln -s ../.. upup; ln -s "$1" dir; ln -s "$1/secret" file; ln -s "$1/new" new; ln -s "../../../../../../..$1" dots; ln -s /proc/self/root root; ln -s "dir/secret" chain
mkdir sub; ln -s ../dir/secret sub/over; ln -s /proc/self/environ env; ln -s /dev/fd fds; ln -s . here; ln -s loop loop`, outside)
		w.prints(w.python(`
import os, sys
outside = sys.argv[1]
for path in ("passwd", "dir/secret", "file", "dots/secret", "root" + outside + "/secret", "chain", "sub/over", "env", "upup" + outside + "/secret", "here/here/file", "loop", "root/etc/passwd", "here/../etc/passwd"):
    try: print(path, open(path).read())
    except OSError as e: pass
    try: print(path, open(path, "a").write("planted"))
    except OSError as e: pass
for path in ("new", "dir/new", "dots/new", "root" + outside + "/new", "upup/planted", "passwd"):
    try: open(path, "w").write("x"); print("wrote", path)
    except OSError: pass
    try: os.mkdir(path + "/d"); print("made", path)
    except OSError: pass
for path in ("dir", "root", "dots", "upup"):
    try:
        if "secret" in os.listdir(path): print("listed", path)
    except OSError: pass
open("up/planted", "w").write("in the run's own /tmp")
print(os.path.exists("/tmp/planted"), open("here/here/up/planted").read())
`, outside), "True in the run's own /tmp\n")
		for _, path := range []string{"passwd", "dir/secret", "file", "dots/secret", "chain", "sub/over", "env", "up/planted", "upup/etc/passwd", "new", "root/etc/passwd"} {
			if data, err := w.GetBytes(t.Context(), path, 1<<20); !errors.Is(err, engine.ErrEscapes) {
				t.Errorf("GetBytes(%q) = %q, %v", path, data, err)
			}
			if err := w.PutBytes(t.Context(), path, []byte("x"), nil); !errors.Is(err, engine.ErrEscapes) {
				t.Errorf("PutBytes(%q) = %v", path, err)
			}
		}
		data, err := os.ReadFile(filepath.Join(outside, "secret"))
		entries, _ := os.ReadDir(outside)
		if string(data) != "host-secret" || err != nil || len(entries) != 1 {
			t.Errorf("outside there are %v, with %q, %v", entries, data, err)
		}
		for _, dir := range []string{os.TempDir(), "/", "/tmp", "/var/tmp"} {
			if _, err := os.Lstat(filepath.Join(dir, "planted")); err == nil {
				t.Errorf("%s/planted was made on the host", dir)
			}
		}
	})
}

// While a shell run swaps a directory with a link out, Python comes to one place inside or to none.
func TestWorkspace_SwappedLinks(t *testing.T) {
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) {
			outside := givenDir(t)
			w := openBoth(t, p, &engine.Options{})
			swapper, err := w.Run(t.Context(), `mkdir in; while :; do ln -sfn "$1" flip; ln -sfn in flip; done`, &engine.RunOptions{Type: engine.Shell, Args: []string{outside}})
			if err != nil {
				t.Fatal(err)
			}
			w.python(`
import os
for i in range(3000):
    for call in (lambda: open(f"flip/f{i % 10}", "w").close(), lambda: os.mkdir(f"flip/d{i}"), lambda: os.rename("flip/f1", "flip/g"), lambda: os.chdir("flip")):
        try: call()
        except OSError: pass
        os.chdir("/tmp/sandbox-work")
`)
			swapper.Kill()
			if _, err := swapper.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if entries, _ := os.ReadDir(outside); len(entries) > 0 {
				t.Errorf("outside there are %v", entries)
			}
		})
	}
}

// FIFOs and sockets that a shell run makes block nobody.
func TestWorkspace_SpecialFiles(t *testing.T) {
	pythonMinor(t)
	eachWorkspace(t, func(w *workspace) {
		w.shell(`mkfifo fifo; ln -s fifo link; /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'`)
		w.prints(w.python(`
import os, shutil, stat
for path in ("fifo", "link", "sock"):
    for mode in ("r", "w", "a", "r+"):
        try: open(path, mode); print("opened", path, mode)
        except PermissionError: pass
    try: shutil.copyfile(path, "copy"); print("copied", path)
    except (OSError, shutil.SpecialFileError): pass
print(stat.S_ISREG(os.stat("fifo").st_mode), os.path.isfile("sock"), os.path.exists("link"), sorted(os.listdir(".")))
print([(e.name, e.is_file(), e.is_dir()) for e in sorted(os.scandir("."), key=lambda e: e.name)])
os.rename("fifo", "moved")
`), "False False True ['fifo', 'link', 'sock']\n[('fifo', False, False), ('link', False, False), ('sock', False, False)]\n")
		for _, path := range []string{"moved", "sock"} {
			if _, err := w.GetBytes(t.Context(), path, 1<<20); !errors.Is(err, engine.ErrNotRegular) {
				t.Errorf("GetBytes(%q) = %v", path, err)
			}
			if err := w.PutBytes(t.Context(), path, nil, nil); err != nil && !errors.Is(err, engine.ErrNotRegular) {
				t.Errorf("PutBytes(%q) = %v", path, err)
			}
		}
		w.python("import os; os.remove('link'); os.remove('sock'); os.remove('moved')")
		w.prints(w.shell("ls -A"), "")
	})
}

// Names of any bytes and of the greatest length, deep paths, and many files.
func TestWorkspace_Sizes(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		long := strings.Repeat("n", 254) + "\xff"
		w.shell(`: > "$1"; mkdir -p "$2"; echo deep > "$2/f"; mkdir many; cd many; seq -f 'f%05.0f' 10000 | xargs touch`, long, strings.Repeat("d/", 200))
		w.prints(w.python(`
import os
print([len(n) for n in os.listdir(b".") if n[:1] == b"n"], sum(1 for _ in os.walk("d")), open("d/" * 200 + "f").read(), len(os.listdir("many")))
for i in range(0, 10000, 2): os.remove(f"many/f{i + 1:05}")
print(sum(1 for e in os.scandir("many") if e.is_file()))
os.rename(os.listdir(b".")[[n[:1] for n in os.listdir(b".")].index(b"n")], b"\xfe" * 255)
os.makedirs("e/" * 300)
open("e/" * 300 + "f", "w").write("deeper")
`), "[255] 200 deep\n 10000\n5000\n")
		w.prints(w.shell(`ls many | wc -l; ls many | head -n 1; cat "$1/f"; ls -d "$(printf '\376%.0s' $(seq 255))" | tr -d '\n' | wc -c; find e | wc -l`, strings.Repeat("e/", 300)), "5000\nf00002\ndeeper255\n301\n")
		list, err := w.List(t.Context(), "many")
		if len(list) != 5000 || err != nil {
			t.Errorf("List: %d entries, %v", len(list), err)
		}
	})
}

// A disk limit counts what all tiers and file calls write, and gives back what any of them removes.
func TestWorkspace_DiskLimit(t *testing.T) {
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) {
			w := openBoth(t, p, &engine.Options{Limits: engine.Limits{Disk: 1 << 20}})
			const write = `
import errno, os
try:
    with open("p", "wb", buffering=0) as f:
        for _ in range(8): f.write(bytes(1 << 16))
    print("all")
except OSError as e: print(errno.errorcode[e.errno])
`
			w.shell("head -c 700000 /dev/zero > s")
			w.prints(w.python(write), "ENOSPC\n")
			w.shell("! echo x > t 2>/dev/null || ! head -c 100000 /dev/zero > t")
			if err := w.PutBytes(t.Context(), "c", make([]byte, 100_000), nil); !errors.Is(err, engine.ErrNoSpace) {
				t.Errorf("PutBytes = %v", err)
			}
			w.python("import os; os.remove('s'); os.remove('p')")
			w.prints(w.python(write), "all\n")
			w.shell("rm p; head -c 900000 /dev/zero > s; truncate -s 0 s")
			w.prints(w.python(write), "all\n")
			if err := w.Remove(t.Context(), "p"); err != nil {
				t.Error(err)
			}
			w.shell("head -c 900000 /dev/zero > s2")
		})
	}
}

func TestWorkspace_DiskFilesLimit(t *testing.T) {
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) {
			w := openBoth(t, p, &engine.Options{Limits: engine.Limits{DiskFiles: 30}})
			w.shell("mkdir d; for i in $(seq 20); do : > d/s$i; done")
			w.prints(w.python(`
import errno, os
n = 0
try:
    while True: open(f"p{n}", "w").close(); n += 1
except OSError as e: print(n, errno.errorcode[e.errno])
for i in range(5): os.remove(f"d/s{i + 1}")
`), "9 ENOSPC\n")
			w.shell("for i in 1 2 3 4 5; do : > t$i; done; ! : 2>/dev/null > t6")
			if err := w.PutBytes(t.Context(), "c", nil, nil); !errors.Is(err, engine.ErrNoSpace) {
				t.Errorf("PutBytes = %v", err)
			}
		})
	}
}

// Runs of both tiers that overlap do not disturb each other, whichever is ended.
func TestWorkspace_Overlap(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		shell, err := w.Run(t.Context(), "i=0; while :; do echo \"shell $i\" >> both; i=$((i+1)); sleep 0.001; done", &engine.RunOptions{Type: engine.Shell})
		if err != nil {
			t.Fatal(err)
		}
		forever, err := w.Run(t.Context(), "while True:\n    with open('other', 'a') as f: f.write('x')\n", &engine.RunOptions{Type: engine.Python})
		if err != nil {
			t.Fatal(err)
		}
		w.python(`
import os, time
for i in range(300):
    with open("both", "a") as f: f.write(f"python {i}\n")
while "shell 5\n" not in open("both").read(): time.sleep(0.01)
`)
		forever.Kill()
		if r, err := forever.Wait(t.Context()); err != nil || r.Reason != engine.ReasonCancelled {
			t.Errorf("Python ended with %+v, %v", r, err)
		}
		before := w.shell("wc -l < both")
		w.shell(`while [ "$(wc -l < both)" -le "$1" ]; do sleep 0.01; done`, strings.TrimSpace(before)) // the shell run goes on
		shell.Kill()
		if r, err := shell.Wait(t.Context()); err != nil || r.Reason != engine.ReasonCancelled {
			t.Errorf("the shell run ended with %+v, %v", r, err)
		}
		// Each line is whole, and in the order of its writer.
		w.prints(w.python(`
lines = open("both").read().split("\n")
for who in ("python", "shell"):
    numbers = [int(l.split()[1]) for l in lines if l.startswith(who + " ")]
    print(who, numbers == list(range(len(numbers))), len(numbers) >= (300 if who == "python" else 5))
print(sum(1 for l in lines if l) == sum(1 for l in lines if l.split(" ")[0] in ("python", "shell")))
`), "python True True\nshell True True\nTrue\n")
	})
}

// A file that is open in one tier and deleted in the other goes on until it is closed.
func TestWorkspace_DeletedWhileOpen(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		scripts := map[engine.ScriptType]string{
			engine.Python: "import os\nf = open('f', 'r+')\nprint('open', flush=True)\ninput()\nf.seek(0, 2)\nf.write('more')\nf.seek(0)\nprint(f.read(), os.path.exists('f'), os.fstat(f.fileno()).st_nlink)\n",
			engine.Shell:  "exec 3<>f; echo open; read -r _; cat <&3 >/dev/null; printf more >&3; cat /proc/self/fd/3; [ -e f ] || echo ' False' $(stat -L -c %h /proc/self/fd/3)\n",
		}
		for typ, script := range scripts {
			w.shell("printf text > f")
			p, err := w.Run(t.Context(), script, &engine.RunOptions{Type: typ, StdinPipe: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range p.StdoutLines() {
				if got = append(got, strings.TrimSpace(line)); len(got) > 1 {
					continue
				}
				if typ == engine.Python {
					w.shell("rm f")
				} else {
					w.python("import os; os.remove('f')")
				}
				if _, err := fmt.Fprintln(p.Stdin()); err != nil {
					t.Error(err)
				}
			}
			if r, err := p.Wait(t.Context()); err != nil || r.ExitCode != 0 || strings.Join(got, "|") != "open|textmore False 0" {
				t.Errorf("%s: %q, %+v, %v", typ, got, r, err)
			}
		}
	})
}

// What Python writes, the shell executes, at once and by its path.
func TestWorkspace_Execute(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		for i := range 20 {
			w.python("import sys; open('tool', 'w').write('#!/bin/sh\\necho run ' + sys.argv[1])", fmt.Sprint(i))
			w.prints(w.shell("chmod +x tool; ./tool; /tmp/sandbox-work/tool"), fmt.Sprintf("run %d\nrun %[1]d\n", i))
		}
	})
}

// There are no locks between the tiers: WASI has no call for one, and fcntl is absent. What a shell run has locked,
// Python writes all the same; who needs one makes a directory.
func TestWorkspace_NoLocks(t *testing.T) {
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) {
			w := openBoth(t, p, &engine.Options{})
			holder, err := w.Run(t.Context(), "exec 3>f; flock -x 3; touch locked; sleep 600", &engine.RunOptions{Type: engine.Shell})
			if err != nil {
				t.Fatal(err)
			}
			w.prints(w.python(`
import os, time
while not os.path.exists("locked"): time.sleep(0.01)
try: import fcntl; print("fcntl")
except ModuleNotFoundError: print("no fcntl")
print(open("f", "w").write("written"))
os.mkdir("lock.d")
try: os.mkdir("lock.d")
except FileExistsError: print("locked")
`), "no fcntl\n7\nlocked\n")
			w.shell("! mkdir lock.d 2>/dev/null && rmdir lock.d")
			w.python("import os; os.mkdir('lock.d')")
			holder.Kill()
			if _, err := holder.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A script of one tier sees the time of a change by the other.
func TestWorkspace_Times(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		w.python("open('p', 'w').close()")
		w.shell("touch -d '2 hours ago' s; touch -d @4102444800.5 future; [ p -nt s ]; sleep 0.02; touch later")
		w.prints(w.python(`
import os, time
print(os.path.getmtime("p") > os.path.getmtime("s"), os.path.getmtime("later") > os.path.getmtime("p"), os.path.getmtime("future"), abs(time.time() - os.path.getmtime("later")) < 60)
os.utime("later", (0, 0))
`), "True True 4102444800.5 True\n")
		w.prints(w.shell("stat -c '%X %Y' later; [ later -ot s ]"), "0 0\n")
		info, err := w.Stat(t.Context(), "later")
		if err != nil || !info.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("Stat = %v, %v", info, err)
		}
	})
}
