//go:build unix

package guestfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const secret = "CANARY"

// outside makes a directory beside the work directory that no guest may read, change or learn the names of.
func (f *fixture) outside(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(f.work), "outside")
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	for _, name := range []string{"f", "secret-name", "sub/f"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(secret), 0o644))
	}
	must(t, os.Symlink("f", filepath.Join(dir, "l")))
	before := snapshot(t, dir)
	t.Cleanup(func() {
		if after := snapshot(t, dir); after != before {
			t.Errorf("the directory outside was changed:\n%s\nit was:\n%s", after, before)
		}
	})
	return dir
}

// snapshot puts a tree in words: names, types, modes, times, link counts and contents.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v", path, fi.Mode(), fi.Size(), fi.ModTime())
		if fi.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", content)
		}
		b.WriteByte('\n')
		return nil
	})
	must(t, err)
	return b.String()
}

// looks read, and harms change. Only looks may be tried on a way to a real place of the host: if the guard that is
// tested here is ever broken, harms do what they say. What they may reach is a directory of the test.
var (
	looks = []string{
		"stat PATH", "lstat PATH", "readlink PATH", "cat PATH", "ls PATH", "ls PATH/", "cat PATH/f", "cat PATH/sub/f", "cat PATH/l", "cat PATH/../f", "ls PATH/sub", "stat PATH/f",
		"open h PATH r,nofollow", "read h 100", "close h",
	}
	harms = []string{
		"open h PATH/f rw", "read h 100", "write h x", "close h",
		"put PATH/f x", "put PATH/new x", "open n PATH/new2 w,creat,excl", "close n", "mkdir PATH/newdir", "symlink x PATH/newlink", "chmod PATH/f 600", "utimens PATH/f 1 1", "lutimens PATH/f 1 1",
		"put mine x", "rename mine PATH/mine", "link mine PATH/linked", "rename PATH/f stolen", "cat stolen", "link PATH/f linked", "cat linked", "rename PATH/sub stolendir", "ls stolendir",
		"unlink PATH/f", "unlink PATH/l", "rmdir PATH/sub", "unlink PATH/sub/f", "open h PATH w,creat,trunc", "write h x", "ftruncate h 0", "close h", "chmod PATH 600", "utimens PATH 1 1",
		"unlink mine", "unlink stolen", "unlink linked", "rmdir stolendir",
	}
)

// attack makes every call on path and reports whatever shows the world outside.
func attack(t testing.TB, g *guest, path string) {
	t.Helper()
	probe(t, g, path, looks)
	probe(t, g, path, harms)
}

func probe(t testing.TB, g *guest, path string, steps []string) {
	t.Helper()
	for _, step := range steps {
		step = strings.ReplaceAll(step, "PATH", path)
		if got := g.do(step); strings.Contains(got, secret) || strings.Contains(got, "secret-name") {
			t.Errorf("%s shows the outside: %q", step, got)
		}
	}
}

// Links to real places of the host are only looked through.
func TestEscape_LinksToTheHost(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	for i, target := range []string{"/", "/proc/self/root", "/proc/self/cwd", strings.Repeat("../", 30)} {
		link := fmt.Sprint("host", i)
		must(t, os.Symlink(target, filepath.Join(f.work, link)))
		for _, path := range []string{link, link + out, "@/" + link + out} {
			probe(t, f.guest, path, looks)
		}
	}
	root, guests := f.in("").do("ls /"), f.do("ls host0")
	if root != guests { // a link to "/" is the guest's own root
		t.Errorf("the link to / lists %q, want %q", guests, root)
	}
	expect(t, f.guest, "ls host1 = ENOENT", "ls host2 = ENOENT", "cat host0/etc/hostname = ENOENT", "stat host0/proc = ENOENT")
}

func TestEscape_PlantedLinks(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	up := strings.Repeat("../", 20)
	for name, target := range map[string]string{
		"absolute directory":       out,
		"absolute file":            out + "/f",
		"absolute, not there":      out + "/made-by-guest",
		"relative directory":       "../outside",
		"relative file":            "../outside/f",
		"relative, not there":      "../outside/made-by-guest",
		"far up":                   up + out[1:],
		"process root":             "/proc/self/root" + out,
		"own work dir, then out":   f.work + "/../outside",
		"in, up and out":           "sub/../../outside",
		"slash at the end":         "../outside/",
		"dots at the end":          "../outside/.",
		"through a link":           "rel-hop/f",
		"through an absolute link": "abs-hop/f",
		"through itself":           "hop-again/../outside/f",
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.RemoveAll(filepath.Join(f.work, "x")))
			must(t, os.MkdirAll(filepath.Join(f.work, "d/sub"), 0o755))
			plant := func(target, at string) {
				_ = os.Remove(filepath.Join(f.work, at))
				must(t, os.Symlink(target, filepath.Join(f.work, at)))
			}
			plant("../outside", "rel-hop")
			plant(out, "abs-hop")
			plant("rel-hop", "hop-again")
			plant(target, "evil")
			plant("evil", "chain")
			plant("../evil", "d/deep")
			for _, path := range []string{"evil", "chain", "d/deep", "./d/../evil", "d/deep/.", "d/sub/../../evil", "@/evil", "evil/../evil"} {
				attack(t, f.guest, path)
				plant(target, "evil") // the guest may remove it
				plant("evil", "chain")
				_ = os.MkdirAll(filepath.Join(f.work, "d/sub"), 0o755)
				plant("../evil", "d/deep")
			}
		})
	}
}

func TestEscape_PlainPaths(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	for _, path := range []string{
		out, out + "/f", "../outside", "@/../outside", "@/../../outside", "/../" + out, strings.Repeat("../", 30) + out[1:], "@/x/../../../.." + out, f.work, "/proc/self/root" + out,
		"/tmp/../" + out, "/usr/lib/python3.13/../../.." + out, "/dev/../" + out, "/run/sandbar/main.py/../../.." + out, "..\\outside\\f",
	} {
		attack(t, f.guest, path)
	}
}

// The guest's own links mean paths of the guest.
func TestEscape_GuestsOwnLinks(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	tmp := f.in("/tmp")
	for _, target := range []string{out, out + "/f", "../outside", "../../../../../../../.." + out, "/proc/self/root" + out} {
		for _, g := range []*guest{f.guest, tmp} {
			g.do("unlink own")
			expect(t, g, "symlink "+target+" own")
			if got, errno := g.fs.Readlink(g.base + "/own"); got != target || errno != 0 {
				t.Errorf("Readlink = %q, %v, want %q", got, errno, target)
			}
			attack(t, g, "own")
			attack(t, g, "@/own")
		}
	}
}

// A hard link to a file outside cannot be made by a guest: neither side of a link leaves the mount.
func TestEscape_HardLinks(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	must(t, os.Symlink(out, filepath.Join(f.work, "evil")))
	must(t, os.Symlink(out+"/f", filepath.Join(f.work, "evilf")))
	expect(t, f.guest,
		"link ../outside/f x = ENOENT", "link "+out+"/f x = ENOENT", "link evil/f x = ENOENT", "link @/evil/f x = ENOENT",
		"link evilf x", "lstat x = link size="+fmt.Sprint(len(out)+2)+" nlink=2", "cat x = ENOENT", "put mine x", "link mine evil/x = ENOENT",
	)
	expect(t, f.in("/tmp"), "put t x", "link t @/sandbox-work/x2 = EXDEV", "link sandbox-work/mine t2 = EXDEV", "rename t sandbox-work/t = EXDEV", "rename sandbox-work/mine m = EXDEV")
}

// Whoever changes the path under a call gets no more out of it.
func TestEscape_RaceDirectoryForLink(t *testing.T) {
	for _, link := range []string{"absolute", "relative"} {
		t.Run(link, func(t *testing.T) {
			f := newFixture(t, withQuota(&tally{maxBytes: 1 << 30, maxFiles: 1 << 30}))
			out := f.outside(t)
			target := map[string]string{"absolute": out, "relative": "../outside"}[link]
			must(t, os.MkdirAll(filepath.Join(f.work, "d/sub"), 0o755))
			must(t, os.WriteFile(filepath.Join(f.work, "d/f"), []byte("inside"), 0o644))
			must(t, os.Symlink(target, filepath.Join(f.work, "evil")))
			stop, done := make(chan struct{}), make(chan int)
			go func() {
				n := 0
				for {
					select {
					case <-stop:
						done <- n
						return
					default:
						swap(f.work, "d", "evil")
						n++
					}
				}
			}()
			for range 300 {
				attack(t, f.guest, "d")
				f.do("mkdir d")
				f.do("mkdir d/sub")
				f.do("put d/f inside")
			}
			for i := range 600 { // names that are new each time, for the moment between looking and creating
				for _, step := range []string{"open h d/c%d w,creat", "close h", "mkdir d/m%d", "symlink x d/s%d", "put mine x", "rename mine d/r%d", "unlink d/c%d", "link d/r%d d/l%d"} {
					f.do(strings.ReplaceAll(step, "%d", strconv.Itoa(i)))
				}
			}
			close(stop)
			if n := <-done; n == 0 {
				t.Error("nothing was swapped")
			}
		})
	}
}

// The last component is swapped: a file for a link, under the calls that must not follow it or must not leave.
func TestEscape_RaceFileForLink(t *testing.T) {
	f := newFixture(t)
	out := f.outside(t)
	must(t, os.WriteFile(filepath.Join(f.work, "f"), []byte("inside"), 0o644))
	must(t, os.WriteFile(filepath.Join(f.work, "other"), []byte("OTHER"), 0o644))
	must(t, os.Symlink(out+"/f", filepath.Join(f.work, "evil")))
	must(t, os.Symlink("other", filepath.Join(f.work, "near")))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				swap(f.work, "f", "evil")
				swap(f.work, "f", "near")
			}
		}
	}()
	for range 600 {
		for _, step := range []string{"cat f", "stat f", "open h f rw", "read h 99", "write h x", "put f inside", "chmod f 600", "utimens f 1 1"} {
			if got := f.do(step); strings.Contains(got, secret) {
				t.Fatalf("%s = %s", step, got)
			}
		}
		if f.do("open h f r,nofollow") == "ok" {
			if got := f.do("read h 99"); strings.Contains(got, "OTHER") {
				t.Fatalf("O_NOFOLLOW followed a link to a file of the mount: %s", got)
			}
		}
		must(t, os.WriteFile(filepath.Join(f.work, "other"), []byte("OTHER"), 0o644))
	}
	close(stop)
	<-done
}

// A link to the mount's root that takes the place of what is changed in mode must not change the root's.
func TestEscape_RaceChmodOfRoot(t *testing.T) {
	f := newFixture(t)
	must(t, os.Mkdir(filepath.Join(f.work, "d"), 0o755))
	must(t, os.Symlink(".", filepath.Join(f.work, "self")))
	before, err := os.Stat(f.work)
	must(t, err)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				swap(f.work, "d", "self")
			}
		}
	}()
	for range 3000 {
		f.do("chmod d 701")
		f.do("chmod self 701")
		if after, err := os.Stat(f.work); err != nil || after.Mode() != before.Mode() {
			t.Errorf("the work directory's mode is %v, it was %v", after.Mode(), before.Mode())
			break
		}
	}
	close(stop)
	<-done
}

// A path full of links must not keep the host busy.
func TestWalk_IsBounded(t *testing.T) {
	f := newFixture(t)
	for _, g := range []*guest{f.guest, f.in("/tmp")} {
		g.do("mkdir d")
		long := strings.Repeat("d/../", 790)
		expect(t, g, "put f x", "symlink "+long+"f l0")
		for i := range 39 {
			expect(t, g, fmt.Sprintf("symlink @/%sl%d l%d", long, i, i+1))
		}
		got := g.do("cat l39")
		if got != "x" && got != "ELOOP" && got != "ENAMETOOLONG" {
			t.Errorf("cat = %q", got)
		}
		deep := strings.Repeat("d/", 1000)
		expect(t, g, "stat "+deep+strings.Repeat("../d/", 400)+"x = ENOENT")
		for i := range 300 {
			expect(t, g, "mkdir "+strings.Repeat("d/", i+1)+"d")
		}
		expect(t, g, "stat "+strings.Repeat("d/", 300)+" = dir 755 nlink=3", "stat "+strings.Repeat("d/", 200)+"../d/ = dir 755 nlink=3", "stat "+strings.Repeat("d/", 300)+".. = ELOOP")
	}
}

// Both at least 40 links in a row and no endless number.
func TestWalk_LinkCount(t *testing.T) {
	for _, target := range []string{"", "@/"} {
		f := newFixture(t)
		for where, g := range map[string]*guest{"work": f.guest, "memory": f.in("/tmp")} {
			expect(t, g, "put l0 x")
			for i := range 60 {
				expect(t, g, fmt.Sprintf("symlink %sl%d l%d", target, i, i+1))
			}
			expect(t, g, "cat l40 = x", "cat l50 = ELOOP")
			if slices.Contains([]string{"memory"}, where) {
				expect(t, g, "cat l41 = ELOOP")
			}
		}
	}
}
