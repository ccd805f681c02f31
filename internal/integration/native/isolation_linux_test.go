package nativetests

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// bothModes are the network modes that need nothing outside.
var bothModes = []netpolicy.Mode{netpolicy.Blocked, netpolicy.Open}

// eachMode runs a test on each backend in each network mode.
func eachMode(t *testing.T, opts engine.Options, test func(t *testing.T, s *engine.Session)) {
	each(t, func(t *testing.T, d *native.Driver) {
		for _, mode := range bothModes {
			t.Run(string(mode), func(t *testing.T) {
				if mode == netpolicy.Open {
					needLandlock(t, d, 6)
				}
				opts.Network = mode
				test(t, open(t, d, &opts))
			})
		}
	})
}

// C065: the host's Unix sockets, by path and abstract, are out of reach in every mode; local ones work.
func TestC065_UnixSockets(t *testing.T) {
	dir := wideTemp(t)
	path, abstract := filepath.Join(dir, "h.sock"), fmt.Sprintf("@sandbar-test-%d", os.Getpid())
	for _, network := range []string{"unix", "unixgram"} {
		for _, name := range []string{path, abstract} {
			listenUnix(t, network, name+network)
		}
	}
	const script = `
import os, socket, sys
path, abstract = sys.argv[1], "\0" + sys.argv[2][1:]
others = ["/run/dbus/system_bus_socket", "/var/run/docker.sock", "/run/systemd/notify", "/run/containerd/containerd.sock", "/run/systemd/journal/socket", "/tmp/.X11-unix/X0", "\0/tmp/.X11-unix/X0"]
for a in [path + "unix", path + "unixgram", abstract + "unix", abstract + "unixgram", "/proc/1/root" + path + "unix", "/proc/self/root/../.." + path + "unix"] + others:
    for t in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        s = socket.socket(socket.AF_UNIX, t)
        for call in (lambda: s.connect(a), lambda: s.sendto(b"x", a), lambda: s.sendmsg([b"x"], [], 0, a)):
            try:
                call()
                print("REACHED", ascii(a), t)
            except OSError as e:
                pass
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1))
for name in ("own.sock", "/tmp/own.sock", "\0own"):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    c = socket.socket(socket.AF_UNIX)
    c.connect(name)
    print("own", ascii(name))
`
	want := lines("b'x'", "own 'own.sock'", "own '/tmp/own.sock'", `own '\x00own'`)
	eachMode(t, engine.Options{}, func(t *testing.T, s *engine.Session) {
		printed(t, s, script, python(&engine.RunOptions{Args: []string{path, abstract}}), want)
	})
}

// listenUnix listens, and fails the test when something arrives.
func listenUnix(t *testing.T, network, name string) {
	t.Helper()
	addr := &net.UnixAddr{Name: name, Net: network}
	var l interface{ Close() error }
	var err error
	arrived := func() { t.Errorf("something reached %s %s", network, name) }
	if network == "unix" {
		var u *net.UnixListener
		if u, err = net.ListenUnix(network, addr); err == nil {
			go func() {
				for {
					c, err := u.Accept()
					if err != nil {
						return
					}
					c.Close()
					arrived()
				}
			}()
		}
		l = u
	} else {
		var u *net.UnixConn
		if u, err = net.ListenUnixgram(network, addr); err == nil {
			go func() {
				for {
					if _, _, err := u.ReadFrom(make([]byte, 1)); err != nil {
						return
					}
					arrived()
				}
			}()
		}
		l = u
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if name[0] == '@' {
		return
	}
	if err := os.Chmod(name, 0o777); err != nil { // it is not its mode that keeps scripts away
		t.Fatal(err)
	}
}

// C065, the twin: a socket in a directory that was granted read-write is reached.
func TestC065_GrantedSocket(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		dir := wideTemp(t)
		l, err := net.Listen("unix", filepath.Join(dir, "g.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := os.Chmod(filepath.Join(dir, "g.sock"), 0o777); err != nil {
			t.Fatal(err)
		}
		s := open(t, d, &engine.Options{ReadWrite: []string{dir}})
		printed(t, s, "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1] + '/g.sock')\nprint('reached')", python(&engine.RunOptions{Args: []string{dir}}), "reached\n")
	})
}

// C069, C070, C071: the loopback works in every mode; names are refused quickly when there is no network, and the
// own ones resolve; in the blocked mode the host's loopback is another one.
func TestC069_C070_C071_Loopback(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	const script = `
import socket, subprocess, sys, time
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "localhost")):
    s = socket.create_server((host, 0), family=family)
    c = socket.create_connection(s.getsockname()[:2], 5)
    print(host, "ok")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
u.sendto(b"x", u.getsockname())
print(u.recv(1))
try: print("host", socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) and "reached")
except OSError as e: print("host", e.errno)
print(socket.gethostname(), socket.gethostbyname("localhost"), socket.gethostbyname(socket.gethostname()))
if sys.argv[2] == "blocked":
    began = time.monotonic()
    for lookup in ("example.com", "nosuch.test"):
        try: print("resolved", socket.getaddrinfo(lookup, 443))
        except socket.gaierror as e: print("no", lookup)
    print(time.monotonic() - began < 15)
    for address in ("203.0.113.10", "169.254.169.254", "10.0.0.1", "192.168.0.1", "8.8.8.8", "224.0.0.1"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try: socket.socket(socket.AF_INET, kind).connect((address, 53)); print("ROUTE", address)
            except OSError as e:
                if e.errno != 101: print(address, e)
    for address in ("2001:db8::1", "fe80::1%1", "ff02::1"):
        try: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect((address, 53)); print("ROUTE", address)
        except OSError as e: pass
    print(subprocess.run("ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3", shell=True, capture_output=True, text=True).stdout.split())
`
	eachMode(t, engine.Options{}, func(t *testing.T, s *engine.Session) {
		mode := string(s.Info().Network)
		common := []string{"127.0.0.1 ok", "::1 ok", "localhost ok", "b'x'"}
		want := lines(append(common, "host reached", "sandbox 127.0.0.1 127.0.0.1")...)
		if mode == "blocked" {
			want = lines(append(common, "host 111", "sandbox 127.0.0.1 127.0.0.1", "no example.com", "no nosuch.test", "True", "['lo']")...)
		}
		printed(t, s, script, python(&engine.RunOptions{Args: []string{port, mode}}), want)
	})
}

// A run may have less of the network than its session, and never more.
func TestC070_CeilingOfARun(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		needLandlock(t, d, 6)
		s := open(t, d, &engine.Options{Network: netpolicy.Open})
		const links = "cut -d: -f1 /proc/net/dev | tail -n +3 | grep -vc ' lo'; readlink /proc/self/ns/net"
		outer := output(t, s, links, shell(nil))
		inner := output(t, s, links, shell(&engine.RunOptions{Network: netpolicy.Blocked}))
		if outer == inner || !strings.HasPrefix(inner, "0\n") || outer != output(t, s, links, shell(nil)) {
			t.Errorf("open: %q, blocked: %q", outer, inner)
		}
		if _, err := open(t, d, nil).Run(t.Context(), ":", shell(&engine.RunOptions{Network: netpolicy.Open})); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("more than the session has: %v", err)
		}
	})
}

// C084, C085: the layers are there, and told. Landlock is in force on both backends: it alone keeps a process from
// writing to its own files in /proc. What is read-only stays so by every call that changes a file.
func TestC084_C085_ReadOnly(t *testing.T) {
	granted := wideTemp(t)
	for _, name := range []string{"f", "g"} {
		if err := os.WriteFile(filepath.Join(granted, name), []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(granted, name), 0o666); err != nil { // it is not its mode that protects it
			t.Fatal(err)
		}
	}
	const script = `
import ctypes, errno, os, socket, sys
dir = sys.argv[1]
f = dir + "/f"
def probe(what, call):
    try:
        call()
        print("DONE", what)
    except OSError as e:
        if e.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.EXDEV, errno.ENOENT): print(what, e)
for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_TRUNC):
    probe("open %x" % flags, lambda: os.open(f, flags))
probe("truncate", lambda: os.truncate(f, 0))
probe("create", lambda: open(dir + "/new", "w"))
probe("mkdir", lambda: os.mkdir(dir + "/new"))
probe("mkfifo", lambda: os.mkfifo(dir + "/new"))
probe("symlink", lambda: os.symlink("f", dir + "/new"))
probe("link", lambda: os.link(f, dir + "/new"))
probe("link out", lambda: os.link(f, "new"))
probe("rename", lambda: os.rename(f, dir + "/new"))
probe("rename over", lambda: os.rename(dir + "/g", f))
probe("rename in", lambda: open("own", "w").close() or os.rename("own", dir + "/new"))
probe("unlink", lambda: os.unlink(f))
probe("chmod", lambda: os.chmod(f, 0o600))
probe("chown", lambda: os.chown(f, 1000, 1000))
probe("utime", lambda: os.utime(f))
probe("setxattr", lambda: os.setxattr(f, "user.x", b"1"))
probe("tmpfile", lambda: os.open(dir, os.O_TMPFILE | os.O_RDWR))
probe("bind", lambda: socket.socket(socket.AF_UNIX).bind(dir + "/new"))
probe("by descriptor", lambda: os.open("/proc/self/fd/%d" % os.open(f, os.O_RDONLY), os.O_WRONLY))
probe("by path descriptor", lambda: os.open("/proc/self/fd/%d" % os.open(f, os.O_PATH), os.O_WRONLY))
probe("fchmod", lambda: os.fchmod(os.open(f, os.O_RDONLY), 0o600))
name = "/.sandbar-test-%d"  % os.getpid()
for place in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/run", "/run/sandbar", "/proc", "/bin", "/lib", "/etc/ssl/certs", "/dev/pts"):
    probe("create in " + place, lambda: open(place + name, "w"))
    probe("mkdir in " + place, lambda: os.mkdir(place + name))
# Opened, never written to.
for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/self/comm", "/proc/self/oom_score_adj",
             "/proc/1/oom_score_adj", "/proc/self/uid_map", "/proc/self/mem", "/proc/self/clear_refs", "/proc/irq/default_smp_affinity", "/etc/passwd", "/etc/hosts", "/run/sandbar/main.py", "/usr/bin/env"):
    probe("open " + path, lambda: os.open(path, os.O_WRONLY))
for path in ("/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/keys", "/proc/timer_list", "/proc/interrupts", "/proc/slabinfo"):
    probe("read " + path, lambda: os.open(path, os.O_RDONLY))
probe("mknod", lambda: os.mknod("node", 0o20600, os.makedev(1, 3)))
probe("mknod block", lambda: os.mknod("node", 0o60600, os.makedev(259, 0)))
for path in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/console", "/dev/ptp0"):
    probe("open " + path, lambda: os.open(path, os.O_RDONLY))
print("read", open(f).read())
`
	each(t, func(t *testing.T, d *native.Driver) {
		enforced := d.Info().Enforced
		for _, layer := range []string{"namespaces", "capabilities", "landlock", "seccomp", "cgroup"} {
			if enforced[layer] == "" {
				t.Errorf("nothing is told of %s: %v", layer, enforced)
			}
		}
		needLandlock(t, d, 1)
		s := open(t, d, &engine.Options{ReadOnly: []string{granted}})
		printed(t, s, script, python(&engine.RunOptions{Args: []string{granted}}), "read text\n")
		printed(t, s, `echo x > /tmp/t && cat /tmp/t; echo y > /dev/shm/t && cat /dev/shm/t; cat /etc/hostname; echo z > "$PWD/w" && cat w; cat "$1" 2>/dev/null; (echo x > /proc/self/comm) 2>/dev/null || echo refused`,
			shell(&engine.RunOptions{Args: []string{canaryFile}}), lines("x", "y", "sandbox", "z", "refused"))
	})
	if list, err := os.ReadDir(granted); err != nil || len(list) != 2 {
		t.Errorf("the granted directory has %v, %v", list, err)
	}
}

// C086: a grant can be a file or a link; what cannot be granted is refused with its field.
func TestC086_Grants(t *testing.T) {
	dir := wideTemp(t)
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("text\n"), 0o644), os.Symlink("file", link), os.Mkdir(filepath.Join(dir, "rw"), 0o777), os.Chmod(filepath.Join(dir, "rw"), 0o777)); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, d *native.Driver) {
		for _, grant := range []string{file, link, "/etc/hostname", "/usr/bin", "/etc/ssl/certs"} {
			if _, err := os.Stat(grant); err != nil {
				continue
			}
			s := open(t, d, &engine.Options{ReadOnly: []string{grant}, ReadWrite: []string{filepath.Join(dir, "rw")}})
			printed(t, s, `if [ -d "$1" ]; then ls "$1" >/dev/null; else head -c 1 "$1" >/dev/null; fi && echo readable; echo x > "$2/rw/f" && rm "$2/rw/f"; ls "$2" | grep -v -e rw -e file -e link || :`,
				shell(&engine.RunOptions{Args: []string{grant, dir}}), "readable\n")
		}
		for _, bad := range []string{"/no/such/dir", "relative", "", "/", "/proc/self", "/dev/null", "/tmp", "/sys", dir + "/../" + filepath.Base(dir), dir + "/", "/x\x00"} {
			var invalid *engine.InvalidError
			if _, err := d.Open(t.Context(), &engine.Options{ReadOnly: []string{bad}}); !errors.As(err, &invalid) || invalid.Field != "ReadOnly[0]" {
				t.Errorf("grant of %q: %v", bad, err)
			}
		}
		if _, err := d.Open(t.Context(), &engine.Options{ReadOnly: []string{dir}, ReadWrite: []string{file}}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("one grant in another: %v", err)
		}
	})
}

// C095: nothing in /proc tells about this program or another: not by a process, and not by PID 1, whose memory,
// descriptors and environment are out of reach.
func TestC095_Secrets(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, `for f in /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ /proc/[0-9]*/cmdline; do (tr '\0' '\n' < "$f") 2>/dev/null; done | grep -c '[c]anary'
ls -l /proc/1/fd 2>/dev/null | grep -c socket; cat /proc/1/environ 2>/dev/null | wc -c; tr '\0' ' ' < /proc/1/cmdline; echo
for f in maps mem root cwd exe fd fdinfo task/1/mem task/1/fd ns/mnt ns/net syscall stack auxv; do (ls -L /proc/1/$f/ || head -c 1 /proc/1/$f) >/dev/null 2>&1 && echo "$f"; done
set -- /proc/[0-9]*; echo $#; ls /sys /home /root /var /opt /srv /mnt /media /boot 2>/dev/null; dmesg 2>/dev/null | head -n 1`, shell(nil), lines("0", "0", "0", "sandbar sandbar-cell-init serve ", "2"))
		printed(t, s, `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    print(name, getattr(libc, name)(*args), ctypes.get_errno())
buf = ctypes.create_string_buffer(64)
class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
v = iovec(ctypes.addressof(buf), 64)
call("ptrace", 16, 1, 0, 0)
call("process_vm_readv", 1, ctypes.byref(v), 1, ctypes.byref(v), 1, 0)
call("kcmp", 1, os.getpid(), 0, 0, 0) if hasattr(libc, "kcmp") else None
print("pidfd_getfd", libc.syscall(438, libc.syscall(434, 1, 0), 0, 0), ctypes.get_errno())
`, python(nil), lines("ptrace -1 1", "process_vm_readv -1 1", "pidfd_getfd -1 1"))
	})
}

// C097, C098: the environment is ours and the caller's, none of it the host's, alike for both kinds of script; the
// caller's variables reach the script alone: nothing of them acts on what starts it.
func TestC097_C098_Environment(t *testing.T) {
	outside := wideTemp(t)
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		sh := output(t, s, "env | grep -v -e ^_= -e ^SHLVL= | sort", shell(nil))
		py := output(t, s, "import os\nfor k, v in sorted(os.environ.items()): print(k + '=' + v)", python(nil))
		py = strings.ReplaceAll(py, "PYTHONPATH="+engine.WorkDir+"\n", "")
		py = strings.ReplaceAll(py, "LC_CTYPE=C.UTF-8\n", "")
		want := "HOME=/tmp/sandbox-work\nLANG=C.UTF-8\nLOGNAME=sandbox\nPATH=" + cellPath + "\nPWD=/tmp/sandbox-work\nTMPDIR=/tmp\nUSER=sandbox\n"
		if sh != want || py != want {
			t.Errorf("shell %q\npython %q\nwant %q", sh, py, want)
		}
		printed(t, s, `touch "$HOME/x" "$TMPDIR/x" && echo "$(id -un) $(locale charmap) ~ $(cd ~ && pwd)"`, shell(nil), "sandbox UTF-8 ~ /tmp/sandbox-work\n")

		for name, text := range map[string]string{"e.sh": "touch " + outside + "/escaped; echo from BASH_ENV >&2", "bwrap": "#!/bin/sh\ntouch " + outside + "/escaped", "x.so": "no library", "e.py": "print('startup')"} {
			if err := s.PutBytes(t.Context(), name, []byte(text), &engine.PutOptions{Mode: 0o755}); err != nil {
				t.Fatal(err)
			}
		}
		const w = engine.WorkDir
		env := map[string]string{
			"BASH_ENV": w + "/e.sh", "ENV": w + "/e.sh", "PATH": w + ":/usr/bin:/bin", "GCONV_PATH": w, "PYTHONSTARTUP": w + "/e.py", "GODEBUG": "inittrace=1", "GOTRACEBACK": "crash",
			"GOMAXPROCS": "1", "LD_LIBRARY_PATH": w, "LD_DEBUG_OUTPUT": outside + "/escaped", "TMPDIR": w, "SBX": "x", "IFS": "x",
		}
		out := exec(t, s, `echo "$BASH_ENV $PATH $GODEBUG"`, shell(&engine.RunOptions{Env: env}))
		if want := env["BASH_ENV"] + " " + env["PATH"] + " " + env["GODEBUG"] + "\n"; out.Stdout != want || out.Result.ExitCode != 0 {
			t.Errorf("stdout %q, stderr %q, %+v", out.Stdout, out.Stderr, out.Result)
		}
		for _, name := range []string{"LD_PRELOAD", "LD_AUDIT"} { // the loader complains inside, and goes on
			out := exec(t, s, "echo in", shell(&engine.RunOptions{Env: map[string]string{name: w + "/x.so", "LD_DEBUG": ""}}))
			if out.Stdout != "in\n" {
				t.Errorf("%s: %+v", name, out)
			}
		}
		if n := entries(outside); n != 0 {
			t.Errorf("%d files were made outside", n)
		}
		stillWorks(t, s)
	})
}

// C105: the devices and file systems that programs count on.
func TestC105_Devices(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		if err := s.PutBytes(t.Context(), "pool.py", []byte("import multiprocessing as m\nif __name__ == '__main__':\n  with m.Pool(2) as p: print(p.map(abs, [-1, -2]))\n  print(m.Lock().acquire(), m.Queue() is not None, m.Semaphore(3).acquire())\n"), nil); err != nil {
			t.Fatal(err)
		}
		printed(t, s, `python3 pool.py; ls /dev /dev/shm | xargs; head -c4 /dev/urandom | wc -c; head -c4 /dev/random | wc -c; head -c4 /dev/zero | wc -c
python3 -c 'import pty, os; a, b = pty.openpty(); os.write(b, b"x"); print("pty ok", os.read(a, 1), os.ttyname(b))'
echo x > /dev/null; cat < /dev/fd/0 </dev/null; echo x 2>/dev/null > /dev/full || echo full; cat /dev/stdin </dev/null
cat <(echo process substitution); cat <<< here; script -qc 'tty' /dev/null 2>/dev/null | tr -d '\r' || :`, shell(nil),
			lines("[1, 2]", "True True True", "/dev: fd full null ptmx pts random shm stderr stdin stdout tty urandom zero /dev/shm:", "4", "4", "4", "pty ok b'x' /dev/pts/0", "full", "process substitution", "here")+scriptSays())
	})
}

// scriptSays is what script(1) prints when it is there.
func scriptSays() string {
	if installed("script") {
		return "/dev/pts/0\n"
	}
	return ""
}

// C105: a script's own streams can be opened by their names.
func TestC105_OwnStreamsByName(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		out := exec(t, s, `echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin; echo x | tee /dev/stderr; echo y > /proc/self/fd/1; (echo z > /dev/fd/2) 2>&1; echo w | cat /dev/stdin`,
			shell(&engine.RunOptions{Stdin: strings.NewReader("in\n")}))
		if out.Stdout != lines("out", "in", "x", "y", "z", "w") || out.Stderr != lines("err", "x") {
			t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
		}
	})
}

// C109: no capability in any set, no_new_privs and the filter, on every mount nosuid and nodev, for each process of
// a run and for the init.
func TestC109_Posture(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		const sets = `grep -hE '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp|Uid|Gid|Groups):' /proc/self/status /proc/1/status | tr -d ' \t' | sort | uniq -c | awk '{ print $1, $2 }'`
		want := lines("2 CapAmb:0000000000000000", "2 CapBnd:0000000000000000", "2 CapEff:0000000000000000", "2 CapInh:0000000000000000", "2 CapPrm:0000000000000000",
			"2 Gid:1000100010001000", "2 Groups:", "2 NoNewPrivs:1", "2 Seccomp:2", "2 Uid:1000100010001000")
		got := output(t, s, sets, shell(nil))
		// Whose groups an unprivileged program cannot drop, it keeps: they show as nogroup.
		if os.Geteuid() != 0 {
			got, want = withoutGroups(got), withoutGroups(want)
		}
		if got != want {
			t.Errorf("posture\n%s want\n%s", got, want)
		}
		printed(t, s, `grep -v nosuid /proc/mounts; grep -v nodev /proc/mounts | grep -v ' /dev/'; awk '$2 !~ "^(/tmp|/dev/|/proc$)" && $4 !~ "^ro"' /proc/mounts
sudo -n id >/dev/null 2>&1 && echo sudo; su -c id >/dev/null 2>&1 </dev/null && echo su; ping -c1 -W1 127.0.0.1 >/dev/null 2>&1 && echo ping
mknod x c 1 3 2>/dev/null && echo mknod; mount -t tmpfs t /mnt 2>/dev/null && echo mount; chroot / true 2>/dev/null && echo chroot; cp /usr/bin/id own && chmod 4755 own 2>/dev/null; ./own -u`,
			shell(nil), "1000\n")
		printed(t, s, `
import os
for what, call in (("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)), ("setgroups", lambda: os.setgroups([])), ("chroot", lambda: os.chroot("/tmp")), ("nice", lambda: os.nice(-5)), ("sethostname", lambda: __import__("socket").sethostname("x")), ("priority", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))):
    try: call(); print("DONE", what)
    except OSError as e: print(what, e.errno)
`, python(nil), lines("setuid 22", "setgid 22", "setgroups 1", "chroot 1", "nice 1", "sethostname 1", "priority 1"))
	})
}

func withoutGroups(s string) string {
	var kept []string
	for line := range strings.Lines(s) {
		if !strings.Contains(line, "Groups") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// C113: what a script made can be executed; executing from memory works and gains nothing.
func TestC113_Execute(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, dir := range []string{".", "/tmp", "/dev/shm"} {
			printed(t, s, `cd "$1"; cp /bin/echo ./e && ./e ran; printf '#!/bin/sh\necho script\n' > s && chmod +x s && ./s; rm e s`, shell(&engine.RunOptions{Args: []string{dir}}), lines("ran", "script"))
		}
		printed(t, s, `
import os
f = os.memfd_create("x", 0)
os.write(f, open("/bin/grep", "rb").read())
os.execve(f, ["grep", "-E", "^(NoNewPrivs|Seccomp|CapEff):", "/proc/self/status"], {})
`, python(nil), "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n")
	})
}
