package differential

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// A workspace is a session with both tiers: shell scripts run natively, Python ones in the wasm tier.
type workspace struct {
	t *testing.T
	*engine.Session
}

// workDirs are the kinds of work directories: one that Open makes on the host, one in memory, one that is given.
func workDirs(t *testing.T) map[string]*engine.Options {
	return map[string]*engine.Options{"made": {}, "in memory": {Limits: engine.Limits{Disk: 64 << 20}}, "given": {WorkDir: givenDir(t)}}
}

// givenDir is a directory outside /tmp, which scripts have as their own.
func givenDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sandbar-tests-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// eachWorkspace runs a test with each backend and each kind of work directory.
func eachWorkspace(t *testing.T, test func(w *workspace)) {
	for _, p := range natives {
		for name, opts := range workDirs(t) {
			t.Run(p.name+" "+name, func(t *testing.T) { test(openBoth(t, p, opts)) })
		}
	}
}

// openBoth opens a session with the wasm tier and a native one.
func openBoth(t *testing.T, p *place, opts *engine.Options) *workspace {
	t.Helper()
	o := *opts
	o.PythonTier, o.Timeout = engine.TierWasm, patience
	return &workspace{t, openSession(t, &o, inWasm, p)}
}

func (w *workspace) run(typ engine.ScriptType, tier engine.Tier, script string, args []string) string {
	w.t.Helper()
	out := execute(w.t, w.Session, script, &engine.RunOptions{Type: typ, Args: args})
	if out.Result.ExitCode != 0 || out.Result.Tier != tier {
		w.t.Errorf("%.200q: code %d, tier %s, stdout %.500q, stderr %.2000s", script, out.Result.ExitCode, out.Result.Tier, out.Stdout, out.Stderr)
	}
	return string(out.Stdout)
}

// shell and python run a script, which must end with 0, and give its stdout.
func (w *workspace) shell(script string, args ...string) string {
	w.t.Helper()
	return w.run(engine.Shell, engine.TierNative, "set -e\n"+script, args)
}

func (w *workspace) python(script string, args ...string) string {
	w.t.Helper()
	return w.run(engine.Python, engine.TierWasm, script, args)
}

// prints compares what a run printed.
func (w *workspace) prints(got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("got %.1000q, want %.1000q", got, want)
	}
}

// describe is a Python script that describes all that lies in the work directory, but for permissions, which the
// wasm tier does not see.
const describe = `
import os, stat
for root, dirs, files in os.walk("."):
    dirs.sort()
    for name in sorted(dirs + files):
        path = os.path.join(root, name)
        st = os.lstat(path)
        kind = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}.get(stat.S_IFMT(st.st_mode), "other")
        more = [st.st_size, st.st_nlink, int(st.st_mtime)] if kind == "file" else [os.readlink(path)] if kind == "link" else []
        print(ascii(path), kind, *more)
`

func TestWorkspace_ShellThenPython(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		w.shell(`printf 'from the shell\n' > f; mkdir -p d/e; ln -s f l; ln -s ../f d/up; ln f d/h; printf 'x\0y' > d/bin; touch -d '2001-02-03 04:05:06 UTC' f; touch -d '2020-01-01 UTC' d/bin
printf n > 'ünï
code'; printf b > "$(printf 'raw\377')"`)
		w.prints(w.python(describe), `'./d' dir
'./f' file 15 2 981173106
'./l' link f
'./raw\udcff' file 1 1 `+w.mtime("raw\xff")+`
'./\xfcn\xef\ncode' file 1 1 `+w.mtime("ünï\ncode")+`
'./d/bin' file 3 1 1577836800
'./d/e' dir
'./d/h' file 15 2 981173106
'./d/up' link ../f
`)
		w.prints(w.python("print([open(p, 'rb').read() for p in ('f', 'l', 'd/up', 'd/h', 'd/bin', b'raw\\xff', '/tmp/sandbox-work/f')])"),
			`[b'from the shell\n', b'from the shell\n', b'from the shell\n', b'from the shell\n', b'x\x00y', b'b', b'from the shell\n']`+"\n")
	})
}

func (w *workspace) mtime(name string) string {
	w.t.Helper()
	return strings.TrimSuffix(w.shell(`stat -c %Y "$1"`, name), "\n")
}

func TestWorkspace_PythonThenShell(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		w.python(`
import os
with open("f", "w") as f: f.write("from python\n")
os.makedirs("d/e"); os.symlink("f", "l"); os.symlink("../f", "d/up"); os.link("f", "d/h")
with open(b"raw\xff", "wb") as f: f.write(b"b")
os.utime("f", (981173106, 981173106))
os.utime("d", ns=(1, 1_500_000_000_123_456_789))
`)
		w.prints(w.shell(`cat f l d/up d/h; stat -c '%n %F %a %h %s' f d/h l; stat -c '%n %F %a' d d/e; stat -c %Y f; stat -c %.9Y d; readlink l d/up; stat -c %u f d l d/e | uniq | grep -qx "$(id -u)"; stat -c %g f d | uniq | grep -qx "$(id -g)"; cat "$(printf 'raw\377')"`),
			strings.Repeat("from python\n", 4)+"f regular file 644 2 12\nd/h regular file 644 2 12\nl symbolic link 777 1 1\nd directory 755\nd/e directory 755\n981173106\n1500000000.123456789\nf\n../f\nb")
	})
}

// What one tier made, the other changes, moves and removes; so do file calls.
func TestWorkspace_ChangeEachOther(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		w.shell("mkdir s; echo 1 > s/f; echo x > s/gone; mkdir s/empty")
		w.python(`
import os, shutil
open("s/f", "a").write("2\n"); os.remove("s/gone"); os.rename("s/empty", "s/moved"); open("s/moved/in", "w").close()
os.makedirs("p/q"); open("p/f", "w").write("a\n"); open("p/gone", "w").close(); open("p/q/deep", "w").close()
`)
		w.shell("echo b >> p/f; rm p/gone; mv p/q p/r; touch p/r/in; chmod 600 p/f")
		w.prints(w.shell("cat s/f p/f; find . | sort | tr '\\n' ' '"), "1\n2\na\nb\n. ./p ./p/f ./p/r ./p/r/deep ./p/r/in ./s ./s/f ./s/moved ./s/moved/in ")
		if err := w.PutBytes(t.Context(), "c/f", []byte("call\n"), nil); err != nil {
			t.Fatal(err)
		}
		w.shell("echo shell >> c/f")
		w.python("open('c/f', 'a').write('python\\n')")
		data, err := w.GetBytes(t.Context(), "c/f", 100)
		if string(data) != "call\nshell\npython\n" || err != nil {
			t.Errorf("GetBytes = %q, %v", data, err)
		}
		w.python("import shutil; shutil.rmtree('s'); open('p/r/made-by-python', 'w').close()")
		w.shell("rm -r p c")
		w.prints(w.python("import os; print(os.listdir('.'))"), "[]\n")
	})
}

// Permission bits that one tier sets hold in the other. The wasm tier sets none.
func TestWorkspace_Permissions(t *testing.T) {
	const attempts = `
import os
for what, call in {
    "read none": lambda: open("none").read(), "write none": lambda: open("none", "a"), "write read-only": lambda: open("ro", "a"), "read read-only": lambda: open("ro").read(),
    "new in closed": lambda: open("closed/n", "w"), "remove in closed": lambda: os.remove("closed/f"), "read in closed": lambda: open("closed/f").read(), "mkdir in closed": lambda: os.mkdir("closed/d"),
    "list closed": lambda: os.listdir("closed"), "list shut": lambda: os.listdir("shut"), "stat in shut": lambda: os.stat("shut/f"), "rename from closed": lambda: os.rename("closed/f", "f"),
    "link into closed": lambda: os.link("ro", "closed/l"), "stat none": lambda: os.stat("none").st_size, "remove none": lambda: os.remove("none"), "rename shut": lambda: os.rename("shut", "open"),
}.items():
    try: print(what, call() if what.split()[0] in ("read", "list", "stat") else call() and "done" or "done")
    except OSError as e: print(what, type(e).__name__)
`
	eachWorkspace(t, func(w *workspace) {
		prepare := "chmod -R u+rwx . 2>/dev/null; rm -rf ./*; echo x > none; chmod 0 none; echo y > ro; chmod 444 ro; mkdir closed shut; touch closed/f shut/f; chmod 555 closed; chmod 0 shut"
		w.shell(prepare)
		inPython := w.python(attempts)
		pythonMinor(t)
		w.shell(prepare)
		native := w.shell("exec /usr/bin/python3 -c \"$1\"", attempts)
		if inPython != native {
			t.Errorf("the tiers differ (-native +wasm):\n%s", diffLines(native, inPython))
		}
		if n := strings.Count(native, "PermissionError"); n != 10 {
			t.Errorf("%d refusals: %s", n, native)
		}
		// What is opened again is open to both.
		w.shell("chmod -R u+rwx .")
		w.python("import shutil; open('closed/n', 'w').close(); shutil.rmtree('closed'); shutil.rmtree('open')")
	})
}

// What belongs to another user of the host in a given directory is as open to one tier as to the other, but for what
// everybody may write: natively the kernel refuses that as well, since it has no name for the owner in the cell.
func TestWorkspace_OthersFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	pythonMinor(t)
	const attempts = `
import os
for name in ("public", "private", "folder"):
    for what, call in {"read": lambda: open(name).read() if name != "folder" else os.listdir(name), "append": lambda: open(name if name != "folder" else "folder/new", "a").close()}.items():
        try: print(name, what, call())
        except OSError as e: print(name, what, type(e).__name__)
`
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) {
			dir := givenDir(t)
			if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]os.FileMode{"public": 0o644, "private": 0o600, "folder": 0o755} {
				path := filepath.Join(dir, name)
				if name != "folder" {
					if err := os.WriteFile(path, []byte(name), mode); err != nil {
						t.Fatal(err)
					}
				}
				if err := errors.Join(os.Chmod(path, mode), os.Chown(path, 1234, 1234)); err != nil {
					t.Fatal(err)
				}
			}
			w := openBoth(t, p, &engine.Options{WorkDir: dir})
			inPython := w.python(attempts)
			native := w.shell("exec /usr/bin/python3 -c \"$1\"", attempts)
			if inPython != native {
				t.Errorf("the tiers differ (-native +wasm):\n%s", diffLines(native, inPython))
			}
			if !strings.Contains(native, "private read PermissionError") {
				t.Errorf("a private file of another user: %s", native)
			}
		})
	}
}

// A directory that may be searched and not read is closed to the wasm tier: os.Root reads what it goes through.
func TestWorkspace_SearchOnly(t *testing.T) {
	eachWorkspace(t, func(w *workspace) {
		w.shell("mkdir d; echo x > d/f; chmod 311 d")
		w.prints(w.shell("cat d/f"), "x\n")
		w.prints(w.python("try: open('d/f')\nexcept PermissionError: print('refused')"), "refused\n")
		w.shell("chmod 755 d")
	})
}
