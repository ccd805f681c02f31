package filter

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { children["exec"] = execChild }

// execChild puts the filter on and becomes the program.
func execChild(args []string) int {
	if err := install(); err != nil {
		return complain(err)
	}
	file, err := exec.LookPath(args[0])
	if err != nil {
		return complain(err)
	}
	return complain(syscall.Exec(file, args, os.Environ()))
}

// programs is what people run in a sandbox. Each script must end its output with want.
var programs = []struct{ name, need, script, want string }{
	{"shell", "sh", `for i in 1 2 3; do (sleep 0.01; echo $i) & done; wait; echo done | tr a-z A-Z`, "DONE"},
	{"gcc", "gcc", `echo 'int main(void) { return 7; }' >x.c; gcc -O2 -o x x.c; ./x; echo $?`, "7"},
	{"threads of C", "gcc", "cat >x.c <<'EOF'\n" + pthreads + "\nEOF\ngcc -pthread -o x x.c && ./x", "joined"},
	{"make", "make", `printf 'all: a b c\na b c:\n\t@sleep 0.01; touch $@\n' >Makefile; make -j4 && ls a b c | wc -l`, "3"},
	{"git", "git", `
		git init -q . && echo x >f && git add f && git -c user.name=n -c user.email=e commit -qm message &&
		git gc -q && git log --format=%s`, "message"},
	{"tar", "tar", `mkdir d; echo x >d/f; tar czf d.tgz d; rm -r d; tar xzf d.tgz; cat d/f`, "x"},
	{"openssl", "openssl", `openssl rand -hex 4 | wc -c`, "9"},
	{"curl", "curl", `curl -sS --max-time 2 http://127.0.0.1:1/ 2>&1 | grep -ci connect`, "1"},
	{"perl", "perl", `perl -e 'if (my $p = fork) { waitpid $p, 0; print $? >> 8 } else { exit 4 }'`, "4"},
	{"setarch", "setarch", `setarch -R echo ok`, "ok"},

	{"python threads", "python3", `python3 -c 'import threading as t; x = t.Thread(target=print, args=("ok",)); x.start(); x.join()'`, "ok"},
	{"python processes by fork", "python3", `
		cat >x.py <<'EOF'
import multiprocessing as m
with m.get_context("fork").Pool(2) as p: print(sum(p.map(abs, range(-9, 1))))
EOF
		python3 x.py`, "45"},
	{"python processes by spawn", "python3", `
		cat >x.py <<'EOF'
import multiprocessing as m
if __name__ == "__main__":
  with m.get_context("spawn").Pool(2) as p: print(sum(p.map(abs, [-1, -2])))
EOF
		python3 x.py`, "3"},
	{"python asyncio", "python3", `
		cat >x.py <<'EOF'
import asyncio
async def f():
  p = await asyncio.create_subprocess_exec("echo", "ok")
  await p.wait()
asyncio.run(f())
EOF
		python3 x.py`, "ok"},
	{"python sqlite", "python3", `
		cat >x.py <<'EOF'
import sqlite3
c = sqlite3.connect("x.db")
c.execute("pragma journal_mode=wal")
c.execute("create table t(a)")
c.commit()
print(len(list(c.execute("select * from sqlite_master"))))
EOF
		python3 x.py`, "1"},
	{"python pty", "python3", `python3 -c 'import pty; pty.spawn(["echo", "ok"])'`, "ok"},

	{"node workers", "node", `node -e 'new (require("worker_threads").Worker)("console.log(1)", {eval: true})'`, "1"},
	{"node files and children", "node", `
		cat >x.mjs <<'EOF'
import { writeFile } from "node:fs/promises"
import { execSync } from "node:child_process"
await writeFile("f", "ok")
console.log(execSync("cat f").toString())
EOF
		node x.mjs`, "ok"},
	{"node network", "node", `
		cat >x.mjs <<'EOF'
import net from "node:net"
const server = net.createServer(c => c.end("ok")).listen(0, "127.0.0.1", () => {
  net.connect(server.address().port, "127.0.0.1").on("data", d => { console.log(String(d)); server.close() })
})
EOF
		node x.mjs`, "ok"},
	{"npm", "npm", `
		export HOME="$PWD" npm_config_offline=true npm_config_update_notifier=false
		npm init -y >/dev/null && npm pkg get version`, `"1.0.0"`},
	{"java", "java", `
		cat >X.java <<'EOF'
class X {
  public static void main(String[] a) throws Exception {
    Thread t = new Thread(() -> System.out.println("ok"));
    t.start();
    t.join();
  }
}
EOF
		java -XX:-UsePerfData X.java`, "ok"},
	{"go", "go", `
		mkdir m && cd m # go takes no go.mod in TMPDIR itself
		export GOTOOLCHAIN=local GOWORK=off GOFLAGS=
		printf 'module x\ngo 1.26\n' >go.mod
		printf 'package main\nfunc main() { println(5) }\n' >x.go
		go build -o x . && ./x 2>&1`, "5"},
}

// TestInstall_programs: each program does its work under the filter. A program that is not here is skipped.
func TestInstall_programs(t *testing.T) {
	needSeccomp(t)
	if testing.Short() {
		t.Skip("starts compilers and interpreters")
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath(p.need); err != nil {
				t.Skip(err)
			}
			out, err := inChild(t, "exec", "/bin/sh", "-c", p.script)
			if got := strings.TrimSpace(string(out)); err != nil || !strings.HasSuffix(got, p.want) {
				t.Errorf("%s\nwrote %q, %v; want %q at the end", p.script, got, err, p.want)
			}
		})
	}
}

// pthreads is a C program: glibc tries clone3 for each thread and takes clone.
const pthreads = `#include <pthread.h>
#include <stdio.h>
static void *f(void *p) { return p; }
int main(void) {
	pthread_t t[8];
	for (int i = 0; i < 8; i++) if (pthread_create(&t[i], 0, f, 0)) return 1;
	for (int i = 0; i < 8; i++) if (pthread_join(t[i], 0)) return 2;
	return puts("joined") < 0;
}`

// TestInstall_i386: a call through int 0x80 is of architecture i386, also in a 64-bit program.
func TestInstall_i386(t *testing.T) {
	needSeccomp(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("int 0x80 is an instruction of x86")
	}
	file := filepath.Join(t.TempDir(), "program")
	for _, c := range []struct {
		name string
		nr   uint32
	}{{"sched_yield", 158}, {"unshare(0)", 310}} {
		if err := os.WriteFile(file, int80(c.nr), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(file).Run(); err != nil {
			t.Skipf("%s through int 0x80 without the filter: %v", c.name, err)
		}
		_, err := inChild(t, "exec", file)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != int(ENOSYS) {
			t.Errorf("%s through int 0x80: %v, want exit code %d", c.name, err, ENOSYS)
		}
	}
}

// int80 is a program that makes one i386 call with zeroes as arguments and exits with the errno it got.
func int80(nr uint32) []byte {
	const base, headers = 0x400000, 64 + 56
	code := slices.Concat(
		[]byte{0xb8}, le32(nr), // mov eax, nr
		[]byte{0x31, 0xdb},                      // xor ebx, ebx
		[]byte{0xcd, 0x80},                      // int 0x80
		[]byte{0xf7, 0xd8},                      // neg eax
		[]byte{0x89, 0xc7},                      // mov edi, eax
		[]byte{0xb8}, le32(unix.SYS_EXIT_GROUP), // mov eax, exit_group
		[]byte{0x0f, 0x05}, // syscall
	)
	size := uint64(headers + len(code))
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: base + headers, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 0x1000},
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	return b.Bytes()
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
