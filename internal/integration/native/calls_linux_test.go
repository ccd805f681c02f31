package nativetests

import (
	"runtime"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// needAMD64 skips a test whose system call numbers are those of amd64.
func needAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the numbers are those of amd64")
	}
}

// prelude gives probes a function that makes a system call by number: its result and errno.
const prelude = `
import ctypes, os
L = ctypes.CDLL(None, use_errno=True)
L.syscall.restype = ctypes.c_long
def call(nr, *args):
    ctypes.set_errno(0)
    r = L.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) for a in args])
    return r if r >= 0 else -ctypes.get_errno()
`

// C089: threads start although clone3 is refused, in Python, in node and in curl, whose resolver is one.
func TestC089_Threads(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, `python3 -c 'import threading as t; x=t.Thread(target=print,args=("thread ok",)); x.start(); x.join()'`, shell(nil), "thread ok\n")
		printed(t, s, "import concurrent.futures as c\nwith c.ThreadPoolExecutor(32) as p: print(sum(p.map(abs, range(-500, 0))))", python(nil), "125250\n")
		t.Run("curl", func(t *testing.T) {
			need(t, "curl")
			out := exec(t, s, "curl -sS --max-time 5 http://localhost:1/", shell(nil))
			if out.Result.ExitCode != 7 || !strings.Contains(out.Stderr, "localhost") { // connection refused
				t.Errorf("%+v", out)
			}
		})
		t.Run("node", func(t *testing.T) {
			need(t, "node")
			printed(t, s, `node -e 'new (require("worker_threads").Worker)("console.log(1)", {eval: true})'`, shell(nil), "1\n")
		})
	})
}

// C089, C108: the flags that make namespaces are refused by plain clone, by clone3 and by unshare, each alone and
// with others; there is no way into another namespace.
func TestC089_C108_Namespaces(t *testing.T) {
	needAMD64(t)
	const script = prelude + `
flags = {"NEWTIME": 0x80, "NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000}
def forked(r):
    if r == 0: os._exit(0)
    if r > 0: os.waitpid(r, 0)
    return r
for name, flag in flags.items():
    if call(272, flag) != -1: print("unshare", name)
    if call(272, flag | 0x10000000 | 0x200) != -1: print("unshare with others", name)
    if flag > 0xff:
        if forked(call(56, flag | 17, 0, 0, 0, 0)) != -1: print("clone", name)
        if forked(call(56, flag | 17 | 0x10000000, 0, 0, 0, 0)) != -1: print("clone", name)
        if forked(call(56, flag | 17 | 1 << 40, 0, 0, 0, 0)) != -1: print("clone with high bits", name)
print(call(435, 0, 0), call(435, 0, 88))
for name in os.listdir("/proc/self/ns"):
    fd = os.open("/proc/self/ns/" + name, os.O_RDONLY)
    if call(308, fd, 0) != -1: print("setns", name)
print(forked(call(56, 17, 0, 0, 0, 0)) > 0)
`
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, script, python(nil), lines("-38 -38", "True"))
		out := exec(t, s, `unshare -Ur id; unshare -Urm sh -c 'mount -t tmpfs t /mnt && echo mounted'; unshare -n true && echo net; nsenter -t 1 -m true && echo entered
unshare -U true && echo user; unshare -p -f true && echo pid; bwrap --ro-bind / / true && echo bwrap; echo end`, shell(nil))
		if out.Stdout != "end\n" {
			t.Errorf("stdout %q", out.Stdout)
		}
	})
}

// C090: no call of io_uring reaches the kernel, whatever its arguments.
func TestC090_IOUring(t *testing.T) {
	const script = prelude + `
for nr in (425, 426, 427):
    print({call(nr, *args) for args in ((4, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0), (-1, -1, -1, -1, -1, -1))})
`
	each(t, func(t *testing.T, d *native.Driver) {
		printed(t, open(t, d, nil), script, python(nil), lines("{-38}", "{-38}", "{-38}"))
	})
}

// C091: another ABI's numbers do not pass the filter: x32's, and those of 32-bit programs, by int 0x80.
func TestC091_OtherABIs(t *testing.T) {
	needAMD64(t)
	const script = prelude + `
import mmap, signal, struct, sys
x32 = {nr: call(0x40000000 + nr, 0, 0, 0, 0, 0) for nr in (39, 102, 165, 272, 41, 59, 512, 520, 534, 544)}
print({k: v for k, v in x32.items() if v not in (-38, -1)})
print(sorted({call(nr, 0, 0, 0, 0, 0) for nr in (0x80000000 + 39, 0xC0000000 + 165, 10**6, -2 & 0xffffffff)}))
# mov eax, nr; xor ebx, ebx; xor ecx, ecx; xor edx, edx; int 0x80; ret -- with rbx kept
def int80(nr):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = b"\x53\xb8" + struct.pack("<I", nr) + b"\x31\xdb\x31\xc9\x31\xd2\xcd\x80\x5b\xc3"
        m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        m.write(code)
        f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
        os.write(w, str(f()).encode())
        os._exit(0)
    os.close(w)
    said = os.read(r, 100).decode()
    status = os.waitpid(pid, 0)[1]
    return "killed" if os.WIFSIGNALED(status) else int(said)
for nr in (20, 24, 21, 310, 102, 120, 1, 4):    # getpid getuid mount unshare socketcall clone exit write
    r = int80(nr)
    if r != "killed" and r not in (-38, -1, -14): print("REACHED", nr, r)
    if r not in ("killed", -38, -1): print("unusual", nr, r)
`
	each(t, func(t *testing.T, d *native.Driver) {
		out := exec(t, open(t, d, nil), script, python(nil))
		first, rest, _ := strings.Cut(out.Stdout, "\n")
		if first != "{}" || strings.Contains(rest, "REACHED") || strings.Contains(rest, "unusual") || out.Result.ExitCode != 0 {
			t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
		}
		if kinds, _, _ := strings.Cut(rest, "\n"); kinds != "[-38]" {
			t.Errorf("numbers that no ABI has: %s", kinds)
		}
	})
}

// C094: no family but the local ones and IP can be made, in every network mode; none is raw.
func TestC094_Families(t *testing.T) {
	const script = `
import socket
made = set()
for f in range(0, 50):
    for t in (1, 2, 3, 4, 5, 6, 10):
        for p in (0, 1, 6, 17, 58, 132, 255, 262):
            for flags in (0, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK):
                try: socket.socket(f, t | flags, p).close(); made.add((f, t))
                except OSError as e: pass
            try:
                for s in socket.socketpair(f, t, p): s.close()
                made.add((f, t))
            except OSError as e: pass
print(sorted(made))
`
	// SOCK_RAW (3) of AF_UNIX (1) is a datagram socket to the kernel: unix(7). AF_NETLINK (16) is told of.
	allowed := map[string]bool{"(1, 1)": true, "(1, 2)": true, "(1, 3)": true, "(1, 5)": true, "(2, 1)": true, "(2, 2)": true, "(10, 1)": true, "(10, 2)": true, "(16, 2)": true, "(16, 3)": true}
	eachMode(t, engine.Options{}, func(t *testing.T, s *engine.Session) {
		got := strings.Trim(output(t, s, script, python(nil)), "[]\n")
		for f := range strings.SplitSeq(strings.ReplaceAll(got, "), (", ")|("), "|") {
			if !allowed[f] {
				t.Errorf("family and type %s can be made", f)
			}
		}
		t.Logf("families and types: %s", got)
	})
}

// Calls that reach parts of the kernel that no script needs are refused, whatever their arguments.
func TestC108_KernelCalls(t *testing.T) {
	needAMD64(t)
	const script = prelude + `
calls = dict(mount=165, umount2=166, pivot_root=155, chroot=161, ptrace=101, process_vm_readv=310, process_vm_writev=311, bpf=321, perf_event_open=298, kexec_load=246, init_module=175, finit_module=313,
             delete_module=176, add_key=248, request_key=249, keyctl=250, open_by_handle_at=304, userfaultfd=323, iopl=172, ioperm=173, swapon=167, reboot=169, acct=163,
             settimeofday=164, adjtimex=159, clock_settime=227, syslog=103, quotactl=179, setns=308, move_mount=429, open_tree=428, fsopen=430, fsmount=432, mount_setattr=442, kcmp=312, lookup_dcookie=212, vhangup=153)
for name, nr in calls.items():
    for args in ((0, 0, 0, 0, 0), (-1, -1, -1, -1, -1)):
        r = call(nr, *args)
        if r not in (-1, -38): print(name, args[0], r)
print(call(39) == os.getpid())
`
	each(t, func(t *testing.T, d *native.Driver) {
		printed(t, open(t, d, nil), script, python(nil), "True\n")
	})
}
