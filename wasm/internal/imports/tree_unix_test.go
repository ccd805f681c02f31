//go:build unix

package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Nothing behind a link that leads out is there, and nothing but files and directories is opened.
func TestTree_Hostile(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/out.py", []byte("import 1 - 0 0 0 ctypes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := newDisk(t, map[string]string{"real/in.py": "import 1 - 0 0 0 mmap\n", "real/deep/x.py": ""})
	dir := d.Root.Name()
	for name, target := range map[string]string{
		"out.py": outside + "/out.py", "outdir": outside, "dots": "../" + filepath.Base(outside), "in.py": "real/in.py", "self": ".", "loop": "loop", "a": "b", "b": "a",
		"indir": "real", "up": "real/deep/..", "magic": "/proc/self/cwd", "real/back": "..",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(dir+"/pipe.py", 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/odd", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/odd/__init__.py", 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.py", "outdir", "outdir/out.py", "dots", "loop", "a", "magic", "loop/x"} {
		if e, err := d.Stat(name); e != (Entry{}) || err != nil {
			t.Errorf("Stat(%q) = %v, %v", name, e, err)
		}
		if l, err := d.List(name); l.Exists || err != nil {
			t.Errorf("List(%q) = %v, %v", name, l, err)
		}
		if b, err := d.Read(name, 100); b != nil || err != nil {
			t.Errorf("Read(%q) = %q, %v", name, b, err)
		}
	}
	if e, _ := d.Stat("pipe.py"); e.Type != OtherEntry {
		t.Error(e)
	}
	if b, err := d.Read("pipe.py", 100); b != nil || err != nil {
		t.Error(b, err)
	}
	for module, want := range map[string]string{
		"out": "import out" + lostReason, "outdir.out": "import outdir.out" + lostReason, "pipe": "import pipe" + lostReason, "loop": "import loop" + lostReason,
		"in_": "import in_" + lostReason, "indir.in": "import indir.in: indir.in > mmap: this tier has no shared or mapped memory",
		"self.self.self.real.in": "import self.self.self.real.in: self.self.self.real.in > mmap: this tier has no shared or mapped memory",
		"up.in":                  "import up.in: up.in > mmap: this tier has no shared or mapped memory", "odd": "",
	} {
		o, err := Decide(mustDecode(t, "import 1 - 0 0 0 "+module+"\n"), Config{Files: d, Auto: true})
		if got := strings.TrimPrefix(text(o), "line 1: "); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", module, got, err, want)
		}
	}
}

// A lib64 that is a link to lib counts once.
func TestSitePackages_Link(t *testing.T) {
	d := newDisk(t, map[string]string{site + "p.py": ""})
	if err := os.Symlink("lib", d.Root.Name()+"/.venv/lib64"); err != nil {
		t.Fatal(err)
	}
	if got, err := SitePackages(d, ".venv", ""); len(got) != 1 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A name that turns from a file into a FIFO and back never holds a reader up.
func TestTree_Swapped(t *testing.T) {
	d := newDisk(t, map[string]string{"file": "text"})
	dir := d.Root.Name()
	if err := syscall.Mkfifo(dir+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			tmp := fmt.Sprintf("%s/tmp%d", dir, i%2)
			_ = os.Remove(tmp)
			_ = os.Symlink([]string{"file", "fifo"}[i%2], tmp)
			_ = os.Rename(tmp, dir+"/x")
		}
	}()
	for began, n := time.Now(), 0; n < 2000 && time.Since(began) < 5*time.Second; n++ {
		if b, err := d.Read("x", 10); err != nil || b != nil && string(b) != "text" {
			t.Fatalf("%q, %v", b, err)
		}
		if l, err := d.List("x"); err != nil || l.Exists {
			t.Fatal(l, err)
		}
	}
	close(stop)
	<-done
}
