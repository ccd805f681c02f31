package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// C114: the work directory is a boundary, for paths that the script spells and for links that it, or
// somebody on the host, plants.
func TestFiles_NoWayOut(t *testing.T) {
	outside := t.TempDir()
	canary := filepath.Join(outside, "canary.txt")
	const secret = "host-canary-51c2"
	if err := os.WriteFile(canary, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	session := open(t, nil)
	host := session.Info().HostDir
	for link, target := range map[string]string{"planted-file": canary, "planted-dir": outside, "planted-up": "../../../../../../../.." + canary} {
		if err := os.Symlink(target, filepath.Join(host, link)); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
import os, sys
canary = sys.argv[1]
outside = os.path.dirname(canary)
up = "../" * 12
def probe(what, f):
    try:
        print("ESCAPE", what, f())
    except OSError as e:
        print("refused", what.split(":")[0])
for p in (up + canary, canary, "/../.." + canary, "x/../" + up + canary, "planted-file", "planted-dir/canary.txt", "planted-up", "planted-dir/../" + os.path.basename(outside) + "/canary.txt"):
    probe("open:" + p, lambda: open(p).read())
probe("listdir", lambda: os.listdir("planted-dir"))
probe("listdir", lambda: os.listdir(outside))
probe("stat", lambda: os.stat("planted-file"))
probe("create", lambda: open("planted-dir/new", "w"))
probe("append", lambda: open("planted-file", "a").write("x"))
probe("rename", lambda: os.rename("planted-dir/canary.txt", "stolen"))
probe("link", lambda: os.link("planted-file", "hard", follow_symlinks=True) or open("hard").read())
probe("chdir", lambda: os.chdir("planted-dir") or os.listdir("."))
for target in (up + outside.lstrip("/"), up + "etc/hostname", "/etc", canary):
    try:
        os.symlink(target, "ln")
        print("ESCAPE", target, os.listdir("ln") if os.path.isdir("ln") else open("ln").read())
    except OSError:
        print("refused symlink")
    finally:
        try:
            os.unlink("ln")
        except OSError:
            pass
os.mkdir("real")
for name in ("real", ".", "real/../real"):
    fd = os.open(name, os.O_RDONLY)
    probe("dir_fd", lambda: os.open(up + "etc/passwd", os.O_RDONLY, dir_fd=fd))
    os.close(fd)
print("done")
`
	out := exec(t, session, script, &engine.RunOptions{Args: []string{canary}})
	if strings.Contains(out.Stdout, "ESCAPE") || strings.Contains(out.Stdout+out.Stderr, secret) || !strings.HasSuffix(out.Stdout, "done\n") || out.Result.ExitCode != 0 {
		t.Errorf("stdout %s\nstderr %s", out.Stdout, out.Stderr)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
	if data, err := os.ReadFile(canary); err != nil || string(data) != secret {
		t.Errorf("the canary is %q, %v", data, err)
	}
}

// C114, the twin that passes: links inside the work directory work.
func TestFiles_LinksInside(t *testing.T) {
	mustPrint(t, `
import os
os.makedirs("a/b")
open("a/b/f", "w").write("text")
os.symlink("a/b", "d")
os.symlink("../../a/b/f", "a/b/up")
print(open("d/f").read(), open("a/b/up").read(), os.listdir("d/../b") == os.listdir("a/b"), os.readlink("d"))
`, "text text True a/b\n")
}
