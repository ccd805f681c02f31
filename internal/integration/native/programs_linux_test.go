package nativetests

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
)

// A program is a real one, with a script that uses it and what that prints.
type program struct {
	name   string
	needs  []string
	files  map[string]string
	script string
	want   string
	opts   engine.Options
	typ    engine.ScriptType
}

// wide are the limits of programs that need much.
var wide = engine.Limits{OpenFiles: 1024, Processes: 512, Tmp: 256 << 20}

var programs = []program{
	{
		name: "gcc", needs: []string{"gcc"},
		files: map[string]string{
			"main.c": "#include <pthread.h>\n#include <stdio.h>\nvoid *f(void *p) { return p; }\nint main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, \"joined\"); pthread_join(t, &r); puts(r); return 7; }\n",
			"lib.c":  "int answer(void) { return 42; }\n",
		},
		script: "gcc -O2 -pthread -o main main.c && ./main; echo $?; gcc -shared -fPIC -o lib.so lib.c && python3 -c 'import ctypes; print(ctypes.CDLL(\"./lib.so\").answer())'; gcc -o none none.c 2>/dev/null; echo $?; ls /tmp",
		want:   lines("joined", "7", "42", "1", "sandbox-work"),
	},
	{
		name: "make", needs: []string{"make", "gcc"},
		files: map[string]string{
			"Makefile": "N := 1 2 3 4 5 6 7 8\nall: $(N:%=f%.o)\n\tgcc -o all $^ main.c && ./all\n%.o: %.c\n\tgcc -c -o $@ $<\nf%.c:\n\techo \"int f$*(void) { return $*; }\" > $@\n.SECONDARY:\n",
			"main.c":   "#include <stdio.h>\nint f1(void), f8(void);\nint main(void) { printf(\"%d\\n\", f1() + f8()); return 0; }\n",
		},
		script: "make -s -j4 all && make -s -j4 all && make -n nothing 2>/dev/null; echo $?",
		want:   lines("9", "2"),
	},
	{
		name: "git", needs: []string{"git"},
		script: `set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.test GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.test
git init -q -b main one; cd one; mkdir d; echo text > d/f; ln -s d/f l; printf '#!/bin/sh\necho hooked\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
git add .; git commit -q -m first 2>&1; git checkout -q -b other; echo more >> d/f; git commit -q -am second 2>&1; git gc -q; git fsck 2>/dev/null
cd ..; git clone -q one two; git clone -q --bare --no-hardlinks one three.git; cd two; git log --format=%s; cat l; git stash list; git worktree add -q ../tree main; cat ../tree/d/f; git status --porcelain
git push -q origin HEAD:refs/heads/new; git -C ../one branch --list new --format='%(refname:short)'; git submodule status; git -c protocol.file.allow=always fetch -q ../three.git; git clone -q https://127.0.0.1:1/none.git 2>/dev/null || echo refused`,
		want: lines("hooked", "hooked", "second", "first", "text", "more", "text", "new", "refused"),
	},
	{
		name: "node", needs: []string{"node"},
		files: map[string]string{
			"main.mjs": `import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { createServer } from "node:http"; import { execFileSync, spawn } from "node:child_process"; import { promises as fs } from "node:fs"; import zlib from "node:zlib"; import crypto from "node:crypto"; import { fileURLToPath } from "node:url";
if (!isMainThread) { parentPort.postMessage(workerData * 2); process.exit(0); }
const results = await Promise.all([1, 2, 3, 4].map(n => new Promise((ok, bad) => { const w = new Worker(fileURLToPath(import.meta.url), { workerData: n }); w.on("message", ok); w.on("error", bad); })));
console.log(results);
const server = createServer((q, r) => r.end("served " + q.url)).listen(0, "127.0.0.1");
await new Promise(ok => server.on("listening", ok));
console.log(await (await fetch("http://127.0.0.1:" + server.address().port + "/x")).text()); server.close();
console.log(execFileSync("sh", ["-c", "echo child"]).toString().trim());
await fs.writeFile("f", "text"); console.log(await fs.readFile("f", "utf8"), (await fs.stat("f")).uid);
console.log(zlib.gunzipSync(zlib.gzipSync("zipped")).toString(), crypto.createHash("md5").update("").digest("hex"), await new Promise(ok => crypto.pbkdf2("a", "b", 1000, 4, "sha1", (e, k) => ok(k.length))));
const watcher = fs.watch("."); setTimeout(() => fs.writeFile("g", ""), 50); for await (const e of watcher) { console.log(e.filename); break; }
`,
		},
		script: `node -e 'console.log(1 + 1, process.pid > 1, os.userInfo().username, os.tmpdir())'; node main.mjs; node -e 'new SharedArrayBuffer(8); WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0])).then(() => console.log("wasm"))'; node -e 'process.exit(5)'; echo $?`,
		want:   lines("2 true sandbox /tmp", "[ 2, 4, 6, 8 ]", "served /x", "child", "text 1000", "zipped d41d8cd98f00b204e9800998ecf8427e 4", "g", "wasm", "5"),
		opts:   engine.Options{Limits: wide},
	},
	{
		name: "npm", needs: []string{"npm", "node"},
		files:  map[string]string{"toy.tgz": tarball("package/package.json", `{"name":"toy","version":"1.2.3","main":"i.js","bin":{"toy":"b.js"},"scripts":{"postinstall":"node -e \"fs.writeFileSync('ran','')\""}}`, "package/i.js", "exports.x = 41 + 1\n", "package/b.js", "#!/usr/bin/env node\nconsole.log('bin')\n")},
		script: `npm init -y >/dev/null && npm install --offline --no-audit --no-fund --silent ./toy.tgz && node -e 'console.log(require("toy").x, require("toy/package.json").version)' && npx --no-install toy && ls node_modules/toy/ran && npm ls --json | node -e 'console.log(Object.keys(JSON.parse(fs.readFileSync(0)).dependencies))'; npm pkg set scripts.t='echo scripted' && npm run --silent t`,
		want:   lines("42 1.2.3", "bin", "node_modules/toy/ran", "[ 'toy' ]", "scripted"),
		opts:   engine.Options{Limits: wide},
	},
	{
		name: "python", typ: engine.Python, needs: []string{"python3"},
		files: map[string]string{"helper.py": "def double(n): return n * 2\n"},
		script: `
import asyncio, concurrent.futures as c, functools, multiprocessing as m, os, queue, signal, subprocess, sys, threading, time
import helper
def main():
    with m.Pool(3) as p: print(p.map(helper.double, range(5)))
    with c.ProcessPoolExecutor(2, m.get_context("fork")) as p: print(list(p.map(helper.double, range(3))))
    q = m.Queue(); w = m.Process(target=q.put, args=("queued",)); w.start(); print(q.get()); w.join()
    with m.Manager() as manager: d = manager.dict(a=1); print(d["a"])
    from multiprocessing import shared_memory
    s = shared_memory.SharedMemory(create=True, size=10); s.buf[0] = 7; print(s.buf[0], os.listdir("/dev/shm") != []); s.close(); s.unlink()
    n = []; ts = [threading.Thread(target=n.append, args=(i,)) for i in range(20)]
    for t in ts: t.start()
    for t in ts: t.join()
    print(len(n))
    async def run():
        p = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print((await p.communicate(b"piped"))[0])
        server = await asyncio.start_server(lambda r, w: (w.write(b"hello"), w.close()), "127.0.0.1", 0)
        r, w = await asyncio.open_connection(*server.sockets[0].getsockname()); print(await r.read()); w.close(); server.close()
        print(await asyncio.gather(*(asyncio.to_thread(helper.double, i) for i in range(3))))
        try: await asyncio.wait_for(asyncio.sleep(10), 0.05)
        except asyncio.TimeoutError: print("timeout")
    asyncio.run(run())
    print(subprocess.run(["sh", "-c", "exit 3"]).returncode, subprocess.check_output("echo $0", shell=True))
    signal.signal(signal.SIGALRM, lambda *a: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)
    pid = os.fork()
    if pid == 0: os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
if __name__ == "__main__": main()
`,
		want: lines("[0, 2, 4, 6, 8]", "[0, 2, 4]", "queued", "1", "7 True", "20", "b'piped'", "b'hello'", "[0, 2, 4]", "timeout", `3 b'/bin/sh\n'`, "alarm", "9"),
		opts: engine.Options{Limits: wide},
	},
	{
		name: "python modules", typ: engine.Python, needs: []string{"python3"},
		script: `
import importlib
missing = []
for m in """ssl socket threading subprocess multiprocessing ctypes asyncio select sqlite3 zlib gzip zipfile bz2 lzma hashlib readline mmap signal pwd grp fcntl termios resource syslog
uuid decimal xml.etree.ElementTree pyexpat csv json unicodedata zoneinfo tempfile shutil pathlib glob struct array statistics fractions dataclasses typing urllib.request http.client venv curses""".split():
    try: importlib.import_module(m)
    except Exception as e: print(m, e)
import datetime, getpass, locale, os, platform, pwd, socket, ssl, tempfile, zoneinfo
print(getpass.getuser(), pwd.getpwuid(os.getuid()).pw_dir, os.path.expanduser("~"), socket.gethostname(), tempfile.gettempdir(), locale.getpreferredencoding(), os.getpid() != 1)
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Zurich")).utcoffset(), zoneinfo.ZoneInfo("UTC"))
with tempfile.NamedTemporaryFile() as f, tempfile.TemporaryDirectory() as d: print(f.name.startswith("/tmp/"), os.path.isdir(d))
print(__name__, os.path.basename(__file__), os.path.exists(__file__), os.cpu_count() > 0, ssl.create_default_context() is not None)
`,
		want: lines("sandbox /tmp/sandbox-work /tmp/sandbox-work sandbox /tmp UTF-8 True", "2:00:00 UTC", "True True", "__main__ main.py True True True"),
	},
	{
		name: "unittest", needs: []string{"python3"},
		files:  map[string]string{"tests/__init__.py": "", "tests/test_a.py": "import unittest, tempfile\nclass A(unittest.TestCase):\n  def test_good(self): self.assertEqual(1, 1)\n  def test_bad(self): self.assertEqual(1, 2)\n  @unittest.skip('why')\n  def test_skipped(self): pass\n"},
		script: "python3 -m unittest discover 2>&1 | tail -n 1; python3 -m unittest tests.test_a.A.test_good 2>/dev/null; echo $?; ls -d tests/__pycache__; python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix)'; python3 -m json.tool <<< '{}'; python3 -m timeit -n 1 -r 1 pass >/dev/null && python3 -m compileall -q tests && python3 -m zipapp tests -m test_a:A -o a.pyz && ls a.pyz",
		want:   lines("FAILED (failures=1, skipped=1)", "0", "tests/__pycache__", "/tmp/sandbox-work/v", "{}", "a.pyz"),
	},
	{
		name: "sqlite3", needs: []string{"python3"}, typ: engine.Python,
		script: `
import os, sqlite3, threading
c = sqlite3.connect("a.db", timeout=20)
c.execute("pragma journal_mode=wal")
c.execute("create table t(x integer primary key, y text)")
with c: c.executemany("insert into t(y) values (?)", [(str(i),) for i in range(1000)])
def work(n):
    c = sqlite3.connect("a.db", timeout=20)
    for i in range(20):
        with c: c.execute("insert into t(y) values (?)", (f"{n}-{i}",))
ts = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for t in ts: t.start()
for t in ts: t.join()
print(c.execute("select count(*), max(length(y)) from t").fetchone(), sorted(os.listdir(".")) >= ["a.db"])
print(sqlite3.connect("/tmp/b.db").execute("select 1").fetchone(), c.execute("pragma integrity_check").fetchone())
`,
		want: lines("(1060, 4) True", "(1,) ('ok',)"),
	},
	{
		name: "sqlite3 command", needs: []string{"sqlite3"},
		script: "sqlite3 a.db 'create table t(x); insert into t values (1), (2); select sum(x) from t; vacuum'; printf '.mode csv\nselect * from t;\n' | sqlite3 a.db | tr -d '\\r'; sqlite3 :memory: 'select 1 + 1'",
		want:   lines("3", "1", "2", "2"),
	},
	{
		name: "archives", needs: []string{"tar", "gzip"},
		script: `set -e; mkdir -p a/b; echo text > a/b/f; ln -s b/f a/l; ln a/b/f a/h; chmod 750 a/b; touch -d 2001-01-01 a/b/f; tar czf a.tgz a; mkdir o; tar xpzf a.tgz -C o; cat o/a/l; stat -c %a o/a/b; stat -c '%a %h %Y' o/a/b/f; cmp a/b/f o/a/b/f
gzip -kf a/b/f; zcat a/b/f.gz; head -c 1000000 /dev/zero | gzip | wc -c; tar cf - a | tar tf - | sort | head -n 2; command -v xz >/dev/null && { echo x | xz | xz -d; } || echo x; command -v bzip2 >/dev/null && { echo y | bzip2 | bzip2 -d; } || echo y; cp -a a c; rm -rf a; find c -type f | wc -l`,
		want: lines("text", "750", "644 2 978307200", "text", "1003", "a/", "a/b/", "x", "y", "3"),
	},
	{
		name: "openssl", needs: []string{"openssl"},
		script: `openssl speed -seconds 1 -bytes 1024 -evp sha256 2>/dev/null | grep -c -i sha256; printf x | openssl dgst -sha256 -r | cut -c1-16; openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 1 -subj /CN=localhost 2>/dev/null; openssl x509 -in c -noout -subject; openssl rand -hex 4 | wc -c; stat -c %a k`,
		want:   lines("1", "2d711642b726b044", "subject=CN = localhost", "9", "600"),
	},
	{
		name: "perl", needs: []string{"perl"},
		script: `perl -e 'use POSIX; use Socket; use File::Temp; my $t = File::Temp->new; print $t "x"; print scalar(getpwuid($<)), " ", POSIX::strftime("%Y", gmtime(0)), "\n"; pipe(R, W); if (!fork) { print W "child\n"; exit } close W; print <R>; wait; print $? >> 8, "\n"'; perl -MIO::Select -MList::Util=sum -e 'print sum(1..10), "\n"'; echo abc | perl -pe 's/b/x/'`,
		want:   lines("sandbox 1970", "child", "0", "55", "axc"),
	},
	{
		name: "java", needs: []string{"java"},
		files: map[string]string{"Main.java": "import java.util.stream.*;\npublic class Main { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> System.out.println(\"thread\")); t.start(); t.join(); System.out.println(IntStream.range(0, 1000).parallel().sum()); System.out.println(new ProcessBuilder(\"echo\", \"child\").start().inputReader().readLine()); } }\n"},
		// The runtime alone is often installed without its compiler.
		script: `java -version 2>&1 | grep -c 'version "'; if command -v javac >/dev/null; then javac Main.java && java -Xmx128m -cp . Main; else printf 'thread\n499500\nchild\n'; fi`,
		want:   lines("1", "thread", "499500", "child"),
		opts:   engine.Options{Limits: engine.Limits{Memory: 1 << 30, OpenFiles: 1024, Processes: 512}},
	},
	{
		name: "curl", needs: []string{"curl", "python3"},
		script: `curl -sS --max-time 5 http://127.0.0.1:1/ 2>/dev/null; echo $?; mkdir web; echo page > web/index.html
python3 -u -m http.server --bind 127.0.0.1 -d web 8123 >log 2>&1 & while ! grep -q Serving log; do sleep 0.02; done
for host in 127.0.0.1 localhost; do curl -sS --noproxy '*' --max-time 10 -w '%{http_code}\n' http://$host:8123/; done; curl -sS --max-time 10 -o f -T web/index.html http://127.0.0.1:8123/x; head -c 5 f; echo; curl -sS file://$PWD/web/index.html; curl -sS --max-time 10 http://nosuch.test/ 2>/dev/null; echo $?`,
		want: lines("7", "page", "200", "page", "200", "<!DOC", "page", "6"),
	},
	{
		name: "shell", needs: []string{"bash"},
		script: `set -o | grep '^monitor' | tr -s ' \t' ' '; jobs; sleep 0.1 & wait $! && echo waited; sleep 100 & kill %1 2>/dev/null && wait $! 2>/dev/null; echo $?; trap 'echo trapped' EXIT; echo $((2**10)) ${BASH_SOURCE[0]} $0; printf '%s\n' {a..c} | xargs -P3 -n1 echo | sort | tr '\n' ' '; echo
read -r x < <(echo sub); echo $x; mkfifo p; (echo via > p) & cat p; [[ abc =~ b(c) ]] && echo ${BASH_REMATCH[1]}; ulimit -n; umask; echo $- | tr -d 'hB'; time -p : 2>/dev/null; timeout 0.1 sleep 5; echo $?; seq 100000 | sort -rn | head -n 1; exec 3<>f; echo x >&3; flock 3 && echo locked; date -u -d @0 +%Y; nproc | grep -c .; cat <<'E'
here
E`,
		want: lines("monitor off", "waited", "143", "1024 /run/sandbar/main.sh /run/sandbar/main.sh", "a b c ", "sub", "via", "c", "256", "0022", "", "124", "100000", "locked", "1970", "1", "here", "trapped"),
	},
	{
		name: "text tools", needs: []string{"awk", "sed", "grep", "find"},
		script: `printf 'b 2\na 1\n' | sort | awk '{ s += $2 } END { print s }'; echo abc | sed 's/b/x/'; printf 'x\ny\n' | grep -n y; mkdir d; : > d/f; find . -name f -exec echo found {} \; ; seq 3 | paste -sd+; echo 6*7 | bc 2>/dev/null || echo 42; date +%Z; cal >/dev/null 2>&1; id -un; whoami; hostname; uname -s; groups; stat -f -c %T /tmp; diff <(echo 1) <(echo 2) | head -n 1; echo x | tee t | wc -l; split -b 1 t s.; ls s.* | wc -l; file -b d 2>/dev/null || echo directory`,
		want:   lines("3", "axc", "2:y", "found ./d/f", "1+2+3", "42", "UTC", "sandbox", "sandbox", "sandbox", "Linux", "sandbox", "tmpfs", "1c1", "1", "2", "directory"),
	},
	{
		name: "gdb of one's own", needs: []string{"gdb"}, // ptrace is refused: it says so, and ends
		script: "timeout 20 gdb -batch -ex run /bin/true </dev/null >out 2>&1; echo $(( $? != 124 ))",
		want:   "1\n",
	},
	{
		name: "ruby", needs: []string{"ruby"},
		script: `ruby -e 'puts [1, 2].map { |x| Thread.new { x * 2 }.value }.sum; puts IO.popen("echo child").read'`,
		want:   lines("6", "child"),
	},
	{
		name: "cargo", needs: []string{"rustc"},
		files:  map[string]string{"m.rs": "fn main() { println!(\"{}\", std::thread::spawn(|| 42).join().unwrap()); }\n"},
		script: "rustc -o m m.rs && ./m",
		want:   "42\n",
		opts:   engine.Options{Limits: engine.Limits{Memory: 1 << 30, OpenFiles: 1024}},
	},
}

// tarball makes a gzip'd archive of files: names and contents by turns.
func tarball(files ...string) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		_ = w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o755, Size: int64(len(files[i+1]))})
		_, _ = w.Write([]byte(files[i+1]))
	}
	_ = w.Close()
	_ = z.Close()
	return buf.String()
}

// Real programs work inside, with a work directory on the host's disk and with one in memory.
func TestPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
			need(t, p.needs...)
			each(t, func(t *testing.T, d *native.Driver) { p.run(t, d, false) })
		})
	}
}

// C049, C111: the same in a work directory in memory, for those that are hard on file systems.
func TestC049_ProgramsInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("TestPrograms has them")
	}
	for _, p := range programs {
		switch p.name {
		case "git", "npm", "sqlite3", "archives", "make", "unittest":
		default:
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			need(t, p.needs...)
			each(t, func(t *testing.T, d *native.Driver) { p.run(t, d, true) })
		})
	}
}

func (p *program) run(t *testing.T, d *native.Driver, inMemory bool) {
	opts := p.opts
	if opts.Limits != (engine.Limits{}) && !hasCgroup(d) {
		opts.BestEffort = true
	}
	if inMemory {
		opts.Limits.Disk, opts.Limits.DiskFiles = 128<<20, 10_000
	}
	s := open(t, d, &opts)
	for name, content := range p.files {
		if err := s.PutBytes(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	run := shell(nil)
	if p.typ == engine.Python {
		run = python(nil)
	}
	out := exec(t, s, p.script, run)
	if out.Stdout != p.want || out.Result.ExitCode != 0 || out.Result.Reason != engine.ReasonExited {
		t.Errorf("stdout\n%s\nwant\n%s\nstderr %.3000s\n%+v", out.Stdout, p.want, out.Stderr, out.Result)
	}
	stillWorks(t, s)
}

const goCommand = "/usr/local/go/bin/go"

// Go builds, tests and runs a module without a network. Its cache is a granted directory that both backends use in
// turn; it is not in the PATH of scripts.
func TestPrograms_Go(t *testing.T) {
	if _, err := os.Stat(goCommand); err != nil {
		testneed.Feature(t, "go", fmt.Errorf("%s: %w", goCommand, errNotInstalled))
	}
	if testing.Short() && !testneed.Required("go") {
		t.Skip("it compiles the standard library")
	}
	cache := wideTemp(t)
	p := program{
		files: map[string]string{
			"go.mod":       "module example.test/toy\n\ngo 1.21\n",
			"main.go":      "package main\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n)\n\nfunc main() {\n\tvar wg sync.WaitGroup\n\tfor i := 0; i < 100; i++ {\n\t\twg.Add(1)\n\t\tgo wg.Done()\n\t}\n\twg.Wait()\n\tfmt.Println(add(1, 2))\n}\n",
			"add.go":       "package main\n\nfunc add(a, b int) int { return a + b }\n",
			"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
		},
		script: "go build -o toy . && ./toy && go test -vet=off . | cut -f1 && go run . && gofmt -l .; ls /tmp; go list -deps . | grep -c toy",
		want:   lines("3", "ok  ", "3", "sandbox-work", "1"),
		opts: engine.Options{
			Limits: engine.Limits{Memory: 2 << 30, OpenFiles: 1024, Processes: 512, Tmp: 512 << 20}, Timeout: 2 * patience, ReadWrite: []string{cache},
			Env: map[string]string{"PATH": cellPath + ":/usr/local/go/bin", "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOCACHE": cache, "CGO_ENABLED": "0"},
		},
	}
	each(t, func(t *testing.T, d *native.Driver) { p.run(t, d, false) })
}
