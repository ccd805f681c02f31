package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// What a run does to its init, or leaves in its cell, the next run does not see.
func TestCell_Clean(t *testing.T) {
	for _, tt := range []struct {
		name, leave, look string
	}{
		{"priority of the init", "renice -n 7 -p 1", "ps -o ni= -p $$ | tr -d ' '; ps -o ni= -p 1 | tr -d ' '"},
		{"processors of the init", "taskset -p 1 1", "taskset -p $$ | sed 's/.*: //'"},
		{"limits of the init", "prlimit --pid 1 --nofile=20:20 --nproc=5:5", "ulimit -Hn; ulimit -Hu"},
		{"policy of the init", "chrt -i -p 0 1", "chrt -p $$ | head -1 | sed 's/.*: //'"},
		{"shared memory", "ipcmk -M 4096", "ipcs -m | grep -c 0x || true"},
		{"a semaphore", "ipcmk -S 1", "ipcs -s | grep -c 0x || true"},
		{"a message queue", "ipcmk -Q", "ipcs -q | grep -c 0x || true"},
		{"a deep tree", "d=/tmp; for i in $(seq 100); do d=$d/d; mkdir $d; done; chmod 0 /tmp/d", "ls /tmp"},
		{"a tree without rights", "mkdir -p /tmp/a/b /dev/shm/c; echo x > /tmp/a/b/f; chmod 0 /tmp/a/b /tmp/a /dev/shm/c", "ls /tmp /dev/shm"},
		{"odd files", "mkfifo /tmp/p; ln -s / /tmp/l; ln -s /nowhere /dev/shm/m; touch '/tmp/ \n' /tmp/-f", "ls /tmp /dev/shm"},
		// Not a count: how much of a pipeline ps sees of itself is chance.
		{"a process that ignores signals", "setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' & echo", "p=$(ps -e -o args=); case $p in *'sleep 1'*|*trap*) echo there;; *) echo gone;; esac"},
		{"a listener", "python3 -c 'import socket,time,os; s=socket.create_server((\"127.0.0.1\",4444)); os.fork() and os._exit(0); time.sleep(99)'", "echo > /dev/tcp/127.0.0.1/4444 2>/dev/null && echo there || echo gone"},
	} {
		for _, b := range []Backend{Userns, Bubblewrap} {
			t.Run(fmt.Sprint(tt.name, " ", b), func(t *testing.T) {
				t.Parallel()
				needBackend(t, b)
				s := openWith(driverOf(t, b))(t, nil)
				before := mustRun(t, s, engine.Shell, tt.look)
				mustRun(t, s, engine.Shell, "("+tt.leave+") >/dev/null 2>&1 || echo the attempt failed")
				if after := mustRun(t, s, engine.Shell, tt.look); after != before {
					t.Errorf("the next run sees %q, without it %q", after, before)
				}
			})
		}
	}
}

// A file that stays on the host must not give rights to whoever runs it there.
func TestCell_SetUserID(t *testing.T) {
	for _, b := range []Backend{Userns, Bubblewrap} {
		needBackend(t, b)
		s := openWith(driverOf(t, b))(t, nil)
		got := mustRun(t, s, engine.Shell, `cp /usr/bin/id x; chmod u+s x; chmod g+s x; install -m 6755 x y; cp -p /usr/bin/passwd z 2>/dev/null; python3 -c '
import os
for f in (lambda: os.close(os.open("a", os.O_CREAT|os.O_WRONLY, 0o4755)), lambda: os.mknod("b", 0o104755), lambda: os.chmod("x", 0o2755)):
    try: f(); print("done")
    except OSError as e: print(e.errno)
' 2>&1; find . -perm /6000; true`)
		if want := "1\n1\n1\n"; got != want {
			t.Errorf("%s: got %q, want %q", b, got, want)
		}
	}
}

// A directory that has come to the work directory's path meanwhile is not the work directory.
func TestCell_WorkDirReplaced(t *testing.T) {
	for _, b := range []Backend{Userns, Bubblewrap} {
		t.Run(string(b), func(t *testing.T) {
			needBackend(t, b)
			parent := t.TempDir()
			dir, other := filepath.Join(parent, "work"), filepath.Join(parent, "other")
			for _, d := range []string{dir, other} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, dir); err != nil {
				t.Fatal(err)
			}
			d := driverOf(t, b)
			ss := &engine.SessionSpec{ID: "replaced", Root: root, HostDir: dir, Limits: engine.Limits{OpenFiles: 64, Tmp: 1 << 20, TmpFiles: 64}}
			c, err := d.makeCell(t.Context(), ss, netpolicy.Blocked, nil)
			if err == nil {
				t.Fatal("a cell was made with the other directory: ", c.close())
			}
			if !errors.Is(err, unix.ESTALE) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
